//! `configMapGenerator`, `secretGenerator` and `generatorOptions`.

use yaml_span::Node;

use super::{Fields, Located, Pairs};
use crate::error::Position;
use crate::read::position;

/// What a generator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeneratorKind {
    ConfigMap,
    Secret,
}

/// What happens where an object of that name is there already. Any other word means [`Behavior::Create`], as in the
/// reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    #[default]
    Create,
    Replace,
    Merge,
}

/// One entry of `configMapGenerator` or `secretGenerator`.
#[derive(Debug, Clone)]
pub(crate) struct Generator {
    pub(crate) kind: GeneratorKind,
    pub(crate) name: String,
    pub(crate) namespace: String,
    /// The type of a Secret; `""` means Opaque.
    pub(crate) secret_type: String,
    pub(crate) behavior: Behavior,
    pub(crate) literals: Vec<Located<String>>,
    pub(crate) files: Vec<Located<String>>,
    pub(crate) envs: Vec<Located<String>>,
    pub(crate) options: GeneratorOptions,
    pub(crate) at: Position,
}

/// `generatorOptions`, and `options` of one generator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GeneratorOptions {
    pub(crate) labels: Pairs,
    pub(crate) annotations: Pairs,
    pub(crate) disable_name_suffix_hash: bool,
    pub(crate) immutable: bool,
}

impl GeneratorOptions {
    /// What one generator says goes before what is said for all.
    pub(crate) fn fill_from(&mut self, all: &Self) {
        let fill = |own: &mut Pairs, all: &Pairs| {
            let missing: Vec<_> =
                all.iter().filter(|(key, _)| own.iter().all(|(other, _)| other != key)).cloned().collect();
            own.extend(missing);
        };
        fill(&mut self.labels, &all.labels);
        fill(&mut self.annotations, &all.annotations);
        self.disable_name_suffix_hash |= all.disable_name_suffix_hash;
        self.immutable |= all.immutable;
    }
}

impl Fields<'_> {
    pub(crate) fn generator(&mut self, item: &Node, kind: GeneratorKind) -> Option<Generator> {
        let mut out = Generator {
            kind,
            name: String::new(),
            namespace: String::new(),
            secret_type: String::new(),
            behavior: Behavior::Create,
            literals: Vec::new(),
            files: Vec::new(),
            envs: Vec::new(),
            options: GeneratorOptions::default(),
            at: position(item),
        };
        let known = ["name", "namespace", "behavior", "literals", "files", "envs", "env", "options", "type"];
        let (what, known) = match kind {
            GeneratorKind::ConfigMap => ("a configMapGenerator", &known[..8]),
            GeneratorKind::Secret => ("a secretGenerator", &known[..]),
        };
        let mut env = None;
        for (field, _, value) in self.entries(item, what, known, &[]) {
            match field {
                "name" => out.name = self.string(value, field).unwrap_or_default(),
                "namespace" => out.namespace = self.string(value, field).unwrap_or_default(),
                "type" => out.secret_type = self.string(value, field).unwrap_or_default(),
                "behavior" => {
                    out.behavior = match self.string(value, field).unwrap_or_default().as_str() {
                        "replace" => Behavior::Replace,
                        "merge" => Behavior::Merge,
                        _ => Behavior::Create,
                    }
                }
                "literals" => out.literals = self.strings(value, field),
                "files" => out.files = self.strings(value, field),
                "envs" => out.envs = self.strings(value, field),
                "env" => env = self.located(value, field),
                _ => out.options = self.generator_options(value),
            }
        }
        out.envs.extend(env.filter(|env| !env.value.is_empty()));
        Some(out)
    }

    pub(crate) fn generator_options(&mut self, node: &Node) -> GeneratorOptions {
        let mut out = GeneratorOptions::default();
        let known = ["labels", "annotations", "disableNameSuffixHash", "immutable"];
        for (field, _, value) in self.entries(node, "generator options", &known, &[]) {
            match field {
                "labels" => out.labels = self.pairs(value, field),
                "annotations" => out.annotations = self.pairs(value, field),
                "disableNameSuffixHash" => out.disable_name_suffix_hash = self.boolean(value, field),
                _ => out.immutable = self.boolean(value, field),
            }
        }
        out
    }
}
