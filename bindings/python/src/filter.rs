//! `Filter` and `MutableFilter`: what all classes have in common.
//!
//! The state is behind a lock, not behind the GIL: batches release the GIL while they hold the lock. Whoever waits for the lock has
//! released the GIL, and no Python code runs while it is held, so the two cannot block each other.

use crate::answers;
use crate::batch::{Batch, Column, Nulls, Packer};
use crate::errors::{MismatchError, UnsupportedError, os_error};
use crate::json;
use crate::keys::{Encoder, Seen, hashed_key};
use crate::open::{self, OptionMap, Origin};
use crate::storage::{State, Storage};
use mayhap::AnyFilter;
use mayhap::formats::write_atomically;
use mayhap::native::{self, HashKey};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keys that are inserted before the lock is released for others.
const SLICE: usize = 1 << 16;

/// A filter that answers whether a key is in a set: no is certain, yes is probable.
///
/// The classes of mayhap derive from it. Filters that cannot be changed, such as mapped files, have this class.
#[pyclass(frozen, subclass, module = "mayhap")]
pub(crate) struct Filter {
    state: RwLock<State>,
    /// Calls that are adding many keys.
    adders: AtomicUsize,
    has_hash_func: bool,
    /// The caller's own hash function. In a lock, because the garbage collector may clear it.
    hash_func: Mutex<Option<Py<PyAny>>>,
    /// How it was opened, if it is of another system.
    origin: Option<Origin>,
}

impl Filter {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: RwLock::new(state),
            adders: AtomicUsize::new(0),
            has_hash_func: false,
            hash_func: Mutex::new(None),
            origin: None,
        }
    }

    pub(crate) fn opened_by(self, origin: Origin) -> Self {
        Self {
            origin: Some(origin),
            ..self
        }
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    pub(crate) fn with_hash_func(state: State, hash_func: Option<Py<PyAny>>) -> Self {
        Self {
            has_hash_func: hash_func.is_some(),
            hash_func: Mutex::new(hash_func),
            ..Self::new(state)
        }
    }

    #[inline]
    pub(crate) fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, State> {
        match self.state.try_read() {
            Some(guard) => guard,
            None => py.detach(|| self.state.read()),
        }
    }

    #[inline]
    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, State> {
        let mut guard = match self.state.try_write() {
            Some(guard) => guard,
            None => py.detach(|| self.state.write()),
        };
        guard.make_plain();
        guard
    }

    /// For operations on the whole filter.
    pub(crate) fn read_plain(&self, py: Python<'_>) -> RwLockReadGuard<'_, State> {
        let guard = self.read(py);
        if !guard.is_shared() {
            return guard;
        }
        drop(guard);
        RwLockWriteGuard::downgrade(self.write(py))
    }

    pub(crate) fn hash_func<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        if !self.has_hash_func {
            return None;
        }
        let hash_func = self.hash_func.lock();
        hash_func.as_ref().map(|function| function.bind(py).clone())
    }

    /// The bytes of any key. Python code of the caller's runs before a lock is taken.
    #[inline(never)]
    pub(crate) fn key_bytes(&self, key: &Bound<'_, PyAny>) -> PyResult<(Vec<u8>, Seen)> {
        let py = key.py();
        if let Some(function) = self.hash_func(py) {
            return Ok((hashed_key(&function, key)?.to_vec(), Seen::TEXT));
        }
        let encoder = self.read(py).encoder.clone();
        encoder.with_key(key, |bytes, seen| (bytes.to_vec(), seen))
    }

    /// Whether the parts of a container encode keys differently, so that each needs its own bytes.
    fn has_several_encoders(state: &State) -> bool {
        match &state.storage {
            Storage::Foreign(parts) => parts.iter().any(|part| part.encoder != state.encoder),
            _ => false,
        }
    }

    #[inline]
    pub(crate) fn contains(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        if !self.has_hash_func {
            let state = self.read(py);
            if Self::has_several_encoders(&state) {
                return contains_in_parts(&state, key);
            }
            if let Some(key) = state.encoder.simple(key)? {
                return state.contains(key.bytes());
            }
        }
        let (bytes, _) = self.key_bytes(key)?;
        self.read(py).contains(&bytes)
    }

    #[inline]
    pub(crate) fn insert(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        if !self.has_hash_func {
            let mut state = self.write(py);
            if let Some(key) = state.encoder.simple(key)? {
                return state.insert(key.bytes(), key.seen());
            }
        }
        let (bytes, seen) = self.key_bytes(key)?;
        self.write(py).insert(&bytes, seen)
    }

    /// A filter of the same class with another state.
    pub(crate) fn same_class<'py>(
        slf: &Bound<'py, Self>,
        state: State,
    ) -> PyResult<Bound<'py, PyAny>> {
        let hash_func = slf.get().hash_func(slf.py()).map(Bound::unbind);
        let filter = Self {
            origin: slf.get().origin.clone(),
            ..Self::with_hash_func(state, hash_func)
        };
        crate::classes::instance_like(slf, filter)
    }
}

/// A key may be one of only some parts.
fn contains_in_parts(state: &State, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Storage::Foreign(parts) = &state.storage else {
        return Ok(false);
    };
    let (mut failure, mut is_key) = (None, false);
    for part in parts {
        match part
            .encoder
            .with_key(key, |bytes, _| part.opened.filter.contains(bytes))
        {
            Ok(true) => return Ok(true),
            Ok(false) => is_key = true,
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    match failure {
        Some(failure) if !is_key => Err(failure),
        _ => Ok(false),
    }
}

/// The number of threads for an argument; 0 is all cores.
fn threads(given: usize) -> usize {
    match given {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        given => given.min(256),
    }
}

#[pymethods]
impl Filter {
    /// Whether a key may be in the filter. False is certain.
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.contains(key)
    }

    /// Looks up many keys. Takes NumPy arrays, Arrow data (pyarrow, Polars, pandas, DuckDB) and iterables; the answers have the same form.
    #[pyo3(signature = (keys, *, nulls="error", threads=1))]
    fn contains_many<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        nulls: &str,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, nulls, threads) = (keys.py(), Nulls::parse(nulls)?, self::threads(threads));
        let batch = if self.has_hash_func {
            Batch::Items(keys.clone(), None)
        } else {
            Batch::from_object(keys, nulls)?
        };
        match batch {
            Batch::Columns(columns, answers) => {
                let count = columns.iter().map(Column::len).sum();
                answers::collect(py, answers, count, |found| {
                    py.detach(|| {
                        let mut rest = found;
                        let state = self.state.read();
                        for column in &columns {
                            let (found, others) = rest.split_at_mut(column.len());
                            state.contains_column(column, threads, found)?;
                            rest = others;
                        }
                        Ok(())
                    })
                })
            }
            Batch::Items(items, answers) => {
                let found = self.contains_items(&items, nulls, threads)?;
                answers::from_items(py, answers, &found)
            }
        }
    }

    /// What `mayhap info --json` prints about the filter: a dict, or a list of dicts for a file with several filters.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.read_plain(py);
        let mut objects = py.detach(|| state.describe());
        if objects.len() == 1 {
            let mut object = objects.remove(0);
            if state.native().is_none()
                && let Some(key_type) = state.rules.key_type()
            {
                object.insert("key_type".to_owned(), key_type.name().into());
            }
            return json::to_python(py, &object.into());
        }
        let objects: Vec<serde_json::Value> = objects.into_iter().map(Into::into).collect();
        json::to_python(py, &objects.into())
    }

    /// Saves the filter to a file, which is replaced atomically. `format` converts it to the format of another system, where the bits allow it.
    #[pyo3(signature = (path, *, format=None, with_key=true, **options))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        with_key: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.check_savable(py)?;
        let options = OptionMap::from_python(options)?;
        let state = self.read_plain(py);
        let hash_key = hash_key(with_key);
        py.detach(|| {
            let name = path.file_name().and_then(|name| name.to_str());
            if let (None, true, Some(filter)) = (format, options.is_empty(), state.native()) {
                // Without a copy.
                return native::save_with(&path, filter, hash_key)
                    .map_err(crate::errors::IntoPyErr::into_py_err);
            }
            let bytes = open::convert(&state, format, &options, name, hash_key)?;
            write_atomically(&path, |mut file| file.write_all(&bytes))
                .map_err(|error| os_error(&path, &error))
        })
    }

    /// The bytes that `save` writes.
    #[pyo3(signature = (*, format=None, with_key=true, **options))]
    fn save_bytes<'py>(
        &self,
        py: Python<'py>,
        format: Option<&str>,
        with_key: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_savable(py)?;
        let options = OptionMap::from_python(options)?;
        let state = self.read_plain(py);
        let bytes =
            py.detach(|| open::convert(&state, format, &options, None, hash_key(with_key)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The format that the filter was read from, or "mayhap".
    #[getter]
    fn format(&self, py: Python<'_>) -> &'static str {
        self.read(py).format().name()
    }

    /// The kind of the filter, as in `mayhap build --kind`.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stat(py, "kind")
    }

    /// The type of the keys that is saved with the filter, or None.
    #[getter]
    fn key_type(&self, py: Python<'_>) -> Option<&'static str> {
        self.read(py).rules.key_type().map(mayhap::KeyType::name)
    }

    /// The number of keys that the filter was created for, or None if its file does not say.
    #[getter]
    fn capacity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stat(py, "capacity")
    }

    /// The rate of false positives that was requested, or None.
    #[getter]
    fn false_positive_rate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stat(py, "false_positive_rate")
    }

    /// The rate of false positives now. Reads the whole filter.
    #[getter]
    fn estimated_rate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stat(py, "estimated_rate")
    }

    /// The estimated number of keys in the filter. Reads the whole filter.
    #[getter]
    fn approx_items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.stat(py, "estimated_keys")
    }

    /// The size in bits.
    #[getter]
    fn size_in_bits(&self, py: Python<'_>) -> u64 {
        let state = self.read_plain(py);
        if let Some(filter) = state.bloom() {
            return 8 * filter.size_bytes();
        }
        let sizes = state.describe();
        let sizes = sizes
            .iter()
            .filter_map(|object| object.get("size_bytes")?.as_u64());
        8 * sizes.sum::<u64>()
    }

    /// The hash function that was passed to the constructor, or None.
    #[getter(hash_func)]
    fn get_hash_func<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.hash_func(py)
    }

    /// A copy in memory.
    fn copy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let state = {
            let state = slf.get().read_plain(py);
            py.detach(|| state.try_clone())?
        };
        Self::same_class(slf, state)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __deepcopy__<'py>(
        slf: &Bound<'py, Self>,
        _memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        crate::pickle::reduce(slf)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        operator: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let not_implemented = || Ok(py.NotImplemented().into_bound(py));
        let Ok(other) = other.cast::<Self>() else {
            return not_implemented();
        };
        let result = match operator {
            CompareOp::Eq => equals(slf, other)?,
            CompareOp::Ne => !equals(slf, other)?,
            CompareOp::Le => is_subset(slf, other)?,
            CompareOp::Ge => is_subset(other, slf)?,
            CompareOp::Lt => is_subset(slf, other)? && !is_subset(other, slf)?,
            CompareOp::Gt => is_subset(other, slf)? && !is_subset(slf, other)?,
        };
        Ok(pyo3::types::PyBool::new(py, result).to_owned().into_any())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let name = slf.get_type().name()?.to_string();
        let state = slf.get().read_plain(py);
        Ok(crate::repr::describe(&name, &state))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Nothing waits in the garbage collector.
        if let Some(hash_func) = self.hash_func.try_lock()
            && let Some(function) = hash_func.as_ref()
        {
            visit.call(function)?;
        }
        Ok(())
    }

    fn __clear__(&self) {
        if let Some(mut hash_func) = self.hash_func.try_lock() {
            drop(hash_func.take());
        }
    }
}

fn hash_key(is_inside: bool) -> HashKey {
    if is_inside {
        HashKey::Inside
    } else {
        HashKey::Outside
    }
}

fn equals(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<bool> {
    if ours.is(theirs) {
        return Ok(true);
    }
    let py = ours.py();
    let (ours, theirs) = (ours.get().read_plain(py), theirs.get().read_plain(py));
    py.detach(|| ours.equals(&theirs))
}

/// Whether all bits of one filter are set in the other.
pub(crate) fn is_subset(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<bool> {
    let py = ours.py();
    let is_same = ours.is(theirs);
    let (ours, theirs) = (ours.get().read_plain(py), theirs.get().read_plain(py));
    if is_same && ours.native().is_some() {
        return Ok(true);
    }
    let is_covered = |(ours, theirs): (u64, u64)| ours & !theirs == 0;
    match (ours.native(), theirs.native()) {
        (Some(AnyFilter::Bloom(ours)), Some(AnyFilter::Bloom(theirs))) => {
            if ours.plan() != theirs.plan() || ours.scheme() != theirs.scheme() {
                return Err(shapes_differ());
            }
            Ok(py.detach(|| ours.words().zip(theirs.words()).all(is_covered)))
        }
        (Some(AnyFilter::Classic(ours)), Some(AnyFilter::Classic(theirs))) => {
            let is_same_shape = ours.plan() == theirs.plan()
                && ours.scheme() == theirs.scheme()
                && ours.hash_scheme() == theirs.hash_scheme();
            if !is_same_shape {
                return Err(shapes_differ());
            }
            Ok(py.detach(|| ours.words().zip(theirs.words()).all(is_covered)))
        }
        _ => Err(UnsupportedError::new_err(
            "only Bloom and ClassicBloom filters can be compared by their sets",
        )),
    }
}

fn shapes_differ() -> PyErr {
    MismatchError::new_err(
        "the filters differ in capacity, rate or hash: create both with the same arguments",
    )
}

impl Filter {
    fn stat<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let state = self.read_plain(py);
        if let Some(value) = state.known_stat(name) {
            return json::to_python(py, &value);
        }
        let objects = py.detach(|| state.describe());
        let value = match &objects[..] {
            [object] => object.get(name).cloned().unwrap_or_default(),
            _ => serde_json::Value::Null,
        };
        json::to_python(py, &value)
    }

    /// Filters with Python's own hash give other answers in another process.
    pub(crate) fn check_savable(&self, py: Python<'_>) -> PyResult<()> {
        let Some(function) = self.hash_func(py) else {
            return Ok(());
        };
        if function.is(&py.import("builtins")?.getattr("hash")?) {
            return Err(PyValueError::new_err(
                "a filter with Python's hash() cannot be saved, because other processes hash differently: use another hash_func, or none",
            ));
        }
        Ok(())
    }

    /// Answers for the items of an iterable.
    fn contains_items(
        &self,
        items: &Bound<'_, PyAny>,
        nulls: Nulls,
        threads: usize,
    ) -> PyResult<Vec<bool>> {
        let py = items.py();
        let encoder = self.read(py).encoder.clone();
        if Self::has_several_encoders(&self.read(py)) {
            let each = items.try_iter()?.map(|key| self.contains(&key?));
            return each.collect();
        }
        let mut packer = Packer::new(items, self.hash_func(py), nulls)?;
        let mut all = Vec::new();
        while let Some(packed) = packer.next(&encoder)? {
            let is_key = packed.is_key;
            let column = Column::packed(packed.bytes, packed.ends);
            let mut found = vec![false; column.len()];
            py.detach(|| {
                self.state
                    .read()
                    .contains_column(&column, threads, &mut found)
            })?;
            spread(&found, &is_key, &mut all);
        }
        Ok(all)
    }

    /// Adds the items of an iterable; returns which were new if that is asked for.
    pub(crate) fn add_items(
        &self,
        items: &Bound<'_, PyAny>,
        nulls: Nulls,
        threads: usize,
        reports: bool,
    ) -> PyResult<Vec<bool>> {
        let py = items.py();
        let encoder = self.read(py).encoder.clone();
        let mut packer = Packer::new(items, self.hash_func(py), nulls)?;
        let mut all = Vec::new();
        while let Some(packed) = packer.next(&encoder)? {
            let (is_key, seen) = (packed.is_key, packed.seen);
            let column = Column::packed(packed.bytes, packed.ends);
            let mut is_new = vec![false; if reports { column.len() } else { 0 }];
            py.detach(|| self.add_column(&column, Some(seen), threads, &mut is_new))?;
            if reports {
                spread(&is_new, &is_key, &mut all);
            }
        }
        Ok(all)
    }

    /// Adds a column, slice by slice, so that others can use the filter meanwhile. Called without the GIL.
    fn add_column(
        &self,
        column: &Column,
        seen: Option<Seen>,
        threads: usize,
        is_new: &mut [bool],
    ) -> PyResult<()> {
        let encoder = self.state.read().encoder.clone();
        let (other, found) = column.prepare(&encoder)?;
        let (column, seen) = (other.as_ref().unwrap_or(column), seen.unwrap_or(found));
        if self.state.read().rules.is_news(seen) {
            self.state.write().note(seen);
        }
        let _adding = Adding::new(&self.adders);
        // With several threads a slice is larger, so that each has enough to do.
        let len = SLICE * threads;
        for start in (0..column.len()).step_by(len) {
            let part = start..column.len().min(start + len);
            let is_alone = threads == 1 && self.adders.load(Ordering::Relaxed) == 1;
            if is_alone || !is_new.is_empty() || !self.can_be_shared() {
                let mut state = self.state.write();
                state.make_plain();
                let is_new = if is_new.is_empty() {
                    &mut [][..]
                } else {
                    &mut is_new[part.clone()]
                };
                state.insert_part(column, part, is_new)?;
            } else {
                self.share().insert_shared(column, part, threads);
            }
        }
        Ok(())
    }

    fn can_be_shared(&self) -> bool {
        let state = self.state.read();
        state.is_shared() || state.bloom().is_some()
    }

    /// The filter in the mode that several threads can fill.
    fn share(&self) -> RwLockReadGuard<'_, State> {
        let state = self.state.read();
        if state.is_shared() {
            return state;
        }
        drop(state);
        let mut state = self.state.write();
        state.make_shared();
        RwLockWriteGuard::downgrade(state)
    }
}

/// Counts a call that adds keys.
struct Adding<'a>(&'a AtomicUsize);

impl<'a> Adding<'a> {
    fn new(adders: &'a AtomicUsize) -> Self {
        adders.fetch_add(1, Ordering::Relaxed);
        Self(adders)
    }
}

impl Drop for Adding<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Appends the answers for keys; items that are none get `false`.
fn spread(answers: &[bool], is_key: &[bool], all: &mut Vec<bool>) {
    if is_key.is_empty() {
        all.extend_from_slice(answers);
        return;
    }
    let mut answers = answers.iter();
    for is_key in is_key {
        all.push(*is_key && answers.next().copied().unwrap_or(false));
    }
}

/// A filter that keys can be added to.
#[pyclass(frozen, subclass, extends = Filter, module = "mayhap")]
pub(crate) struct MutableFilter;

#[pymethods]
impl MutableFilter {
    /// Adds a key. True: it was definitely new.
    #[pyo3(signature = (key, /))]
    fn add(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        slf.as_super().get().insert(key)
    }

    /// Adds many keys, as `contains_many` takes them. With `return_new=True` it returns which were definitely new, in the same form.
    #[pyo3(signature = (keys, *, return_new=false, nulls="error", threads=1))]
    fn add_many<'py>(
        slf: &Bound<'py, Self>,
        keys: &Bound<'py, PyAny>,
        return_new: bool,
        nulls: &str,
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, nulls, threads) = (keys.py(), Nulls::parse(nulls)?, self::threads(threads));
        let filter = slf.as_super().get();
        let batch = if filter.has_hash_func {
            Batch::Items(keys.clone(), None)
        } else {
            Batch::from_object(keys, nulls)?
        };
        match batch {
            Batch::Items(items, answers) => {
                let new = filter.add_items(&items, nulls, threads, return_new)?;
                if return_new {
                    return answers::from_items(py, answers, &new).map(Some);
                }
            }
            Batch::Columns(columns, _) if !return_new => py.detach(|| {
                let add = |column| filter.add_column(column, None, threads, &mut []);
                columns.iter().try_for_each(add)
            })?,
            Batch::Columns(columns, answers) => {
                let count = columns.iter().map(Column::len).sum();
                let new = answers::collect(py, answers, count, |is_new| {
                    py.detach(|| {
                        let mut rest = is_new;
                        for column in &columns {
                            let (is_new, others) = rest.split_at_mut(column.len());
                            filter.add_column(column, None, 1, is_new)?;
                            rest = others;
                        }
                        Ok(())
                    })
                })?;
                return Ok(Some(new));
            }
        }
        Ok(None)
    }

    /// Adds all keys of iterables, arrays or other filters of the same shape.
    #[pyo3(signature = (*others))]
    fn update(slf: &Bound<'_, Self>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        for other in others {
            if let Ok(other) = other.cast::<Filter>() {
                union(slf.as_super(), other)?;
            } else {
                Self::add_many(slf, &other, false, "error", 1)?;
            }
        }
        Ok(())
    }

    /// Removes all keys.
    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.as_super().get().write(slf.py()).clear()
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let other = other.cast::<Filter>().map_err(|_| not_a_filter(other))?;
        union(slf.as_super(), other)
    }

    fn __or__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(other) = other.cast::<Filter>() else {
            return Ok(slf.py().NotImplemented().into_bound(slf.py()));
        };
        let result = Filter::copy(slf.as_super())?;
        union(result.cast::<Filter>()?, other)?;
        Ok(result)
    }

    /// A new filter with the keys of this one and of all others, which are iterables or filters of the same shape.
    #[pyo3(signature = (*others))]
    fn union<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = Filter::copy(slf.as_super())?;
        Self::update(result.cast::<Self>()?, others)?;
        Ok(result)
    }
}

pub(crate) fn not_a_filter(other: &Bound<'_, PyAny>) -> PyErr {
    let name = other.get_type().name();
    let name = name.map_or_else(|_| "this object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "expected a filter of mayhap, not {name}: use update for iterables"
    ))
}

/// Locks two filters, always in the same order, so that two threads do not wait for each other.
pub(crate) fn with_both<T>(
    ours: &Bound<'_, Filter>,
    theirs: &Bound<'_, Filter>,
    call: impl FnOnce(&mut State, &State) -> PyResult<T> + Send,
) -> PyResult<T>
where
    T: Send,
{
    let py = ours.py();
    let (ours, theirs) = (ours.get(), theirs.get());
    // Outside of the locks: it may have to end the mode for several threads.
    drop(theirs.read_plain(py));
    if std::ptr::from_ref(ours) < std::ptr::from_ref(theirs) {
        let mut ours = ours.write(py);
        let theirs = theirs.read_plain(py);
        py.detach(|| call(&mut ours, &theirs))
    } else {
        let theirs = theirs.read_plain(py);
        let mut ours = ours.write(py);
        py.detach(|| call(&mut ours, &theirs))
    }
}

pub(crate) fn union(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<()> {
    check_hash_funcs(ours, theirs)?;
    if ours.is(theirs) {
        return Ok(());
    }
    with_both(ours, theirs, State::union_with)
}

/// Filters whose keys are hashed by different functions have nothing in common.
pub(crate) fn check_hash_funcs(
    ours: &Bound<'_, Filter>,
    theirs: &Bound<'_, Filter>,
) -> PyResult<()> {
    let py = ours.py();
    let is_same = match (ours.get().hash_func(py), theirs.get().hash_func(py)) {
        (Some(ours), Some(theirs)) => ours.eq(theirs)?,
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    };
    if is_same {
        return Ok(());
    }
    Err(MismatchError::new_err(
        "the filters have different hash functions: create both with the same hash_func",
    ))
}

/// The items of a list, for answers.
pub(crate) fn list_of<'py>(py: Python<'py>, answers: &[bool]) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, answers.iter().copied())?.into_any())
}

/// Key bytes of an argument, one behind the other.
#[derive(Default)]
pub(crate) struct AllKeys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl AllKeys {
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let slice = |&end| &self.bytes[std::mem::replace(&mut start, end)..end];
        self.ends.iter().map(slice).collect()
    }

    fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }
}

/// The bytes of all keys of an argument, for filters that need them several times.
pub(crate) fn packed_keys(keys: &Bound<'_, PyAny>, encoder: &Encoder) -> PyResult<AllKeys> {
    let mut all = AllKeys::default();
    match Batch::from_object(keys, Nulls::Refuse)? {
        Batch::Columns(columns, _) => {
            for column in &columns {
                column.for_each_key(encoder, |key| all.push(key))?;
            }
        }
        Batch::Items(items, _) => {
            for key in items.try_iter()? {
                encoder.with_key(&key?, |key, _| all.push(key))?;
            }
        }
    }
    Ok(all)
}
