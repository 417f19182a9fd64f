//! One request to one cluster: its deadline, its share of the cluster's attention, and what went wrong in words.
//!
//! Nothing is sent twice here: whoever asked decides what a failure means.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::Value;
use tower::{BoxError, Service};

use crate::limit::Limiter;
use crate::metrics::{Answer, Metrics, Verb};

/// Largest answer that is read; a page of a list that is larger is asked for again in smaller pages.
const MAX_ANSWER: usize = 64 << 20;
/// Largest message of a server that is kept.
const MAX_MESSAGE: usize = 2048;

pub(crate) const JSON: &str = "application/json";
pub(crate) const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
pub(crate) const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// A request failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The API server answered with an error.
    #[error("{0}")]
    Status(Box<StatusError>),
    /// There was no answer in time.
    #[error("no answer within {seconds} s")]
    Timeout {
        /// The deadline.
        seconds: u64,
    },
    /// There is no connection, or it broke.
    #[error("cannot be reached: {0}")]
    Broken(String),
    /// The answer is not what an API server says.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// The answer is too large.
    #[error("the answer is larger than {} MiB", MAX_ANSWER >> 20)]
    TooLarge,
}

impl CallError {
    /// The HTTP status, if the server answered.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status.code),
            _ => None,
        }
    }

    /// Whether the cluster as a whole cannot be worked with: it cannot be reached, or refuses the credentials. All
    /// else may be about what was asked only: an aggregated API or a webhook that is down answers 5xx, or too late.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Broken(_)) || self.code() == Some(401)
    }
}

/// An error answer of an API server (a `Status` object).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusError {
    /// HTTP status.
    pub code: u16,
    /// Machine-readable reason, as in `AlreadyExists`; may be empty.
    pub reason: String,
    /// In words.
    pub message: String,
    /// Fields concerned: (reason, field, message).
    pub causes: Vec<(String, String, String)>,
    /// Plural kind of what it is about, as in `namespaces`; may be empty.
    pub about: String,
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message.is_empty(), self.reason.is_empty()) {
            (false, _) => f.write_str(&self.message),
            (true, false) => write!(f, "the API server answered {} {}", self.code, self.reason),
            (true, true) => write!(f, "the API server answered {}", self.code),
        }
    }
}

impl StatusError {
    fn read(code: u16, body: &[u8]) -> Self {
        let Ok(status) = serde_json::from_slice::<Value>(body) else {
            // Not from an API server but from something in between.
            return Self { code, message: shorten(String::from_utf8_lossy(body).trim()), ..Self::default() };
        };
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(shorten).unwrap_or_default();
        let details = status.get("details");
        let causes = details.and_then(|details| details.get("causes")).and_then(Value::as_array);
        let cause =
            |cause: &Value| (text(cause.get("reason")), text(cause.get("field")), text(cause.get("message")));
        Self {
            code,
            reason: text(status.get("reason")),
            message: text(status.get("message")),
            causes: causes.into_iter().flatten().take(100).map(cause).collect(),
            about: text(details.and_then(|details| details.get("kind"))),
        }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What is asked.
pub(crate) struct Call {
    pub(crate) verb: Verb,
    pub(crate) method: http::Method,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) accept: &'static str,
    /// Content type and body.
    pub(crate) content: Option<(&'static str, Vec<u8>)>,
}

impl Call {
    pub(crate) fn get(verb: Verb, path: impl Into<String>, accept: &'static str) -> Self {
        Self { verb, method: http::Method::GET, path: path.into(), accept, content: None }
    }

    pub(crate) fn send(
        verb: Verb,
        method: http::Method,
        path: String,
        kind: &'static str,
        body: &Value,
    ) -> Self {
        Self { verb, method, path, accept: JSON, content: Some((kind, body.to_string().into_bytes())) }
    }
}

/// A connection to one cluster. Cloning is cheap; clones share limits and counts.
#[derive(Clone)]
pub struct Cluster {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    client: kube::Client,
    limiter: Arc<Limiter>,
    metrics: Arc<Metrics>,
    deadline: Duration,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client holds credentials.
        f.debug_struct("Cluster").field("name", &self.inner.name).finish_non_exhaustive()
    }
}

impl Cluster {
    pub(crate) fn new(
        name: impl Into<String>,
        client: kube::Client,
        metrics: Arc<Metrics>,
        deadline: Duration,
    ) -> Self {
        let limiter = Arc::new(Limiter::new());
        Self { inner: Arc::new(Inner { name: name.into(), client, limiter, metrics, deadline }) }
    }

    /// A cluster that is served by a [`tower::Service`] instead of a network: simulated ones, and scripts in tests.
    /// Needs a running tokio runtime.
    pub fn from_service<S, B>(service: S, name: impl Into<String>) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = <Body as http_body::Body>::Data> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let client = kube::Client::new(service, "default");
        Self::new(name, client, Arc::new(Metrics::default()), crate::Timing::default().request)
    }

    /// The same connection, counted in other counters and with another deadline.
    pub(crate) fn with(&self, metrics: Arc<Metrics>, deadline: Duration) -> Self {
        Self::new(self.inner.name.clone(), self.inner.client.clone(), metrics, deadline)
    }

    /// The name it was connected by: a context, or what was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Counts of its requests.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.inner.metrics
    }

    /// Sends a request and reads the JSON answer.
    pub(crate) async fn call(&self, call: Call) -> Result<Value, CallError> {
        let permit = self.inner.limiter.acquire().await;
        let verb = call.verb;
        let work = async {
            let response = self.send(call).await?;
            let code = response.status().as_u16();
            let retry_after = response.headers().get(http::header::RETRY_AFTER);
            let retry_after =
                retry_after.and_then(|wait| wait.to_str().ok()?.parse().ok()).map(Duration::from_secs);
            let body = read(response.into_body()).await?;
            Ok((code, retry_after, body))
        };
        let answer = tokio::time::timeout(self.inner.deadline, work).await;
        let (result, retry_after) = match answer {
            Err(_) => (Err(CallError::Timeout { seconds: self.inner.deadline.as_secs() }), None),
            Ok(Err(error)) => (Err(error), None),
            Ok(Ok((code, wait, body))) if code >= 400 => {
                (Err(CallError::Status(Box::new(StatusError::read(code, &body)))), wait)
            }
            // The answer of `/readyz`.
            Ok(Ok((_, _, body))) if body == b"ok" => (Ok(Value::Null), None),
            Ok(Ok((_, _, body))) => {
                let value = serde_json::from_slice(&body);
                (value.map_err(|error| CallError::Unreadable(error.to_string())), None)
            }
        };
        let answer = answer_of(result.as_ref().err());
        self.inner.metrics.count(verb, answer);
        match answer {
            // A kind whose storage is just being set up is no overload of the server.
            Answer::Throttled if verb == Verb::List && result.as_ref().is_err_and(is_starting) => {}
            Answer::Throttled | Answer::Unavailable | Answer::Timeout => permit.slow_down(retry_after),
            Answer::Broken => {}
            _ => permit.went_well(),
        }
        result
    }

    /// Opens a stream of lines: a watch. It may take as long as it wants once it has begun.
    pub(crate) async fn lines(&self, path: String) -> Result<Lines, CallError> {
        let work = async {
            let response = self.send(Call::get(Verb::Watch, path, METADATA)).await?;
            let code = response.status().as_u16();
            if code >= 400 {
                let body = read(response.into_body()).await?;
                return Err(CallError::Status(Box::new(StatusError::read(code, &body))));
            }
            Ok(Lines::new(response.into_body()))
        };
        let result = tokio::time::timeout(self.inner.deadline, work)
            .await
            .unwrap_or(Err(CallError::Timeout { seconds: self.inner.deadline.as_secs() }));
        self.inner.metrics.count(Verb::Watch, answer_of(result.as_ref().err()));
        result
    }

    async fn send(&self, call: Call) -> Result<http::Response<Body>, CallError> {
        let mut request = http::Request::builder()
            .method(call.method)
            .uri(call.path)
            .header(http::header::ACCEPT, call.accept)
            .header(http::header::USER_AGENT, concat!("kcp-reconciler/", env!("CARGO_PKG_VERSION")));
        if call.verb == Verb::Watch {
            request = request.header(http::header::ACCEPT_ENCODING, "identity");
        }
        let body = match call.content {
            Some((kind, body)) => {
                request = request.header(http::header::CONTENT_TYPE, kind);
                Body::from(body)
            }
            None => Body::empty(),
        };
        let request = request.body(body).map_err(|error| CallError::Unreadable(error.to_string()))?;
        self.inner.client.send(request).await.map_err(|error| match error {
            // Its own text is only a wrapping.
            kube::Error::Service(error) => CallError::Broken(chain(error.as_ref())),
            error => CallError::Broken(chain(&error)),
        })
    }
}

fn is_starting(error: &CallError) -> bool {
    matches!(error, CallError::Status(status) if status.message.contains("initializing"))
}

fn answer_of(error: Option<&CallError>) -> Answer {
    match error {
        None => Answer::Ok,
        Some(CallError::Timeout { .. }) => Answer::Timeout,
        Some(CallError::Status(status)) => match status.code {
            401 => Answer::Unauthorized,
            404 | 410 => Answer::NotFound,
            409 => Answer::Conflict,
            429 => Answer::Throttled,
            500.. => Answer::Unavailable,
            _ => Answer::Refused,
        },
        Some(_) => Answer::Broken,
    }
}

/// The error and its sources, each part once: the innermost says what really happened.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    shorten(&text)
}

async fn read(mut body: Body) -> Result<Vec<u8>, CallError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| CallError::Broken(chain(&error)))?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > MAX_ANSWER {
                return Err(CallError::TooLarge);
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}

type Chunks = std::pin::Pin<Box<dyn Stream<Item = Result<Vec<u8>, CallError>> + Send>>;

/// Lines of a long answer, as they come.
pub(crate) struct Lines {
    chunks: Chunks,
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
}

/// Longest line of a watch: metadata of one object.
const MAX_LINE: usize = 8 << 20;

impl Lines {
    fn new(body: Body) -> Self {
        let chunks = body.into_data_stream().map(|chunk| match chunk {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(CallError::Broken(chain(&error))),
        });
        Self { chunks: Box::pin(chunks), buffer: Vec::new(), start: 0 }
    }

    /// The next line, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Vec<u8>, CallError>> {
        let mut searched = self.start;
        loop {
            if let Some(length) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer[self.start..searched + length].to_vec();
                self.start = searched + length + 1;
                if line.is_empty() {
                    searched = self.start;
                    continue;
                }
                return Some(Ok(line));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            searched = self.buffer.len();
            if self.buffer.len() > MAX_LINE {
                return Some(Err(CallError::TooLarge));
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => self.buffer.extend_from_slice(&chunk),
                Some(Err(error)) => return Some(Err(error)),
                // What is left is a line that was cut off.
                None => return None,
            }
        }
    }
}
