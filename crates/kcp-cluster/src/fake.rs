//! An API server in a few lines for tests: objects by path, server-side apply of whole maps, watches that a test
//! feeds, and answers that a test puts in its way.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::call::Cluster;

type Bytes = <Body as http_body::Body>::Data;
type Answer = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

/// A fake API server; clones are the same one.
#[derive(Clone, Default)]
pub(crate) struct Fake {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    version: u64,
    objects: BTreeMap<String, Value>,
    log: Vec<String>,
    /// Start of `METHOD path`, code, body, how often.
    in_the_way: Vec<(String, u16, Value, usize)>,
    watches: Vec<(String, mpsc::UnboundedSender<String>)>,
    page: Option<usize>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let fake = Self::default();
        fake.put(
            "/api/v1/namespaces/kube-system",
            json!({"metadata": {"name": "kube-system", "uid": "the-uid"}}),
        );
        fake
    }

    pub(crate) fn cluster(&self) -> Cluster {
        let fake = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let fake = fake.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect_bytes().await.map(|bytes| bytes.to_vec()).unwrap_or_default();
                let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
                Ok::<_, Infallible>(fake.answer(parts.method.as_str(), &path, &body))
            }
        });
        Cluster::from_service(service, "fake")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an object there as it is, with a UID of its own if it has none.
    pub(crate) fn put(&self, path: &str, object: Value) -> Value {
        self.lock().put(path, object)
    }

    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        self.lock().objects.get(path).cloned()
    }

    /// The next `times` requests that begin so are answered like this.
    pub(crate) fn fail(&self, start: &str, code: u16, body: Value, times: usize) {
        self.lock().in_the_way.push((start.to_owned(), code, body, times));
    }

    /// Lists have so many items a page.
    pub(crate) fn pages_of(&self, items: usize) {
        self.lock().page = Some(items);
    }

    /// Sends an event to all watches whose path begins so.
    pub(crate) fn event(&self, path: &str, kind: &str, object: &Value) {
        let line = format!("{}\n", json!({"type": kind, "object": object}));
        self.lock()
            .watches
            .retain(|(watched, sender)| !watched.starts_with(path) || sender.send(line.clone()).is_ok());
    }

    /// Ends all watches.
    pub(crate) fn end_watches(&self) {
        self.lock().watches.clear();
    }

    /// Requests since the last call, as `METHOD path`, those that match.
    pub(crate) fn log(&self, matching: impl Fn(&str) -> bool) -> Vec<String> {
        let log = std::mem::take(&mut self.lock().log);
        log.into_iter().filter(|line| matching(line)).collect()
    }

    /// Writes since the last call of this or of `log`.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.log(|line| !line.starts_with("GET"))
    }

    fn answer(&self, method: &str, uri: &str, body: &[u8]) -> http::Response<Answer> {
        let mut state = self.lock();
        let line = format!("{method} {uri}");
        state.log.push(line.clone());
        let way =
            state.in_the_way.iter_mut().find(|(start, .., times)| line.starts_with(start) && *times > 0);
        if let Some((_, code, body, times)) = way {
            *times -= 1;
            return respond(*code, body);
        }
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        if query.contains("watch=true") {
            let (sender, receiver) = mpsc::unbounded_channel();
            state.watches.push((uri.to_owned(), sender));
            return stream(receiver);
        }
        let sent: Value = serde_json::from_slice(body).unwrap_or_default();
        let (code, answer) = match (method, path) {
            ("GET", "/readyz") => (404, json!({})),
            ("GET", "/version") => (200, json!({"gitVersion": "v1.99.0"})),
            ("GET", "/api") => (
                200,
                served(&[(
                    "",
                    "v1",
                    &[
                        ("Namespace", "namespaces", false),
                        ("ConfigMap", "configmaps", true),
                        ("Secret", "secrets", true),
                    ],
                )]),
            ),
            ("GET", "/apis") => (200, served(&[])),
            ("GET", _) => state.read(path, query),
            ("POST", _) => {
                let name = sent.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
                let path = format!("{path}/{name}");
                if state.objects.contains_key(&path) {
                    status(409, "AlreadyExists")
                } else {
                    (201, state.put(&path, sent))
                }
            }
            ("PATCH", _) => state.apply(path, sent),
            ("DELETE", _) => match state.objects.remove(path) {
                Some(_) => (200, json!({"kind": "Status"})),
                None => status(404, "NotFound"),
            },
            _ => status(405, "MethodNotAllowed"),
        };
        respond(code, &answer)
    }
}

impl State {
    fn put(&mut self, path: &str, mut object: Value) -> Value {
        self.version += 1;
        if object.pointer("/metadata/uid").is_none() {
            object["metadata"]["uid"] = json!(format!("uid-{}", self.version));
        }
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object.clone());
        object
    }

    /// Server-side apply, near enough: what is sent replaces what is there, and is owned.
    fn apply(&mut self, path: &str, mut sent: Value) -> (u16, Value) {
        let old = self.objects.get(path).cloned();
        let text = |object: &Value, field: &str| {
            object["metadata"].get(field).and_then(Value::as_str).map(str::to_owned)
        };
        let old_part = |field: &str| old.as_ref().and_then(|old| text(old, field));
        for field in ["uid", "resourceVersion"] {
            if text(&sent, field).is_some_and(|wanted| Some(wanted) != old_part(field)) {
                return status(409, "Conflict");
            }
        }
        let metadata = sent["metadata"].as_object_mut().expect("an object");
        metadata.shift_remove("resourceVersion");
        let mut fields = own(&sent);
        fields.as_object_mut().expect("an object").retain(|key, _| key != "f:apiVersion" && key != "f:kind");
        for field in ["f:name", "f:namespace", "f:uid"] {
            fields["f:metadata"].as_object_mut().expect("an object").shift_remove(field);
        }
        sent["metadata"]["managedFields"] = json!([
            {"manager": "kcp", "operation": "Apply", "apiVersion": sent["apiVersion"], "fieldsV1": fields},
        ]);
        if let Some(old) = old {
            sent["metadata"]["uid"] = old["metadata"]["uid"].clone();
            sent["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
            if kcp_merge::canonical_bytes(&sent) == kcp_merge::canonical_bytes(&old) {
                return (200, old);
            }
        }
        (200, self.put(path, sent))
    }

    fn read(&self, path: &str, query: &str) -> (u16, Value) {
        if let Some(object) = self.objects.get(path) {
            return (200, object.clone());
        }
        let plural = path.rsplit('/').next().unwrap_or_default();
        if !["configmaps", "secrets", "namespaces"].contains(&plural) {
            return status(404, "NotFound");
        }
        let parameter = |name: &str| {
            query
                .split('&')
                .find_map(|part| part.strip_prefix(&format!("{name}=")))
                .unwrap_or_default()
                .to_owned()
        };
        let selector = parameter("labelSelector").replace("%2F", "/").replace("%3D", "=");
        let (key, value) = selector.split_once('=').unwrap_or((&selector, ""));
        let is_in = |at: &str| {
            at.starts_with(path) || path.matches('/').count() == 3 && at.contains(&format!("/{plural}/"))
        };
        let items: Vec<_> = self
            .objects
            .iter()
            .filter(|(at, object)| {
                let label = object.pointer("/metadata/labels").and_then(|labels| labels.get(key)?.as_str());
                is_in(at) && label.is_some_and(|label| value.is_empty() || label == value)
            })
            .map(|(_, object)| {
                // As in a real list, items do not repeat what they are.
                let mut item = object.clone();
                item.as_object_mut()
                    .expect("an object")
                    .retain(|key, _| key != "apiVersion" && key != "kind");
                item
            })
            .collect();
        let start: usize = parameter("continue").parse().unwrap_or(0);
        let end = self.page.map_or(items.len(), |page| (start + page).min(items.len()));
        let next = if end < items.len() { json!(end.to_string()) } else { json!("") };
        let metadata = json!({"resourceVersion": self.version.to_string(), "continue": next});
        (200, json!({"kind": "List", "metadata": metadata, "items": items[start..end]}))
    }
}

/// FieldsV1 of what was applied, all maps granular.
fn own(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (format!("f:{key}"), own(value))).collect(),
        _ => json!({}),
    }
}

/// Kind, plural, whether it is namespaced.
type ServedKind<'a> = (&'a str, &'a str, bool);

/// An answer of aggregated discovery.
fn served(groups: &[(&str, &str, &[ServedKind<'_>])]) -> Value {
    let groups: Vec<_> = groups
        .iter()
        .map(|(group, version, kinds)| {
            let resources: Vec<_> = kinds
                .iter()
                .map(|(kind, plural, namespaced)| {
                    json!({
                        "resource": plural, "responseKind": {"kind": kind}, "verbs": ["get", "list"],
                        "scope": if *namespaced { "Namespaced" } else { "Cluster" },
                    })
                })
                .collect();
            json!({"metadata": {"name": group}, "versions": [{"version": version, "resources": resources}]})
        })
        .collect();
    json!({"kind": "APIGroupDiscoveryList", "items": groups})
}

fn status(code: u16, reason: &str) -> (u16, Value) {
    (
        code,
        json!({"kind": "Status", "code": code, "reason": reason, "message": reason, "details": {"kind": "x"}}),
    )
}

fn respond(code: u16, body: &Value) -> http::Response<Answer> {
    let body = http_body_util::Full::new(Bytes::from(body.to_string())).boxed_unsync();
    http::Response::builder().status(code).body(body).expect("a valid code")
}

fn stream(receiver: mpsc::UnboundedReceiver<String>) -> http::Response<Answer> {
    let lines = futures::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|line| (line, receiver))
    });
    let frames = lines.map(|line| Ok::<_, Infallible>(Frame::data(Bytes::from(line))));
    http::Response::new(StreamBody::new(frames).boxed_unsync())
}
