//! The Python package of mayhap: thin classes over the crates, and batches without Python objects.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `classes.rs` | Which classes are there, and how are their filters created? |
//! | `filter.rs` | What can be done with every filter, and who waits for whom? |
//! | `storage.rs` | The same without Python objects: any kind, format and storage |
//! | `keys.rs` | Which bytes is a Python object? |
//! | `batch/` | Which bytes are the keys of an array or an iterable? |
//! | `answers.rs` | In which form are the answers of a batch returned? |
//! | `open.rs`, `pickle.rs` | How do filters come from files and from other processes? |
//! | `plan.rs`, `json.rs`, `repr.rs`, `errors.rs` | What do users read? |
//!
//! Unsafe code is in `batch/arrow.rs`, `batch/buffer.rs` and `answers.rs`, where memory of other libraries is read and written.

mod answers;
mod batch;
mod classes;
mod errors;
mod filter;
mod json;
mod keys;
mod open;
mod pickle;
mod plan;
mod repr;
mod storage;

use pyo3::prelude::*;

/// The native part of the package `mayhap`.
#[pymodule(gil_used = true)]
mod _mayhap {
    #[pymodule_export]
    use crate::batch::ArrowBools;
    #[pymodule_export]
    use crate::classes::{
        Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Excepting, ForeignFilter, Fuse,
        GrowingBloom, GrowingCuckoo, Retouched, Ribbon, WindowBloom, WindowCuckoo,
    };
    #[pymodule_export]
    use crate::errors::{FormatError, FullError, MismatchError, UnsupportedError};
    #[pymodule_export]
    use crate::filter::{Filter, MutableFilter};
    #[pymodule_export]
    use crate::open::{create, open};
    #[pymodule_export]
    use crate::pickle::{load_again, map_again, open_again};
    #[pymodule_export]
    use crate::plan::plan;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
