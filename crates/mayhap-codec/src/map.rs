//! Files as memory, and views of them: the only `unsafe` of the crate.
//!
//! A mapping shows the file as it is, not as it was. Files that [`save`](crate::native::save) wrote are replaced as a whole, under
//! a new name, so that who has mapped one keeps what was there. If somebody writes into a mapped file in place, answers are those
//! of whatever bytes are there: no byte of a view is ever a length or an index, so that wrong bytes are wrong answers and nothing
//! worse. If somebody cuts a mapped file short, touching what is gone stops the program (SIGBUS): that is how mapping works.

#![allow(unsafe_code)]

use crate::native::View;
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file as memory.
pub(crate) struct Map(Mmap);

impl Map {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: who writes into the file changes bytes that are seen as numbers, of which any are a value; see above.
        unsafe { Mmap::map(&file) }.map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A mapped file, and the filter that is seen in it.
pub(crate) struct Seen {
    /// Not for longer than the map, which is dropped after it.
    view: View<'static>,
    map: Map,
}

impl Seen {
    /// What `see` makes of the file's bytes. It is asked to for any lifetime, so that it can keep none of them elsewhere.
    pub(crate) fn new<E>(
        map: Map,
        see: impl for<'a> FnOnce(&'a [u8]) -> Result<View<'a>, E>,
    ) -> Result<Self, E> {
        let bytes: *const [u8] = map.bytes();
        // SAFETY: the bytes stay where they are when the map moves, and as long as it is there; the view is only shown, in
        // `view`, for as long as this is.
        let view = see(unsafe { &*bytes })?;
        Ok(Self { view, map })
    }

    #[inline(always)]
    pub(crate) fn view<'a>(&'a self) -> &'a View<'a> {
        let view: *const View<'static> = &raw const self.view;
        // SAFETY: the same view, for as long as the map is there. (Filters are generic over their memory, for which the compiler
        // does not shorten lifetimes by itself.)
        unsafe { &*view.cast::<View<'a>>() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.bytes()
    }
}
