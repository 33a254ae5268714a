//! `Filter`: what all classes have in common.

use crate::answers;
use crate::batch::{Batch, Column, Nulls, Packer};
use crate::errors::os_error;
use crate::json;
use crate::keys::{Encoder, RawKey, Seen, hashed_key};
use crate::lock::StateLock;
use crate::open::{self, OptionMap, Origin};
use crate::sets::{equals, is_subset};
use crate::storage::{State, Storage};
use mayhap::formats::write_atomically;
use mayhap::native::{self, HashKey};
use parking_lot::{Mutex, RwLockReadGuard, RwLockWriteGuard};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

/// A filter that answers whether a key is in a set: no is certain, yes is probable.
///
/// The classes of mayhap derive from it. Filters that cannot be changed, such as mapped files, have this class.
#[pyclass(frozen, subclass, module = "mayhap")]
pub(crate) struct Filter {
    pub(crate) state: StateLock,
    /// Calls that are adding many keys.
    pub(crate) adders: AtomicUsize,
    pub(crate) has_hash_func: bool,
    /// The caller's own hash function. In a lock, because the garbage collector may clear it.
    hash_func: Mutex<Option<Py<PyAny>>>,
    /// How it was opened, if it is of another system.
    origin: Option<Origin>,
}

impl Filter {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: StateLock::new(state),
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
        self.state.read(py)
    }

    #[inline]
    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, State> {
        let mut guard = self.state.write(py);
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

    /// The encoders of the parts of a container, if they differ, so that each part needs its own bytes.
    fn encoders_of_parts(&self, py: Python<'_>) -> Option<Vec<Encoder>> {
        let state = self.read(py);
        let Storage::Foreign(parts) = &state.storage else {
            return None;
        };
        let differ = parts.iter().any(|part| part.encoder != state.encoder);
        differ.then(|| parts.iter().map(|part| part.encoder.clone()).collect())
    }

    /// A key may be one of only some parts. Its bytes are read before the lock is taken, because the key may have code of its own.
    fn contains_in_parts(&self, encoders: &[Encoder], key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let encode = |encoder: &Encoder| encoder.with_key(key, |bytes, _| bytes.to_vec());
        let keys: Vec<PyResult<Vec<u8>>> = encoders.iter().map(encode).collect();
        let state = self.read(key.py());
        let Storage::Foreign(parts) = &state.storage else {
            return Ok(false);
        };
        let mut pairs = parts.iter().zip(&keys);
        if pairs.any(|(part, key)| matches!(key, Ok(key) if part.opened.filter.contains(key))) {
            return Ok(true);
        }
        drop(state);
        // One that is a key of no part is an error.
        if keys.iter().any(Result::is_ok) {
            return Ok(false);
        }
        keys.into_iter()
            .next()
            .map_or(Ok(false), |key| key.map(|_| false))
    }

    #[inline]
    pub(crate) fn contains(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if !self.has_hash_func
            && let Some(raw) = RawKey::of(key)?
            && let Some(found) = self.state.peek(key.py(), |state| state.contains_raw(&raw))
        {
            return Ok(found);
        }
        self.contains_any(key)
    }

    /// The same for every key and filter.
    #[inline(never)]
    fn contains_any(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        if !self.has_hash_func
            && let Some(encoders) = self.encoders_of_parts(py)
        {
            return self.contains_in_parts(&encoders, key);
        }
        let (bytes, _) = self.key_bytes(key)?;
        self.read(py).contains(&bytes)
    }

    #[inline]
    pub(crate) fn insert(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if !self.has_hash_func
            && let Some(raw) = RawKey::of(key)?
            && let Some(is_new) = self.state.poke(key.py(), |state| state.insert_raw(&raw))
        {
            return Ok(is_new);
        }
        self.insert_any(key)
    }

    #[inline(never)]
    fn insert_any(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (bytes, seen) = self.key_bytes(key)?;
        self.write(key.py()).insert(&bytes, seen)
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

/// The number of threads for an argument; 0 is all cores.
pub(crate) fn threads(given: usize) -> usize {
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
                    self.state.detach(py, |lock| {
                        let mut rest = found;
                        let state = lock.read();
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
            drop(state);
            return json::to_python(py, &object.into());
        }
        drop(state);
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
    pub(crate) fn copy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
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
        // Dropped outside of the lock: that may run Python code.
        let function = self.hash_func.try_lock().and_then(|mut held| held.take());
        drop(function);
    }
}

fn hash_key(is_inside: bool) -> HashKey {
    if is_inside {
        HashKey::Inside
    } else {
        HashKey::Outside
    }
}

impl Filter {
    fn stat<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let state = self.read_plain(py);
        if let Some(value) = state.known_stat(name) {
            drop(state);
            return json::to_python(py, &value);
        }
        let objects = py.detach(|| state.describe());
        drop(state);
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
        if let Some(encoders) = self.encoders_of_parts(py) {
            let each = items.try_iter()?.map(|key| match key? {
                key if key.is_none() => nulls.skip().map(|()| false),
                key => self.contains_in_parts(&encoders, &key),
            });
            return each.collect();
        }
        let encoder = self.read(py).encoder.clone();
        let mut packer = Packer::new(items, self.hash_func(py), nulls)?;
        let mut all = Vec::new();
        while let Some(packed) = packer.next(&encoder)? {
            let is_key = packed.is_key;
            let column = Column::packed(packed.bytes, packed.ends);
            let mut found = vec![false; column.len()];
            self.state.detach(py, |lock| {
                lock.read().contains_column(&column, threads, &mut found)
            })?;
            spread(&found, &is_key, &mut all);
        }
        Ok(all)
    }
}

/// Appends the answers for keys; items that are none get `false`.
pub(crate) fn spread(answers: &[bool], is_key: &[bool], all: &mut Vec<bool>) {
    if is_key.is_empty() {
        all.extend_from_slice(answers);
        return;
    }
    let mut answers = answers.iter();
    for is_key in is_key {
        all.push(*is_key && answers.next().copied().unwrap_or(false));
    }
}
