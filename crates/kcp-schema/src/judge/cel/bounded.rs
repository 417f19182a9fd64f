//! The functions that could make something huge out of something small, made so that they pay for it and stop: a few nested
//! calls of the library's own would take all memory there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube_cel::cel::extractors::{Arguments, This};
use kube_cel::cel::{Context, ExecutionError, Value as Cel};

/// The function that every loop step calls. No rule can: it is no legal name.
pub(super) const TICK: &str = "@kcp_step";
/// What every `+` is turned into.
pub(super) const ADD: &str = "@kcp_add";
/// Functions that are not run at all: what they make has no bound that could be seen from outside.
pub(super) const REFUSED: [&str; 4] = ["format", "range", "quote", "encode"];

/// Bytes of text, or items of a list, that one call may make.
const MAX_MADE: u64 = 1 << 20;

/// What all rules of one object may spend together: about a second in a debug build.
const BUDGET: u64 = 30_000_000;

/// What was spent so far, and what a step costs now. Clones share the account.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    // One run is one thread; the atomics are there because the library wants functions that could be shared.
    spent: Arc<AtomicU64>,
    factor: Arc<AtomicU64>,
}

impl Account {
    /// Sets the price of a step by the size of what the next rules look at.
    pub(super) fn price(&self, size: u64) {
        self.factor.store(1 + size / 16, Ordering::Relaxed);
    }

    /// Pays for some steps; false when the budget is spent.
    pub(super) fn pay_steps(&self, steps: u64) -> bool {
        self.pay(steps.saturating_mul(self.factor.load(Ordering::Relaxed)))
    }

    fn pay(&self, cost: u64) -> bool {
        self.spent.store(self.spent.load(Ordering::Relaxed).saturating_add(cost), Ordering::Relaxed);
        !self.is_over()
    }

    /// Whether the budget is spent.
    pub(super) fn is_over(&self) -> bool {
        self.spent.load(Ordering::Relaxed) > BUDGET
    }

    /// Pays for something of `size` that is about to be made.
    fn make(&self, size: u64) -> Result<(), ExecutionError> {
        let cost = if size > MAX_MADE { u64::MAX } else { size / 4 };
        if self.pay(cost) { Ok(()) } else { Err(ExecutionError::function_error(TICK, "over the budget")) }
    }
}

/// Puts the functions into a context.
pub(super) fn register(context: &mut Context<'_>, account: &Account) {
    let paying = account.clone();
    context.add_function(TICK, move |weight: i64, made: Cel| -> Result<Cel, ExecutionError> {
        let made = length(&made);
        if paying.pay_steps(weight.unsigned_abs().saturating_add(made)) {
            Ok(Cel::Bool(true))
        } else {
            Err(ExecutionError::function_error(TICK, "over the budget"))
        }
    });
    let paying = account.clone();
    context.add_function(ADD, move |left: Cel, right: Cel| -> Result<Cel, ExecutionError> {
        paying.make(length(&left) + length(&right))?;
        left + right
    });
    let paying = account.clone();
    context.add_function("replace", move |This(text): This<Arc<String>>, Arguments(args): Arguments| {
        let (Some(Cel::String(from)), Some(Cel::String(to))) = (args.first(), args.get(1)) else {
            return Err(ExecutionError::NoSuchOverload);
        };
        let found = if from.is_empty() { text.chars().count() + 1 } else { text.matches(&***from).count() };
        let most = match args.get(2) {
            None => found,
            Some(Cel::Int(most)) => usize::try_from(*most).map_or(found, |most| most.min(found)),
            Some(_) => return Err(ExecutionError::NoSuchOverload),
        };
        paying.make((text.len() as u64).saturating_add((most as u64).saturating_mul(to.len() as u64)))?;
        Ok(Cel::String(Arc::new(text.replacen(&***from, to, most))))
    });
    let paying = account.clone();
    context.add_function("join", move |This(items): This<Arc<Vec<Cel>>>, Arguments(args): Arguments| {
        let separator = match args.first() {
            None => "",
            Some(Cel::String(separator)) => separator,
            Some(_) => return Err(ExecutionError::NoSuchOverload),
        };
        let texts = items.iter().map(|item| match item {
            Cel::String(text) => Ok(text.as_str()),
            _ => Err(ExecutionError::NoSuchOverload),
        });
        let texts = texts.collect::<Result<Vec<&str>, _>>()?;
        let own: usize = texts.iter().map(|text| text.len()).sum();
        paying
            .make((own as u64).saturating_add((texts.len() as u64).saturating_mul(separator.len() as u64)))?;
        Ok(Cel::String(Arc::new(texts.join(separator))))
    });
}

fn length(value: &Cel) -> u64 {
    match value {
        Cel::String(text) => text.len() as u64,
        Cel::Bytes(bytes) => bytes.len() as u64,
        Cel::List(items) => items.len() as u64,
        _ => 0,
    }
}
