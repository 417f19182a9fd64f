//! The other fields of a kustomization, alone and as plugins in files.

use serde_json::{Value, json};

use super::compose::Composer;
use super::place::{field_path, places};
use super::pool;

impl Composer<'_> {
    pub(super) fn names(&mut self, dir: &str) {
        if self.random.chance(65) {
            self.case.add(dir, "namePrefix", json!(self.random.pick(&["dev-", "a-", "x.", "p"])));
        } else {
            self.case.add(dir, "nameSuffix", json!(self.random.pick(&["-v1", "-blue", ".s", "9"])));
        }
    }

    fn pairs(&mut self) -> Value {
        let mut pairs = json!({});
        for _ in 0..=self.random.below(2) {
            let keys = if self.random.chance(3) {
                &["1", "yes"][..]
            } else {
                &["app", "team", "example.com/part", "tier"]
            };
            let key = *self.random.pick(keys);
            pairs[key] =
                json!(self.random.pick(&["shop", "shop", "web", "web", "x.y", "a-b", "1", "true", "no", ""]));
        }
        pairs
    }

    pub(super) fn labels(&mut self, dir: &str) {
        let pairs = self.pairs();
        match self.random.below(4) {
            0 => self.case.add(dir, "commonLabels", pairs),
            1 => {
                let text = pool::text(&mut self.random);
                let key = *self.random.pick(&["note", "example.com/why", "url"]);
                self.case.add(dir, "commonAnnotations", json!({key: text}));
            }
            _ => {
                let mut entry = json!({"pairs": pairs});
                if self.random.chance(35) {
                    entry["includeSelectors"] = json!(self.random.chance(80));
                }
                if self.random.chance(35) {
                    entry["includeTemplates"] = json!(self.random.chance(80));
                }
                if self.random.chance(15) {
                    entry["fields"] = json!([{"path": "spec/marks", "kind": self.random.pick(&["Deployment", "Widget", "Service"]),
                        "create": self.random.chance(70)}]);
                }
                self.case.add(dir, "labels", json!([entry]));
            }
        }
    }

    /// One change of an image that some object has, or nearly.
    fn image(&mut self) -> Value {
        let mut known: Vec<String> = vec!["nginx".into(), "busybox".into(), "app".into(), ".*/app".into()];
        for (path, value) in self.objects.iter().flat_map(places) {
            let is_image = matches!(path.last(), Some(super::place::Step::Key(key)) if key == "image");
            if let (true, Some(image)) = (is_image, value.as_str()) {
                let name = image.split('@').next().unwrap_or_default();
                let slash = name.rfind('/').unwrap_or_default();
                known.push(match name[slash..].find(':') {
                    Some(colon) => name[..slash + colon].to_owned(),
                    None => name.to_owned(),
                });
            }
        }
        let mut entry = json!({"name": self.random.pick(&known)});
        let change = self.random.below(8);
        if matches!(change, 0 | 3 | 5) {
            entry["newName"] = json!(self.random.pick(&["mirror:5000/nginx", "other", "a/b/c"]));
        }
        if matches!(change, 1 | 3 | 6 | 7) {
            entry["newTag"] = json!(self.random.pick(&["v2", "1.0", "007", ""]));
        }
        if matches!(change, 2 | 5 | 6) {
            entry["digest"] =
                json!("sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3");
        }
        if matches!(change, 4) || self.random.chance(10) {
            entry["tagSuffix"] = json!("-slim");
        }
        entry
    }

    pub(super) fn images(&mut self, dir: &str) {
        let entry = self.image();
        self.case.add(dir, "images", json!([entry]));
    }

    /// The name of a known object of one of these kinds; seldom of none.
    fn name_of(&mut self, kinds: &[&str]) -> String {
        let fits = |object: &&Value| object["kind"].as_str().is_some_and(|kind| kinds.contains(&kind));
        let names: Vec<_> =
            self.objects.iter().filter(fits).filter_map(|it| it["metadata"]["name"].as_str()).collect();
        match self.random.some(&names) {
            Some(name) => (*name).to_owned(),
            None => pool::word(&mut self.random),
        }
    }

    pub(super) fn replicas(&mut self, dir: &str) {
        let name = self.name_of(&["Deployment", "StatefulSet", "ReplicaSet"]);
        self.case.add(dir, "replicas", json!([{"name": name, "count": self.random.below(9)}]));
    }

    /// An entry of a generator, with the files that it reads.
    fn generated(&mut self, dir: &str, kind: &str) -> Value {
        let behavior = *self.random.pick(&["", "", "", "create", "merge", "replace"]);
        let name = if behavior.len() > 4 && behavior != "create" {
            self.name_of(&[kind])
        } else {
            pool::word(&mut self.random)
        };
        let mut entry = json!({"name": name});
        if !behavior.is_empty() {
            entry["behavior"] = json!(behavior);
        }
        if self.random.chance(70) {
            let text = pool::text(&mut self.random);
            entry["literals"] = json!([
                format!("k={text}"),
                format!("n{}={}", self.random.below(3), pool::text(&mut self.random))
            ]);
        }
        if self.random.chance(35) {
            let file = self.file("data", "txt");
            let text = pool::text(&mut self.random);
            self.case.texts.insert(format!("{dir}/{file}"), text);
            entry["files"] =
                json!([if self.random.chance(50) { file } else { format!("named.conf={file}") }]);
        }
        if self.random.chance(20) {
            let file = self.file("data", "env");
            self.case.texts.insert(
                format!("{dir}/{file}"),
                format!("# note\nE1={}\n\nE2=\"q\"\n E3 = x\n", pool::word(&mut self.random)),
            );
            entry["envs"] = json!([file]);
        }
        if self.random.chance(25) {
            let mut options = json!({"disableNameSuffixHash": self.random.chance(60)});
            if self.random.chance(40) {
                options["labels"] = self.pairs();
            }
            if self.random.chance(30) {
                options["annotations"] = json!({"note": pool::text(&mut self.random)});
            }
            if self.random.chance(20) {
                options["immutable"] = json!(true);
            }
            entry["options"] = options;
        }
        if self.random.chance(15) {
            entry["namespace"] = json!(self.random.pick(&["team", "default"]));
        }
        if kind == "Secret" && self.random.chance(30) {
            entry["type"] = json!("kubernetes.io/tls");
        }
        entry
    }

    pub(super) fn generator(&mut self, dir: &str) {
        let (kind, field) = *self.random.pick(&[
            ("ConfigMap", "configMapGenerator"),
            ("ConfigMap", "configMapGenerator"),
            ("Secret", "secretGenerator"),
        ]);
        let entry = self.generated(dir, kind);
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": entry["name"]}, "data": {"k": "x"}});
        self.case.add(dir, field, json!([entry]));
        self.objects.push(object);
    }

    pub(super) fn generator_options(&mut self, dir: &str) {
        let mut options = json!({});
        match self.random.below(3) {
            0 => options["disableNameSuffixHash"] = json!(true),
            1 => options["labels"] = self.pairs(),
            _ => options["immutable"] = json!(true),
        }
        self.case.add(dir, "generatorOptions", options);
    }

    /// A built-in transformer or generator, in a file.
    pub(super) fn plugin(&mut self, dir: &str) {
        let (kind, body) = match self.random.below(11) {
            0 => ("PrefixTransformer", json!({"prefix": "tp-", "fieldSpecs": [{"path": "metadata/name"}]})),
            1 => (
                "SuffixTransformer",
                json!({"suffix": "-ts", "fieldSpecs": [{"path": "metadata/name", "kind": "Deployment"}]}),
            ),
            2 => (
                "NamespaceTransformer",
                json!({"metadata": {"name": "n", "namespace": "plug"}, "unsetOnly": self.random.chance(50),
                "setRoleBindingSubjects": self.random.pick(&["defaultOnly", "allServiceAccounts", "none"]),
                "fieldSpecs": [{"path": "metadata/namespace", "create": true}]}),
            ),
            3 => (
                "LabelTransformer",
                json!({"labels": self.pairs(), "fieldSpecs": [{"path": "metadata/labels", "create": true},
                {"path": "spec/template/metadata/labels", "create": self.random.chance(50)}]}),
            ),
            4 => (
                "AnnotationsTransformer",
                json!({"annotations": {"a": pool::text(&mut self.random)},
                "fieldSpecs": [{"path": "metadata/annotations", "create": true}]}),
            ),
            5 => (
                "ImageTagTransformer",
                json!({"imageTag": self.image(), "fieldSpecs": [{"path": "spec/template/spec/containers[]/image"}]}),
            ),
            6 => (
                "ReplicaCountTransformer",
                json!({"replica": {"name": self.name_of(&["Deployment"]), "count": 4},
                "fieldSpecs": [{"path": "spec/replicas", "create": true, "kind": "Deployment"}]}),
            ),
            7 => ("ConfigMapGenerator", {
                let mut entry = self.generated(dir, "ConfigMap");
                let name = entry["name"].take();
                entry["metadata"] = json!({"name": name});
                if let Some(entry) = entry.as_object_mut() {
                    entry.remove("name");
                }
                entry
            }),
            8 => (
                "ValueAddTransformer",
                json!({"value": "added", "targets": [{"fieldPath": "metadata/annotations/va",
                "selector": {"kind": "Deployment"}}]}),
            ),
            9 => (
                "PrefixSuffixTransformer",
                json!({"prefix": "pre-", "suffix": "-suf", "fieldSpecs": [{"path": "metadata/name"}]}),
            ),
            _ => {
                let object = self.random.pick(&self.objects).clone();
                let target = json!({"kind": object["kind"], "name": object["metadata"]["name"]});
                let patch = format!(
                    "[{{\"op\": \"add\", \"path\": \"/metadata/{}\", \"value\": {{\"p\": \"q\"}}}}]",
                    self.random.pick(&["annotations", "labels"])
                );
                ("PatchTransformer", json!({"target": target, "patch": patch}))
            }
        };
        let mut plugin = json!({"apiVersion": "builtin", "kind": kind, "metadata": {"name": "plugin"}});
        super::place::union(&mut plugin, body);
        let field = if kind.ends_with("Generator") { "generators" } else { "transformers" };
        if self.random.chance(75) {
            let file = self.file("plugin", "yaml");
            self.case.documents.insert(format!("{dir}/{file}"), vec![plugin]);
            self.case.add(dir, field, json!([file]));
        } else {
            let text = serde_yaml::to_string(&plugin).expect("values print");
            self.case.add(dir, field, json!([text]));
        }
    }

    /// `vars`, and an object that uses them.
    pub(super) fn variable(&mut self, dir: &str) {
        let object = self.random.pick(&self.objects).clone();
        let mut entry = json!({"name": self.random.pick(&["SOME_VAR", "OTHER", "PLAIN"]),
            "objref": {"kind": object["kind"], "name": object["metadata"]["name"], "apiVersion": object["apiVersion"]}});
        let scalars: Vec<_> = places(&object)
            .into_iter()
            .filter(|(_, value)| !value.is_object() && !value.is_array())
            .collect();
        if let (true, Some((path, _))) = (self.random.chance(50), self.random.some(&scalars)) {
            entry["fieldref"] = json!({"fieldpath": field_path(&object, path)});
        }
        self.case.add(dir, "vars", json!([entry]));
    }

    pub(super) fn configuration(&mut self, dir: &str) {
        let body = match self.random.below(6) {
            0 => {
                json!({"nameReference": [{"kind": "ConfigMap", "version": "v1", "fieldSpecs": [{"kind": "Widget", "path": "spec/ref/configMap"}]}]})
            }
            1 => json!({"commonLabels": [{"path": "spec/labels", "kind": "Widget", "create": true}]}),
            2 => json!({"images": [{"path": "spec/image", "kind": "Widget"}]}),
            3 => {
                json!({"varReference": [{"path": "data/host", "kind": "ConfigMap"}, {"path": "spec/size", "kind": "Widget"}]})
            }
            4 => {
                json!({"namePrefix": [{"path": "metadata/annotations/note"}], "replicas": [{"path": "spec/size", "kind": "Widget", "create": true}]})
            }
            _ => {
                json!({"commonAnnotations": [{"path": "spec/template/metadata/annotations", "create": true, "kind": "Widget"}],
                "namespace": [{"path": "spec/namespace", "kind": "Widget", "create": true}]})
            }
        };
        let file = self.file("configuration", "yaml");
        self.case.documents.insert(format!("{dir}/{file}"), vec![body]);
        self.case.add(dir, "configurations", json!([file]));
    }

    pub(super) fn metadata(&mut self, dir: &str) {
        let which = *self.random.pick(&["originAnnotations", "transformerAnnotations", "managedByLabel"]);
        self.case.add(dir, "buildMetadata", json!([which]));
    }
}
