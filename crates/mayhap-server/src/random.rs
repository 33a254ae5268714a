//! Random numbers from the system.

/// A number below `most`, or 0 if the system has no randomness: good enough for anything that is not secret.
pub(crate) fn below(most: usize) -> usize {
    let number = getrandom::u64().unwrap_or(0);
    (number % (most.max(1) as u64)) as usize
}
