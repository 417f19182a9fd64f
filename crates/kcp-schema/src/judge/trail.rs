//! The place of a walk through an object: borrowed and cheap, copied only when there is something to say about it.

use std::sync::Arc;

use crate::model::{ObjectPath, Step};

#[derive(Debug, Clone, Copy)]
pub(super) enum At<'a> {
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

#[derive(Debug, Default)]
pub(super) struct Trail<'a>(Vec<At<'a>>);

impl<'a> Trail<'a> {
    pub(super) fn push(&mut self, at: At<'a>) {
        self.0.push(at);
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn path(&self) -> ObjectPath {
        ObjectPath(self.0.iter().map(At::step).collect())
    }

    pub(super) fn path_of(&self, at: At<'_>) -> ObjectPath {
        self.path().child(at.step())
    }
}

impl At<'_> {
    fn step(&self) -> Step {
        match self {
            Self::Field(name) => Step::Field(Arc::from(*name)),
            Self::Key(key) => Step::Key(Arc::from(*key)),
            Self::Index(index) => Step::Index(*index),
        }
    }
}
