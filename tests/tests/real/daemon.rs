//! A reconciler inside the test, on a thread and a runtime of its own, so that it can be ended in good order or killed
//! between any two of its steps.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use kcp_reconciler::{ConnectOptions, Reconciler};
use kcp_tests::wait_until;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tracing_subscriber::fmt::MakeWriter;

use super::harness::{SOON, Setup, record_of, said};

/// A running reconciler. Dropped without [`Daemon::stop`] or [`Daemon::kill`], it is killed, and shows its log: the test
/// failed.
pub(crate) struct Daemon {
    thread: Option<JoinHandle<Result<(), String>>>,
    stop: Option<oneshot::Sender<()>>,
    kill: Option<oneshot::Sender<()>>,
    address: SocketAddr,
    logs: Logs,
    repo: PathBuf,
}

impl Daemon {
    pub(crate) fn start(setup: &Setup<'_>) -> anyhow::Result<Self> {
        Self::start_with(setup, |builder| builder)
    }

    /// As [`Daemon::start`], with other settings.
    pub(crate) fn start_with(
        setup: &Setup<'_>,
        change: impl FnOnce(kcp_reconciler::Builder) -> kcp_reconciler::Builder,
    ) -> anyhow::Result<Self> {
        Self::start_at(setup, setup.repo().to_string_lossy().into_owned(), change)
    }

    /// As [`Daemon::start_with`], with the repo at another address.
    pub(crate) fn start_at(
        setup: &Setup<'_>,
        repo: String,
        change: impl FnOnce(kcp_reconciler::Builder) -> kcp_reconciler::Builder,
    ) -> anyhow::Result<Self> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
        let address = free.local_addr()?;
        drop(free);
        let connect =
            ConnectOptions { kubeconfig: Some(setup.fleet.kubeconfig()), ..ConnectOptions::default() };
        let builder = Reconciler::builder(repo, setup.state()).connect(connect).id("test").listen(address);
        let builder = change(builder);
        let (stop, stopped) = oneshot::channel::<()>();
        let (kill, killed) = oneshot::channel::<()>();
        let logs = Logs::default();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(logs.clone()).finish();
        let thread = std::thread::Builder::new().name("reconciler".into()).spawn(move || {
            // One thread, so that one subscriber hears all of it, and nothing else.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            let result = tracing::subscriber::with_default(subscriber, || {
                runtime.block_on(async {
                    tokio::select! {
                        result = Box::pin(builder.run(async { drop(stopped.await) })) => {
                            result.map_err(|error| error.to_string())
                        }
                        Ok(()) = killed => Ok(()),
                    }
                })
            });
            // Whatever waits is dropped where it waits, as when a process dies.
            runtime.shutdown_background();
            result
        })?;
        Ok(Self {
            thread: Some(thread),
            stop: Some(stop),
            kill: Some(kill),
            address,
            logs,
            repo: setup.repo(),
        })
    }

    /// Ends it in good order; the last status is on the branch then.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        self.join().await.map_err(anyhow::Error::msg)
    }

    /// Drops all of it at once.
    pub(crate) async fn kill(mut self) {
        if let Some(kill) = self.kill.take() {
            let _ = kill.send(());
        }
        let _ = self.join().await;
    }

    /// Waits until it ends by itself, and says why it did.
    pub(crate) async fn refusal(mut self) -> anyhow::Result<String> {
        let thread = self.thread.as_ref().context("it was joined already")?;
        wait_until(
            "the reconciler to end",
            SOON,
            async || {
                if thread.is_finished() { Ok(()) } else { Err("it runs") }
            },
        )
        .await?;
        match self.join().await {
            Ok(()) => anyhow::bail!("it ended in good order"),
            Err(why) => Ok(why),
        }
    }

    async fn join(&mut self) -> Result<(), String> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        match joined {
            Ok(Ok(result)) => result,
            _ => Err("the reconciler panicked".into()),
        }
    }

    /// What it logged so far.
    pub(crate) fn logs(&self) -> String {
        String::from_utf8_lossy(&self.logs.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Status code and text of one of its pages.
    pub(crate) async fn page(&self, path: &str) -> anyhow::Result<(u16, String)> {
        let mut stream = TcpStream::connect(self.address).await.context("no page is served")?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await?;
        let mut answer = String::new();
        tokio::time::timeout(Duration::from_secs(10), AsyncReadExt::read_to_string(&mut stream, &mut answer))
            .await??;
        let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no body")?;
        let code = head.split_whitespace().nth(1).and_then(|code| code.parse().ok());
        Ok((code.context("the answer has no status")?, body.to_owned()))
    }

    /// Waits until `/readyz` says ready.
    pub(crate) async fn ready(&self) -> anyhow::Result<()> {
        wait_until("/readyz to be 200", SOON, async || {
            let (code, text) = self.page("/readyz").await?;
            anyhow::ensure!(code == 200, "it is {code}: {text}");
            anyhow::Ok(())
        })
        .await
    }

    /// Waits until `/readyz` says not ready, with all these words.
    pub(crate) async fn not_ready(&self, words: &[&str]) -> anyhow::Result<String> {
        wait_until(&format!("/readyz to be 503 with {words:?}"), SOON, async || {
            let (code, text) = self.page("/readyz").await?;
            anyhow::ensure!(
                code == 503 && words.iter().all(|word| text.contains(word)),
                "it is {code}: {text}"
            );
            anyhow::Ok(text)
        })
        .await
    }

    /// Waits until this commit is in force.
    pub(crate) async fn in_force(&self, commit: &str) -> anyhow::Result<()> {
        self.metric(&format!("kcp_commit_info{{commit=\"{commit}\"}} 1")).await
    }

    /// Waits until something is held for this reason.
    pub(crate) async fn holds(&self, reason: &str) -> anyhow::Result<()> {
        self.metric(&format!("kcp_holds{{reason=\"{reason}\"}} 1")).await
    }

    /// Waits until nothing is held.
    pub(crate) async fn holds_nothing(&self) -> anyhow::Result<()> {
        wait_until("nothing to be held", SOON, async || {
            let (_, text) = self.page("/metrics").await?;
            let held: Vec<&str> = text.lines().filter(|line| line.starts_with("kcp_holds{")).collect();
            anyhow::ensure!(held.is_empty(), "{held:?}");
            anyhow::Ok(())
        })
        .await
    }

    async fn metric(&self, line: &str) -> anyhow::Result<()> {
        wait_until(&format!("the metric {line}"), SOON, async || {
            let (_, text) = self.page("/metrics").await?;
            anyhow::ensure!(text.lines().any(|it| it == line), "the metrics are {text}");
            anyhow::Ok(())
        })
        .await
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let (Some(thread), Some(kill)) = (self.thread.take(), self.kill.take()) {
            // A test that fails returns before it ends its reconciler.
            let pages = ["/readyz", "/metrics"].map(|path| page_now(self.address, path).unwrap_or_default());
            let record = record_of(&self.repo).map_or_else(|error| error.to_string(), |record| said(&record));
            let _ = kill.send(());
            let _ = thread.join();
            let (pages, logs) = (pages.join("\n"), self.logs());
            let _ =
                writeln!(std::io::stderr().lock(), "the reconciler at the end:\n{pages}\n{record}\n{logs}");
        }
    }
}

/// One of its pages, read while nothing can be awaited.
fn page_now(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    Write::write_all(
        &mut stream,
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer)?;
    Ok(answer)
}

#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Logs {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
