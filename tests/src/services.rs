//! The command lines of the programs of a control plane: what is not needed for tests is off, to save CPU and memory.
//! They must listen on loopback only.

use std::path::Path;
use std::process::Command;

use crate::Programs;

/// What the sample and the scenarios need; the rest of the controllers would only watch and resync.
const CONTROLLERS: [&str; 12] = [
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "statefulset-controller",
];

/// One etcd for the whole fleet.
pub(crate) fn etcd(programs: &Programs, data: &Path, port: u16, peer_port: u16) -> Command {
    let (client, peer) = (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{peer_port}"));
    let mut command = Command::new(programs.program("etcd"));
    command
        .arg("--data-dir")
        .arg(data)
        .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &format!("default={peer}")])
        // The data is thrown away with the fleet: nothing needs to survive a power cut.
        .args(["--unsafe-no-fsync", "--log-level", "warn"]);
    command
}

/// The kube-apiserver of the cluster `name`, which keeps its files in `directory`.
pub(crate) fn apiserver(
    programs: &Programs,
    name: &str,
    directory: &Path,
    etcd_port: u16,
    port: u16,
) -> Command {
    let file = |flag: &str, name: &str| format!("--{flag}={}", directory.join(name).display());
    let mut command = Command::new(programs.program("kube-apiserver"));
    command.args([
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        format!("--etcd-prefix=/{name}"),
        "--bind-address=127.0.0.1".into(),
        // Nothing in the cluster dials it: no endpoints of the `kubernetes` service to keep, no leases for them.
        "--advertise-address=127.0.0.1".into(),
        "--endpoint-reconciler-type=none".into(),
        format!("--secure-port={port}"),
        file("cert-dir", "certs"),
        format!("--service-account-issuer=https://{name}.kcp.test"),
        file("service-account-key-file", "sa.pub"),
        file("service-account-signing-key-file", "sa.key"),
        file("token-auth-file", "tokens.csv"),
        "--authorization-mode=RBAC".into(),
        // Not the range from which kwok gives addresses to pods.
        "--service-cluster-ip-range=10.96.0.0/16".into(),
        // ServiceAccount wants an account for each pod. The other two set marks that only controllers which do not run
        // here would take away: volume claims could not be deleted, nodes would stay tainted.
        "--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection,TaintNodesByCondition"
            .into(),
        file("audit-policy-file", "audit-policy.json"),
        file("audit-log-path", "audit.log"),
        // Megabytes: a rotated log would lose requests that a mark still refers to.
        "--audit-log-maxsize=4096".into(),
        "--allow-privileged=true".into(),
        "--enable-priority-and-fairness=false".into(),
        "--profiling=false".into(),
    ]);
    command
}

/// The controllers that make Deployments, StatefulSets, Jobs and so on come true.
pub(crate) fn controller_manager(programs: &Programs, kubeconfig: &Path) -> Command {
    let mut command = Command::new(programs.program("kube-controller-manager"));
    command
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .arg(format!("--controllers={}", CONTROLLERS.join(",")))
        .args(["--leader-elect=false", "--secure-port=0", "--profiling=false"])
        // Burst: many objects at once, as when the sample arrives, would else wait in the client's own queue.
        .args(["--kube-api-qps=200", "--kube-api-burst=400"]);
    command
}

/// What plays the kubelet of the fake node: bound pods become ready, deleted pods go.
pub(crate) fn kwok(programs: &Programs, kubeconfig: &Path) -> Command {
    let mut command = Command::new(programs.program("kwok"));
    command
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .arg("--config")
        .arg(programs.stages())
        .args(["--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake"])
        // No controller looks at the node's heart beat.
        .arg("--node-lease-duration-seconds=0");
    command
}
