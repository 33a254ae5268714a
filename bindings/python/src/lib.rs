//! The Python package of mayhap: thin classes over the crates, and batches without Python objects.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `classes/` | Which classes are there, and how are their filters created? |
//! | `filter.rs`, `mutable_filter.rs`, `sets.rs` | What can be done with every filter? |
//! | `lock.rs` | Who waits for whom? |
//! | `storage.rs` | The same without Python objects: any kind, format and storage |
//! | `keys.rs` | Which bytes is a Python object? |
//! | `batch/` | Which bytes are the keys of an array or an iterable? |
//! | `answers.rs` | In which form are the answers of a batch returned? |
//! | `open.rs`, `pickle.rs` | How do filters come from files and from other processes? |
//! | `plan.rs`, `json.rs`, `repr.rs`, `errors.rs` | What do users read? |
//!
//! Unsafe code is in `batch/arrow.rs`, `batch/buffer.rs` and `answers.rs`, where memory of other libraries is read and written, in `lock.rs`
//! and in `interpreter.rs`.

mod answers;
mod batch;
mod classes;
mod errors;
mod filter;
mod interpreter;
mod json;
mod keys;
mod lock;
mod mutable_filter;
mod open;
mod pickle;
mod plan;
mod repr;
mod sets;
mod storage;

use batch::ArrowBools;
use pyo3::prelude::*;

/// The native part of the package `mayhap`.
#[pymodule(gil_used = true)]
fn _mayhap(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // First of all: classes belong to the interpreter that creates them.
    interpreter::check_main(module.py())?;
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FormatError", py.get_type::<errors::FormatError>())?;
    module.add("FullError", py.get_type::<errors::FullError>())?;
    module.add("MismatchError", py.get_type::<errors::MismatchError>())?;
    module.add(
        "UnsupportedError",
        py.get_type::<errors::UnsupportedError>(),
    )?;
    module.add_class::<ArrowBools>()?;
    module.add_class::<filter::Filter>()?;
    module.add_class::<mutable_filter::MutableFilter>()?;
    module.add_class::<classes::Bloom>()?;
    module.add_class::<classes::ClassicBloom>()?;
    module.add_class::<classes::CountingBloom>()?;
    module.add_class::<classes::GrowingBloom>()?;
    module.add_class::<classes::WindowBloom>()?;
    module.add_class::<classes::Cuckoo>()?;
    module.add_class::<classes::GrowingCuckoo>()?;
    module.add_class::<classes::CountingCuckoo>()?;
    module.add_class::<classes::WindowCuckoo>()?;
    module.add_class::<classes::Fuse>()?;
    module.add_class::<classes::Ribbon>()?;
    module.add_class::<classes::Retouched>()?;
    module.add_class::<classes::Excepting>()?;
    module.add_class::<classes::ForeignFilter>()?;
    module.add_function(wrap_pyfunction!(open::open, module)?)?;
    module.add_function(wrap_pyfunction!(open::create, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::load_again, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::map_again, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::open_again, module)?)
}
