//! `x-kubernetes-validations`: rules in CEL, run by a library behind a wall. The library has no limits of its own: deep
//! nesting would end the process and nested loops would run for minutes. So nesting and length are bounded before a rule is
//! parsed, parsing has a stack of its own, and every loop pays for what it does; what is beyond a bound is *unknown*.
//!
//! Known differences from a real server:
//! - `a.?b` is not understood where `b` is missing: such a rule is unknown then.
//! - `format`, `lists.range`, `strings.quote` and `base64.encode` are not run: they can make anything of any size.
//! - There is no static type check: a rule that a server would refuse with its CRD is unknown or an error here.
//! - Lists of type set and map are compared in order; a server compares them without.
//! - `messageExpression` is not run; the message of the rule stands for it.
//! - Costs are counted in another way: a server's budget may refuse what passes here.

mod bounded;
mod convert;
mod program;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{Context, ExecutionError, Value as Cel};
use serde_json::Value;

use super::findings::{Findings, Violation};
use super::trail::{At, Trail};
use crate::model::{CelRule, ListType, Schema};
use crate::value::same_value;

use self::bounded::Account;
use self::convert::Converter;
use self::program::Compiled;

/// The rules of a schema, parsed when they are first needed.
#[derive(Debug, Default)]
pub(super) struct Programs(BTreeMap<Arc<str>, program::Cell>);

impl Programs {
    pub(super) fn add(&mut self, rule: &CelRule) {
        self.0.entry(rule.rule.clone()).or_default();
    }

    #[cfg(test)]
    pub(super) fn compiled(&self) -> impl Iterator<Item = (&str, Option<&'static str>)> {
        self.0.iter().map(|(rule, cell)| match cell.get(rule) {
            Compiled::Ready(_) => (&**rule, None),
            Compiled::Refused(why) => (&**rule, Some(*why)),
        })
    }

    fn get(&self, rule: &CelRule) -> Option<&Compiled> {
        self.0.get(&rule.rule).map(|cell| cell.get(&rule.rule))
    }
}

/// One run over one object.
pub(super) struct Run<'j> {
    programs: &'j Programs,
    /// Made for the first rule: many objects have nothing that a rule is about.
    context: OnceCell<Context<'static>>,
    converter: &'static Converter,
    account: Account,
    resource: bool,
}

impl<'j> Run<'j> {
    pub(super) fn new(programs: &'j Programs, resource: bool) -> Self {
        Self {
            programs,
            context: OnceCell::new(),
            converter: Converter::get(),
            account: Account::default(),
            resource,
        }
    }

    /// Runs all rules at and below `value`; `old` is what was there before, if that can be said.
    pub(super) fn value<'a>(
        &mut self,
        value: &'a Value,
        old: Option<&'a Value>,
        schema: &'a Schema,
        trail: &mut Trail<'a>,
        findings: &mut Findings,
    ) {
        let resource = std::mem::take(&mut self.resource) || schema.embedded;
        if !schema.facts().cel || value.is_null() {
            return;
        }
        if !schema.cel.is_empty() {
            self.rules(value, old, schema, resource, trail, findings);
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let Some(schema) = schema.field(key) else { continue };
                    let old = old.and_then(|old| old.get(key));
                    trail.push(At::Field(key));
                    self.value(inner, old, schema, trail, findings);
                    trail.pop();
                }
            }
            Value::Array(items) => {
                let Some(inner) = &schema.items else { return };
                for (index, item) in items.iter().enumerate() {
                    let old = old.and_then(|old| same_entry(item, old, schema));
                    trail.push(At::Index(index));
                    self.value(item, old, inner, trail, findings);
                    trail.pop();
                }
            }
            _ => {}
        }
    }

    fn rules(
        &mut self,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        resource: bool,
        trail: &Trail<'_>,
        findings: &mut Findings,
    ) {
        self.account.price(convert::size(value) + old.map_or(0, convert::size));
        let context = self.context.get_or_init(|| {
            let mut context = Context::default().with_all();
            bounded::register(&mut context, &self.account);
            context
        });
        let mut scope = context.new_inner_scope();
        let ready = guarded(|| {
            scope.add_variable_from_value("self", self.converter.value(value, schema, resource));
        });
        if ready.is_none() {
            findings.doubt(trail.path(), "the value could not be given to the rules");
            return;
        }
        for rule in &schema.cel {
            let program = match self.programs.get(rule) {
                Some(Compiled::Ready(program)) => program,
                Some(Compiled::Refused(why)) => {
                    findings.doubt(trail.path(), format!("the rule {:?} is not run: {why}", rule.rule));
                    continue;
                }
                None => continue,
            };
            let mut inner = scope.new_inner_scope();
            if program.uses_old {
                let before = old.map(|old| self.converter.value(old, schema, resource));
                let before = match (before, rule.optional_old_self) {
                    (before, true) => {
                        Cel::Opaque(Arc::new(before.map_or_else(OptionalValue::none, OptionalValue::of)))
                    }
                    (Some(before), false) => before,
                    // Only a change is judged by such a rule.
                    (None, false) => continue,
                };
                inner.add_variable_from_value("oldSelf", before);
            }
            // What stands outside of loops is paid in advance.
            if !self.account.pay_steps(program.weight) {
                findings.doubt(trail.path(), "the rules of this object take more work than is allowed");
                return;
            }
            let answer = guarded(|| Cel::resolve(&program.expression, &inner));
            match self.read(answer) {
                Answer::Holds => {}
                Answer::Fails => {
                    let violation = Violation::Cel { rule: rule.rule.clone(), message: rule.message.clone() };
                    findings.violation(trail.path(), violation);
                }
                Answer::Error(_) if program.uses_optional => {
                    findings.doubt(
                        trail.path(),
                        format!("the rule {:?} asks for fields that may be missing", rule.rule),
                    );
                }
                Answer::Error(why) => {
                    findings.violation(trail.path(), Violation::CelError { rule: rule.rule.clone(), why });
                }
                Answer::Unknown(why) => {
                    findings.doubt(trail.path(), format!("the rule {:?}: {why}", rule.rule));
                }
            }
        }
    }

    /// What an evaluation means. Texts of the library's errors hold values of the object: none of them goes on.
    fn read(&self, answer: Option<Result<Cel, ExecutionError>>) -> Answer {
        if self.account.is_over() {
            return Answer::Unknown("it takes more work than is allowed");
        }
        match answer {
            Some(Ok(Cel::Bool(true))) => Answer::Holds,
            Some(Ok(Cel::Bool(false))) => Answer::Fails,
            Some(Ok(_)) => Answer::Unknown("its result is neither true nor false"),
            Some(Err(ExecutionError::NoSuchKey(_))) => Answer::Error("a field that it names is not there"),
            Some(Err(ExecutionError::IndexOutOfBounds(_))) => Answer::Error("a list is too short"),
            Some(Err(ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_))) => {
                Answer::Error("it divides by zero")
            }
            Some(Err(ExecutionError::Overflow(..))) => Answer::Error("a number is too large"),
            Some(Err(_)) => Answer::Unknown("it uses something that cannot be evaluated here"),
            None => Answer::Unknown("its evaluation broke off"),
        }
    }
}

enum Answer {
    Holds,
    Fails,
    Error(&'static str),
    Unknown(&'static str),
}

/// The library panics on a few forms; that is no reason to end the process. Nothing is shared that could be left half done.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The item of the old list that `item` replaces: only lists of type map can say.
fn same_entry<'a>(item: &Value, old: &'a Value, schema: &Schema) -> Option<&'a Value> {
    if schema.list_type != ListType::Map {
        return None;
    }
    let same_key = |other: &Value, key: &str| match (item.get(key), other.get(key)) {
        (Some(one), Some(other)) => same_value(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    old.as_array()?.iter().find(|other| schema.list_map_keys.iter().all(|key| same_key(other, key)))
}
