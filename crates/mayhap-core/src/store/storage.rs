//! Who owns the memory of a filter's bits: the filter itself, or somebody else, such as a mapped file.

use crate::simd::zeroed::Slab;
use core::fmt::Debug;
use core::marker::PhantomData;
use core::ops::Deref;

/// Who owns the memory of a filter's bits: [`Owned`] or [`Borrowed`]. Not for implementation outside of this crate.
pub trait Storage: sealed::Sealed + Copy + Debug + PartialEq {
    /// The items of a filter's storage.
    type Buffer<T: Copy + PartialEq + 'static>: Deref<Target = [T]> + Clone;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::Borrowed<'_> {}
}

/// Memory of the filter itself: keys can be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owned;

impl Storage for Owned {
    type Buffer<T: Copy + PartialEq + 'static> = Slab<T>;
}

/// Borrowed memory: the filter is a read-only view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Borrowed<'a>(PhantomData<&'a ()>);

impl<'a> Storage for Borrowed<'a> {
    type Buffer<T: Copy + PartialEq + 'static> = &'a [T];
}
