//! `MutableFilter`: filters that keys can be added to, one by one, in batches, and by several threads.

use crate::answers;
use crate::batch::{Batch, Column, Nulls, Packer};
use crate::filter::{Filter, spread, threads};
use crate::keys::Seen;
use crate::lock::Counted;
use crate::sets::{not_a_filter, union};
use crate::storage::State;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::Ordering;

/// Keys that are inserted before the lock is released for others.
const SLICE: usize = 1 << 16;

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
            Batch::Columns(columns, _) if !return_new => filter.state.detach(py, |lock| {
                let add = |column| filter.add_column(lock, column, None, threads, &mut []);
                columns.iter().try_for_each(add)
            })?,
            Batch::Columns(columns, answers) => {
                let count = columns.iter().map(Column::len).sum();
                let new = answers::collect(py, answers, count, |is_new| {
                    filter.state.detach(py, |lock| {
                        let mut rest = is_new;
                        for column in &columns {
                            let (is_new, others) = rest.split_at_mut(column.len());
                            filter.add_column(lock, column, None, 1, is_new)?;
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

impl Filter {
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
            self.state.detach(py, |lock| {
                self.add_column(lock, &column, Some(seen), threads, &mut is_new)
            })?;
            if reports {
                spread(&is_new, &is_key, &mut all);
            }
        }
        Ok(all)
    }

    /// Adds a column, slice by slice, so that others can use the filter meanwhile. Called without the GIL.
    fn add_column(
        &self,
        lock: &RwLock<State>,
        column: &Column,
        seen: Option<Seen>,
        threads: usize,
        is_new: &mut [bool],
    ) -> PyResult<()> {
        let encoder = lock.read().encoder.clone();
        let (other, found) = column.prepare(&encoder)?;
        let (column, seen) = (other.as_ref().unwrap_or(column), seen.unwrap_or(found));
        if lock.read().rules.is_news(seen) {
            lock.write().note(seen);
        }
        let _adding = Counted::new(&self.adders);
        // With several threads a slice is larger, so that each has enough to do.
        let len = SLICE * threads;
        for start in (0..column.len()).step_by(len) {
            let part = start..column.len().min(start + len);
            let is_alone = threads == 1 && self.adders.load(Ordering::Relaxed) == 1;
            if is_alone || !is_new.is_empty() || !can_be_shared(lock) {
                let mut state = lock.write();
                state.make_plain();
                let is_new = if is_new.is_empty() {
                    &mut [][..]
                } else {
                    &mut is_new[part.clone()]
                };
                state.insert_part(column, part, is_new)?;
            } else {
                share(lock).insert_shared(column, part, threads);
            }
        }
        Ok(())
    }
}

fn can_be_shared(lock: &RwLock<State>) -> bool {
    let state = lock.read();
    state.is_shared() || state.bloom().is_some()
}

/// The filter in the mode that several threads can fill.
fn share(lock: &RwLock<State>) -> RwLockReadGuard<'_, State> {
    let state = lock.read();
    if state.is_shared() {
        return state;
    }
    drop(state);
    let mut state = lock.write();
    state.make_shared();
    RwLockWriteGuard::downgrade(state)
}
