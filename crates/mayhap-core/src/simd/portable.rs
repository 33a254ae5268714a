//! The kernel in plain Rust: it defines what the other kernels must compute.

use super::batch::{self, LineOps};
use super::bloom_table::BloomTable;
use super::cuckoo_batch::{
    self, CellWalk, CuckooAnswer, CuckooLookup, CuckooOps, CuckooProbes, LocateOps, SliceWalk,
    WindowStarts,
};
use super::kernel::UsableKernel;
use super::multi_table;
use super::prefetch::Prefetch;
use super::ribbon::{GROUP, InBatch, ParityOps, RibbonTable};
use super::static_lookup::StaticLookup;
use crate::KeyHash;
use crate::probe::blocked::{self, BlockedWalk, Pattern};
use crate::probe::cuckoo::CuckooWindows;
use crate::probe::slice::place;
#[cfg(target_has_atomic = "64")]
use crate::store::atomic_line::AtomicLine;
use crate::store::{Line, Storage};
use core::borrow::Borrow;

/// Handles the eight words of a line one after the other.
pub(super) struct Portable;

impl LineOps for Portable {
    /// The hash itself: a word's position is extracted where it is needed.
    type Positions = u64;

    #[inline(always)]
    unsafe fn positions(hash: u64, _pattern: &Pattern) -> u64 {
        hash
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, hash: u64, row: &Line) -> bool {
        let mask = blocked::mask(hash, row);
        (0..8).fold(0, |missing, word| missing | (mask.0[word] & !line.0[word])) == 0
    }

    #[inline(always)]
    unsafe fn covers_both(first: &Line, second: &Line, hash: u64, row: &Line) -> bool {
        let mask = blocked::mask(hash, row);
        (0..8).fold(0, |missing, word| {
            missing | (mask.0[word] & !(first.0[word] & second.0[word]))
        }) == 0
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, hash: u64, row: &Line) {
        set(line, &blocked::mask(hash, row));
    }
}

batch_functions!(Portable, "Any CPU");
cuckoo_function!(Portable, "Any CPU");
ribbon_function!(Portable, "Any CPU");

impl ParityOps for Portable {
    #[inline(always)]
    unsafe fn parities(
        _kernel: UsableKernel,
        low: &[u64; GROUP],
        high: &[u64; GROUP],
        low_coefficients: u64,
        high_coefficients: u64,
    ) -> u32 {
        // SAFETY: any CPU.
        unsafe { parities(low, high, low_coefficients, high_coefficients) }
    }
}

impl LocateOps<CuckooWindows> for Portable {
    #[inline(always)]
    unsafe fn locate(
        table: &CuckooLookup<'_, CuckooWindows>,
        hashes: &[KeyHash],
    ) -> CuckooProbes<u64> {
        let (first, fingerprint) = table.walk.locate(hashes[0].to_u64());
        let second = table.walk.second(first, fingerprint);
        CuckooProbes {
            first: starts(first * u64::from(table.cell_bits)),
            second: starts(second * u64::from(table.cell_bits)),
            expected: table.constants.in_first(fingerprint),
        }
    }
}

impl<W: SliceWalk> LocateOps<W> for Portable {
    #[inline(always)]
    unsafe fn locate(table: &CuckooLookup<'_, W>, hashes: &[KeyHash]) -> CuckooProbes<u64> {
        let shape = table.walk.shape();
        let place = shape.locate(shape.slice(place(hashes[0].to_u64())));
        let bits = place.windows.map(|window| shape.bit(place.group, window));
        let [first, second] = bits.map(starts);
        CuckooProbes {
            first,
            second,
            expected: table.constants.in_first(place.tag),
        }
    }
}

/// Where a window starts, from its first bit.
#[inline(always)]
fn starts(bit: u64) -> WindowStarts<u64> {
    WindowStarts {
        byte: bit >> 3,
        shift: bit & 7,
    }
}

/// The two cells of a window; the bits above them are arbitrary.
///
/// # Safety
/// There must be a window there.
#[inline(always)]
unsafe fn window<W>(table: &CuckooLookup<'_, W>, starts: WindowStarts<u64>) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { table.load(starts.byte) >> starts.shift }
}

impl CuckooOps for Portable {
    type Words = u64;

    #[inline(always)]
    unsafe fn check<W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<u64>,
        found: &mut [bool],
    ) {
        // SAFETY: the probes come from this table.
        let (first, second) =
            unsafe { (window(table, probes.first), window(table, probes.second)) };
        let (constants, expected) = (&table.constants, probes.expected);
        found[0] = if W::SELECTS_PAYLOADS {
            constants.is_accepted::<W>([first, second], expected, table.walk.accepted())
        } else {
            constants.any_equal::<W>(first, second, expected)
        };
    }

    #[inline(always)]
    unsafe fn payloads<W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<u64>,
        payloads: &mut [u16],
    ) {
        // SAFETY: the probes come from this table.
        let (first, second) =
            unsafe { (window(table, probes.first), window(table, probes.second)) };
        let payload = table.constants.payload::<W>(first, second, probes.expected);
        payloads[0] = payload as u16;
    }
}

/// Whether one of several tables has all bits of a key.
///
/// # Safety
/// There must be a table.
pub(super) unsafe fn any_contains<S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hash: u64,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { multi_table::contains_one::<Portable, _>(tables, hash) }
}

/// Whether all bits of one key are set.
///
/// # Safety
/// None is needed: unsafe only because the other kernels' function is.
// Cold beside the code of a faster kernel: otherwise the loops of that one keep two values less in registers (1.13 instead of 0.95 ns
// per key in cache).
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), cold)]
pub(super) unsafe fn contains_one(lines: &[Line], walk: BlockedWalk, hash: u64) -> bool {
    let mask = walk.mask(hash);
    let covers = |line: &Line| {
        line.0
            .iter()
            .zip(mask.0)
            .all(|(word, bits)| word & bits == bits)
    };
    covers(&lines[walk.first(hash)]) && (!walk.two_lines() || covers(&lines[walk.second(hash)]))
}

/// Sets the bits of one key; `true` if one of them was not set before.
///
/// # Safety
/// None is needed: unsafe only because the other kernels' function is.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), cold)] // as above
pub(super) unsafe fn insert_one(lines: &mut [Line], walk: BlockedWalk, hash: u64) -> bool {
    let mask = walk.mask(hash);
    let new = set(&mut lines[walk.first(hash)], &mask);
    walk.two_lines() && set(&mut lines[walk.second(hash)], &mask) || new
}

#[inline(always)]
fn set(line: &mut Line, mask: &Line) -> bool {
    let mut missing = 0;
    for (word, bits) in line.0.iter_mut().zip(mask.0) {
        missing |= bits & !*word;
        *word |= bits;
    }
    missing != 0
}

/// One bit for each word of the line that lacks a bit of the key.
///
/// # Safety
/// None is needed: unsafe only because the other kernels' function is.
#[cfg(target_has_atomic = "64")]
#[inline(always)]
pub(super) unsafe fn missing_words(line: &AtomicLine, walk: &BlockedWalk, hash: u64) -> u32 {
    line.missing_words(&walk.mask(hash))
}

/// Prefetches a line that will be written. Not every CPU has an instruction for that, so this is a plain prefetch.
///
/// # Safety
/// None is needed: unsafe only because the other kernels' function is.
#[cfg(target_has_atomic = "64")]
#[inline(always)]
pub(super) unsafe fn prefetch_to_write(line: *const AtomicLine) {
    super::prefetch(line);
}

/// The parity of each column of a group under the coefficients of a row: bit `i` is column `i`.
///
/// # Safety
/// None is needed: unsafe only because the other kernels' function is.
// Not inlined beside the code of a faster kernel, where there is one.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    inline(always)
)]
pub(super) unsafe fn parities(
    low: &[u64; GROUP],
    high: &[u64; GROUP],
    low_coefficients: u64,
    high_coefficients: u64,
) -> u32 {
    let columns = low.iter().zip(high).rev();
    columns.fold(0, |found, (low, high)| {
        found << 1 | (low & low_coefficients ^ high & high_coefficients).count_ones() & 1
    })
}
