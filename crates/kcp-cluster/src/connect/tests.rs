//! What a kubeconfig may and may not do.

use std::path::{Path, PathBuf};

use kcp_api::Reason;

use super::{ConnectError, ConnectOptions, Connector};

const SERVER: &str = "server: https://127.0.0.1:1";

/// A kubeconfig with one context `c`.
fn kubeconfig(name: &str, cluster: &str, user: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("kcp-connect-{}-{name}", std::process::id()));
    write(&path, cluster, user);
    path
}

fn write(path: &Path, cluster: &str, user: &str) {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\n\
         clusters:\n- name: k\n  cluster: {{{cluster}}}\nusers:\n- name: u\n  user: {{{user}}}\n"
    );
    std::fs::write(path, text).expect("writable");
}

fn connector(path: &Path) -> Connector {
    Connector::new(ConnectOptions { kubeconfig: Some(path.to_path_buf()), ..ConnectOptions::default() })
}

async fn error(name: &str, cluster: &str, user: &str, context: &str) -> ConnectError {
    let path = kubeconfig(name, cluster, user);
    let error = connector(&path).connect(context).await.expect_err("refused");
    let _ = std::fs::remove_file(path);
    error
}

#[tokio::test]
async fn what_is_not_safe_is_refused_with_its_reason() {
    let insecure = format!("{SERVER}, insecure-skip-tls-verify: true");
    let found = error("insecure", &insecure, "token: t0p", "c").await;
    assert_eq!(found.refusal(), Some(Reason::InsecureConnection));
    let found = error("plain", "server: http://127.0.0.1:1", "token: t0p", "c").await;
    assert_eq!(found.refusal(), Some(Reason::InsecureConnection));
    let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ls}";
    let found = error("exec", SERVER, exec, "c").await;
    assert!(matches!(found, ConnectError::ExecNotAllowed { .. }));
    let found = error("missing", SERVER, "token: t0p", "d").await;
    assert_eq!(found.to_string(), "the kubeconfig has no context `d`; it has c");
}

#[tokio::test]
async fn an_unreadable_kubeconfig_shows_nothing_of_itself() {
    let found = error("broken", SERVER, "token: t0p, x: [", "c").await;
    assert!(!found.to_string().contains("t0p"), "{found}");
    assert_eq!(found.refusal(), None, "it may be half written");
}

#[tokio::test]
async fn changed_credentials_change_the_mark() {
    let path = kubeconfig("mark", SERVER, "token: one");
    let connector = connector(&path);
    let before = connector.mark("c");
    assert!(before.is_some() && before == connector.mark("c"));
    write(&path, SERVER, "token: two");
    assert_ne!(connector.mark("c"), before);
    assert!(connector.connect("c").await.is_ok());
    let _ = std::fs::remove_file(path);
}
