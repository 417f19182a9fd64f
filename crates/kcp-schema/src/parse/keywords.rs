//! Typed access to the keywords of one JSON mapping, with the place of what has another form.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{ParseError, Problem};
use super::number::word;
use crate::model::{ObjectPath, Step};

/// The place of what is being read: a stack that is pushed and popped, and copied only for errors.
#[derive(Debug, Default)]
pub(super) struct At(pub(super) Vec<Step>);

impl At {
    pub(super) fn field(name: &str) -> Step {
        Step::Field(Arc::from(name))
    }

    pub(super) fn error(&self, problem: Problem) -> ParseError {
        ParseError { path: ObjectPath(self.0.clone()), problem }
    }

    pub(super) fn error_in(&self, name: &str, problem: Problem) -> ParseError {
        let path = ObjectPath(self.0.clone()).child(Self::field(name));
        ParseError { path, problem }
    }

    /// A keyword; null counts as absent, as it does for an API server.
    pub(super) fn get<'v>(map: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
        map.get(name).filter(|value| !value.is_null())
    }

    fn wrong<T>(&self, name: &str, expected: &'static str, value: &Value) -> Result<T, ParseError> {
        Err(self.error_in(name, Problem::WrongForm { expected, found: word(value) }))
    }

    pub(super) fn text<'v>(
        &self,
        map: &'v Map<String, Value>,
        name: &str,
    ) -> Result<Option<&'v str>, ParseError> {
        match Self::get(map, name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => self.wrong(name, "text", other),
        }
    }

    /// Text that is absent when empty, as everywhere in Kubernetes.
    pub(super) fn shared(
        &self,
        map: &Map<String, Value>,
        name: &str,
    ) -> Result<Option<Arc<str>>, ParseError> {
        Ok(self.text(map, name)?.filter(|text| !text.is_empty()).map(Arc::from))
    }

    pub(super) fn needed<'v>(&self, map: &'v Map<String, Value>, name: &str) -> Result<&'v str, ParseError> {
        let text = self.text(map, name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.error_in(name, Problem::Missing))
    }

    pub(super) fn flag(&self, map: &Map<String, Value>, name: &str) -> Result<bool, ParseError> {
        match Self::get(map, name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => self.wrong(name, "true or false", other),
        }
    }

    pub(super) fn count(&self, map: &Map<String, Value>, name: &str) -> Result<Option<u64>, ParseError> {
        let value = Self::get(map, name).map(super::number::count).transpose();
        value.map_err(|problem| self.error_in(name, problem))
    }

    pub(super) fn float(&self, map: &Map<String, Value>, name: &str) -> Result<Option<f64>, ParseError> {
        let value = Self::get(map, name).map(super::number::float).transpose();
        value.map_err(|problem| self.error_in(name, problem))
    }

    pub(super) fn list<'v>(
        &self,
        map: &'v Map<String, Value>,
        name: &str,
    ) -> Result<&'v [Value], ParseError> {
        match Self::get(map, name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => self.wrong(name, "a list", other),
        }
    }

    pub(super) fn texts(&self, map: &Map<String, Value>, name: &str) -> Result<Vec<Arc<str>>, ParseError> {
        let items = self.list(map, name)?.iter();
        items
            .map(|item| match item {
                Value::String(text) => Ok(Arc::from(text.as_str())),
                other => self.wrong(name, "a list of text", other),
            })
            .collect()
    }

    pub(super) fn mapping<'v>(
        &self,
        map: &'v Map<String, Value>,
        name: &str,
    ) -> Result<Option<&'v Map<String, Value>>, ParseError> {
        match Self::get(map, name) {
            None => Ok(None),
            Some(Value::Object(inner)) => Ok(Some(inner)),
            Some(other) => self.wrong(name, "a mapping", other),
        }
    }

    pub(super) fn needed_mapping<'v>(
        &self,
        map: &'v Map<String, Value>,
        name: &str,
    ) -> Result<&'v Map<String, Value>, ParseError> {
        self.mapping(map, name)?.ok_or_else(|| self.error_in(name, Problem::Missing))
    }

    /// `value` itself as a mapping.
    pub(super) fn as_mapping<'v>(&self, value: &'v Value) -> Result<&'v Map<String, Value>, ParseError> {
        match value {
            Value::Object(map) => Ok(map),
            other => Err(self.error(Problem::WrongForm { expected: "a mapping", found: word(other) })),
        }
    }
}
