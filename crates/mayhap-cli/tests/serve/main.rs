//! `mayhap serve` as a process that is killed, starved and crowded, and keeps its word.

mod client;
mod disk_full;
mod ends;
mod hostile;
mod kill;
mod long;
mod memory;
mod model;
mod process;
mod random;
mod sequences;
mod syscalls;
mod truncation;

/// The long version of a number, where the environment asks for it.
fn rounds(usual: u64, soaking: u64) -> u64 {
    if std::env::var_os("MAYHAP_SOAK").is_some() {
        soaking
    } else {
        usual
    }
}
