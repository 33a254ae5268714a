//! What the operating system reports about the machine. On Linux from `/proc`; elsewhere nothing, and nothing depends on it.

use std::fs;

/// The CPU's name.
pub(crate) fn cpu_model() -> Option<String> {
    value_of(&fs::read_to_string("/proc/cpuinfo").ok()?, "model name")
}

/// The available memory in bytes.
pub(crate) fn available_bytes() -> Option<u64> {
    let value = value_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")?;
    Some(value.strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// The first `name : value` of a `/proc` file.
fn value_of(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_whole_name() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 3.00GHz\nmodel\t\t: 1\nMemAvailable:   12 kB\n";
        assert_eq!(value_of(text, "model"), Some("1".into()));
        assert_eq!(
            value_of(text, "model name"),
            Some("Some CPU @ 3.00GHz".into())
        );
        assert_eq!(value_of(text, "MemAvailable"), Some("12 kB".into()));
        assert_eq!(value_of(text, "flags"), None);
    }
}
