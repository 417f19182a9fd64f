//! `replicas`: how many pods a workload of a name has.

use serde_json::Value;

use crate::field_path::Field;
use crate::item::Item;
use crate::kustomization::Replica;

/// Sets the count in every object that has or had the name.
///
/// # Errors
/// No such object, or one whose field is something else than a number.
pub(crate) fn set(items: &mut [Item], replica: &Replica, fields: &[Field]) -> Result<(), String> {
    let count = Value::from(replica.count);
    let mut found = false;
    // The names that items had and have, once: fields are few, objects many.
    let named: Vec<usize> = (0..items.len())
        .filter(|index| {
            let item = &items[*index];
            item.resource.name() == replica.name || item.previous.iter().any(|it| it.name == replica.name)
        })
        .collect();
    for field in fields {
        for index in &named {
            let item = &mut items[*index];
            let (group, version) = (item.resource.group(), item.resource.version());
            let now = (item.resource.name(), item.resource.kind());
            let had = item.previous.iter().map(|it| (it.name.as_str(), it.kind.as_str()));
            let meant = had
                .chain([now])
                .any(|(name, kind)| name == replica.name && field.applies_to(group, version, kind));
            if !meant {
                continue;
            }
            found = true;
            if !field.is_of(&item.resource) {
                continue;
            }
            let id = item.resource.id();
            let set = field.visit(item.resource.value_mut(), Some(&Value::Null), &mut |found| match found {
                Value::Object(_) | Value::Array(_) => Err("not a single value".into()),
                found => {
                    *found = count.clone();
                    Ok(())
                }
            });
            set.map_err(|why| format!("{id}: {}: {why}", field.path.replace('/', ".")))?;
        }
    }
    if found {
        return Ok(());
    }
    let kinds: Vec<&str> = fields.iter().map(|field| &*field.kind).collect();
    Err(format!(
        "no object is or was called {}, of a kind that has replicas ({})",
        replica.name,
        kinds.join(", ")
    ))
}
