//! How a cluster comes up: keys and files, kube-apiserver, its first objects, controllers.
//! It must never wait for a program that has ended already.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{Namespace, Node, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Cluster, Running, Surroundings, Token};
use crate::credentials::{self, ACCOUNT, Access, NAMESPACE, USER, write_private};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::{ClusterSpec, audit, binder, services};

/// A start takes about five seconds for three clusters on two idle cores; test machines are not idle.
const START: Duration = Duration::from_secs(120);
const NODE: &str = "fake-0";

impl Cluster {
    pub(crate) async fn start(spec: ClusterSpec, around: Surroundings) -> anyhow::Result<Self> {
        let name = spec.name.clone();
        Self::start_inner(spec, around).await.with_context(|| format!("cluster {name} did not start"))
    }

    async fn start_inner(spec: ClusterSpec, around: Surroundings) -> anyhow::Result<Self> {
        let directory = around.directory.join(&spec.name);
        std::fs::create_dir(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let write = |name: &str, content: &str| write_private(&directory.join(name), content.as_bytes());
        let admin = credentials::random_token()?;
        let controllers = credentials::random_token()?;
        let (private, public) = credentials::signing_key()?;
        write("sa.key", &private)?;
        write("sa.pub", &public)?;
        write(
            "tokens.csv",
            &format!(
                "{admin},fixture,fixture,\"system:masters\"\n{controllers},controllers,controllers,\"system:masters\"\n"
            ),
        )?;
        write("audit-policy.json", &audit::policy(USER).to_string())?;
        let port = crate::ports::free_port()?;
        let mut apiserver = start_apiserver(&spec.name, &around, &directory, port)?;
        let authority = authority(&mut apiserver, &directory).await?;
        let access = |token: &str| Access { port, authority: authority.clone(), token: token.to_owned() };
        write("admin.kubeconfig", &credentials::kubeconfig_of(&access(&admin)).to_string())?;
        write("controllers.kubeconfig", &credentials::kubeconfig_of(&access(&controllers)).to_string())?;
        let client = client(&access(&admin)).await?;
        ready(&mut apiserver, &client).await?;
        populate(&client, &spec).await?;
        let token = Token { number: 0, value: credentials::issue_token(&client, &Token::secret(0)).await? };
        let proxy = Proxy::start(port, &around.runtime)?;
        let system = Api::<Namespace>::all(client.clone()).get("kube-system").await;
        let uid = system.context("cannot read namespace kube-system")?.metadata.uid.unwrap_or_default();
        let cluster = Self {
            running: Mutex::new(Running { processes: vec![apiserver], binder: None }),
            token: Mutex::new(token),
            spec,
            around,
            directory,
            port,
            proxy,
            authority,
            client,
            uid,
        };
        cluster.start_controllers()?;
        cluster.around.kubeconfig.set(&cluster.spec.name, cluster.access())?;
        Ok(cluster)
    }

    /// Starts kube-apiserver again with the same files, waits for it, and starts the rest.
    pub(super) async fn start_again(&self) -> anyhow::Result<()> {
        let mut apiserver = start_apiserver(&self.spec.name, &self.around, &self.directory, self.port)?;
        ready(&mut apiserver, &self.client).await?;
        self.running().processes.push(apiserver);
        self.start_controllers()
    }

    fn start_controllers(&self) -> anyhow::Result<()> {
        if !self.spec.controllers {
            return Ok(());
        }
        let kubeconfig = self.directory.join("controllers.kubeconfig");
        let start = |name: &str, command| Process::start(name, command, &self.directory, self.around.group);
        let programs = &self.around.programs;
        let manager = start("kube-controller-manager", services::controller_manager(programs, &kubeconfig))?;
        let kwok = start("kwok", services::kwok(programs, &kubeconfig))?;
        let binder = self.around.runtime.spawn(async move {
            // A client belongs to the runtime that it is made on.
            match client_from(&kubeconfig).await {
                Ok(client) => binder::bind_pods(client, NODE.into()).await,
                Err(error) => tracing::error!(%error, "no pod will be bound"),
            }
        });
        let mut running = self.running();
        running.processes.extend([manager, kwok]);
        running.binder = Some(binder.abort_handle());
        Ok(())
    }
}

fn start_apiserver(
    name: &str,
    around: &Surroundings,
    directory: &Path,
    port: u16,
) -> anyhow::Result<Process> {
    let command = services::apiserver(&around.programs, name, directory, around.etcd_port, port);
    Process::start("kube-apiserver", command, directory, around.group)
}

/// Waits for the certificate that a kube-apiserver makes at its first start.
async fn authority(apiserver: &mut Process, directory: &Path) -> anyhow::Result<String> {
    let path = directory.join("certs/apiserver.crt");
    let end = tokio::time::Instant::now() + START;
    loop {
        if let Some(authority) = credentials::authority(&path) {
            return Ok(authority);
        }
        apiserver.check()?;
        anyhow::ensure!(tokio::time::Instant::now() < end, "no certificate:\n{}", apiserver.log_tail());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits for `/readyz`; a kube-apiserver that ends is noticed at once.
async fn ready(apiserver: &mut Process, client: &Client) -> anyhow::Result<()> {
    let end = tokio::time::Instant::now() + START;
    loop {
        let request = http::Request::get("/readyz").body(Vec::new()).expect("a constant path is valid");
        let answer = tokio::time::timeout(Duration::from_secs(5), client.request_text(request)).await;
        let why = match answer {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer within 5 s".to_owned(),
        };
        apiserver.check()?;
        anyhow::ensure!(tokio::time::Instant::now() < end, "not ready: {why}\n{}", apiserver.log_tail());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn client(access: &Access) -> anyhow::Result<Client> {
    from_text(&credentials::kubeconfig_of(access).to_string()).await
}

async fn client_from(path: &Path) -> anyhow::Result<Client> {
    from_text(&std::fs::read_to_string(path)?).await
}

async fn from_text(kubeconfig: &str) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Makes the node and the reconciler's account.
async fn populate(client: &Client, spec: &ClusterSpec) -> anyhow::Result<()> {
    let node = json!({
        "metadata": {
            "name": NODE,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": NODE,
                "topology.kubernetes.io/region": spec.region,
                "topology.kubernetes.io/zone": spec.zone,
            },
        },
    });
    let account = json!({"metadata": {"name": ACCOUNT, "namespace": NAMESPACE}});
    let role = json!({
        "metadata": {"name": "kcp-tests-reconciler"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
    });
    create::<Node>(&Api::all(client.clone()), node).await?;
    create::<Namespace>(&Api::all(client.clone()), json!({"metadata": {"name": NAMESPACE}})).await?;
    create::<ServiceAccount>(&Api::namespaced(client.clone(), NAMESPACE), account).await?;
    create::<ClusterRoleBinding>(&Api::all(client.clone()), role).await
}

async fn create<K>(api: &Api<K>, object: Value) -> anyhow::Result<()>
where
    K: DeserializeOwned + serde::Serialize + Clone + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object)?;
    api.create(&PostParams::default(), &object).await.with_context(|| format!("cannot create {object:?}"))?;
    Ok(())
}
