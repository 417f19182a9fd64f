//! Runs one program with a deadline. Must never leave a process behind, wait for a held pipe, or keep unbounded output.

use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

/// Output above this many bytes is read and dropped.
const MAX_OUTPUT: usize = 1024 * 1024;
/// How long a program may take to end by itself when told to stop.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// How long to wait for the rest of the output after the program ended: a helper that stays may hold the pipe.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

#[derive(Debug)]
pub(crate) enum RunError {
    Start(std::io::Error),
    Io(std::io::Error),
    Deadline,
}

/// Ends the whole process group unless the program ended by itself; also when the future is dropped.
struct Group(Option<u32>);

impl Group {
    fn signal(&self, kill: bool) {
        #[cfg(unix)]
        if let Some(pid) =
            self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            let signal = if kill { rustix::process::Signal::KILL } else { rustix::process::Signal::TERM };
            // An error means that nobody is left.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
        #[cfg(not(unix))]
        let _ = kill;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(true);
    }
}

/// Runs to the end, or to the deadline. `input` is written to the program; without it, it reads nothing.
/// `own_group`: everything that it starts is ended with it; without, it may use the terminal.
pub(crate) async fn run(
    mut command: Command,
    input: Option<Vec<u8>>,
    deadline: Duration,
    own_group: bool,
) -> Result<Output, RunError> {
    command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    if own_group {
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(RunError::Start)?;
    let mut group = Group(if own_group { child.id() } else { None });
    let stdout = Collector::start(child.stdout.take());
    let stderr = Collector::start(child.stderr.take());
    let stdin = child.stdin.take();
    let writer = tokio::spawn(async move {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program that ends without reading all is judged by its status.
            let _ = stdin.write_all(&input).await;
        }
    });
    let waited = timeout(deadline, child.wait()).await;
    writer.abort();
    let Ok(waited) = waited else {
        group.signal(false);
        if !own_group {
            let _ = child.start_kill();
        }
        // Told to stop, git removes its temporary files.
        let _ = timeout(STOP_GRACE, child.wait()).await;
        return Err(RunError::Deadline);
    };
    let status = waited.map_err(RunError::Io)?;
    group.0 = None;
    let stdout = stdout.finish().await;
    let stderr = String::from_utf8_lossy(&stderr.finish().await).into_owned();
    Ok(Output { status, stdout, stderr })
}

struct Collector {
    bytes: Arc<Mutex<Vec<u8>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Collector {
    fn start(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let into = bytes.clone();
        let task = tokio::spawn(async move {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = vec![0; 8192];
            while let Ok(read) = pipe.read(&mut buffer).await {
                if read == 0 {
                    break;
                }
                let mut bytes = into.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_OUTPUT.saturating_sub(bytes.len()).min(read);
                bytes.extend_from_slice(&buffer[..room]);
            }
        });
        Self { bytes, task }
    }

    async fn finish(mut self) -> Vec<u8> {
        let _ = timeout(DRAIN_GRACE, &mut self.task).await;
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}
