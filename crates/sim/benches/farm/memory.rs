//! What the process takes, by proc(5).

/// Resident memory now, in bytes.
pub fn resident_bytes() -> u64 {
    of_status("VmRSS:")
}

/// The most resident memory since [`forget_peak`], in bytes.
pub fn peak_bytes() -> u64 {
    of_status("VmHWM:")
}

/// Resets the peak.
pub fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak is forgotten");
}

fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line of that name");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
