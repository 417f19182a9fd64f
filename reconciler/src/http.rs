//! `/healthz`, `/readyz` and `/metrics`. Read-only, from a report that holds no credentials and no object bodies; no
//! object is named in a metric.

use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use kcp_core::world::Contact;

use crate::engine::Engine;

/// What the loop last said of itself.
#[derive(Debug)]
pub struct Report {
    ready: Result<(), String>,
    metrics: String,
}

/// Shared between the loop, which writes it, and the pages, which read it.
pub type SharedReport = Arc<RwLock<Report>>;

impl Default for Report {
    fn default() -> Self {
        Self { ready: Err("no commit was read yet".into()), metrics: String::new() }
    }
}

impl Report {
    /// What there is to say while the start waits for something.
    #[must_use]
    pub fn waiting(for_what: String) -> Self {
        Self { ready: Err(for_what), metrics: String::new() }
    }

    /// What there is to say after a step of the loop.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        Self { ready: readiness(engine), metrics: metrics(engine) }
    }
}

/// Ready means fresh: the source can be read and every cluster's watches are live. A probe that merely answers would
/// hide a reconciler that is blind.
fn readiness(engine: &Engine) -> Result<(), String> {
    let mut blind = Vec::new();
    if let Some(trouble) = &engine.source_state().trouble {
        blind.push(format!("source: {}: {}", trouble.reason, trouble.message));
    }
    for (name, view) in engine.connected() {
        match &view.contact {
            Contact::Live { .. } => {}
            Contact::Pending => blind.push(format!("cluster {name}: not read yet")),
            Contact::Lost { message, .. } | Contact::Refused { message, .. } => {
                blind.push(format!("cluster {name}: {message}"));
            }
        }
    }
    if blind.is_empty() { Ok(()) } else { Err(blind.join("\n")) }
}

fn metrics(engine: &Engine) -> String {
    let (world, plan) = (engine.world(), engine.plan());
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(String, f64)>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let commit = format!("{{commit=\"{}\"}}", label(&world.desired.commit));
    family("kcp_commit_info", "gauge", "The commit in force.", vec![(commit, 1.0)]);
    let trouble = engine.source_state().trouble.as_ref();
    family(
        "kcp_source_trouble_since_seconds",
        "gauge",
        "When the source stopped being followed, as a Unix time; 0 while it is well.",
        vec![(String::new(), trouble.map_or(0.0, |trouble| trouble.since as f64))],
    );
    let of_cluster = |name: &str| format!("{{cluster=\"{}\"}}", label(name));
    let live = |contact: &Contact| f64::from(u8::from(matches!(contact, Contact::Live { .. })));
    let samples = engine.connected().map(|(name, view)| (of_cluster(name), live(&view.contact))).collect();
    family("kcp_cluster_live", "gauge", "1 while all watches of the cluster are fresh.", samples);
    let members = |view: &kcp_core::world::ClusterView| {
        view.sets.values().map(|set| set.objects.len()).sum::<usize>() as f64
    };
    let samples = engine.connected().map(|(name, view)| (of_cluster(name), members(view))).collect();
    family("kcp_objects", "gauge", "Objects that this fleet owns on the cluster.", samples);
    let samples =
        engine.connected().map(|(name, view)| (of_cluster(name), view.failures.len() as f64)).collect();
    family("kcp_objects_failing", "gauge", "Objects whose last write failed.", samples);
    let samples = engine.requests().map(|(name, count)| (of_cluster(name), count as f64)).collect();
    family("kcp_requests_total", "counter", "Requests sent to the cluster since the start.", samples);
    family("kcp_units", "gauge", "Units of the fleet.", vec![(String::new(), plan.units.len() as f64)]);
    let holds =
        plan.holds.iter().fold(std::collections::BTreeMap::<String, f64>::new(), |mut by_reason, hold| {
            *by_reason.entry(hold.reason.to_string()).or_default() += 1.0;
            by_reason
        });
    let samples =
        holds.into_iter().map(|(reason, count)| (format!("{{reason=\"{reason}\"}}"), count)).collect();
    family("kcp_holds", "gauge", "What waits for a person or a time.", samples);
    let problems = vec![(String::new(), plan.problems.len() as f64)];
    family("kcp_problems", "gauge", "What is wrong, each with its place in the status.", problems);
    text
}

/// A label value as the text format wants it.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The pages.
pub fn router(report: SharedReport) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics_page))
        .with_state(report)
}

async fn ready(State(report): State<SharedReport>) -> (StatusCode, String) {
    let report = report.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    match &report.ready {
        Ok(()) => (StatusCode::OK, "ok\n".into()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

async fn metrics_page(State(report): State<SharedReport>) -> impl IntoResponse {
    let report = report.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], report.metrics.clone())
}

/// Serves the pages until the process ends.
///
/// # Errors
/// The address cannot be had.
pub async fn serve(address: SocketAddr, report: SharedReport) -> std::io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router(report)).await {
            tracing::error!(%error, "the status pages ended");
        }
    });
    Ok(address)
}
