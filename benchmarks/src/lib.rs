//! mayhap beside the other filters of the Rust world, and beside the memory's own speed.
//!
//! A run: `main` (parent) starts itself several times (`child`); a child builds every `case` and lets its contenders take
//! turns (`measure`); the figures come back as JSON lines (`figure`), are held against the targets (`targets`) and shown
//! (`report`, `chart`). Programs of their own: `formats` reads, writes, maps and asks files of
//! all systems; `hash` and `modulo` tell what 64 and 128 bits of hash cost, and what an exact reciprocal gains over `%`.

pub mod args;
pub mod case;
pub mod chart;
pub mod child;
pub mod clock;
pub mod figure;
pub mod formats;
pub mod huge_pages;
pub mod keys;
pub mod machine;
pub mod measure;
pub mod others;
pub mod peers;
pub mod report;
pub mod serve;
pub mod targets;
