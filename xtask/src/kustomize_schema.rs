//! `cargo xtask kustomize-schema`: the table of merge keys and scopes in crates/kustomize-rs, made from the OpenAPI document
//! that the reference embeds. Names and relations only; no text of the document is taken over.

mod protobuf;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use protobuf::Message;

/// The module of kustomize 5.5 that holds the document, and where it is in it.
const MODULE: &str = "sigs.k8s.io/kustomize/kyaml@v0.18.1";
const DOCUMENT: &str = "openapi/kubernetesapi/v1_21_2/swagger.pb";

const HEADER: &str = "\
//! Kinds of Kubernetes 1.21.2: which of their lists are merged and by what, and which kinds have a namespace.\n\
//! Made by `cargo xtask kustomize-schema`. Change that, not this file.\n";

/// Write the table of merge keys that kustomize-rs is built with
///
/// Example: cargo xtask kustomize-schema --check
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail when the table is not what would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let document = fetch()?.join(DOCUMENT);
    let bytes = std::fs::read(&document).with_context(|| document.display().to_string())?;
    let wanted = table(Message(&bytes))?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kustomize-rs/src/schema/table.rs");
    if std::fs::read_to_string(&path).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    if args.check {
        bail!("the table of kustomize-rs is not up to date; run `cargo xtask kustomize-schema`");
    }
    std::fs::write(&path, wanted).with_context(|| format!("cannot write {}", path.display()))
}

/// The folder of the module, downloaded where it is not there yet.
fn fetch() -> anyhow::Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let out = Command::new("go")
        .args(["mod", "download", "-json", MODULE])
        .current_dir(folder.path())
        .output()
        .context("cannot run go: install Go 1.26 or newer")?;
    if !out.status.success() {
        bail!("go mod download {MODULE}: {}", String::from_utf8_lossy(&out.stderr));
    }
    let answer: Value = serde_json::from_slice(&out.stdout).context("the answer of go mod download")?;
    let dir = answer.get("Dir").and_then(Value::as_str).context("go mod download names no folder")?;
    Ok(PathBuf::from(dir))
}

/// What a field of a type is, as far as a merge cares.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Field {
    /// A mapping of this type.
    Map(String),
    /// A list that is merged: by these keys, its items being of this type, where it is a type of its own.
    List(Vec<String>, Option<String>),
}

/// The fields of a type; `*` is any name.
type Type = BTreeMap<String, Field>;

fn table(document: Message<'_>) -> anyhow::Result<String> {
    let mut types: BTreeMap<String, Type> = BTreeMap::new();
    let mut kinds: BTreeMap<(String, String), String> = BTreeMap::new();
    for named in document.message(9)?.context("no definitions")?.messages(1)? {
        let (name, schema) = (named.text(1)?, named.message(2)?.context("a definition without a schema")?);
        types.insert(name.to_owned(), fields(schema)?);
        if let Some(Value::Array(list)) = extension(schema, 31, "x-kubernetes-group-version-kind")? {
            for kind in &list {
                kinds.insert(type_meta(kind)?, name.to_owned());
            }
        }
    }
    let needed = needed(&types);
    let numbers: BTreeMap<&str, usize> =
        needed.iter().enumerate().map(|(number, name)| (*name, number)).collect();

    let mut out = String::from(HEADER);
    out.push_str("\nuse super::builtin::Field::{self, List, Map, Set};\n");
    out.push_str("\n/// The fields of each type, sorted by name; `*` stands for any name.\n");
    out.push_str("#[rustfmt::skip]\npub(super) static TYPES: &[&[(&str, Field)]] = &[\n");
    for name in &needed {
        out.push_str("    &[");
        let kept = types[*name].iter().filter(|(_, field)| keeps(field, &needed));
        let written = kept.map(|(name, field)| format!("({name:?}, {})", written(field, &numbers)));
        out.push_str(&written.collect::<Vec<_>>().join(", "));
        out.push_str("],\n");
    }
    out.push_str("];\n");
    out.push_str("\n/// (apiVersion, kind) and the number of its type, sorted.\n");
    out.push_str("#[rustfmt::skip]\npub(super) static KINDS: &[(&str, &str, u16)] = &[\n");
    for ((api_version, kind), name) in &kinds {
        if let Some(number) = numbers.get(name.as_str()) {
            writeln!(out, "    ({api_version:?}, {kind:?}, {number}),")?;
        }
    }
    out.push_str("];\n");
    out.push_str(
        "\n/// (apiVersion, kind) and whether it has a namespace, sorted. What is not here is not known.\n",
    );
    out.push_str("#[rustfmt::skip]\npub(super) static SCOPES: &[(&str, &str, bool)] = &[\n");
    for ((api_version, kind), namespaced) in scopes(document)? {
        writeln!(out, "    ({api_version:?}, {kind:?}, {namespaced}),")?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// The fields of a schema that lead somewhere.
fn fields(schema: Message<'_>) -> anyhow::Result<Type> {
    let mut found = Type::new();
    let properties = schema.message(25)?.map(|it| it.messages(1)).transpose()?.unwrap_or_default();
    for named in properties {
        let value = named.message(2)?.context("a property without a schema")?;
        if let Some(field) = field(value)? {
            found.insert(named.text(1)?.to_owned(), field);
        }
    }
    let any = schema.message(21)?.map(|it| it.message(1)).transpose()?.flatten();
    if let Some(field) = any.map(field).transpose()?.flatten() {
        found.insert("*".to_owned(), field);
    }
    Ok(found)
}

fn field(schema: Message<'_>) -> anyhow::Result<Option<Field>> {
    let reference = reference(schema)?;
    if reference.is_some() {
        return Ok(reference.map(Field::Map));
    }
    let strategy = extension(schema, 31, "x-kubernetes-patch-strategy")?;
    let merged =
        strategy.as_ref().and_then(Value::as_str).is_some_and(|it| it.split(',').any(|it| it == "merge"));
    let list = schema.message(22)?.is_some_and(|it| it.text(1).is_ok_and(|it| it == "array"));
    if !merged || !list {
        return Ok(None);
    }
    let text = |value: &Value| value.as_str().map(str::to_owned).context("a merge key that is not text");
    let keys = match extension(schema, 31, "x-kubernetes-list-map-keys")? {
        Some(Value::Array(keys)) => keys.iter().map(text).collect::<Result<_, _>>()?,
        _ => extension(schema, 31, "x-kubernetes-patch-merge-key")?
            .iter()
            .map(text)
            .collect::<Result<_, _>>()?,
    };
    let items = schema.message(23)?.map(|it| it.message(1)).transpose()?.flatten();
    Ok(Some(Field::List(keys, items.map(self::reference).transpose()?.flatten())))
}

fn reference(schema: Message<'_>) -> anyhow::Result<Option<String>> {
    let text = schema.text(1)?;
    Ok(text.strip_prefix("#/definitions/").map(str::to_owned))
}

/// The value of an extension; those are kept as YAML.
fn extension(message: Message<'_>, number: u64, name: &str) -> anyhow::Result<Option<Value>> {
    for named in message.messages(number)? {
        if named.text(1)? == name {
            let any = named.message(2)?.context("an extension without a value")?;
            return Ok(Some(serde_yaml::from_str(any.text(2)?)?));
        }
    }
    Ok(None)
}

fn type_meta(kind: &Value) -> anyhow::Result<(String, String)> {
    let text = |field: &str| kind.get(field).and_then(Value::as_str).unwrap_or_default();
    let api_version = match (text("group"), text("version")) {
        ("", version) => version.to_owned(),
        (group, version) => format!("{group}/{version}"),
    };
    Ok((api_version, text("kind").to_owned()))
}

/// The types from which a merged list can be reached.
fn needed(types: &BTreeMap<String, Type>) -> BTreeSet<&str> {
    let mut needed = BTreeSet::new();
    loop {
        let before = needed.len();
        for (name, fields) in types {
            if fields.values().any(|field| keeps(field, &needed)) {
                needed.insert(name.as_str());
            }
        }
        if needed.len() == before {
            return needed;
        }
    }
}

fn keeps(field: &Field, needed: &BTreeSet<&str>) -> bool {
    match field {
        Field::Map(name) => needed.contains(name.as_str()),
        Field::List(..) => true,
    }
}

fn written(field: &Field, numbers: &BTreeMap<&str, usize>) -> String {
    match field {
        Field::Map(name) => format!("Map({})", numbers[name.as_str()]),
        Field::List(keys, _) if keys.is_empty() => "Set".to_owned(),
        Field::List(keys, item) => {
            let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
            let item = item.as_deref().and_then(|item| numbers.get(item));
            let item = item.map_or("None".to_owned(), |number| format!("Some({number})"));
            format!("List(&[{}], {item})", keys.join(", "))
        }
    }
}

/// Which kinds can be read in a namespace.
fn scopes(document: Message<'_>) -> anyhow::Result<BTreeMap<(String, String), bool>> {
    let mut scopes = BTreeMap::new();
    for named in document.message(8)?.context("no paths")?.messages(2)? {
        let Some(get) = named.message(2)?.map(|it| it.message(2)).transpose()?.flatten() else { continue };
        let Some(kind) = extension(get, 13, "x-kubernetes-group-version-kind")? else { continue };
        let namespaced = scopes.entry(type_meta(&kind)?).or_insert(false);
        *namespaced |= named.text(1)?.contains("namespaces/{namespace}");
    }
    Ok(scopes)
}
