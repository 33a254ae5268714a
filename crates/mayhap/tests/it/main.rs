//! The facade as programs use it: the examples run, filters survive saving, and few dependencies come along.

mod examples;
mod saving;
#[cfg(feature = "serde")]
mod serialised;
