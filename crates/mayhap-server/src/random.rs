//! Random numbers of the system.

/// One below `most`, or 0 where the system has none: good enough for what is not secret.
pub(crate) fn below(most: usize) -> usize {
    let number = getrandom::u64().unwrap_or(0);
    (number % (most.max(1) as u64)) as usize
}
