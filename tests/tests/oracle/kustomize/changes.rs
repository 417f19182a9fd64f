//! Patches and replacements, aimed at objects that are there, and now and then beside them.

use serde_json::{Value, json};

use super::compose::Composer;
use super::place::{self, Step, places, pointer};
use super::pool;

impl Composer<'_> {
    /// One of the known objects; there always is one.
    fn object(&mut self) -> Value {
        self.random.pick(&self.objects).clone()
    }

    /// A value to put where `old` was: mostly of the same type.
    fn instead_of(&mut self, old: &Value) -> Value {
        match old {
            _ if self.random.chance(5) => json!(self.random.below(100)),
            _ if self.random.chance(5) => json!(pool::text(&mut self.random)),
            Value::Number(_) => json!(self.random.below(100)),
            Value::Bool(old) => json!(!old),
            Value::Object(map) if self.random.chance(50) => {
                let mut map = map.clone();
                map.insert("added".into(), json!(pool::text(&mut self.random)));
                Value::Object(map)
            }
            Value::Object(_) => json!({"added": pool::text(&mut self.random)}),
            Value::Array(list) => json!(list.iter().rev().take(2).collect::<Vec<_>>()),
            _ => json!(pool::text(&mut self.random)),
        }
    }

    /// A selector for a patch or replacement that should fit `object`.
    fn selector(&mut self, object: &Value) -> Value {
        let mut selector = json!({});
        let kind = object["kind"].as_str().unwrap_or_default();
        if self.random.chance(80) {
            let loose = format!("{}.*|Nothing", &kind[..kind.len().min(3)]);
            selector["kind"] = json!(if self.random.chance(80) { kind } else { &loose });
        }
        if self.random.chance(60) {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            let loose = format!("{}.*", name.get(..1).unwrap_or_default());
            selector["name"] = json!(if self.random.chance(75) { name } else { &loose });
        }
        if self.random.chance(10) {
            selector["namespace"] =
                object["metadata"]["namespace"].as_str().map_or(json!("default"), |it| json!(it));
        }
        if self.random.chance(10) {
            let (group, version) =
                object["apiVersion"].as_str().and_then(|it| it.split_once('/')).unwrap_or(("", "v1"));
            selector["group"] = json!(group);
            selector["version"] = json!(version);
        }
        if self.random.chance(15) {
            let labels = object["metadata"]["labels"].as_object();
            let text = match labels.and_then(|labels| labels.iter().next()) {
                Some((key, value)) => {
                    let value = value.as_str().unwrap_or_default();
                    let forms = [
                        key.clone(),
                        format!("{key}={value}"),
                        format!("{key}!=x"),
                        format!("{key} in ({value},y)"),
                    ];
                    self.random.pick(&forms).clone()
                }
                None => "!nothing".to_owned(),
            };
            selector["labelSelector"] = json!(text);
        }
        if self.random.chance(4) {
            selector["annotationSelector"] = json!(self.random.pick(&["note", "!note", "note=v1"]));
        }
        selector
    }

    /// The object's own names, as the head of a patch.
    fn head(object: &Value) -> Value {
        let mut head = json!({"apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"name": object["metadata"]["name"]}});
        if let Some(namespace) = object["metadata"].get("namespace") {
            head["metadata"]["namespace"] = namespace.clone();
        }
        head
    }

    /// A strategic merge patch for an object.
    fn strategic(&mut self, object: &Value) -> Value {
        let mut patch = Self::head(object);
        let places = places(object);
        for _ in 0..=self.random.below(3) {
            let Some((path, old)) = self.random.some(&places).cloned() else { break };
            let value = match self.random.below(20) {
                0..3 => Value::Null,
                3 if old.is_object() => json!({"$patch": "delete"}),
                4 if old.is_object() => {
                    let mut new = self.instead_of(&old);
                    if let Some(map) = new.as_object_mut() {
                        map.insert("$patch".into(), json!("replace"));
                    }
                    new
                }
                _ => self.instead_of(&old),
            };
            place::union(&mut patch, place::merge_patch(object, &path, value));
        }
        if self.random.chance(25) {
            self.extend_pod(object, &mut patch);
        }
        if self.random.chance(4) {
            patch["$patch"] = json!(self.random.pick(&["delete", "replace", "merge"]));
        }
        patch
    }

    /// More for the lists of a pod, which merge by keys.
    fn extend_pod(&mut self, object: &Value, patch: &mut Value) {
        let containers = &object["spec"]["template"]["spec"]["containers"];
        let Some(name) = containers[0]["name"].as_str() else { return };
        let more = match self.random.below(6) {
            0 => {
                json!({"containers": [{"name": name, "env": [{"name": "NEW", "value": pool::text(&mut self.random)}, {"name": "PLAIN", "value": null}]}]})
            }
            1 => json!({"containers": [{"name": "side", "image": "side:1"}, {"name": name, "args": ["x"]}]}),
            2 => {
                json!({"containers": [{"name": name, "ports": [{"containerPort": 80, "name": "again"}, {"containerPort": 9090}]}]})
            }
            3 => json!({"containers": [{"name": name, "$patch": "delete"}]}),
            4 => {
                json!({"volumes": [{"name": "config", "$patch": "delete"}, {"name": "tmp", "emptyDir": {}}], "nodeSelector": {"a": "b"}})
            }
            _ => {
                json!({"containers": [{"name": name, "resources": {"limits": {"cpu": 2, "memory": null}}}], "tolerations": [{"key": "k"}]})
            }
        };
        place::union(patch, json!({"spec": {"template": {"spec": more}}}));
    }

    /// Operations of a JSON patch for an object.
    fn operations(&mut self, object: &Value) -> Value {
        let places = places(object);
        let mut operations = Vec::new();
        for _ in 0..=self.random.below(3) {
            let Some((path, old)) = self.random.some(&places).cloned() else { break };
            let new = self.instead_of(&old);
            let at = pointer(&path);
            operations.push(match self.random.below(12) {
                0..4 => json!({"op": "replace", "path": at, "value": new}),
                4..6 => json!({"op": "remove", "path": at}),
                6 if old.is_array() => json!({"op": "add", "path": format!("{at}/-"), "value": old[0]}),
                6 => json!({"op": "test", "path": at, "value": old}),
                7 if self.random.chance(10) => json!({"op": "copy", "from": at, "path": "/metadata/annotations"}),
                7 => json!({"op": "copy", "from": at, "path": "/spec/copied"}),
                8 => json!({"op": "move", "from": at, "path": "/spec/moved"}),
                9 => json!({"op": "add", "path": "/metadata/labels/new~1label", "value": pool::word(&mut self.random)}),
                10 => json!({"op": "replace", "path": "/metadata/name", "value": pool::word(&mut self.random)}),
                _ => json!({"op": "add", "path": at, "value": new}),
            });
        }
        json!(operations)
    }

    /// The text of a patch in one of its forms: a file in `dir`, or inline.
    fn put(&mut self, dir: &str, entry: &mut Value, patches: Vec<Value>) {
        if self.random.chance(50) && !patches[0].is_array() {
            let name = self.file("patch", "yaml");
            self.case.documents.insert(format!("{dir}/{name}"), patches);
            entry["path"] = json!(name);
        } else {
            let texts: Vec<String> = patches
                .iter()
                .map(|patch| {
                    if self.random.chance(50) {
                        serde_yaml::to_string(patch).expect("values print")
                    } else {
                        serde_json::to_string_pretty(patch).expect("values print")
                    }
                })
                .collect();
            entry["patch"] = json!(texts.join("\n---\n"));
        }
    }

    pub(super) fn patch(&mut self, dir: &str) {
        let object = self.object();
        let mut entry = json!({});
        if self.random.chance(45) {
            entry["target"] = self.selector(&object);
            let operations = self.operations(&object);
            if operations.as_array().is_some_and(Vec::is_empty) {
                return;
            }
            self.put(dir, &mut entry, vec![operations]);
        } else {
            let mut patches = vec![self.strategic(&object)];
            if self.random.chance(40) {
                entry["target"] = self.selector(&object);
                if self.random.chance(20) {
                    patches[0]["metadata"]["name"] = json!(pool::word(&mut self.random));
                    entry["options"] =
                        json!({"allowNameChange": self.random.chance(50), "allowKindChange": false});
                }
            } else if self.random.chance(15) {
                let second = self.object();
                patches.push(self.strategic(&second));
            }
            self.put(dir, &mut entry, patches);
        }
        self.case.add(dir, "patches", json!([entry]));
    }

    pub(super) fn legacy_patch(&mut self, dir: &str) {
        let object = self.object();
        if self.random.chance(50) {
            let patch = self.strategic(&object);
            let name = self.file("legacy", "yaml");
            self.case.documents.insert(format!("{dir}/{name}"), vec![patch]);
            self.case.add(dir, "patchesStrategicMerge", json!([name]));
        } else {
            let (group, version) =
                object["apiVersion"].as_str().and_then(|it| it.split_once('/')).unwrap_or(("", "v1"));
            let target = json!({"group": group, "version": version, "kind": object["kind"], "name": object["metadata"]["name"]});
            let operations = self.operations(&object);
            let text = serde_json::to_string(&operations).expect("values print");
            self.case.add(dir, "patchesJson6902", json!([{"target": target, "patch": text}]));
        }
    }

    pub(super) fn replacement(&mut self, dir: &str) {
        let (from, to) = (self.object(), self.object());
        let mut source = json!({"kind": from["kind"], "name": from["metadata"]["name"]});
        if self.random.chance(70) {
            let scalars: Vec<_> = places(&from).into_iter().filter(|(_, value)| !value.is_object()).collect();
            if let Some((path, _)) = self.random.some(&scalars) {
                source["fieldPath"] = json!(place::field_path(&from, path));
            }
        }
        if self.random.chance(20) {
            source["options"] =
                json!({"delimiter": self.random.pick(&["-", ".", "/", ":"]), "index": self.random.below(3)});
        }
        let mut paths = Vec::new();
        let all = places(&to);
        for _ in 0..=self.random.below(2) {
            match self.random.some(&all).cloned() {
                Some((path, _)) if self.random.chance(80) => paths.push(place::field_path(&to, &path)),
                Some((path, _)) if path.contains(&Step::Index(0)) => {
                    let with_star = |path: &[Step]| {
                        let steps = path.iter().map(|step| match step {
                            Step::Key(key) => key.replace('.', "\\."),
                            Step::Index(_) => "*".into(),
                        });
                        steps.collect::<Vec<_>>().join(".")
                    };
                    paths.push(with_star(&path));
                }
                _ => paths.push("metadata.annotations.replaced".into()),
            }
        }
        let mut target = json!({"select": self.selector(&to), "fieldPaths": paths});
        if self.random.chance(15) {
            target["reject"] = json!([{"kind": "Job"}, {"name": "zzz"}]);
        }
        if self.random.chance(40) {
            let mut options = json!({"create": self.random.chance(70)});
            if self.random.chance(40) {
                options["delimiter"] = json!(self.random.pick(&["-", ".", "/", ":"]));
                options["index"] = json!(self.random.below(4).cast_signed() - 1);
            }
            if self.random.chance(10) {
                options["encoding"] = json!("base64");
            }
            target["options"] = options;
        }
        let entry = json!({"source": source, "targets": [target]});
        if self.random.chance(10) {
            let name = self.file("replacement", "yaml");
            self.case.documents.insert(format!("{dir}/{name}"), vec![entry]);
            self.case.add(dir, "replacements", json!([{"path": name}]));
        } else {
            self.case.add(dir, "replacements", json!([entry]));
        }
    }
}
