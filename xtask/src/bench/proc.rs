//! What the kernel says of a process: CPU time and memory, from `/proc`. Linux only.

use std::time::Duration;

use anyhow::Context;

/// `/proc` counts CPU time in hundredths of a second, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// CPU time of a process so far, with that of its children that have ended.
pub(super) fn cpu(pid: u32) -> anyhow::Result<Duration> {
    Ok(TICK * stat(&pid.to_string())?.iter().sum())
}

/// CPU time of the children of this process that have ended.
pub(super) fn cpu_of_children() -> anyhow::Result<Duration> {
    let [_, _, user, system] = stat("self")?;
    Ok(TICK * (user + system))
}

/// Own user and system time, then that of the children.
fn stat(process: &str) -> anyhow::Result<[u32; 4]> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}: did it end?"))?;
    parse_stat(&text).with_context(|| format!("{path} is not as expected: {text}"))
}

fn parse_stat(text: &str) -> Option<[u32; 4]> {
    // The name of the program is in parentheses and may hold anything, also parentheses.
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split_whitespace().skip(11).map(|field| field.parse().ok());
    Some([fields.next()??, fields.next()??, fields.next()??, fields.next()??])
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    /// Resident now.
    pub(super) resident: u64,
    /// The most that was ever resident.
    pub(super) peak: u64,
}

/// Memory of a process now.
pub(super) fn memory(pid: u32) -> anyhow::Result<Memory> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}: did it end?"))?;
    parse_memory(&text).with_context(|| {
        format!("{path} tells no memory: the process has ended, see daemon.log beside the raw numbers")
    })
}

fn parse_memory(text: &str) -> Option<Memory> {
    let bytes = |key: &str| -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    };
    Some(Memory { resident: bytes("VmRSS:")?, peak: bytes("VmHWM:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_behind_any_name_and_memory_in_bytes() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 5 0 99";
        assert_eq!(parse_stat(stat), Some([11, 12, 13, 14]));
        let status = "VmPeak:\t  900 kB\nVmHWM:\t  30 kB\nVmRSS:\t  20 kB\n";
        assert_eq!(parse_memory(status), Some(Memory { resident: 20 << 10, peak: 30 << 10 }));
    }
}
