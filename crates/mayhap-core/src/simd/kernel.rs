//! `Kernel`: which implementation of the walk a filter uses, and which ones this CPU can run.

use core::fmt;

/// The instruction set that a filter uses. All of them give the same answers and the same bytes.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Kernel};
/// // Every kernel gives the same answers.
/// for kernel in Kernel::available() {
///     let filter = Bloom::from_keys(["a"], 0.01)?.with_kernel(kernel);
///     assert!(filter.contains("a"), "{kernel}");
/// }
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Plain Rust; runs everywhere and defines what the others must compute.
    Portable,
    /// aarch64 with NEON, little-endian: a line is four 16-byte loads.
    Neon,
    /// x86-64 with AVX2: a line is two 32-byte loads.
    Avx2,
    /// x86-64 with AVX-512 F and BW: a line is one 64-byte load.
    Avx512,
}

impl Kernel {
    const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// The kernels that this CPU can run, slowest first; never empty.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.is_available())
    }

    /// The fastest kernel that this CPU can run. New filters use it.
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }

    /// Whether this CPU can run the kernel. Without the feature `std` this depends only on what the program was compiled for.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Neon => HAS_NEON,
            Self::Avx2 => has_avx2(),
            Self::Avx512 => has_avx2() && has_avx512(),
        }
    }
}

/// A kernel that this CPU is known to have. Calling into it is sound.
#[derive(Clone, Copy)]
pub(crate) struct UsableKernel(Kernel);

impl UsableKernel {
    /// Every CPU has it.
    pub(crate) const PORTABLE: Self = Self(Kernel::Portable);

    pub(crate) fn best() -> Self {
        Self(Kernel::best())
    }

    pub(crate) fn new(kernel: Kernel) -> Option<Self> {
        kernel.is_available().then_some(Self(kernel))
    }

    #[inline(always)]
    pub(crate) fn get(self) -> Kernel {
        self.0
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

// loom's atomics are not plain words in memory, so only the portable kernel can read them.

/// Part of every aarch64 target with an operating system: there is nothing to detect at run time.
const HAS_NEON: bool = cfg!(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little",
    not(loom)
));

#[cfg(all(target_arch = "x86_64", feature = "std", not(loom)))]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
}

#[cfg(not(all(target_arch = "x86_64", feature = "std", not(loom))))]
fn has_avx2() -> bool {
    cfg!(all(
        target_arch = "x86_64",
        target_feature = "avx2",
        target_feature = "popcnt",
        not(loom)
    ))
}

#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
fn has_avx512() -> bool {
    cfg!(all(
        target_arch = "x86_64",
        target_feature = "avx512f",
        target_feature = "avx512bw"
    ))
}
