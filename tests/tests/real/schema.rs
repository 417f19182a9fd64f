//! A real kube-apiserver as the judge of kcp-schema: what we say about an object, and what we make of it by pruning and
//! defaulting, is what the server says and makes (CREATE with dry run: an update would forgive).

mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kcp_schema::{
    Crd, Judge, OpenApi, Options, Pool, Release, Rules, Schema, Scope, Verdict, Version, same_value,
};
use kcp_tests::{Fleet, fleet_or_skip, wait_until};
use kube::Client;
use serde_json::{Value, json};

use self::generate::Generator;

/// Generated objects for each served version of each CRD.
const OBJECTS: usize = 40;

/// Real CRDs and objects beside the repository: not part of it.
pub(super) fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/test-data");
    folder.is_dir().then_some(folder)
}

pub(super) fn yaml(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path)?;
    let documents = yaml_span::parse(&text, yaml_span::Schema::Kubernetes, &yaml_span::Limits::default());
    let documents = documents.map_err(|errors| anyhow::anyhow!("{}: {errors}", path.display()))?;
    Ok(documents.first().context("an empty file")?.root.to_json())
}

pub(super) fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The newest file of each CRD, by the numbers in its folder's name; the experimental channel is another CRD of one name.
fn newest(folder: &Path) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let release = |path: &Path| -> Vec<u32> {
        let name = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        name.trim_start_matches('v').split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let mut newest: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.contains("-experimental") {
            continue;
        }
        match newest.get(&name) {
            Some(known) if release(known) >= release(&path) => {}
            _ => drop(newest.insert(name, path)),
        }
    }
    Ok(newest)
}

/// Answers and bodies; refusals are answers here.
pub(super) async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
) -> anyhow::Result<(u16, Value)> {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(serde_json::to_vec(body)?)?;
    match client.request::<Value>(request).await {
        Ok(value) => Ok((200, value)),
        Err(kube::Error::Api(status)) => Ok((status.code, Value::from(status.message.clone()))),
        Err(error) => Err(error.into()),
    }
}

/// A CRD as it is installed: its webhook is not here.
fn installable(document: &Value) -> Value {
    let mut spec = document["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("conversion");
        spec.remove("preserveUnknownFields");
    }
    json!({"apiVersion": document["apiVersion"], "kind": document["kind"], "spec": spec, "metadata": {
        "name": document["metadata"]["name"],
        "annotations": {"api-approved.kubernetes.io": "https://example.com/tests"}}})
}

async fn install(client: &Client, document: &Value) -> anyhow::Result<()> {
    const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (code, answer) = send(client, "POST", CRDS, document).await?;
    let name = document["metadata"]["name"].as_str().context("a name")?;
    anyhow::ensure!(code == 200, "{name}: {answer}");
    let path = format!("{CRDS}/{name}");
    let path = &path;
    wait_until("the CRD to be served", Duration::from_secs(60), || async move {
        let (_, crd) = send(client, "GET", path, &Value::Null).await?;
        let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is = |kind: &str, status: &str| {
            conditions.iter().any(|condition| condition["type"] == kind && condition["status"] == status)
        };
        anyhow::ensure!(is("Established", "True") && !is("NonStructuralSchema", "True"), "{conditions:?}");
        Ok(())
    })
    .await
}

/// One object and where it goes.
struct Case {
    name: String,
    path: String,
    object: Value,
}

#[derive(Default)]
struct Score {
    accepted: usize,
    refused: usize,
    doubtful: usize,
    wrong: Vec<String>,
}

/// What of an object the schema is about.
fn content(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("metadata");
    }
    object
}

fn compare(judge: &Judge, case: &Case, code: u16, answer: &Value, score: &mut Score) {
    let ours = judge.create(&case.object);
    let accepted = code < 300;
    let mut wrong = |what: String| {
        score.wrong.push(format!("{}: {what}\n  object: {}", case.name, case.object));
    };
    if ours.violations.is_empty() && !ours.doubts.is_empty() {
        score.doubtful += 1;
        return;
    }
    match (accepted, ours.violations.first()) {
        (true, Some(finding)) => wrong(format!("the server takes it, we say {finding}")),
        (false, None) => wrong(format!("the server says {code} {answer}, we take it")),
        (false, Some(_)) => score.refused += 1,
        (true, None) => {
            let (theirs, ours) = (content(answer), content(&ours.object));
            if same_value(&theirs, &ours) {
                score.accepted += 1;
            } else {
                wrong(format!("the server makes of it\n  {theirs}\n, we make\n  {ours}"));
            }
        }
    }
}

async fn judge_all(
    client: &Client,
    judge: &Judge,
    cases: Vec<Case>,
    score: &mut Score,
) -> anyhow::Result<()> {
    let answers: Vec<_> = stream::iter(cases)
        .map(|case| async move {
            let path = format!("{}?dryRun=All&fieldValidation=Ignore", case.path);
            let (code, answer) = send(client, "POST", &path, &case.object).await?;
            anyhow::Ok((case, code, answer))
        })
        .buffered(8)
        .try_collect()
        .await?;
    for (case, code, answer) in answers {
        compare(judge, &case, code, &answer, score);
    }
    Ok(())
}

fn collection(crd: &Crd, version: &Version) -> String {
    let namespace = if crd.scope == Scope::Namespaced { "namespaces/default/" } else { "" };
    format!("/apis/{}/{}/{namespace}{}", crd.group, version.name, crd.names.plural)
}

fn samples(folder: &Path, crd: &Crd, version: &Version) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for path in files(&folder.join("objects"))? {
        let mut object = yaml(&path)?;
        if object["kind"] != *crd.names.kind
            || object["apiVersion"] != format!("{}/{}", crd.group, version.name)
        {
            continue;
        }
        if crd.scope == Scope::Namespaced {
            object["metadata"]["namespace"] = json!("default");
        }
        cases.push(Case { name: path.display().to_string(), path: collection(crd, version), object });
    }
    Ok(cases)
}

#[tokio::test(flavor = "multi_thread")]
async fn our_verdicts_and_results_are_those_of_a_real_server() -> anyhow::Result<()> {
    let builder = Fleet::builder(["eu-1"]).controllers(false);
    let Some(fleet) = fleet_or_skip("schema", builder).await else { return Ok(()) };
    let client = fleet.cluster("eu-1").client();
    let mut score = Score::default();
    quirks(&client, &mut score).await?;
    built_in(&client, &mut score).await?;
    if let Some(folder) = corpus() {
        let mut pool = Pool::new();
        let mut used = BTreeSet::new();
        for (name, path) in newest(&folder.join("crds"))? {
            let document = installable(&yaml(&path)?);
            let crd = Crd::parse(&document, &Options::default(), &mut pool)?;
            install(&client, &document).await.with_context(|| path.display().to_string())?;
            for version in crd.versions.iter().filter(|version| version.served) {
                let judge = Judge::of_crd(&crd, &version.name, Release(36)).context("a schema")?;
                let mut generator = Generator::new(&format!("{name}/{}", version.name));
                let mut cases = samples(&folder, &crd, version)?;
                used.extend(cases.iter().map(|case| case.name.clone()));
                for number in 0..OBJECTS {
                    let mut object = generator.object(judge.schema(), number);
                    object["apiVersion"] = json!(format!("{}/{}", crd.group, version.name));
                    object["kind"] = json!(&*crd.names.kind);
                    object["metadata"] = json!({"name": format!("x{number}")});
                    let name = format!("{name} {} object {number}", version.name);
                    cases.push(Case { name, path: collection(&crd, version), object });
                }
                judge_all(&client, &judge, cases, &mut score).await?;
            }
        }
    }
    let all = format!("{} accepted, {} refused, {} doubtful", score.accepted, score.refused, score.doubtful);
    let shown: Vec<_> = score.wrong.iter().take(20).map(String::as_str).collect();
    assert!(score.wrong.is_empty(), "{all}, {} wrong:\n{}", score.wrong.len(), shown.join("\n"));
    // Not a rubber stamp, and doubt is the exception.
    assert!(score.accepted > 50 && score.refused > 20, "{all}");
    assert!(score.doubtful * 10 < score.accepted + score.refused, "{all}");
    Ok(())
}

/// A CRD with what the real ones hardly have, and values at the edges of each rule.
async fn quirks(client: &Client, score: &mut Score) -> anyhow::Result<()> {
    let text = include_str!("schema/quirks.yaml");
    let documents = yaml_span::parse(text, yaml_span::Schema::Kubernetes, &yaml_span::Limits::default());
    let document = documents.map_err(|errors| anyhow::anyhow!("{errors}"))?[0].root.to_json();
    let crd = Crd::parse(&document["crd"], &Options::default(), &mut Pool::new())?;
    install(client, &document["crd"]).await?;
    let version = &crd.versions[0];
    let judge = Judge::of_crd(&crd, &version.name, Release(36)).context("a schema")?;
    let mut cases = Vec::new();
    for (number, spec) in document["specs"].as_array().context("specs")?.iter().enumerate() {
        let object = json!({"apiVersion": format!("{}/{}", crd.group, version.name), "kind": &*crd.names.kind,
            "metadata": {"name": "x"}, "spec": spec});
        cases.push(Case { name: format!("quirk {number}"), path: collection(&crd, version), object });
    }
    judge_all(client, &judge, cases, score).await
}

/// Built-in types: their schemas come from the server itself.
async fn built_in(client: &Client, score: &mut Score) -> anyhow::Result<()> {
    let (code, document) = send(client, "GET", "/openapi/v3/apis/apps/v1", &Value::Null).await?;
    anyhow::ensure!(code == 200, "{document}");
    let kinds = OpenApi::parse(&document, &Options::default(), &mut Pool::new())?.kinds;
    let kind = kinds.iter().find(|kind| &*kind.kind == "Deployment").context("Deployment")?;
    let stored = Schema::from_stored(&kind.schema.to_json(), &Options::default(), &mut Pool::new())?;
    anyhow::ensure!(stored == kind.schema, "a stored schema is another one");
    let judge = Judge::new(&kind.schema, Rules { built_in: true, ..Rules::default() });
    let deployment = |change: &dyn Fn(&mut Value)| {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": 1, "memory": "1Gi"}},
                "livenessProbe": {"httpGet": {"port": "http", "path": "/"}}}]}}}});
        change(&mut object["spec"]);
        object
    };
    let cases: [&dyn Fn(&mut Value); 7] = [
        &|_| {},
        &|spec| spec["replicas"] = Value::Null,
        &|spec| spec["replicas"] = json!("1"),
        &|spec| spec["unknown"] = json!({"x": 1}),
        &|spec| spec["template"]["spec"]["containers"][0]["unknown"] = json!(1),
        &|spec| spec["template"]["spec"]["containers"][0]["livenessProbe"]["httpGet"]["port"] = json!(true),
        &|spec| spec["template"]["spec"]["restartPolicy"] = json!("Sometimes"),
    ];
    for (number, change) in cases.into_iter().enumerate() {
        let object = deployment(change);
        let path = "/apis/apps/v1/namespaces/default/deployments?dryRun=All&fieldValidation=Strict";
        let (code, answer) = send(client, "POST", path, &object).await?;
        // Strict: unknown fields are refused instead of dropped, which is the question here.
        match (code < 300, judge.accepts_and_keeps(&object)) {
            (true, Verdict::Yes) => score.accepted += 1,
            (false, Verdict::No { .. }) => score.refused += 1,
            (_, ours) => score.wrong.push(format!("deployment {number}: {code} {answer}, we say {ours:?}")),
        }
    }
    Ok(())
}
