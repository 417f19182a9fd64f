//! What is refused: with which exit code, in which words, and that nothing was written.

use super::runner::World;

#[test]
fn bad_words_and_bad_names_are_refused_with_help() {
    let world = World::with_fleet();
    let head = world.git("rev-parse HEAD");
    for (words, code, says) in [
        // Usage.
        ("plann", 2, "plan"),
        ("cluster cordn eu-1", 2, "cordon"),
        ("place web", 2, "--exactly"),
        ("place web --exactly 1 --all", 2, "cannot be used with"),
        ("place web --min 3 --max 2", 2, "more than"),
        ("place web --exactly many", 2, "invalid value"),
        ("place web --all -L a=b=c", 2, "key=value"),
        ("place web --all --pr", 2, "not there yet"),
        ("cluster taint eu-1 gpu:NoScedule", 2, "did you mean `NoSchedule`?"),
        ("cluster label eu-1 stage", 2, "key=value"),
        ("suspend --fleet --reason x --until yesterday", 2, "2h"),
        ("suspend --fleet --until 2h", 2, "--reason"),
        ("halt --until 48h", 2, "kubectl kcp suspend"),
        ("status -o yml", 2, "yaml"),
        ("workspace add new -f https://example.com/a.yaml", 2, "network"),
        // Names.
        ("place wep --all", 3, "did you mean `web`?"),
        ("cluster cordon eu1", 3, "did you mean `eu-1`?"),
        ("plan -C eu-2", 3, "did you mean `eu-1`?"),
        ("why wbe", 3, "did you mean `web`?"),
        ("suspend --placement wob --reason x --until 2h", 3, "did you mean `web`?"),
        ("render web --cluster zz", 3, "there are: eu-1"),
        ("sync --cluster eu-2", 3, "did you mean `eu-1`?"),
        ("plan --commit nope", 3, "nope"),
        // What is there already, or is not.
        ("workspace add web -n web", 3, "is there already"),
        ("cluster add eu-1", 3, "is in the fleet already: clusters/eu-1.yaml:2"),
        ("cluster label eu-1 stage=test", 3, "--overwrite"),
        ("cluster taint eu-1 gpu-", 3, "no taint gpu"),
        ("workspace add new -f nowhere.yaml", 3, "nowhere.yaml"),
        ("cluster add us-1", 3, "kubeconfig"),
        // What the document may not hold.
        ("cluster label eu-1 stage_=x --overwrite", 3, "clusters/eu-1.yaml:"),
        ("workspace add Web -n web", 3, "Web"),
    ] {
        let ended = world.run(words);
        assert_eq!(ended.code, code, "{words}\n{}{}", ended.out, ended.err);
        assert!(ended.err.contains(says), "{words}: {says:?} in\n{}", ended.err);
        assert!(ended.err.starts_with("error: "), "{words}: {}", ended.err);
    }
    assert_eq!((world.git("rev-parse HEAD"), world.git("status --porcelain")), (head, String::new()));
}

#[test]
fn manifests_that_could_not_be_applied_are_not_added() {
    let world = World::with_fleet();
    world
        .write("../bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\n");
    let bad = world.run("workspace add new -n new -f ../bad.yaml").code(3);
    assert!(bad.err.contains("workspaces/new/bad.yaml:5:"), "{}", bad.err);
    world.write("../loose.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    let loose = world.run("workspace add new -f ../loose.yaml").code(3);
    assert!(
        loose.err.contains("workspaces/new/loose.yaml:1") && loose.err.contains("--namespace"),
        "{}",
        loose.err
    );
    assert!(!world.repo().join("workspaces/new").exists());
}

#[test]
fn outside_a_fleet_it_says_how_to_make_one() {
    let world = World::new();
    let outside = world.run("plan").code(3);
    assert!(outside.err.contains("kubectl kcp init"), "{}", outside.err);
    let bad_name = world.run("init --name Not_A_Name").code(3);
    assert!(bad_name.err.contains("kcp.yaml:5:3: metadata.name"), "{}", bad_name.err);
    assert!(!world.repo().join(".git").exists(), "nothing is left behind");
    world.git("init --quiet");
    let no_fleet = world.run("plan").code(3);
    assert!(
        no_fleet.err.contains("no kcp.yaml") && no_fleet.err.contains("kubectl kcp init"),
        "{}",
        no_fleet.err
    );
}

#[test]
fn doctor_names_cause_and_repair_of_each_fault() {
    let world = World::with_fleet();
    let ended = world.run("doctor -o json").code(1);
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let of = |name: &str| {
        checks.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name} in {checks:?}"))
    };
    assert_eq!((of("git")["grade"].as_str(), of("documents")["grade"].as_str()), (Some("ok"), Some("ok")));
    assert_eq!(of("cluster eu-1")["grade"], "fail");
    assert!(of("cluster eu-1")["repair"].as_str().unwrap().contains("KUBECONFIG"));
}

#[test]
fn every_verb_has_help_with_an_example() {
    let world = World::new();
    let help = world.run("--help").code(0).out;
    let verbs: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| !matches!(*verb, "help" | "api" | "cluster" | "workspace"))
        .collect();
    assert!(verbs.len() >= 15, "{verbs:?}");
    let api = ["api check", "api diff", "api lcd", "api validate"];
    let nested = ["cluster add", "cluster list", "cluster taint", "workspace add"];
    for verb in verbs.into_iter().chain(nested).chain(api) {
        let help = world.run(&format!("{verb} --help")).code(0).out;
        let (_, examples) =
            help.split_once("\nExample").unwrap_or_else(|| panic!("{verb}: no example in {help}"));
        assert!(examples.contains(&format!("kubectl kcp {verb}")), "{verb}: {examples}");
        assert!(help.contains(&format!("Usage: kubectl kcp {verb}")), "{verb}: {help}");
    }
}

#[test]
fn a_halt_is_written_beside_the_reconciler_and_ended() {
    let world = World::with_fleet();
    let commits = world.log().len();
    world.words(&["halt", "--until", "1h", "--reason", "storm", "--state-dir", "../halts"]).code(0);
    let file = std::fs::read_dir(world.repo().join("../halts")).unwrap().next().unwrap().unwrap();
    assert!(std::fs::read_to_string(file.path()).unwrap().contains("storm"));
    assert_eq!(world.run("halt --end --state-dir ../halts").code(0).out, "ended: the reconciler goes on\n");
    assert_eq!(world.run("halt --end --state-dir ../halts").code(0).out, "there was no halt\n");
    assert_eq!(world.log().len(), commits, "git has no part in it");
}
