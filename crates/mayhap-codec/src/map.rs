//! Memory-mapped files and views of them: the only `unsafe` code of the crate.
//!
//! A mapping shows the current bytes of the file. [`save`](crate::native::save) replaces files by a rename, so existing mappings keep the
//! old one. If a program writes into a mapped file in place, answers may be wrong, but nothing worse: no byte of a view is used as a
//! length or an index. If a program truncates a mapped file, reading beyond its end stops the process with SIGBUS, as with any
//! mapping.

#![allow(unsafe_code)]

use crate::native::View;
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// A mapped file.
pub(crate) struct Map(Mmap);

impl Map {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: another process may change the bytes; they are only read as integers, for which every bit pattern is valid (see above).
        unsafe { Mmap::map(&file) }.map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A mapped file and a view of the filter in it.
pub(crate) struct MappedView {
    /// Must not outlive the map, which is dropped after it.
    view: View<'static>,
    map: Map,
}

impl MappedView {
    /// The view that `see` makes of the file's bytes. `see` is generic over the lifetime, so it cannot keep a reference elsewhere.
    pub(crate) fn new<E>(
        map: Map,
        see: impl for<'a> FnOnce(&'a [u8]) -> Result<View<'a>, E>,
    ) -> Result<Self, E> {
        let bytes: *const [u8] = map.bytes();
        // SAFETY: moving the map does not move the bytes, which are valid as long as the map exists; `view` returns the view only for
        // the lifetime of `self`.
        let view = see(unsafe { &*bytes })?;
        Ok(Self { view, map })
    }

    #[inline(always)]
    pub(crate) fn view<'a>(&'a self) -> &'a View<'a> {
        let view: *const View<'static> = &raw const self.view;
        // SAFETY: the same view, with the shorter lifetime of `self`. (Filters are generic over their memory, so the compiler does not
        // shorten the lifetime itself.)
        unsafe { &*view.cast::<View<'a>>() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.bytes()
    }
}
