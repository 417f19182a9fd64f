//! The rules (CEL) and conditions of all members, carried over into the common node so that they mean the same there.

use super::explicit::{self, Need};
use super::facts::Facts;
use super::junctor::{Trim, Trimmer};
use super::kinds::Kinds;
use super::meet::{Meeting, Side, members};
use super::report::{Loss, Lost, Nothing, WhyEmpty, WhyUnknown};
use super::see::{self, Words};
use crate::{Node, SchemaPath, Type};

/// Giving up a default may make a rule see another difference; real schemas need no second round.
const ROUNDS: usize = 8;

impl Meeting {
    /// Adds the rules and conditions of all sides to `node`, which has its fields and items already.
    pub(super) fn carry_over(
        &mut self,
        sides: &[Side],
        kinds: Kinds,
        node: &mut Node,
        facts: &mut Facts,
    ) -> Result<(), Nothing> {
        facts.take_junctors();
        for _ in 0..ROUNDS {
            let mut needs = Vec::new();
            let mut joined = Facts::default();
            for side in sides {
                self.conditions(side, kinds, node, &mut joined, &mut needs)?;
                self.expressions(side, node, &mut needs)?;
            }
            if needs.is_empty() {
                facts.join(&joined);
                node.cel = sides.iter().flat_map(|side| side.part.schema.cel.clone()).collect();
                node.cel.sort();
                node.cel.dedup_by(|one, other| {
                    one.rule == other.rule && one.optional_old_self == other.optional_old_self
                });
                return Ok(());
            }
            self.tell_needs(&needs, sides);
            if !explicit::apply(node, &needs) {
                return Err(self.dark(WhyUnknown::Inexpressible("more fields must be given than may be")));
            }
        }
        Err(self.dark(WhyUnknown::Condition))
    }

    fn conditions(
        &self,
        side: &Side,
        kinds: Kinds,
        node: &Node,
        joined: &mut Facts,
        needs: &mut Vec<Need>,
    ) -> Result<(), Nothing> {
        let definite = kinds.is_only(Type::Object) && !node.nullable;
        for junctor in side.facts.clone().take_junctors() {
            let mut trimmer = Trimmer { needs, path: Vec::new() };
            match trimmer.trim(&junctor, &side.part.schema, node, definite) {
                Ok(Trim::Holds) => {}
                Ok(Trim::Fails) => {
                    return Err(self.empty(WhyEmpty::Condition, std::slice::from_ref(side), |_| true));
                }
                Ok(Trim::Is(left)) => joined.absorb(&left),
                Err(see::Blind) => return Err(self.dark(WhyUnknown::Condition)),
            }
        }
        Ok(())
    }

    fn expressions(&self, side: &Side, node: &Node, needs: &mut Vec<Need>) -> Result<(), Nothing> {
        for rule in &side.part.schema.cel {
            let seen = see::look(&Words::of(rule), &side.part.schema, node, &mut Vec::new(), needs);
            seen.map_err(|see::Blind| self.dark(WhyUnknown::Rule(rule.rule.to_string())))?;
        }
        Ok(())
    }

    fn tell_needs(&mut self, needs: &[Need], sides: &[Side]) {
        for need in needs.iter().filter(|need| need.forbidden.is_none()) {
            let SchemaPath(mut path) = self.place();
            path.extend(need.path.iter().cloned());
            path.push(crate::SchemaStep::Property(need.name.clone()));
            self.push(Loss {
                path: SchemaPath(path),
                lost: Lost::Implicit,
                to: members(sides, |_| true),
                because_of: Vec::new(),
                had: serde_json::Value::Null,
                now: serde_json::Value::Null,
                conservative: true,
            });
        }
    }
}
