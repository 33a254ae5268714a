//! `mayhap serve` as a process: killed at any moment, out of disk or memory, with hostile clients.

mod disk_full;
mod ends;
mod hostile;
mod kill;
mod long;
mod memory;
mod model;
pub(crate) mod process;
mod sequences;
mod syscalls;
mod truncation;

/// The number of rounds, or the larger one under `make soak`.
fn rounds(usual: u64, soaking: u64) -> u64 {
    if mayhap_testkit::is_soak() {
        soaking
    } else {
        usual
    }
}
