//! What the system reports about memory and CPU; 0 if it does not.

use std::fs;

/// A line of a file in /proc such as `VmRSS:  123 kB`, in bytes.
fn bytes_of(file: &str, field: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|line| line.trim_end_matches(" kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The resident memory of this process.
pub(crate) fn resident_bytes() -> u64 {
    bytes_of("/proc/self/status", "VmRSS:")
}

/// The memory of the machine.
pub(crate) fn memory_bytes() -> u64 {
    bytes_of("/proc/meminfo", "MemTotal:")
}

/// The system and its version, as `Linux 6.1.0 x86_64`.
pub(crate) fn name() -> String {
    let read = |file: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{file}"));
        text.unwrap_or_default().trim().to_owned()
    };
    let (name, version, arch) = (read("ostype"), read("osrelease"), std::env::consts::ARCH);
    if name.is_empty() {
        return format!("{} {arch}", std::env::consts::OS);
    }
    format!("{name} {version} {arch}")
}

/// In /proc Linux counts time in hundredths of a second, whatever the machine.
const TICKS_PER_SECOND: f64 = 100.0;

/// The CPU time of this process, in the system and in user mode.
pub(crate) fn cpu_seconds() -> (f64, f64) {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in brackets, which may contain anything.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    match ticks.as_slice() {
        &[user, system] => (system / TICKS_PER_SECOND, user / TICKS_PER_SECOND),
        _ => (0.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_reports_memory_and_cpu() {
        let (resident, memory) = (super::resident_bytes(), super::memory_bytes());
        assert!(0 < resident && resident < memory, "{resident} of {memory}");
        let (before, _) = (super::cpu_seconds(), super::name());
        // Work that takes more than one tick.
        while super::cpu_seconds().1 <= before.1 {}
        assert!(super::name().starts_with("Linux "), "{}", super::name());
    }
}
