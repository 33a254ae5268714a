//! Whose memory a filter's bits lie in: its own, or borrowed that it only reads, such as a mapped file.

use crate::simd::zeroed::Slab;
use core::fmt::Debug;
use core::marker::PhantomData;
use core::ops::Deref;

/// Whose memory a filter's bits lie in: [`Owned`] or [`Borrowed`]. Not for implementation outside of this crate.
pub trait Storage: sealed::Sealed + Copy + Debug + PartialEq {
    /// Some items of a filter's store.
    type Buffer<T: Copy + PartialEq + 'static>: Deref<Target = [T]> + Clone;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Owned {}
    impl Sealed for super::Borrowed<'_> {}
}

/// The filter's own memory: it can be filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owned;

impl Storage for Owned {
    type Buffer<T: Copy + PartialEq + 'static> = Slab<T>;
}

/// Memory of somebody else: the filter can be asked, and is nothing but a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Borrowed<'a>(PhantomData<&'a ()>);

impl<'a> Storage for Borrowed<'a> {
    type Buffer<T: Copy + PartialEq + 'static> = &'a [T];
}
