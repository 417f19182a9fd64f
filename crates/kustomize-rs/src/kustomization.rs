//! The kustomization file: its fields, typed and with their places. Everything that is not supported is refused here, so
//! that nothing a person wrote is ever ignored.

mod fields;
mod selector;

use yaml_span::Node;

use crate::error::Position;
use crate::read::position;
use crate::{Problem, ProblemKind};
use fields::Fields;
pub(crate) use selector::Selector;

/// Names under which the file may stand; a directory has exactly one of them.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Fields of the reference that this crate does not support yet, or never will.
const UNSUPPORTED: &[&str] = &[
    "bases",
    "buildMetadata",
    "components",
    "configMapGenerator",
    "configurations",
    "crds",
    "generatorOptions",
    "generators",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "imageTags",
    "inventory",
    "namePrefix",
    "nameSuffix",
    "openapi",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "secretGenerator",
    "sortOptions",
    "transformers",
    "validators",
    "vars",
];

const SUPPORTED: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "namespace",
    "images",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "patches",
];

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) at: Position,
}

/// A kustomization file.
#[derive(Debug, Default)]
pub(crate) struct Kustomization {
    pub(crate) resources: Vec<Located<String>>,
    pub(crate) namespace: Option<Located<String>>,
    pub(crate) images: Vec<Image>,
    /// `labels` first, then `commonLabels`.
    pub(crate) labels: Vec<Labels>,
    pub(crate) common_annotations: Pairs,
    pub(crate) patches: Vec<Patch>,
}

/// Keys and values.
pub(crate) type Pairs = Vec<(String, String)>;

/// One entry of `images`.
#[derive(Debug, Default)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) new_tag: String,
    pub(crate) tag_suffix: String,
    pub(crate) digest: String,
    pub(crate) at: Position,
}

/// One entry of `labels`.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    pub(crate) pairs: Pairs,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    pub(crate) fields: Vec<FieldSpec>,
}

/// Where else labels go: `fields` of an entry of `labels`.
#[derive(Debug, Default)]
pub(crate) struct FieldSpec {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) create: bool,
}

/// One entry of `patches`.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) source: PatchSource,
    pub(crate) target: Option<Selector>,
    pub(crate) allow_kind_change: bool,
}

/// Where the text of a patch stands.
#[derive(Debug)]
pub(crate) enum PatchSource {
    /// In the kustomization itself.
    Inline(Located<String>),
    /// In a file below it.
    File(Located<String>),
}

/// Reads a kustomization, or says everything that is wrong with it.
pub(crate) fn read(file: &str, root: &Node) -> Result<Kustomization, Vec<Problem>> {
    let mut reader = Fields { file, problems: Vec::new() };
    let kustomization = reader.kustomization(root);
    if reader.problems.is_empty() { Ok(kustomization) } else { Err(reader.problems) }
}

impl Fields<'_> {
    fn kustomization(&mut self, root: &Node) -> Kustomization {
        let mut out = Kustomization::default();
        let mut common = Labels { include_selectors: true, ..Labels::default() };
        let mut says_something = false;
        for (field, _, value) in self.entries(root, "the kustomization", SUPPORTED, UNSUPPORTED) {
            says_something |= !matches!(field, "apiVersion" | "kind" | "metadata");
            match field {
                "apiVersion" | "kind" => self.type_meta(field, value),
                "resources" => out.resources = self.strings(value, field),
                "namespace" => out.namespace = self.located(value, field),
                "images" => out.images = self.list(value, field, Self::image),
                "labels" => out.labels = self.list(value, field, Self::labels),
                "commonLabels" => common.pairs = self.pairs(value, field),
                "commonAnnotations" => out.common_annotations = self.pairs(value, field),
                "patches" => out.patches = self.list(value, field, Self::patch),
                _ => {}
            }
        }
        if !says_something && self.problems.is_empty() {
            self.wrong(
                root,
                ProblemKind::Invalid,
                "the kustomization is empty: it needs `resources` at least",
            );
        }
        if !common.pairs.is_empty() {
            out.labels.push(common);
        }
        out
    }

    fn type_meta(&mut self, field: &str, value: &Node) {
        let Some(text) = self.string(value, field) else { return };
        match (field, text.as_str()) {
            ("kind", "Kustomization") => {}
            ("apiVersion", "kustomize.config.k8s.io/v1beta1") => {}
            ("kind", "Component") | ("apiVersion", "kustomize.config.k8s.io/v1alpha1") => {
                self.wrong(value, ProblemKind::Unsupported, "kind Component is not supported yet");
            }
            ("kind", _) => {
                self.wrong(
                    value,
                    ProblemKind::Invalid,
                    format!("kind is {text:?}, it must be Kustomization"),
                );
            }
            _ => {
                let must = "kustomize.config.k8s.io/v1beta1";
                self.wrong(value, ProblemKind::Invalid, format!("apiVersion is {text:?}, it must be {must}"));
            }
        }
    }

    fn image(&mut self, item: &Node) -> Option<Image> {
        let mut image = Image { at: position(item), ..Image::default() };
        let known = ["name", "newName", "newTag", "tagSuffix", "digest"];
        for (field, _, value) in self.entries(item, "an image", &known, &[]) {
            let text = self.string(value, field).unwrap_or_default();
            match field {
                "name" => image.name = text,
                "newName" => image.new_name = text,
                "newTag" => image.new_tag = text,
                "tagSuffix" => image.tag_suffix = text,
                _ => image.digest = text,
            }
        }
        Some(image)
    }

    fn labels(&mut self, item: &Node) -> Option<Labels> {
        let mut labels = Labels::default();
        let known = ["pairs", "includeSelectors", "includeTemplates", "fields"];
        for (field, _, value) in
            self.entries(item, "an entry of labels", &known, &["includeVolumeClaimTemplates"])
        {
            match field {
                "pairs" => labels.pairs = self.pairs(value, field),
                "includeSelectors" => labels.include_selectors = self.boolean(value, field),
                "includeTemplates" => labels.include_templates = self.boolean(value, field),
                _ => labels.fields = self.list(value, field, Self::field_spec),
            }
        }
        Some(labels)
    }

    fn field_spec(&mut self, item: &Node) -> Option<FieldSpec> {
        let mut spec = FieldSpec::default();
        let known = ["group", "version", "kind", "path", "create"];
        for (field, _, value) in self.entries(item, "a field", &known, &[]) {
            if field == "create" {
                spec.create = self.boolean(value, field);
                continue;
            }
            let text = self.string(value, field).unwrap_or_default();
            match field {
                "group" => spec.group = text,
                "version" => spec.version = text,
                "kind" => spec.kind = text,
                _ => spec.path = text,
            }
        }
        Some(spec)
    }

    fn patch(&mut self, item: &Node) -> Option<Patch> {
        let (mut inline, mut file, mut target) = (None, None, None);
        let mut allow_kind_change = false;
        for (field, _, value) in self.entries(item, "a patch", &["path", "patch", "target", "options"], &[]) {
            match field {
                "path" => file = self.located(value, field),
                "patch" => inline = self.located(value, field),
                "target" => target = self.selector(value),
                _ => {
                    // A new name needs the references to it changed as well, which is not supported yet.
                    let unsupported = ["allowNameChange"];
                    for (option, _, value) in
                        self.entries(value, "options", &["allowKindChange"], &unsupported)
                    {
                        allow_kind_change = self.boolean(value, option);
                    }
                }
            }
        }
        let set = |text: &Located<String>| !text.value.trim().is_empty();
        let source = match (inline.filter(set), file.filter(set)) {
            (Some(inline), None) => PatchSource::Inline(inline),
            (None, Some(file)) => PatchSource::File(file),
            (found, _) => {
                let number = if found.is_some() { "both" } else { "neither" };
                let message = format!("a patch needs either `patch` or `path`, this one has {number}");
                self.wrong(item, ProblemKind::Invalid, message);
                return None;
            }
        };
        Some(Patch { source, target, allow_kind_change })
    }
}
