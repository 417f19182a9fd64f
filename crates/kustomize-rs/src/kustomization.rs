//! The kustomization file: its fields, typed and with their places. What is not known is refused here, so that nothing a
//! person wrote is ever ignored.

mod changes;
mod fields;
mod generator;
mod replacement;
mod selector;
mod settings;

use yaml_span::Node;

use crate::error::Position;
use crate::read::position;
use crate::{Problem, ProblemKind};
pub(crate) use changes::{FieldSpec, Image, Labels, Pairs, Patch, PatchOptions, PatchSource, Replica};
pub(crate) use fields::Fields;
pub(crate) use generator::{Behavior, Generator, GeneratorKind};
pub(crate) use replacement::{
    FieldOptions, ObjectId, ObjectSelector, Replacement, ReplacementEntry, Source, Target, Var,
};
pub(crate) use selector::{Selector, hold, literal_braces};
pub(crate) use settings::{OpenApi, SortOptions, SortOrder};

/// Names under which the file may stand; a directory has exactly one of them.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields that start a program or reach for the network: refused, whatever they say.
const REFUSED: &[&str] = &["helmChartInflationGenerator", "helmCharts", "helmGlobals"];

const KNOWN: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "openapi",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "patchesStrategicMerge",
    "patchesJson6902",
    "patches",
    "images",
    "imageTags",
    "replacements",
    "replicas",
    "vars",
    "sortOptions",
    "resources",
    "components",
    "crds",
    "bases",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "configurations",
    "generators",
    "transformers",
    "validators",
    "buildMetadata",
];

/// A value and where it was written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) at: Position,
}

/// What a file says it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Kustomization,
    Component,
}

/// A kustomization file. Old names of fields are read into the new ones: `bases` follows `resources`, `imageTags`
/// follows `images`.
#[derive(Debug, Default)]
pub(crate) struct Kustomization {
    pub(crate) kind: Kind,
    pub(crate) resources: Vec<Located<String>>,
    pub(crate) components: Vec<Located<String>>,
    pub(crate) configurations: Vec<Located<String>>,
    pub(crate) crds: Vec<Located<String>>,
    /// `configMapGenerator`, then `secretGenerator`, with `generatorOptions` merged in.
    pub(crate) data: Vec<Generator>,
    /// Paths of files and directories, or whole documents.
    pub(crate) generators: Vec<Located<String>>,
    pub(crate) transformers: Vec<Located<String>>,
    pub(crate) validators: Vec<Located<String>>,
    /// Each a path or the text of a patch.
    pub(crate) patches_strategic_merge: Vec<Located<String>>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) patches_json6902: Vec<Patch>,
    pub(crate) namespace: Option<Located<String>>,
    pub(crate) name_prefix: Located<String>,
    pub(crate) name_suffix: Located<String>,
    pub(crate) labels: Vec<Labels>,
    pub(crate) common_labels: Located<Pairs>,
    pub(crate) common_annotations: Located<Pairs>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) images: Vec<Image>,
    pub(crate) replacements: Vec<ReplacementEntry>,
    pub(crate) vars: Vec<Var>,
    pub(crate) openapi: Option<OpenApi>,
    pub(crate) build_metadata: Vec<Located<String>>,
    pub(crate) sort_options: Option<SortOptions>,
    /// Old fields that were used, each with its place, in the order in which the reference warns about them.
    pub(crate) deprecated: Vec<Located<&'static str>>,
}

/// Reads a kustomization, or says everything that is wrong with it.
pub(crate) fn read(file: &str, root: &Node) -> Result<Kustomization, Vec<Problem>> {
    let mut reader = Fields::new(file);
    let kustomization = reader.kustomization(root);
    reader.done(kustomization)
}

impl Fields<'_> {
    fn kustomization(&mut self, root: &Node) -> Kustomization {
        let mut out = Kustomization::default();
        let (mut bases, mut image_tags, mut secrets) = (Vec::new(), Vec::new(), Vec::new());
        let mut options = None;
        let mut said_something = false;
        for (field, key, value) in self.entries(root, "the kustomization", KNOWN, REFUSED) {
            said_something |= !matches!(field, "apiVersion" | "kind") && !is_nothing(value);
            match field {
                "metadata" => self.metadata(value),
                "openapi" => out.openapi = self.openapi(value),
                "namePrefix" => out.name_prefix = self.located(value, field).unwrap_or_default(),
                "nameSuffix" => out.name_suffix = self.located(value, field).unwrap_or_default(),
                "namespace" => out.namespace = self.located(value, field),
                "commonLabels" => {
                    out.common_labels = Located { value: self.pairs(value, field), at: position(value) };
                }
                "labels" => out.labels = self.list(value, field, Self::labels),
                "commonAnnotations" => {
                    out.common_annotations = Located { value: self.pairs(value, field), at: position(value) };
                }
                "patchesStrategicMerge" => out.patches_strategic_merge = self.strings(value, field),
                "patchesJson6902" => out.patches_json6902 = self.list(value, field, Self::patch),
                "patches" => out.patches = self.list(value, field, Self::patch),
                "images" => out.images = self.list(value, field, Self::image),
                "imageTags" => image_tags = self.list(value, field, Self::image),
                "replacements" => out.replacements = self.list(value, field, Self::replacement_entry),
                "replicas" => out.replicas = self.list(value, field, Self::replica),
                "vars" => out.vars = self.list(value, field, Self::var),
                "sortOptions" => out.sort_options = self.sort_options(value),
                "resources" => out.resources = self.strings(value, field),
                "components" => out.components = self.strings(value, field),
                "crds" => out.crds = self.strings(value, field),
                "bases" => bases = self.strings(value, field),
                "configMapGenerator" => {
                    out.data =
                        self.list(value, field, |fields, it| fields.generator(it, GeneratorKind::ConfigMap));
                }
                "secretGenerator" => {
                    secrets =
                        self.list(value, field, |fields, it| fields.generator(it, GeneratorKind::Secret));
                }
                "generatorOptions" => options = Some(self.generator_options(value)),
                "configurations" => out.configurations = self.strings(value, field),
                "generators" => out.generators = self.strings(value, field),
                "transformers" => out.transformers = self.strings(value, field),
                "validators" => out.validators = self.strings(value, field),
                "buildMetadata" => out.build_metadata = self.strings(value, field),
                _ => {}
            }
            if let Some(rank) = DEPRECATED.iter().position(|it| *it == field) {
                out.deprecated.push(Located { value: DEPRECATED[rank], at: position(key) });
            }
        }
        out.deprecated.sort_by_key(|it| DEPRECATED.iter().position(|field| *field == it.value));
        out.kind = self.type_meta(root);
        if !said_something && self.problems.is_empty() {
            self.wrong(
                root,
                ProblemKind::Invalid,
                "the kustomization is empty: it needs `resources` at least",
            );
        }
        out.resources.extend(bases);
        out.images.extend(image_tags);
        out.data.extend(secrets);
        if let Some(options) = &options {
            out.data.iter_mut().for_each(|generator| generator.options.fill_from(options));
        }
        out
    }

    fn type_meta(&mut self, root: &Node) -> Kind {
        let (mut kind, mut versions) = (Kind::Kustomization, Vec::new());
        for (field, _, value) in self.quietly(root, &["apiVersion", "kind"]) {
            let Some(text) = self.string(value, field) else { continue };
            match (field, text.as_str()) {
                (_, "") | ("kind", "Kustomization") => {}
                ("kind", "Component") => kind = Kind::Component,
                ("kind", _) => {
                    let message = format!("kind is {text:?}, it must be Kustomization or Component");
                    self.wrong(value, ProblemKind::Invalid, message);
                }
                _ => versions.push((value, text)),
            }
        }
        let must = match kind {
            Kind::Kustomization => "kustomize.config.k8s.io/v1beta1",
            Kind::Component => "kustomize.config.k8s.io/v1alpha1",
        };
        for (value, text) in versions.into_iter().filter(|(_, text)| text != must) {
            let message = format!("apiVersion is {text:?}, of a {kind:?} it must be {must}");
            self.wrong(value, ProblemKind::Invalid, message);
        }
        kind
    }

    fn metadata(&mut self, value: &Node) {
        let known = ["name", "namespace", "labels", "annotations"];
        for (field, _, value) in self.entries(value, "metadata", &known, &[]) {
            match field {
                "name" | "namespace" => drop(self.string(value, field)),
                _ => drop(self.pairs(value, field)),
            }
        }
    }
}

/// Fields that others have taken the place of, in the order in which the reference warns about them.
const DEPRECATED: &[&str] =
    &["bases", "commonLabels", "imageTags", "patchesJson6902", "patchesStrategicMerge", "vars"];

/// Whether a field holds what leaving it out would mean as well.
fn is_nothing(value: &Node) -> bool {
    value.as_str() == Some("")
}
