//! Paths of the Kubernetes API, from what a cluster says it serves.

use std::fmt::Write as _;

use kcp_api::Reason;
use kcp_core::object::{GroupKind, ObjectKey};
use kcp_core::world::ApiFacts;

/// The endpoint of one kind in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    base: String,
    plural: String,
    /// Whether its objects are in namespaces.
    pub(crate) namespaced: bool,
    /// apiVersion as in objects.
    pub(crate) api_version: String,
}

/// The cluster does not serve it, or it is not known whether it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotServed {
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

impl Endpoint {
    /// The endpoint of a kind, in the given version or in the preferred one.
    pub(crate) fn of(api: &ApiFacts, kind: &GroupKind, version: Option<&str>) -> Result<Self, NotServed> {
        let missing = |message| Err(NotServed { reason: Reason::KindMissing, message });
        let Some(facts) = api.kind(kind) else {
            if let Some(error) = api.failed_groups.get(&kind.group) {
                let message = format!("whether the cluster serves {kind} is unknown: {error}");
                return Err(NotServed { reason: Reason::DiscoveryIncomplete, message });
            }
            return missing(format!("the cluster does not serve {kind}"));
        };
        let version = match version {
            Some(version) if facts.versions.iter().any(|served| served == version) => version,
            Some(version) => {
                let served = facts.versions.join(", ");
                return missing(format!("the cluster serves {kind} in {served}, not in {version}"));
            }
            None => match facts.versions.first() {
                Some(version) => version,
                None => return missing(format!("the cluster serves no version of {kind}")),
            },
        };
        let (base, api_version) = if kind.group.is_empty() {
            (format!("/api/{}", segment(version)), version.to_owned())
        } else {
            let base = format!("/apis/{}/{}", segment(&kind.group), segment(version));
            (base, format!("{}/{version}", kind.group))
        };
        Ok(Self { base, plural: segment(&facts.plural), namespaced: facts.namespaced, api_version })
    }

    /// The path of one object.
    pub(crate) fn object(&self, key: &ObjectKey) -> Result<String, NotServed> {
        let invalid = |message| Err(NotServed { reason: Reason::InvalidObject, message });
        match (self.namespaced, key.namespace.as_str()) {
            (true, "") => invalid(format!("{key} needs a namespace on this cluster")),
            (false, namespace) if !namespace.is_empty() => {
                invalid(format!("{key} is not in a namespace on this cluster"))
            }
            (true, namespace) => Ok(format!(
                "{}/namespaces/{}/{}/{}",
                self.base,
                segment(namespace),
                self.plural,
                segment(&key.name)
            )),
            (false, _) => Ok(format!("{}/{}/{}", self.base, self.plural, segment(&key.name))),
        }
    }

    /// The path of all objects, in all namespaces.
    pub(crate) fn all(&self) -> String {
        format!("{}/{}", self.base, self.plural)
    }
}

/// Adds query parameters to a path.
pub(crate) fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut out = path.to_owned();
    for (index, (name, value)) in parameters.iter().enumerate() {
        out.push(if index == 0 { '?' } else { '&' });
        out.push_str(name);
        out.push('=');
        out.push_str(&segment(value));
    }
    out
}

/// Text as one segment of a path or one value of a query: everything but the plainest characters is escaped.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    // A segment of dots would be another path.
    if out.bytes().all(|byte| byte == b'.') { out.replace('.', "%2E") } else { out }
}

#[cfg(test)]
mod tests {
    use kcp_api::Reason;
    use kcp_core::object::{GroupKind, ObjectKey};
    use kcp_core::world::{ApiFacts, KindFacts};

    use super::{Endpoint, segment, with_query};

    fn api() -> ApiFacts {
        let kind = |kind: &str, plural: &str, namespaced, versions: &[&str]| KindFacts {
            kind: kind.into(),
            plural: plural.into(),
            namespaced,
            versions: versions.iter().map(ToString::to_string).collect(),
        };
        let mut api = ApiFacts::default();
        api.kinds.insert(String::new(), vec![kind("Namespace", "namespaces", false, &["v1"])]);
        api.kinds.insert("apps".into(), vec![kind("Deployment", "deployments", true, &["v1", "v1beta1"])]);
        api.failed_groups.insert("metrics.k8s.io".into(), "503".into());
        api
    }

    fn key(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectKey {
        ObjectKey { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    #[test]
    fn paths() {
        let deployments =
            Endpoint::of(&api(), &GroupKind::new("apps", "Deployment"), Some("v1beta1")).expect("served");
        assert_eq!(deployments.all(), "/apis/apps/v1beta1/deployments");
        let path = deployments.object(&key("apps", "Deployment", "shop", "a:b/../c")).expect("fits");
        assert_eq!(path, "/apis/apps/v1beta1/namespaces/shop/deployments/a%3Ab%2F..%2Fc");
        let namespaces = Endpoint::of(&api(), &GroupKind::new("", "Namespace"), None).expect("served");
        assert_eq!(
            namespaces.object(&key("", "Namespace", "", "..")).expect("fits"),
            "/api/v1/namespaces/%2E%2E"
        );
        assert_eq!(with_query("/x", &[("a", "b,c"), ("d", "1")]), "/x?a=b%2Cc&d=1");
        assert_eq!(segment("é"), "%C3%A9");
    }

    #[test]
    fn what_is_not_served_says_why() {
        let reason = |group: &str, kind: &str, version| {
            Endpoint::of(&api(), &GroupKind::new(group, kind), version).expect_err("not served").reason
        };
        assert_eq!(reason("apps", "Deployment", Some("v2")), Reason::KindMissing);
        assert_eq!(reason("apps", "Nothing", None), Reason::KindMissing);
        assert_eq!(reason("metrics.k8s.io", "PodMetrics", None), Reason::DiscoveryIncomplete);
        let deployments = Endpoint::of(&api(), &GroupKind::new("apps", "Deployment"), None).expect("served");
        let error = deployments.object(&key("apps", "Deployment", "", "a")).expect_err("no namespace");
        assert_eq!(error.reason, Reason::InvalidObject);
    }
}
