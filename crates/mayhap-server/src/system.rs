//! What the system tells of memory, 0 where it does not.

use std::fs;

/// A line of a file in /proc such as `VmRSS:  123 kB`, in bytes.
fn bytes_of(file: &str, field: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|line| line.trim_end_matches(" kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// What this process has.
pub(crate) fn resident_bytes() -> u64 {
    bytes_of("/proc/self/status", "VmRSS:")
}

/// What the machine has.
pub(crate) fn memory_bytes() -> u64 {
    bytes_of("/proc/meminfo", "MemTotal:")
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        let (resident, memory) = (super::resident_bytes(), super::memory_bytes());
        assert!(0 < resident && resident < memory, "{resident} of {memory}");
    }
}
