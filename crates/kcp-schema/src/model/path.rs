//! Where something is: in an object (`spec.containers[0].name`) and in a schema (`spec.containers[].name`).

use std::fmt;
use std::sync::Arc;

/// One step into an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A field the schema names.
    Field(Arc<str>),
    /// A key of a free mapping (labels, for example).
    Key(Arc<str>),
    /// An item of a list, from 0.
    Index(usize),
}

/// A place in an object. The root is empty and prints as `.`; fields print as `.a.b` without the leading dot, keys as
/// `[key]`, items as `[0]`, like the API server's own messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ObjectPath(pub Vec<Step>);

/// One step into a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchemaStep {
    /// A named property.
    Property(Arc<str>),
    /// The schema of list items.
    Items,
    /// The schema of a free mapping's values.
    Values,
    /// The n-th entry of `allOf`.
    AllOf(usize),
    /// The n-th entry of `anyOf`.
    AnyOf(usize),
    /// The n-th entry of `oneOf`.
    OneOf(usize),
    /// The schema under `not`.
    Not,
}

/// A place in a schema. Prints as `spec.containers[].name`; `.` is the root, `{}` the values of a free mapping,
/// `<allOf 0>` an entry of a junctor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SchemaPath(pub Vec<SchemaStep>);

impl ObjectPath {
    /// The path of one more step.
    #[must_use]
    pub fn child(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl SchemaPath {
    /// The path of one more step.
    #[must_use]
    pub fn child(&self, step: SchemaStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

fn field(f: &mut fmt::Formatter<'_>, first: bool, name: &str) -> fmt::Result {
    // A dot in a name would read as two fields.
    if name.contains('.') || name.is_empty() {
        return write!(f, "[{name}]");
    }
    if !first {
        f.write_str(".")?;
    }
    f.write_str(name)
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) => field(f, index == 0, name)?,
                Step::Key(key) => write!(f, "[{key}]")?,
                Step::Index(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for SchemaPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        for (index, step) in self.0.iter().enumerate() {
            match step {
                SchemaStep::Property(name) => field(f, index == 0, name)?,
                SchemaStep::Items => f.write_str("[]")?,
                SchemaStep::Values => f.write_str("{}")?,
                SchemaStep::AllOf(item) => write!(f, "<allOf {item}>")?,
                SchemaStep::AnyOf(item) => write!(f, "<anyOf {item}>")?,
                SchemaStep::OneOf(item) => write!(f, "<oneOf {item}>")?,
                SchemaStep::Not => f.write_str("<not>")?,
            }
        }
        Ok(())
    }
}
