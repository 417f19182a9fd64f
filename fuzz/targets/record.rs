//! What others may have written where we keep our memory: the files of a status branch and the parents on clusters. Any
//! text is read or refused in words, and what was read can be written and read again.

#![no_main]

use std::collections::BTreeMap;

use kcp_core::applyset::parse_parent;
use kcp_reconciler::record::{Record, read_files, read_writer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    if let Ok(parent) = serde_json::from_str(input) {
        if let Err(why) = parse_parent(&parent) {
            assert!(!why.is_empty(), "refused without a reason");
        }
    }
    let Ok(files) = read_files(&kcp_fuzz::files(input)) else { return };
    let _ = read_writer(&files);
    let (record, damaged) = Record::read(&files);
    assert!(damaged.iter().all(|it| !it.is_empty()));
    let _ = record.statuses();
    let written = record.files();
    let (again, damaged) = Record::read(&written);
    assert_eq!(damaged, Vec::<String>::new(), "what we write we cannot read");
    let written: BTreeMap<_, _> = written.into_iter().collect();
    assert_eq!(again.files(), written, "read again, it is another record");
});
