//! What the web page computes: plans, inspections of files, lookups, and the picture of a small filter that fills up.
//!
//! The server answers its `/api` with these functions, and the self-contained page has them as WebAssembly, so that both show what
//! `mayhap plan --json` and `mayhap info --json` print. The page itself only draws.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `plan.rs` | which filter is it, how large, and why? |
//! | `kinds.rs` | what does each kind need for that, and what can it do? |
//! | `curves.rs` | how do rates, sizes and costs change? |
//! | `inspect.rs` | which filters are in a file, and how full are they? |
//! | `check.rs` | which keys may be in them? |
//! | `demo.rs` | which bits of a small filter does each key set? |
//! | `options.rs` | what was requested? |
//! | `exports.rs` | how does the page call it as WebAssembly? |

mod check;
mod curves;
mod demo;
mod error;
#[cfg(any(target_arch = "wasm32", test))]
mod exports;
mod inspect;
mod kinds;
mod options;
mod plan;

pub use check::check;
pub use demo::demo;
pub use error::PageError;
pub use inspect::inspect;
pub use options::Options;
pub use plan::plan;
