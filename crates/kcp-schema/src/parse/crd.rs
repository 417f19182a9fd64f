//! A CustomResourceDefinition: v1, and v1beta1 read as what it means in v1.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{ParseError, Problem};
use super::keywords::At;
use super::schema::{Dialect, Options, Reader};
use crate::model::{Column, Conversion, Crd, Names, Pool, Scale, Schema, Scope, Step, Version};

impl Crd {
    /// Reads a CRD from its JSON form.
    ///
    /// A v1beta1 CRD may have one schema for all versions (`spec.validation`), and prunes only with
    /// `preserveUnknownFields: false`; then its schemas must be structural, as in v1.
    ///
    /// # Errors
    /// The first thing that makes it unusable, with its path: another document, a name or version that is missing or
    /// there twice, a schema that is not structural, an invalid pattern, or something beyond the limits.
    pub fn parse(value: &Value, options: &Options, pool: &mut Pool) -> Result<Self, ParseError> {
        let mut reader = Reader::new(options, pool, Dialect::Structural);
        let map = reader.at.as_mapping(value)?;
        let beta = is_beta(map, &reader.at)?;
        let spec = reader.at.needed_mapping(map, "spec")?;
        let stored_versions = match reader.at.mapping(map, "status")? {
            Some(status) => reader.within("status", |reader| reader.at.texts(status, "storedVersions"))?,
            None => Vec::new(),
        };
        let mut crd = reader.within("spec", |reader| read_spec(reader, spec, beta))?;
        crd.stored_versions = stored_versions;
        Ok(crd)
    }
}

fn is_beta(map: &Map<String, Value>, at: &At) -> Result<bool, ParseError> {
    let version = map.get("apiVersion").and_then(Value::as_str).unwrap_or("");
    let kind = map.get("kind").and_then(Value::as_str).unwrap_or("");
    match (version, kind) {
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => Ok(false),
        ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition") => Ok(true),
        ("", "") => {
            Err(at.error(Problem::NotACrd { found: "a mapping without apiVersion and kind".to_owned() }))
        }
        _ => {
            let clip = |text: &str| text.chars().take(100).collect::<String>();
            Err(at.error(Problem::NotACrd { found: format!("{} {}", clip(version), clip(kind)) }))
        }
    }
}

fn read_spec(reader: &mut Reader<'_>, spec: &Map<String, Value>, beta: bool) -> Result<Crd, ParseError> {
    let group: Arc<str> = Arc::from(reader.at.needed(spec, "group")?);
    let names = reader.at.needed_mapping(spec, "names")?;
    let names = reader.within("names", |reader| read_names(&reader.at, names))?;
    let scope = match reader.at.needed(spec, "scope")? {
        "Namespaced" => Scope::Namespaced,
        "Cluster" => Scope::Cluster,
        other => {
            let problem = Problem::UnknownWord { word: other.to_owned(), known: "Namespaced, Cluster" };
            return Err(reader.at.error_in("scope", problem));
        }
    };
    // The default of v1beta1 is to preserve.
    let preserve_unknown_fields = match At::get(spec, "preserveUnknownFields") {
        None => beta,
        Some(_) => reader.at.flag(spec, "preserveUnknownFields")?,
    };
    if preserve_unknown_fields && !beta {
        let problem = Problem::NotStructural("must not be true in apiextensions.k8s.io/v1");
        return Err(reader.at.error_in("preserveUnknownFields", problem));
    }
    if preserve_unknown_fields {
        reader.dialect = Dialect::Loose;
    }
    let versions = read_versions(reader, spec, beta)?;
    let count = versions.iter().filter(|version| version.storage).count();
    if count != 1 {
        return Err(reader.at.error_in("versions", Problem::StorageVersions { count }));
    }
    let conversion = match reader.at.mapping(spec, "conversion")? {
        None => Conversion::None,
        Some(conversion) => {
            reader.within("conversion", |reader| match reader.at.text(conversion, "strategy")? {
                None | Some("" | "None") => Ok(Conversion::None),
                Some("Webhook") => Ok(Conversion::Webhook),
                Some(other) => {
                    let problem = Problem::UnknownWord { word: other.to_owned(), known: "None, Webhook" };
                    Err(reader.at.error_in("strategy", problem))
                }
            })?
        }
    };
    Ok(Crd {
        group,
        names,
        scope,
        versions,
        conversion,
        preserve_unknown_fields,
        stored_versions: Vec::new(),
    })
}

fn read_names(at: &At, map: &Map<String, Value>) -> Result<Names, ParseError> {
    let kind = at.needed(map, "kind")?;
    let or = |given: Option<Arc<str>>, default: String| given.unwrap_or_else(|| Arc::from(default));
    Ok(Names {
        plural: Arc::from(at.needed(map, "plural")?),
        singular: or(at.shared(map, "singular")?, kind.to_lowercase()),
        list_kind: or(at.shared(map, "listKind")?, format!("{kind}List")),
        kind: Arc::from(kind),
        short_names: at.texts(map, "shortNames")?,
        categories: at.texts(map, "categories")?,
    })
}

fn read_versions(
    reader: &mut Reader<'_>,
    spec: &Map<String, Value>,
    beta: bool,
) -> Result<Vec<Version>, ParseError> {
    // What v1beta1 says once for all versions.
    let common = if beta { Some(read_common(reader, spec)?) } else { None };
    let items = reader.at.list(spec, "versions")?;
    if items.is_empty() {
        // The oldest form: one version, by name.
        if let (Some(common), Some(name)) = (&common, reader.at.shared(spec, "version")?) {
            return Ok(vec![Version { name, served: true, storage: true, ..common.clone() }]);
        }
        return Err(reader.at.error_in("versions", Problem::Missing));
    }
    let mut versions: Vec<Version> = Vec::with_capacity(items.len());
    reader.within("versions", |reader| {
        for (index, item) in items.iter().enumerate() {
            let version =
                reader.step(Step::Index(index), |reader| read_version(reader, item, common.as_ref()))?;
            if versions.iter().any(|other| other.name == version.name) {
                let problem = Problem::Duplicate(version.name.to_string());
                return reader.step(Step::Index(index), |reader| Err(reader.at.error(problem)));
            }
            versions.push(version);
        }
        Ok(())
    })?;
    Ok(versions)
}

fn read_common(reader: &mut Reader<'_>, spec: &Map<String, Value>) -> Result<Version, ParseError> {
    let schema = match reader.at.mapping(spec, "validation")? {
        None => None,
        Some(validation) => reader.within("validation", |reader| read_schema(reader, validation))?,
    };
    let (status_subresource, scale) = read_subresources(reader, spec)?;
    Ok(Version {
        name: Arc::from(""),
        served: false,
        storage: false,
        deprecated: false,
        deprecation_warning: None,
        schema,
        status_subresource,
        scale,
        columns: read_columns(reader, spec, &["JSONPath", "jsonPath"])?,
        selectable_fields: Vec::new(),
    })
}

fn read_version(
    reader: &mut Reader<'_>,
    item: &Value,
    common: Option<&Version>,
) -> Result<Version, ParseError> {
    let map = reader.at.as_mapping(item)?;
    let name = Arc::from(reader.at.needed(map, "name")?);
    let schema = match reader.at.mapping(map, "schema")? {
        None => None,
        Some(schema) => reader.within("schema", |reader| read_schema(reader, schema))?,
    };
    let schema = match (schema, common) {
        (Some(schema), _) => Some(schema),
        (None, Some(common)) => common.schema.clone(),
        (None, None) => return Err(reader.at.error_in("schema", Problem::Missing)),
    };
    let (mut status_subresource, mut scale) = read_subresources(reader, map)?;
    let mut columns = read_columns(reader, map, &["jsonPath", "JSONPath"])?;
    if let Some(common) = common {
        if At::get(map, "subresources").is_none() {
            status_subresource = common.status_subresource;
            scale = common.scale.clone();
        }
        if columns.is_empty() {
            columns = common.columns.clone();
        }
    }
    let fields = reader.at.list(map, "selectableFields")?;
    let selectable_fields = reader.within("selectableFields", |reader| {
        fields
            .iter()
            .enumerate()
            .map(|(index, field)| {
                reader.step(Step::Index(index), |reader| {
                    Ok(Arc::from(reader.at.needed(reader.at.as_mapping(field)?, "jsonPath")?))
                })
            })
            .collect()
    })?;
    Ok(Version {
        name,
        served: reader.at.flag(map, "served")?,
        storage: reader.at.flag(map, "storage")?,
        deprecated: reader.at.flag(map, "deprecated")?,
        deprecation_warning: reader.at.shared(map, "deprecationWarning")?,
        schema,
        status_subresource,
        scale,
        columns,
        selectable_fields,
    })
}

fn read_schema(reader: &mut Reader<'_>, map: &Map<String, Value>) -> Result<Option<Schema>, ParseError> {
    let Some(value) = At::get(map, "openAPIV3Schema") else {
        if reader.dialect == Dialect::Loose {
            return Ok(None);
        }
        return Err(reader.at.error_in("openAPIV3Schema", Problem::Missing));
    };
    reader.within("openAPIV3Schema", |reader| reader.root(value)).map(Some)
}

fn read_subresources(
    reader: &mut Reader<'_>,
    map: &Map<String, Value>,
) -> Result<(bool, Option<Scale>), ParseError> {
    let Some(subresources) = reader.at.mapping(map, "subresources")? else { return Ok((false, None)) };
    reader.within("subresources", |reader| {
        let status = reader.at.mapping(subresources, "status")?.is_some();
        let Some(scale) = reader.at.mapping(subresources, "scale")? else { return Ok((status, None)) };
        let scale = reader.within("scale", |reader| {
            Ok(Scale {
                spec_replicas_path: Arc::from(reader.at.needed(scale, "specReplicasPath")?),
                status_replicas_path: Arc::from(reader.at.needed(scale, "statusReplicasPath")?),
                label_selector_path: reader.at.shared(scale, "labelSelectorPath")?,
            })
        })?;
        Ok((status, Some(scale)))
    })
}

fn read_columns(
    reader: &mut Reader<'_>,
    map: &Map<String, Value>,
    path_words: &[&str],
) -> Result<Vec<Column>, ParseError> {
    let items = reader.at.list(map, "additionalPrinterColumns")?;
    reader.within("additionalPrinterColumns", |reader| {
        items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                reader.step(Step::Index(index), |reader| {
                    let map = reader.at.as_mapping(item)?;
                    let word = path_words.iter().find(|word| map.contains_key(**word));
                    let word = word.or(path_words.first()).copied().unwrap_or("jsonPath");
                    Ok(Column {
                        name: Arc::from(reader.at.needed(map, "name")?),
                        kind: Arc::from(reader.at.needed(map, "type")?),
                        json_path: Arc::from(reader.at.needed(map, word)?),
                        priority: At::get(map, "priority").and_then(Value::as_i64).unwrap_or(0),
                    })
                })
            })
            .collect()
    })
}
