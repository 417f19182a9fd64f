//! One rule, parsed within bounds and fitted with counters.

use std::sync::OnceLock;

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use kube_cel::cel::parser::Parser;

use super::bounded::{ADD, REFUSED, TICK};

/// Bytes of a rule. The longest real ones have about a thousand.
const MAX_LENGTH: usize = 8 << 10;
/// Open brackets of all kinds at one place.
const MAX_NESTING: usize = 40;
/// Levels of the parsed expression.
const MAX_DEPTH: usize = 60;
/// Loops inside loops.
const MAX_LOOPS: usize = 4;
/// The parser needs some 200 KiB for each bracket when it is not optimised.
const STACK: usize = 64 << 20;

/// A rule ready to run.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) expression: IdedExpr,
    pub(super) uses_old: bool,
    /// It selects fields that may be missing, which the library does not take as such.
    pub(super) uses_optional: bool,
    /// What one evaluation costs outside of loops.
    pub(super) weight: u64,
}

/// A rule, or why it is not run.
#[derive(Debug)]
pub(super) enum Compiled {
    Ready(Box<Program>),
    Refused(&'static str),
}

/// A rule that is parsed when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Cell(OnceLock<Compiled>);

impl Cell {
    pub(super) fn get(&self, rule: &str) -> &Compiled {
        self.0.get_or_init(|| compile(rule))
    }
}

fn compile(rule: &str) -> Compiled {
    if rule.len() > MAX_LENGTH {
        return Compiled::Refused("it is too long");
    }
    if nesting(rule) > MAX_NESTING {
        return Compiled::Refused("it is nested too deep");
    }
    let text = rule.to_owned();
    let parsed = std::thread::Builder::new()
        .name("cel-parser".to_owned())
        .stack_size(STACK)
        .spawn(move || Parser::new().enable_optional_syntax(true).parse(&text).ok())
        .map(std::thread::JoinHandle::join);
    let mut expression = match parsed {
        Ok(Ok(Some(expression))) => expression,
        Ok(Ok(None)) => return Compiled::Refused("it could not be parsed"),
        Ok(Err(_)) => return Compiled::Refused("the parser failed on it"),
        Err(_) => return Compiled::Refused("the parser could not be started"),
    };
    let mut fitting = Fitting { uses_old: false, uses_optional: false };
    match fitting.fit(&mut expression, 0, 0) {
        Ok(weight) => {
            let Fitting { uses_old, uses_optional } = fitting;
            Compiled::Ready(Box::new(Program { expression, uses_old, uses_optional, weight }))
        }
        Err(why) => Compiled::Refused(why),
    }
}

/// The most brackets open at one place, and operators that nest to the right, which the parser takes recursively too.
/// Text in quotes counts like code: a rule with that many brackets in quotes is not worth a scanner.
fn nesting(rule: &str) -> usize {
    let mut open = 0_usize;
    let mut most = 0;
    let mut chain = 0;
    for byte in rule.bytes() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'?' | b'!' | b'-' => chain += 1,
            _ => {}
        }
        most = most.max(open);
    }
    // A long chain of conditions nests like brackets; short ones do not matter.
    most.max(chain / 4)
}

struct Fitting {
    uses_old: bool,
    uses_optional: bool,
}

impl Fitting {
    /// Puts counters into loops and gives the weight of what is outside of them.
    fn fit(&mut self, node: &mut IdedExpr, depth: usize, loops: usize) -> Result<u64, &'static str> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deep");
        }
        let depth = depth + 1;
        match &mut node.expr {
            Expr::Unspecified | Expr::Struct(_) => Err("it has a part that cannot be evaluated here"),
            Expr::Literal(_) => Ok(1),
            Expr::Ident(name) => {
                self.uses_old |= name == "oldSelf";
                Ok(1)
            }
            Expr::Select(select) => Ok(1 + self.fit(&mut select.operand, depth, loops)?),
            Expr::List(list) => {
                let weights = list.elements.iter_mut().map(|element| self.fit(element, depth, loops));
                weights.sum::<Result<u64, _>>().map(|weight| weight + 1)
            }
            Expr::Map(map) => {
                let mut weight = 1;
                for entry in &mut map.entries {
                    weight += match &mut entry.expr {
                        EntryExpr::MapEntry(entry) => {
                            self.fit(&mut entry.key, depth, loops)?
                                + self.fit(&mut entry.value, depth, loops)?
                        }
                        EntryExpr::StructField(field) => self.fit(&mut field.value, depth, loops)?,
                    };
                }
                Ok(weight)
            }
            Expr::Call(call) => {
                self.uses_optional |=
                    matches!(call.func_name.as_str(), operators::OPT_SELECT | operators::OPT_INDEX);
                if REFUSED.contains(&call.func_name.as_str()) {
                    return Err("it uses a function whose work cannot be bounded");
                }
                if call.func_name == operators::ADD {
                    call.func_name = ADD.to_owned();
                }
                let mut weight = cost(&call.func_name);
                for inner in call.target.iter_mut().map(|target| &mut **target).chain(&mut call.args) {
                    weight += self.fit(inner, depth, loops)?;
                }
                Ok(weight)
            }
            Expr::Comprehension(comprehension) => {
                if loops >= MAX_LOOPS {
                    return Err("it has too many loops inside loops");
                }
                let mut outside = 1 + self.fit(&mut comprehension.iter_range, depth, loops)?;
                outside += self.fit(&mut comprehension.accu_init, depth, loops)?;
                outside += self.fit(&mut comprehension.result, depth, loops)?;
                let mut inside = self.fit(&mut comprehension.loop_cond, depth, loops + 1)?;
                inside += self.fit(&mut comprehension.loop_step, depth, loops + 1)?;
                let makes_list = matches!(comprehension.accu_init.expr, Expr::List(_));
                let step = std::mem::take(&mut comprehension.loop_step);
                let accumulator = comprehension.accu_var.clone();
                comprehension.loop_step = counted(step, inside, accumulator, makes_list);
                Ok(outside)
            }
        }
    }
}

/// What a call costs beside its arguments. Patterns are compiled anew each time.
fn cost(function: &str) -> u64 {
    match function {
        "matches" | "find" | "findAll" | "replace" => 2_000,
        "split" | "join" | "format" | "url" | "quantity" | "semver" | "ip" | "cidr" | "jsonpatch" => 50,
        _ => 1,
    }
}

/// `TICK(weight, accumulator) ? step : accumulator`
fn counted(step: IdedExpr, weight: u64, accumulator: String, makes_list: bool) -> IdedExpr {
    let id = step.id;
    let node = |expr| IdedExpr { id, expr };
    let literal = |number: i64| node(Expr::Literal(LiteralValue::Int(number.into())));
    let made = if makes_list { node(Expr::Ident(accumulator.clone())) } else { literal(0) };
    let weight = literal(i64::try_from(weight).unwrap_or(i64::MAX));
    let call =
        |name: &str, args| node(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }));
    let tick = call(TICK, vec![weight, made]);
    call(operators::CONDITIONAL, vec![tick, step, node(Expr::Ident(accumulator))])
}
