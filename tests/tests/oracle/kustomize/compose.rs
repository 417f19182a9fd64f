//! Composes a case: bases of the corpus, below one to four kustomizations with random fields.

use serde_json::{Value, json};

use super::case::{Case, TOP};
use super::pool;
use super::random::Random;

/// A directory of the corpus that builds, with the objects that come of it.
pub(super) struct Base {
    /// `PROJECT/DIRECTORY`.
    pub(super) name: String,
    pub(super) objects: Vec<Value>,
}

/// A case in the making.
pub(super) struct Composer<'a> {
    pub(super) random: Random,
    pub(super) case: Case,
    /// What patches and the like may aim at.
    pub(super) objects: Vec<Value>,
    bases: &'a [Base],
    files: usize,
}

/// The case of a seed. It depends on the bases too.
pub(super) fn compose(seed: u64, bases: &[Base]) -> Case {
    let mut random = Random::new(seed);
    let case = Case { json: random.chance(60), ..Case::default() };
    let mut composer = Composer { random, case, objects: Vec::new(), bases, files: 0 };
    composer.all();
    composer.case
}

impl Composer<'_> {
    fn all(&mut self) {
        let mut below = None;
        for layer in 0..self.random.below(3) {
            let dir = format!("layer{layer}");
            self.layer(&dir, below.as_deref(), layer == 0);
            below = Some(dir);
        }
        if below.is_some() && self.random.chance(12) {
            // Two variants of the same, side by side.
            for side in ["left", "right"] {
                self.case.add(side, "namePrefix", json!(format!("{side}-")));
                self.layer(side, below.as_deref(), false);
            }
            self.case.add(TOP, "resources", json!(["../left", "../right"]));
            self.changes(TOP);
        } else {
            self.layer(TOP, below.as_deref(), below.is_none());
        }
        match self.random.below(12) {
            0 | 1 => self.case.add(TOP, "sortOptions", json!({"order": "fifo"})),
            2 => self.case.add(
                TOP,
                "sortOptions",
                json!({"order": "legacy", "legacySortOptions": {"orderFirst": ["Service", "Deployment"], "orderLast": ["ConfigMap"]}}),
            ),
            _ => {}
        }
    }

    /// One kustomization: what is below it, objects of its own, changes.
    fn layer(&mut self, dir: &str, below: Option<&str>, first: bool) {
        match below {
            Some(below) => self.case.add(dir, "resources", json!([format!("../{below}")])),
            None if self.random.chance(65) => self.base(dir),
            None => {}
        }
        if first && (self.objects.is_empty() || self.random.chance(50)) || self.random.chance(25) {
            self.own_objects(dir);
        }
        self.changes(dir);
        if self.random.chance(10) {
            let component = format!("component-{dir}");
            self.case.add(&component, "apiVersion", json!("kustomize.config.k8s.io/v1alpha1"));
            self.case.add(&component, "kind", json!("Component"));
            self.changes(&component);
            self.case.add(dir, "components", json!([format!("../{component}")]));
        }
    }

    fn base(&mut self, dir: &str) {
        let Some(base) = self.random.some(self.bases) else { return };
        self.objects.extend(base.objects.iter().cloned());
        self.case.add(dir, "resources", json!([format!("../corpus/{}", base.name)]));
    }

    fn own_objects(&mut self, dir: &str) {
        let name = pool::word(&mut self.random);
        let mut documents: Vec<Value> = Vec::new();
        for _ in 0..=self.random.below(5) {
            let name = if self.random.chance(80) { name.clone() } else { pool::word(&mut self.random) };
            let object = pool::object(&mut self.random, &name);
            let same = |other: &Value| {
                other["kind"] == object["kind"] && other["metadata"]["name"] == object["metadata"]["name"]
            };
            if !documents.iter().any(same) {
                documents.push(object);
            }
        }
        self.objects.extend(documents.iter().cloned());
        if self.random.chance(10) {
            documents = vec![json!({"apiVersion": "v1", "kind": "List", "items": documents})];
        }
        let file = self.file("objects", "yaml");
        self.case.documents.insert(format!("{dir}/{file}"), documents);
        self.case.add(dir, "resources", json!([file]));
    }

    /// A name that no file of this case has.
    pub(super) fn file(&mut self, what: &str, extension: &str) -> String {
        self.files += 1;
        format!("{what}-{}.{extension}", self.files)
    }

    fn changes(&mut self, dir: &str) {
        if self.objects.is_empty() {
            self.own_objects(dir);
        }
        for _ in 0..=self.random.below(4) {
            match self.random.below(40) {
                0..3 => self.names(dir),
                3..5 => self.case.add(
                    dir,
                    "namespace",
                    json!(self.random.pick(&["team", "other", "default", "team-9"])),
                ),
                5..9 => self.labels(dir),
                9..12 => self.images(dir),
                12 => self.replicas(dir),
                13..19 => self.generator(dir),
                19..27 => self.patch(dir),
                27 => self.legacy_patch(dir),
                28..32 => self.replacement(dir),
                32..35 => self.plugin(dir),
                35..37 => self.variable(dir),
                37 => self.configuration(dir),
                38 => self.metadata(dir),
                _ => self.generator_options(dir),
            }
        }
    }
}
