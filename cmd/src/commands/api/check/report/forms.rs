//! For programs: JSON, SARIF, JUnit and the annotations of GitHub Actions.

use std::fmt::Write as _;

use kcp_schema::{Direction, Effect, Impact, Level, Proof, RULES};
use serde_json::{Value, json};

use super::{change, effect, harm, place, summary};
use crate::commands::api::check::config::Waived;
use crate::commands::api::check::{Item, Report};

/// The form of the JSON report; docs/reference/api-check.schema.json describes it.
const FORM: &str = "kcp.dev/api-check/v1";
/// Bytes of an object that is given whole.
const WHOLE: usize = 64 << 10;

pub(super) fn json(report: &Report) -> Value {
    let findings: Vec<Value> = report.items.iter().map(finding).collect();
    json!({
        "form": FORM,
        "for": report.directions,
        "compared": report.compared,
        "summary": {
            "errors": report.count(Level::Error),
            "warnings": report.count(Level::Warning),
            "infos": report.count(Level::Info),
            "waived": report.waived(),
        },
        "findings": findings,
    })
}

fn finding(item: &Item) -> Value {
    let difference = &item.difference;
    let impact = |direction| match difference.impact(direction) {
        Impact::None => json!({"effect": "none"}),
        Impact::Meaning(_) => json!({"effect": "meaning"}),
        Impact::Breaks(proof) => {
            let proof = match proof {
                Proof::Rule => "rule",
                Proof::Witness(_) => "witness",
                Proof::Unproven => "none",
            };
            json!({"effect": "breaks", "proof": proof})
        }
        Impact::Unknown(why) => json!({"effect": "unknown", "reason": why}),
    };
    let mut out = json!({
        "rule": difference.rule.id,
        "level": item.level,
        "crd": item.crd,
        "version": difference.version.as_deref(),
        "path": difference.path.to_string(),
        "file": item.file,
        "line": item.line,
        "old": difference.old,
        "new": difference.new,
        "detail": difference.detail,
        "writers": impact(Direction::Writers),
        "readers": impact(Direction::Readers),
        "stored": impact(Direction::Stored),
        "link": difference.rule.link(),
    });
    if let Some(witness) = difference.witness() {
        let kind = match &witness.effect {
            Effect::Refused(_) => "refused",
            Effect::Dropped(_) => "dropped",
            Effect::Changed => "changed",
        };
        let object = (witness.object.to_string().len() <= WHOLE).then_some(&witness.object);
        out["witness"] = json!({"object": object, "effect": kind, "message": effect(witness)});
    }
    match &item.waived {
        Some(Waived::Yes(reason)) => out["waived"] = json!({"reason": reason}),
        Some(Waived::Expired(day)) => out["waiverExpired"] = json!(day),
        None => {}
    }
    out
}

/// One sentence for places that have room for one.
fn message(report: &Report, item: &Item) -> String {
    let said = [Some(item.difference.rule.description.trim_end_matches('.').to_owned()), change(item)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    format!("{} {}: {}; {}", item.crd, place(item), said.join(": "), harm(report, item))
}

pub(super) fn sarif(report: &Report) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({"id": rule.id, "shortDescription": {"text": rule.description}, "help": {"text": rule.advice},
                "defaultConfiguration": {"level": sarif_level(rule.level)}})
        })
        .collect();
    let results = report.items.iter().map(|item| {
        let mut result = json!({
            "ruleId": item.difference.rule.id,
            "level": sarif_level(item.level),
            "message": {"text": message(report, item)},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": item.file},
                "region": {"startLine": item.line}}}],
        });
        if let Some(Waived::Yes(reason)) = &item.waived {
            result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
        }
        result
    });
    let results: Vec<Value> = results.collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "kubectl-kcp api check", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    })
}

const fn sarif_level(level: Level) -> &'static str {
    match level {
        Level::Off => "none",
        Level::Info => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// One test case a finding; without any, one that passes.
pub(super) fn junit(report: &Report) -> String {
    let standing = report.items.iter().filter(|item| item.stands()).count();
    let failures = report.count(Level::Error) + report.count(Level::Warning);
    let tests = report.items.len().max(1);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"api check\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{}\">\n",
        report.items.len() - standing
    );
    if report.items.is_empty() {
        let _ = writeln!(out, "<testcase classname=\"api\" name=\"{}\"/>", xml(&summary(report)));
    }
    for item in &report.items {
        let name = format!("{} {}", item.difference.rule.id, place(item));
        let _ = write!(out, "<testcase classname=\"{}\" name=\"{}\">", xml(&item.crd), xml(name.trim_end()));
        let text = xml(&message(report, item));
        let _ = match (&item.waived, item.level) {
            (Some(Waived::Yes(reason)), _) => write!(out, "<skipped message=\"{}\"/>", xml(reason)),
            (_, Level::Info | Level::Off) => write!(out, "<system-out>{text}</system-out>"),
            _ => write!(
                out,
                "<failure type=\"{}\" message=\"{text}\">{}:{}</failure>",
                item.level,
                xml(&item.file),
                item.line
            ),
        };
        out.push_str("</testcase>\n");
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no way to write these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn github_actions(report: &Report) -> String {
    let mut out = String::new();
    for item in report.items.iter().filter(|item| item.stands()) {
        let verb = match item.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info | Level::Off => "notice",
        };
        let _ = writeln!(
            out,
            "::{verb} file={},line={},title={}::{}",
            property(&item.file),
            item.line,
            property(item.difference.rule.id),
            data(&message(report, item))
        );
    }
    let _ = writeln!(out, "{}", summary(report));
    out
}

/// Text that cannot begin a command of its own.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use kcp_schema::{Crd, Options, Pool};

    use super::*;
    use crate::commands::api::check::config::Config;
    use crate::commands::api::check::weigh;

    fn crd(name: &str, x: &Value) -> Crd {
        let value = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                    {"type": "object", "properties": {"spec": {"type": "object", "properties": {name: x}}}}}}]}});
        Crd::parse(&value, &Options::default(), &mut Pool::new()).unwrap()
    }

    fn report(config: &str) -> Report {
        let old = crd("a\n::error::b", &json!({"type": "string"}));
        let new = crd("c", &json!({"type": "string"}));
        let config = Config::parse("c.yaml", config).unwrap();
        let mut report = Report { directions: vec![Direction::Writers], compared: 1, ..Report::default() };
        let differences =
            kcp_schema::compare_crds(&old, &new, &kcp_schema::CompareOptions::default()).differences;
        for difference in differences {
            let item =
                weigh("widgets.example.com", ("crd.yaml", 7), difference, &config, &report.directions, 0);
            report.items.extend(item.map(|(item, _)| item));
        }
        report
    }

    #[test]
    fn text_from_a_schema_begins_no_command_and_ends_no_element() {
        let said = github_actions(&report(""));
        assert_eq!(said.lines().filter(|line| line.starts_with("::")).count(), 1, "{said}");
        assert!(said.starts_with("::error file=crd.yaml,line=7,title=field-removed::"), "{said}");
        assert!(xml("<a b=\"\u{1b}&\">").chars().all(|c| !matches!(c, '<' | '>' | '"' | '\u{1b}')));
    }

    #[test]
    fn a_waiver_lets_a_finding_through_until_its_day() {
        let waiver =
            |until: &str| format!("waivers: [{{rule: field-removed, until: {until}, reason: unused}}]");
        let waived = report(&waiver("2000-01-01"));
        assert_eq!((waived.waived(), waived.count(Level::Error)), (1, 0));
        assert_eq!(json(&waived)["findings"][0]["waived"]["reason"], "unused");
        // The clock of these tests stands at 1970.
        let expired = report(&waiver("1969-12-31"));
        assert_eq!((expired.waived(), expired.count(Level::Error)), (0, 1));
        assert_eq!(report("rules: {field-removed: none}").items.len(), 0);
        assert_eq!(report("paths: [{path: spec, level: info}]").count(Level::Info), 1);
    }
}
