//! Changing fields by path: `spec/template/metadata/labels`, through lists (`containers/image` is the image of every
//! container) and, where a rule says so, creating what is missing.

use serde_json::{Map, Value};

/// A path and the kinds of objects that have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    /// `""` is any.
    pub(crate) group: &'a str,
    /// `""` is any.
    pub(crate) version: &'a str,
    /// `""` is any.
    pub(crate) kind: &'a str,
    /// Names joined by `/`; `\/` is a slash in a name; a name that ends with `[]` must be a list.
    pub(crate) path: &'a str,
    /// Whether missing fields on the way are made.
    pub(crate) create: bool,
}

impl Field<'_> {
    /// Whether objects of this kind have the field.
    pub(crate) fn applies_to(&self, group: &str, version: &str, kind: &str) -> bool {
        let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        fits(self.group, group) && fits(self.version, version) && fits(self.kind, kind)
    }

    /// Calls `set` for each value at the path. `make` is what a missing last field begins as, where `create` is set.
    ///
    /// # Errors
    /// The name of the field that is in the way: a scalar where the path goes on.
    pub(crate) fn visit(
        &self,
        value: &mut Value,
        make: &Value,
        set: &mut dyn FnMut(&mut Value),
    ) -> Result<(), String> {
        let names = split(self.path);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        descend(value, &names, self.create.then_some(make), set)
    }
}

fn descend(
    value: &mut Value,
    names: &[&str],
    make: Option<&Value>,
    set: &mut dyn FnMut(&mut Value),
) -> Result<(), String> {
    let Some((name, rest)) = names.split_first() else {
        set(value);
        return Ok(());
    };
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| descend(item, names, make, set)),
        Value::Object(map) => {
            let (name, list) = name.strip_suffix("[]").map_or((*name, false), |name| (name, true));
            if map.get(name).is_none_or(Value::is_null) {
                let Some(make) = make.filter(|_| !list) else { return Ok(()) };
                let start = if rest.is_empty() { make.clone() } else { Value::Object(Map::new()) };
                map.insert(name.to_owned(), start);
            }
            match map.get_mut(name) {
                Some(child) => descend(child, rest, make, set),
                None => Ok(()),
            }
        }
        Value::Null => Ok(()),
        _ => Err((*name).to_owned()),
    }
}

fn split(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = path.trim_start_matches('/').chars().peekable();
    while let Some(character) = characters.next() {
        match (character, names.last_mut()) {
            ('\\', Some(name)) if characters.peek() == Some(&'/') => {
                name.push('/');
                characters.next();
            }
            ('/', _) => names.push(String::new()),
            (character, Some(name)) => name.push(character),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Field;

    fn set(path: &str, create: bool, mut value: Value) -> Result<Value, String> {
        let field = Field { group: "", version: "", kind: "", path, create };
        field.visit(&mut value, &json!({}), &mut |found| *found = json!("x"))?;
        Ok(value)
    }

    #[test]
    fn paths_go_through_lists_and_create_only_when_told() {
        assert_eq!(set("a/b", true, json!({})), Ok(json!({"a": {"b": "x"}})));
        assert_eq!(set("a/b", false, json!({"a": {}})), Ok(json!({"a": {}})));
        assert_eq!(
            set("a/b", true, json!({"a": [{}, {"b": 1}]})),
            Ok(json!({"a": [{"b": "x"}, {"b": "x"}]}))
        );
        assert_eq!(set("a[]/b", true, json!({})), Ok(json!({})));
        assert_eq!(set(r"a/b\/c", true, json!({"a": {}})), Ok(json!({"a": {"b/c": "x"}})));
        assert_eq!(set("a/b", true, json!({"a": 1})), Err("b".into()));
    }
}
