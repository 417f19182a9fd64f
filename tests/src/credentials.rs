//! Keys, tokens and kubeconfigs. Each cluster has its own: a token of one cluster must never be valid on another.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// Where the fixture keeps the account of the reconciler; not a namespace that the reconciler writes to.
pub(crate) const NAMESPACE: &str = "kcp-tests";
/// The account that the contexts of the fleet's kubeconfig use.
pub(crate) const ACCOUNT: &str = "reconciler";
/// The same as a user name: the one whose requests are counted.
pub(crate) const USER: &str = "system:serviceaccount:kcp-tests:reconciler";

/// How to reach one cluster, and as whom.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) port: u16,
    /// PEM.
    pub(crate) authority: String,
    pub(crate) token: String,
}

impl Access {
    fn cluster(&self) -> Value {
        json!({
            "server": format!("https://127.0.0.1:{}", self.port),
            "certificate-authority-data": STANDARD.encode(&self.authority),
        })
    }
}

/// A key pair in PEM for the tokens of service accounts: (private, public). kube-apiserver reads the public half only from
/// a block of its own.
pub(crate) fn signing_key() -> anyhow::Result<(String, String)> {
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let no_key = |_| anyhow::anyhow!("cannot make a key");
    let private = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(no_key)?;
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, private.as_ref(), &random)
        .map_err(|error| anyhow::anyhow!("cannot read the key that was just made: {error}"))?;
    let public = [P256_HEADER.as_slice(), pair.public_key().as_ref()].concat();
    Ok((pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", &public)))
}

/// The DER of a SubjectPublicKeyInfo for P-256, up to the point itself.
const P256_HEADER: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

fn pem(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let lines: Vec<_> = body.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A token that nobody can guess.
pub(crate) fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0; 24];
    SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow::anyhow!("no randomness for a token"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A token of the reconciler's account, valid for a day, and only as long as the new Secret `secret` exists.
pub(crate) async fn issue_token(client: &Client, secret: &str) -> anyhow::Result<String> {
    let bound = Secret {
        metadata: ObjectMeta { name: Some(secret.to_owned()), ..ObjectMeta::default() },
        ..Secret::default()
    };
    let bound = Api::<Secret>::namespaced(client.clone(), NAMESPACE)
        .create(&PostParams::default(), &bound)
        .await
        .with_context(|| format!("cannot create Secret {NAMESPACE}/{secret}"))?;
    let request = TokenRequest {
        spec: Some(TokenRequestSpec {
            expiration_seconds: Some(24 * 60 * 60),
            bound_object_ref: Some(BoundObjectReference {
                api_version: Some("v1".into()),
                kind: Some("Secret".into()),
                name: bound.metadata.name,
                uid: bound.metadata.uid,
            }),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let answer = Api::<ServiceAccount>::namespaced(client.clone(), NAMESPACE)
        .create_token_request(ACCOUNT, &PostParams::default(), &request)
        .await
        .context("cannot get a token for the reconciler's account")?;
    answer.status.and_then(|status| status.token).context("the answer to a TokenRequest holds no token")
}

/// A kubeconfig of one context for a program of the fixture.
pub(crate) fn kubeconfig_of(access: &Access) -> Value {
    kubeconfig(&BTreeMap::from([("fixture".to_owned(), access.clone())]))
}

/// JSON, which every reader of kubeconfigs takes as YAML.
fn kubeconfig(contexts: &BTreeMap<String, Access>) -> Value {
    let list = |entry: &dyn Fn(&String, &Access) -> Value| -> Vec<Value> {
        contexts.iter().map(|(name, access)| entry(name, access)).collect()
    };
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": list(&|name, access| json!({"name": name, "cluster": access.cluster()})),
        "users": list(&|name, access| json!({"name": name, "user": {"token": access.token}})),
        "contexts": list(&|name, _| json!({"name": name, "context": {"cluster": name, "user": name}})),
        "current-context": contexts.keys().next(),
    })
}

/// The kubeconfig of the fleet: one context per cluster; rewritten as a whole and at once when something changes.
pub(crate) struct KubeconfigFile {
    path: PathBuf,
    contexts: Mutex<BTreeMap<String, Access>>,
}

impl KubeconfigFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, contexts: Mutex::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets what a context points to.
    pub(crate) fn set(&self, context: &str, access: Access) -> anyhow::Result<()> {
        let mut contexts = self.contexts.lock().expect("nothing panics while it is held");
        contexts.insert(context.to_owned(), access);
        write_private(&self.path, kubeconfig(&contexts).to_string().as_bytes())
    }
}

/// Writes a file that only this user may read; a reader sees the old or the new content, never a part.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let write = || -> anyhow::Result<()> {
        // A temporary file is readable for its owner only.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(content)?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// The certificate that signed a kube-apiserver's own: the last one of the file that it makes for itself.
/// `None` while the file is not there or not complete.
pub(crate) fn authority(certificate: &Path) -> Option<String> {
    let text = fs::read_to_string(certificate).ok()?;
    let last = text.rfind("-----BEGIN CERTIFICATE-----")?;
    let complete = last > 0 && text[last..].contains("-----END CERTIFICATE-----");
    complete.then(|| text[last..].to_owned())
}
