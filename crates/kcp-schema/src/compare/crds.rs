//! Two CRDs: names, versions and what each serves, then the schemas of the versions that both have.

use serde_json::{Value, json};

use super::{CompareOptions, Difference, Impact, Proof, schemas};
use crate::model::{Conversion, Crd, Schema, Version};
use crate::rules::Direction;
use crate::subsume::{Kind, Scope, Slot, Sure, gaps};

const BREAKS: Impact = Impact::Breaks(Proof::Rule);

pub(super) fn compare(old: &Crd, new: &Crd, options: &CompareOptions) -> Vec<Difference> {
    let mut all = Vec::new();
    names(old, new, &mut all);
    for version in &old.versions {
        versions(old, new, version, &mut all);
    }
    let fresh =
        |version: &&Version| version.served && old.version(&version.name).is_none_or(|old| !old.served);
    for version in new.versions.iter().filter(fresh) {
        all.push(of("version-added", version, &Impact::None));
    }
    storage(old, new, &mut all);
    lossy(old, new, &mut all);
    for version in &old.versions {
        if let Some(other) = new.version(&version.name) {
            subresources(version, other, &mut all);
            all.extend(bodies(old, new, version, other, options));
        }
    }
    all
}

fn of(rule: &'static str, version: &Version, impact: &Impact) -> Difference {
    Difference { version: Some(version.name.clone()), ..Difference::by_rule(rule, impact) }
}

fn names(old: &Crd, new: &Crd, all: &mut Vec<Difference>) {
    let (before, after) = (&old.names, &new.names);
    let identity =
        |crd: &Crd| json!({"group": &*crd.group, "kind": &*crd.names.kind, "plural": &*crd.names.plural});
    if identity(old) != identity(new) {
        let said = (Some(identity(old)), Some(identity(new)));
        all.push(Difference::by_rule("identity-changed", &BREAKS).says(said.0, said.1));
    }
    if old.scope != new.scope {
        let word = |crd: &Crd| Some(json!(crd.scope));
        all.push(Difference::by_rule("scope-changed", &BREAKS).says(word(old), word(new)));
    }
    let list = |words: &[std::sync::Arc<str>]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let typed = |names: &crate::Names| json!({"singular": &*names.singular, "shortNames": list(&names.short_names), "categories": list(&names.categories)});
    if typed(before) != typed(after) {
        all.push(Difference::new("cli-changed").says(Some(typed(before)), Some(typed(after))));
    }
    if old.conversion != new.conversion {
        let word =
            |conversion| Some(json!(if conversion == Conversion::Webhook { "Webhook" } else { "None" }));
        let unknown = Impact::Unknown("it depends on what the webhook does".into());
        let impact = if old.versions.len() == 1 && new.versions.len() == 1 { Impact::None } else { unknown };
        all.push(
            Difference::by_rule("conversion-changed", &impact)
                .says(word(old.conversion), word(new.conversion)),
        );
    }
    if old.preserve_unknown_fields != new.preserve_unknown_fields {
        let said = (Some(json!(old.preserve_unknown_fields)), Some(json!(new.preserve_unknown_fields)));
        let rule =
            if old.preserve_unknown_fields { "preserve-unknown-removed" } else { "preserve-unknown-added" };
        all.push(Difference::by_rule(rule, &BREAKS).says(said.0, said.1));
    }
}

/// What became of a version.
fn versions(old: &Crd, new: &Crd, version: &Version, all: &mut Vec<Difference>) {
    let said = |difference: Difference| difference.says(Some(json!(&*version.name)), None);
    match new.version(&version.name) {
        None => {
            if version.served {
                all.push(said(of("version-removed", version, &BREAKS)));
            }
            let listed = |crd: &Crd| crd.stored_versions.contains(&version.name);
            if listed(old) || listed(new) {
                all.push(said(of("stored-version-removed", version, &BREAKS)));
            } else if (version.storage || !version.served) && old.stored_versions.is_empty() {
                let why = "objects may still be stored in it; the CRD's status.storedVersions says so, which a file lacks";
                all.push(said(of("stored-version-removed", version, &Impact::Unknown(why.into()))));
            }
        }
        Some(other) => {
            let flag = |flag| Some(json!(flag));
            if version.served && !other.served {
                all.push(of("version-unserved", version, &BREAKS).says(flag(true), flag(false)));
            }
            if !version.deprecated && other.deprecated {
                all.push(of("version-deprecated", version, &Impact::None).says(flag(false), flag(true)));
            }
        }
    }
}

fn storage(old: &Crd, new: &Crd, all: &mut Vec<Difference>) {
    let name = |crd: &Crd| crd.storage_version().map(|version| json!(&*version.name));
    if name(old) != name(new) {
        all.push(Difference::new("storage-version-changed").says(name(old), name(new)));
    }
}

/// Two served versions with no conversion between them, one of which cannot hold what the other can. What was so before is
/// no change.
fn lossy(old: &Crd, new: &Crd, all: &mut Vec<Difference>) {
    if new.conversion != Conversion::None || new.preserve_unknown_fields {
        return;
    }
    for (index, first) in new.versions.iter().enumerate() {
        for second in &new.versions[index + 1..] {
            if !first.served || !second.served {
                continue;
            }
            let Some(loss) = loss(first, second) else { continue };
            let before = old.version(&first.name).zip(old.version(&second.name));
            let known = before.is_some_and(|(a, b)| a.served && b.served && self::loss(a, b).is_some());
            if !known || old.conversion != Conversion::None {
                let mut difference = Difference::by_rule("served-versions-lossy", &Impact::Meaning(None));
                difference.detail = Some(format!("{} and {} differ at {loss}", first.name, second.name));
                all.push(difference);
            }
        }
    }
}

/// The first place at which one of two schemas drops what the other keeps.
fn loss(a: &Version, b: &Version) -> Option<String> {
    let (a, b) = (a.schema.as_ref()?, b.schema.as_ref()?);
    if a == b {
        return None;
    }
    let scope = Scope { resource: true, read_back: false };
    let drops = |kind: &Kind| matches!(kind, Kind::Field | Kind::Open | Kind::Keys | Kind::BareValues);
    let both = gaps(a, b, scope).into_iter().chain(gaps(b, a, scope));
    both.filter(|gap| gap.sure == Sure::Yes && drops(&gap.kind)).map(|gap| gap.path.to_string()).next()
}

fn subresources(old: &Version, new: &Version, all: &mut Vec<Difference>) {
    if !old.served || !new.served {
        return;
    }
    let mut add = |rule, impact: &Impact, before: Option<Value>, after: Option<Value>| {
        all.push(of(rule, old, impact).says(before, after));
    };
    match (old.status_subresource, new.status_subresource) {
        (false, true) => add("status-subresource-added", &BREAKS, Some(json!(false)), Some(json!(true))),
        (true, false) => add("status-subresource-removed", &BREAKS, Some(json!(true)), Some(json!(false))),
        _ => {}
    }
    let scale = |version: &Version| {
        version.scale.as_ref().map(|scale| {
            json!({"specReplicasPath": &*scale.spec_replicas_path, "statusReplicasPath": &*scale.status_replicas_path,
                "labelSelectorPath": scale.label_selector_path.as_deref()})
        })
    };
    if old.scale.is_some() && old.scale != new.scale {
        add("scale-changed", &BREAKS, scale(old), scale(new));
    }
    for field in old.selectable_fields.iter().filter(|field| !new.selectable_fields.contains(field)) {
        add("selectable-field-removed", &BREAKS, Some(json!(&**field)), None);
    }
    let columns = |version: &Version| {
        let column = |column: &crate::Column| {
            json!([&*column.name, &*column.json_path, &*column.kind, column.priority])
        };
        Some(Value::Array(version.columns.iter().map(column).collect()))
    };
    if columns(old) != columns(new) {
        add("cli-changed", &Impact::None, columns(old), columns(new));
    }
}

/// The schemas of a version: for clients if both serve it, for stored objects if they may be in it.
fn bodies(
    old: &Crd,
    new: &Crd,
    version: &Version,
    other: &Version,
    options: &CompareOptions,
) -> Vec<Difference> {
    let served = version.served && other.served;
    let stored = version.storage || old.stored_versions.contains(&version.name);
    if !served && !stored {
        return Vec::new();
    }
    // Without a schema nothing is checked or pruned.
    let body = |version: &Version| version.schema.clone().or_else(|| Slot::Open.schema()).unwrap_or_default();
    let (before, after): (Schema, Schema) = (body(version), body(other));
    let identity = schemas::identity(&format!("{}/{}", new.group, version.name), &new.names.kind);
    let options = CompareOptions { resource: true, ..options.clone() };
    let mut all = schemas::compare(&before, &after, &identity, &options);
    for difference in &mut all {
        difference.version = Some(version.name.clone());
        if stored {
            schemas::is_stored(difference);
        }
        if !served {
            *difference.impact_mut(Direction::Writers) = Impact::None;
            *difference.impact_mut(Direction::Readers) = Impact::None;
        }
    }
    all
}
