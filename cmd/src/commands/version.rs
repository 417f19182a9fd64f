//! `kubectl kcp version`.

use clap::Args;
use serde_json::json;

use super::Context;
use crate::args::{DataOutput, NAME};
use crate::error::Outcome;

/// Say which version this is
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl kcp version -o json")]
pub(crate) struct VersionArgs {
    /// How it is shown; default: one line
    #[arg(short, long, value_enum)]
    output: Option<DataOutput>,
}

pub(crate) fn run(context: &Context, args: &VersionArgs) -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    let facts = json!({
        "version": version,
        "api": kcp_api::API_VERSION,
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    });
    match args.output {
        Some(DataOutput::Json) => context.ui.json(&facts),
        Some(DataOutput::Yaml) => context.ui.yaml(&facts),
        None => {
            context.ui.line(format!("{NAME} {version}"));
            Ok(crate::error::Exit::Yes)
        }
    }
}
