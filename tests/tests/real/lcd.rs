//! A real kube-apiserver takes the common denominators: of neighbouring releases of real CRDs, each is installed and
//! served as it is. In every run the last pair of each CRD; all pairs with `KCP_LONG=1`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use kcp_schema::{Crd, CrdLcd, Denominator, Options, Pool};
use kcp_tests::{Fleet, fleet_or_skip, wait_until};
use kube::Client;
use serde_json::{Value, json};

use super::schema::{corpus, files, send, yaml};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The releases of each CRD, oldest first.
fn series(folder: &Path) -> anyhow::Result<Vec<Vec<PathBuf>>> {
    let release = |path: &Path| -> Vec<u32> {
        let name = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        name.trim_start_matches('v').split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let mut series: BTreeMap<(PathBuf, String), Vec<PathBuf>> = BTreeMap::new();
    for path in files(folder)? {
        let project = path.ancestors().nth(2).context("a project")?.to_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        series.entry((project, name)).or_default().push(path);
    }
    let mut all: Vec<Vec<PathBuf>> = series.into_values().collect();
    all.iter_mut().for_each(|paths| paths.sort_by_key(|path| release(path)));
    Ok(all)
}

/// All versions are looked at, also those that are not served any more.
fn read(path: &Path, pool: &mut Pool) -> anyhow::Result<Crd> {
    let mut crd = Crd::parse(&yaml(path)?, &Options::default(), pool)?;
    crd.versions.iter_mut().for_each(|version| version.served = true);
    Ok(crd)
}

/// Installs the CRD and takes it away again; says what the server did not like.
async fn try_out(client: &Client, crd: &Crd) -> anyhow::Result<Option<String>> {
    let mut document = crd.to_json();
    document["metadata"]["annotations"] = json!({"api-approved.kubernetes.io": "https://example.com/tests"});
    let name = crd.name();
    let (code, answer) = send(client, "POST", CRDS, &document).await?;
    if code >= 300 {
        return Ok(Some(answer.to_string()));
    }
    let path = format!("{CRDS}/{name}");
    let path = &path;
    let served = wait_until("the CRD to be served", Duration::from_secs(60), || async move {
        let (_, crd) = send(client, "GET", path, &Value::Null).await?;
        let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is = |kind: &str, status: &str| {
            conditions.iter().any(|condition| condition["type"] == kind && condition["status"] == status)
        };
        anyhow::ensure!(is("Established", "True") && !is("NonStructuralSchema", "True"), "{conditions:?}");
        Ok(())
    })
    .await;
    send(client, "DELETE", path, &json!({})).await?;
    wait_until("the CRD to go", Duration::from_secs(60), || async move {
        let (code, _) = send(client, "GET", path, &Value::Null).await?;
        anyhow::ensure!(code == 404, "{code}");
        Ok(())
    })
    .await?;
    Ok(served.err().map(|error| format!("{error:#}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_takes_every_common_denominator() -> anyhow::Result<()> {
    let Some(folder) = corpus() else { return Ok(()) };
    let builder = Fleet::builder(["eu-1"]).controllers(false);
    let Some(fleet) = fleet_or_skip("lcd", builder).await else { return Ok(()) };
    let client = fleet.cluster("eu-1").client();
    let long = std::env::var_os("KCP_LONG").is_some_and(|value| value == "1");
    let mut pool = Pool::new();
    let (mut taken, mut none) = (0, 0);
    let mut refused = Vec::new();
    let mut seen = BTreeSet::new();
    for paths in series(&folder.join("crds"))? {
        let mut pairs: Vec<&[PathBuf]> = paths.windows(2).collect();
        if !long {
            pairs = pairs.split_off(pairs.len().saturating_sub(1));
        }
        for pair in pairs {
            let members = [read(&pair[0], &mut pool)?, read(&pair[1], &mut pool)?];
            let lcd = CrdLcd::of(&[&members[0], &members[1]])?;
            let common = |it: &kcp_schema::Lcd| matches!(it.outcome, Denominator::Common(_));
            none += lcd.versions.values().filter(|it| !common(it)).count();
            let Some(crd) = lcd.crd else { continue };
            if !seen.insert(crd.to_json().to_string()) {
                continue;
            }
            match try_out(&client, &crd).await? {
                None => taken += 1,
                Some(why) => refused.push(format!("{} and {}: {why}", pair[0].display(), pair[1].display())),
            }
        }
    }
    assert!(refused.is_empty(), "{taken} taken, {none} without; refused:\n{}", refused.join("\n"));
    assert!(taken > 20, "{taken} taken, {none} without");
    Ok(())
}
