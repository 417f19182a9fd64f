//! What the reconciler asked of a cluster, read from the audit log of its kube-apiserver.
//! It must never count what the fixture, the controllers or kwok do.

use serde::Deserialize;
use serde_json::{Value, json};

/// A moment in the audit log of one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub(crate) u64);

/// One request of the reconciler's user that reached the kube-apiserver and was authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; an apply is a `patch`.
    pub verb: String,
    /// API group, empty for the core group and for requests that are not about a resource.
    pub group: String,
    /// Plural name, empty for discovery, OpenAPI and the like.
    pub resource: String,
    /// Empty when it is about the object itself.
    pub subresource: String,
    /// Empty when there is none.
    pub namespace: String,
    /// Empty for lists and watches of many, and for some creates.
    pub name: String,
    /// Of the program that asked.
    pub user_agent: String,
    /// Whether nothing was to be persisted.
    pub dry_run: bool,
    /// HTTP status of the answer; 0 when there was none.
    pub code: u16,
    /// Path and query.
    pub uri: String,
    /// When it arrived, RFC 3339 with microseconds.
    pub received: String,
}

impl Request {
    /// Whether it asked to change something that is persisted. Reviews and tokens are created, but nothing keeps them.
    pub fn is_write(&self) -> bool {
        let changes =
            matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection");
        let review = matches!(self.group.as_str(), "authorization.k8s.io" | "authentication.k8s.io");
        changes && !self.dry_run && !review && self.subresource != "token"
    }
}

/// The policy for kube-apiserver: every request of `user` once, when it is answered (a watch: when it begins).
pub(crate) fn policy(user: &str) -> Value {
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "rules": [
            {"level": "Metadata", "users": [user], "verbs": ["watch"], "omitStages": ["RequestReceived", "ResponseComplete"]},
            {"level": "Metadata", "users": [user], "omitStages": ["RequestReceived", "ResponseStarted"]},
            {"level": "None"},
        ],
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    verb: String,
    #[serde(rename = "requestURI")]
    uri: String,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: Object,
    #[serde(default)]
    response_status: Status,
    #[serde(default)]
    request_received_timestamp: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    code: u16,
}

/// Reads the lines of an audit log; a last line that is not written to its end is left out.
pub(crate) fn parse(log: &str) -> anyhow::Result<Vec<Request>> {
    let complete = log.rfind('\n').map_or("", |end| &log[..end]);
    complete.lines().filter(|line| !line.is_empty()).map(request).collect()
}

fn request(line: &str) -> anyhow::Result<Request> {
    let event: Event =
        serde_json::from_str(line).map_err(|error| anyhow::anyhow!("audit log: {error} in {line:?}"))?;
    let object = event.object_ref;
    let query = event.uri.split_once('?').map_or("", |(_, query)| query);
    Ok(Request {
        dry_run: query.split('&').any(|pair| pair == "dryRun=All"),
        verb: event.verb,
        group: object.api_group,
        resource: object.resource,
        subresource: object.subresource,
        namespace: object.namespace,
        name: object.name,
        user_agent: event.user_agent,
        code: event.response_status.code,
        received: event.request_received_timestamp,
        uri: event.uri,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_writes_dry_runs_and_discovery() {
        let line = |verb: &str, uri: &str, object: &str| {
            format!(r#"{{"verb":"{verb}","requestURI":"{uri}"{object},"responseStatus":{{"code":200}}}}"#)
                + "\n"
        };
        let object =
            r#","objectRef":{"resource":"deployments","apiGroup":"apps","namespace":"shop","name":"web"}"#;
        let path = "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kcp";
        let log = line("patch", path, object)
            + &line("patch", &format!("{path}&dryRun=All"), object)
            + &line("get", "/apis", "")
            + "{\"verb\":\"del";
        let requests = parse(&log).unwrap();
        assert_eq!(requests.iter().map(Request::is_write).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!((requests[0].resource.as_str(), requests[0].name.as_str()), ("deployments", "web"));
        assert!(requests[2].resource.is_empty());
    }
}
