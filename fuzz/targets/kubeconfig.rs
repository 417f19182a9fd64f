//! Any kubeconfig: making a client of each of its contexts never panics, runs no program, and says why it refuses. No
//! connection is opened: a client connects with its first request.

#![no_main]

use std::sync::LazyLock;

use kcp_cluster::{ConnectOptions, Connector};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder can be made"));
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime can be made"));

fuzz_target!(|input: &[u8]| {
    // Files that a kubeconfig names are the machine's: what is in them is not what is tested here.
    if input.contains(&b'/') && !input.windows(8).any(|it| it == b"https://") {
        return;
    }
    let path = FOLDER.path().join("kubeconfig");
    std::fs::write(&path, input).expect("the folder is there");
    let options = ConnectOptions { kubeconfig: Some(path), ..ConnectOptions::default() };
    let connector = Connector::new(options);
    let Ok((contexts, _)) = connector.contexts() else { return };
    for context in contexts.iter().take(4) {
        if let Err(error) = RUNTIME.block_on(connector.connect(context)) {
            assert!(!error.to_string().is_empty(), "refused without a reason");
        }
    }
});
