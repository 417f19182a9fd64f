//! Entries that change objects: patches, labels, images, replicas, and the fields they go to.

use yaml_span::Node;

use super::{Fields, Located, Selector};
use crate::ProblemKind;
use crate::error::Position;
use crate::read::position;

/// Keys and values.
pub(crate) type Pairs = Vec<(String, String)>;

/// One entry of `images`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) new_name: String,
    pub(crate) new_tag: String,
    pub(crate) tag_suffix: String,
    pub(crate) digest: String,
    pub(crate) at: Position,
}

/// One entry of `labels`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Labels {
    pub(crate) pairs: Pairs,
    pub(crate) include_selectors: bool,
    pub(crate) include_templates: bool,
    pub(crate) fields: Vec<FieldSpec>,
    pub(crate) at: Position,
}

/// A field by its path, of the objects of a kind; what is empty fits all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) create: bool,
}

/// One entry of `replicas`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) count: i64,
    pub(crate) at: Position,
}

/// One entry of `patches` or `patchesJson6902`.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) source: PatchSource,
    pub(crate) target: Option<Selector>,
    pub(crate) options: PatchOptions,
}

/// What a patch may change beside the body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PatchOptions {
    pub(crate) allow_name_change: bool,
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

impl Fields<'_> {
    pub(crate) fn image(&mut self, item: &Node) -> Option<Image> {
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

    pub(crate) fn labels(&mut self, item: &Node) -> Option<Labels> {
        let mut labels = Labels { at: position(item), ..Labels::default() };
        let known = ["pairs", "includeSelectors", "includeTemplates", "fields"];
        for (field, _, value) in self.entries(item, "an entry of labels", &known, &[]) {
            match field {
                "pairs" => labels.pairs = self.pairs(value, field),
                "includeSelectors" => labels.include_selectors = self.boolean(value, field),
                "includeTemplates" => labels.include_templates = self.boolean(value, field),
                _ => labels.fields = self.list(value, field, Self::field_spec),
            }
        }
        Some(labels)
    }

    pub(crate) fn field_spec(&mut self, item: &Node) -> Option<FieldSpec> {
        let mut spec = FieldSpec::default();
        let known = ["group", "version", "kind", "path", "create"];
        for (field, _, value) in self.entries(item, "a field", &known, &[]) {
            self.field_of(&mut spec, field, value);
        }
        Some(spec)
    }

    /// One of the five fields of a field specification.
    pub(crate) fn field_of(&mut self, spec: &mut FieldSpec, field: &str, value: &Node) {
        if field == "create" {
            spec.create = self.boolean(value, field);
            return;
        }
        let text = self.string(value, field).unwrap_or_default();
        match field {
            "group" => spec.group = text,
            "version" => spec.version = text,
            "kind" => spec.kind = text,
            _ => spec.path = text,
        }
    }

    pub(crate) fn replica(&mut self, item: &Node) -> Option<Replica> {
        let mut replica = Replica { at: position(item), ..Replica::default() };
        for (field, _, value) in self.entries(item, "an entry of replicas", &["name", "count"], &[]) {
            match field {
                "name" => replica.name = self.string(value, field).unwrap_or_default(),
                _ => replica.count = self.integer(value, field),
            }
        }
        Some(replica)
    }

    pub(crate) fn patch(&mut self, item: &Node) -> Option<Patch> {
        let (mut inline, mut file, mut target) = (None, None, None);
        let mut options = PatchOptions::default();
        // `jsonOp` is what a PatchJson6902Transformer calls an inline patch.
        let known: &[&str] = if self.is_lenient() {
            &["path", "patch", "jsonOp", "target", "options"]
        } else {
            &["path", "patch", "target", "options"]
        };
        for (field, _, value) in self.entries(item, "a patch", known, &[]) {
            match field {
                "path" => file = self.located(value, field),
                "patch" | "jsonOp" => inline = self.located(value, field),
                "target" => target = self.selector(value),
                _ => options = self.patch_options(value),
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
        Some(Patch { source, target, options })
    }

    /// Any names are allowed, of which two mean something.
    fn patch_options(&mut self, node: &Node) -> PatchOptions {
        let mut options = PatchOptions::default();
        let Some(entries) = node.as_mapping() else {
            self.wrong(node, ProblemKind::Invalid, "options must be a mapping of names to true or false");
            return options;
        };
        for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
            let name = key.key_text();
            let allowed = self.boolean(value, &name);
            match name.as_str() {
                "allowNameChange" => options.allow_name_change = allowed,
                "allowKindChange" => options.allow_kind_change = allowed,
                _ => {}
            }
        }
        options
    }
}
