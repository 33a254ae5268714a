//! The batch loop of `Cuckoo` and of the filters with slices, written once; each kernel compiles it for its instruction set.
//!
//! A round is as many keys as a kernel handles at once. Its first step computes both windows of each key and prefetches them; its
//! second step, some rounds later, reads them. The results of the first step wait in a ring, because computing them takes longer
//! than comparing the cells.

use super::cuckoo::LookupConstants;
use super::kernel::{Kernel, UsableKernel};
use super::prefetch::{CACHED_BYTES, prefetch};
use crate::KeyHash;
use crate::probe::cuckoo::CuckooWindows;
use crate::probe::slice::SliceShape;
use core::mem::MaybeUninit;

/// The most keys of a round.
const MAX_KEYS: usize = 8;

/// How many keys ahead a batch prefetches, each with two windows. 64 took 3 % more time at 1M keys and up to 10 % more at 10M, 128
/// took 5 and 20 % more.
const KEYS_AHEAD: usize = 32;

/// Rounds in the ring: enough for a kernel with one key per round.
const RING: usize = KEYS_AHEAD;

/// What a kernel reads. Invariants: the bytes have a load of 8 bytes for each of the windows; cells have `cell_bits` bits.
#[derive(Clone, Copy)]
pub(crate) struct CuckooLookup<'a, W> {
    pub(super) bytes: &'a [u8],
    /// How hashes map to windows.
    pub(super) walk: W,
    pub(super) cell_bits: u32,
    pub(super) constants: LookupConstants,
}

impl<W> CuckooLookup<'_, W> {
    /// The 8 bytes from `byte` on.
    ///
    /// # Safety
    /// A window must start in this byte.
    #[inline(always)]
    pub(super) unsafe fn load(&self, byte: u64) -> u64 {
        let byte = byte as usize;
        debug_assert!(byte + 8 <= self.bytes.len());
        // SAFETY: the caller's promise and the table's invariant.
        let word = unsafe { self.bytes.as_ptr().add(byte).cast::<u64>().read_unaligned() };
        u64::from_le(word)
    }
}

/// Where windows start: bit `shift` of `byte`. (Shifting the first bits once for all keys of a round, instead of for each
/// prefetch and each load, takes 7 to 10 % less time at 1M keys.)
#[derive(Clone, Copy)]
pub(crate) struct WindowStarts<W> {
    pub(super) byte: W,
    pub(super) shift: W,
}

/// Where the keys of a round are.
#[derive(Clone, Copy)]
pub(crate) struct CuckooProbes<W> {
    pub(super) first: WindowStarts<W>,
    pub(super) second: WindowStarts<W>,
    /// The values that the two cells of the first window would have.
    pub(super) expected: W,
}

/// A map from hashes to windows.
pub(crate) trait CellWalk: Copy {
    /// Whether there is a fingerprint 0, which is not stored where it would look like an empty cell.
    const HAS_ZERO: bool;

    /// Whether the top bits of a cell are a payload, which is not compared.
    const HAS_PAYLOAD: bool;

    /// Whether a cell counts only if its payload is one of `accepted`.
    const SELECTS_PAYLOADS: bool;

    /// The payloads that count, one bit each.
    #[inline(always)]
    fn accepted(&self) -> u64 {
        u64::MAX
    }

    /// Looks up many hashes; prefetches unless all cells are in cache. Both slices must have the same length.
    ///
    /// # Safety
    /// The table's invariants.
    unsafe fn find_each<A: CuckooAnswer>(
        table: &CuckooLookup<'_, Self>,
        kernel: UsableKernel,
        hashes: &[KeyHash],
        answers: &mut [A],
    );
}

/// A walk over slices.
pub(super) trait SliceWalk: CellWalk {
    fn shape(&self) -> &SliceShape;
}

impl SliceWalk for SliceShape {
    #[inline(always)]
    fn shape(&self) -> &SliceShape {
        self
    }
}

/// The shape of cells with a payload of at least one bit.
#[derive(Clone, Copy)]
pub(super) struct PayloadShape(pub(super) SliceShape);

impl SliceWalk for PayloadShape {
    #[inline(always)]
    fn shape(&self) -> &SliceShape {
        &self.0
    }
}

/// The same, with the payloads of cells that count: one bit each, so that there are at most 6 bits.
#[derive(Clone, Copy)]
pub(super) struct SelectingShape {
    pub(super) shape: SliceShape,
    pub(super) accepted: u64,
}

impl SliceWalk for SelectingShape {
    #[inline(always)]
    fn shape(&self) -> &SliceShape {
        &self.shape
    }
}

/// What a batch says about a key.
pub(crate) trait CuckooAnswer: Copy + Default {
    /// Answers for each key of a round.
    ///
    /// # Safety
    /// As for `CuckooOps::check`; and for payloads, cells must have them.
    unsafe fn check<V: CuckooOps, W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<V::Words>,
        answers: &mut [Self],
    );
}

/// Whether the key is stored.
impl CuckooAnswer for bool {
    #[inline(always)]
    unsafe fn check<V: CuckooOps, W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<V::Words>,
        answers: &mut [Self],
    ) {
        // SAFETY: the caller's promise.
        unsafe { V::check(table, probes, answers) }
    }
}

/// The payload of the key's cell, plus 1; 0 if there is none.
impl CuckooAnswer for u16 {
    #[inline(always)]
    unsafe fn check<V: CuckooOps, W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<V::Words>,
        answers: &mut [Self],
    ) {
        // SAFETY: the caller's promise.
        unsafe { V::payloads(table, probes, answers) }
    }
}

macro_rules! cell_walk {
    ($walk:ty, has zero: $has_zero:literal, has payload: $has_payload:literal $(, accepted: $accepted:ident)?) => {
        impl CellWalk for $walk {
            const HAS_ZERO: bool = $has_zero;
            const HAS_PAYLOAD: bool = $has_payload;
            const SELECTS_PAYLOADS: bool = false $(|| stringify!($accepted).len() > 0)?;

            $(#[inline(always)]
            fn accepted(&self) -> u64 {
                self.$accepted
            })?

            unsafe fn find_each<A: CuckooAnswer>(
                table: &CuckooLookup<'_, Self>,
                kernel: UsableKernel,
                hashes: &[KeyHash],
                answers: &mut [A],
            ) {
                assert_eq!(
                    hashes.len(),
                    answers.len(),
                    "one place in `found` for every hash"
                );
                let prefetch = table.bytes.len() as u64 > CACHED_BYTES;
                // SAFETY: the caller's promise, the lengths were just compared, and the kernel is usable.
                unsafe { call_kernel!(kernel, find_each(table, hashes, answers, prefetch)) }
            }
        }
    };
}

cell_walk!(CuckooWindows, has zero: false, has payload: false);
cell_walk!(SliceShape, has zero: true, has payload: false);
cell_walk!(PayloadShape, has zero: true, has payload: true);
cell_walk!(SelectingShape, has zero: true, has payload: true, accepted: accepted);

/// How a kernel finds the windows of the keys of a round.
pub(super) trait LocateOps<W>: CuckooOps {
    /// Finds the windows of the hashes of a round.
    ///
    /// # Safety
    /// The CPU must have the kernel's instruction set, and there must be as many hashes as words.
    unsafe fn locate(table: &CuckooLookup<'_, W>, hashes: &[KeyHash]) -> CuckooProbes<Self::Words>;
}

/// How a kernel looks up the keys of a round.
pub(crate) trait CuckooOps {
    /// One `u64` for each key of a round.
    type Words: Copy;

    /// Writes for each key of a round whether one of its four cells has its fingerprint.
    ///
    /// # Safety
    /// The CPU must have the kernel's instruction set, the probes must come from this table, and there must be as many places as
    /// words.
    unsafe fn check<W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<Self::Words>,
        found: &mut [bool],
    );

    /// Writes for each key the payload of the cell that has its fingerprint, plus 1; 0 if there is none.
    ///
    /// # Safety
    /// As for `check`, and cells must have payloads.
    unsafe fn payloads<W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<Self::Words>,
        payloads: &mut [u16],
    );
}

/// Looks up many hashes; prefetches unless all cells are in cache.
///
/// # Safety
/// The CPU must have `V`'s instruction set, and both slices must have the same length.
#[inline(always)]
pub(super) unsafe fn contains<V: LocateOps<W>, W: CellWalk, A: CuckooAnswer>(
    table: &CuckooLookup<'_, W>,
    hashes: &[KeyHash],
    answers: &mut [A],
    prefetch: bool,
) {
    debug_assert_eq!(hashes.len(), answers.len());
    let keys = keys_per_round::<V>();
    let (whole, last) = hashes.split_at(hashes.len() / keys * keys);
    let (answers, last_answers) = answers.split_at_mut(whole.len());
    // SAFETY: the caller has checked the CPU, and a round is at most `MAX_KEYS` keys.
    unsafe {
        if last.is_empty() {
            return run::<V, W, A>(table, whole, answers, prefetch);
        }
        // Fills up the last round: 0 is a hash like any other.
        let mut padded = [KeyHash::from_u64(0); MAX_KEYS];
        padded[..last.len()].copy_from_slice(last);
        let mut padded_answers = [A::default(); MAX_KEYS];
        let probes = V::locate(table, &padded[..keys]);
        if prefetch {
            prefetch_windows::<V, W>(table, &probes);
        }
        run::<V, W, A>(table, whole, answers, prefetch);
        A::check::<V, W>(table, &probes, &mut padded_answers[..keys]);
        last_answers.copy_from_slice(&padded_answers[..last.len()]);
    }
}

/// # Safety
/// The CPU must have `V`'s instruction set, and both slices must consist of whole rounds, equally many.
#[inline(always)]
unsafe fn run<V: LocateOps<W>, W: CellWalk, A: CuckooAnswer>(
    table: &CuckooLookup<'_, W>,
    hashes: &[KeyHash],
    answers: &mut [A],
    prefetch: bool,
) {
    let keys = keys_per_round::<V>();
    // SAFETY: the caller's promise.
    unsafe {
        if prefetch {
            return run_prefetched::<V, W, A>(table, hashes, answers);
        }
        for (hashes, answers) in hashes
            .chunks_exact(keys)
            .zip(answers.chunks_exact_mut(keys))
        {
            A::check::<V, W>(table, &V::locate(table, hashes), answers);
        }
    }
}

/// # Safety
/// As for `run`.
#[inline(always)]
unsafe fn run_prefetched<V: LocateOps<W>, W: CellWalk, A: CuckooAnswer>(
    table: &CuckooLookup<'_, W>,
    hashes: &[KeyHash],
    answers: &mut [A],
) {
    let keys = keys_per_round::<V>();
    let ahead = (hashes.len() / keys).min(KEYS_AHEAD / keys);
    let mut ring = [const { MaybeUninit::<CuckooProbes<V::Words>>::uninit() }; RING];
    let (lead, rest) = hashes.split_at(ahead * keys);
    for (slot, hashes) in ring.iter_mut().zip(lead.chunks_exact(keys)) {
        // SAFETY: the caller's promise.
        unsafe { prefetch_windows::<V, W>(table, slot.write(V::locate(table, hashes))) };
    }
    let (early, late) = answers.split_at_mut(rest.len());
    let mut at = 0;
    for (hashes, answers) in rest.chunks_exact(keys).zip(early.chunks_exact_mut(keys)) {
        // SAFETY: the caller's promise; the slots from `at` on, `ahead` of them, are initialised.
        unsafe {
            A::check::<V, W>(table, ring[at % RING].assume_init_ref(), answers);
            let slot = &mut ring[(at + ahead) % RING];
            prefetch_windows::<V, W>(table, slot.write(V::locate(table, hashes)));
        }
        at += 1;
    }
    for answers in late.chunks_exact_mut(keys) {
        // SAFETY: as above.
        unsafe { A::check::<V, W>(table, ring[at % RING].assume_init_ref(), answers) };
        at += 1;
    }
}

/// Prefetches both windows of every key of a round.
///
/// # Safety
/// The CPU must have `V`'s instruction set.
#[inline(always)]
unsafe fn prefetch_windows<V: CuckooOps, W>(
    table: &CuckooLookup<'_, W>,
    probes: &CuckooProbes<V::Words>,
) {
    let first: *const u64 = (&raw const probes.first.byte).cast();
    let second: *const u64 = (&raw const probes.second.byte).cast();
    for at in 0..keys_per_round::<V>() {
        // SAFETY: there are as many words.
        unsafe {
            prefetch_window(table, *first.add(at));
            prefetch_window(table, *second.add(at));
        }
    }
}

/// Prefetches the load of a window. One in nine crosses into the next line: without the second prefetch, a key took 12.5 instead
/// of 9.5 ns at 10M keys. With a branch around it, it took 7.9 instead of 4.5 ns at 1M.
#[inline(always)]
fn prefetch_window<W>(table: &CuckooLookup<'_, W>, byte: u64) {
    let start = table.bytes.as_ptr().wrapping_add(byte as usize);
    prefetch(start);
    prefetch(start.wrapping_add(7));
}

const fn keys_per_round<V: CuckooOps>() -> usize {
    const { assert!(size_of::<V::Words>() <= MAX_KEYS * size_of::<u64>()) };
    size_of::<V::Words>() / size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use super::super::portable::Portable;
    use super::*;
    use crate::probe::fuse::seed;
    use crate::probe::slice::MAX_NARROW_BITS;
    use core::array;

    /// The bytes and shifts of the first and second windows, and the values of eight keys.
    type Located = [[u64; MAX_KEYS]; 5];

    /// # Safety
    /// The CPU must have `V`'s instruction set.
    unsafe fn located<V: LocateOps<W>, W>(
        table: &CuckooLookup<'_, W>,
        hashes: &[KeyHash; MAX_KEYS],
    ) -> Located {
        let mut located = Located::default();
        let keys = keys_per_round::<V>();
        for (round, hashes) in hashes.chunks_exact(keys).enumerate() {
            // SAFETY: the caller has checked the CPU; words are `u64`s.
            unsafe {
                let probes = V::locate(table, hashes);
                let (first, second) = (&probes.first, &probes.second);
                let all = [
                    &first.byte,
                    &first.shift,
                    &second.byte,
                    &second.shift,
                    &probes.expected,
                ];
                for (words, located) in all.into_iter().zip(&mut located) {
                    let words: *const u64 = (&raw const *words).cast();
                    for at in 0..keys {
                        located[round * keys + at] = *words.add(at);
                    }
                }
            }
        }
        located
    }

    /// Compares all kernels over some hashes, some of them with extreme halves.
    macro_rules! compare {
        ($table:expr, $rounds:expr) => {
            let table = $table;
            for round in 0..$rounds {
                let hashes = array::from_fn(|at| {
                    let random = seed(u64::from(table.cell_bits), round * 8 + at as u64);
                    KeyHash::from_u64(match random % 8 {
                        0 => random >> 32,
                        1 => random << 32,
                        2 => u64::MAX - random % 1000,
                        _ => random,
                    })
                });
                // SAFETY: every CPU has it.
                let expected = unsafe { located::<Portable, _>(table, &hashes) };
                for kernel in Kernel::available().filter_map(UsableKernel::new) {
                    // SAFETY: the kernel is usable.
                    let located = unsafe {
                        match kernel.get() {
                            #[cfg(target_arch = "x86_64")]
                            Kernel::Avx2 => {
                                located::<super::super::cuckoo_avx2::Avx2, _>(table, &hashes)
                            }
                            #[cfg(target_arch = "x86_64")]
                            Kernel::Avx512 => {
                                located::<super::super::cuckoo_avx512::Avx512, _>(table, &hashes)
                            }
                            #[cfg(not(target_arch = "x86_64"))]
                            Kernel::Avx2 | Kernel::Avx512 => located::<Portable, _>(table, &hashes),
                            Kernel::Portable | Kernel::Neon => {
                                located::<Portable, _>(table, &hashes)
                            }
                        }
                    };
                    assert_eq!(located, expected, "{}", kernel.get());
                }
            }
        };
    }

    #[test]
    fn kernels_locate_equal_windows_in_tables_of_up_to_2_to_the_32_windows() {
        for cells in [3, 4, 1001, 1 << 20, (1 << 31) + 1, 1 << 32] {
            for fingerprint_bits in [4, 10, 26] {
                compare!(
                    &CuckooLookup {
                        bytes: &[],
                        walk: CuckooWindows::new(cells, fingerprint_bits),
                        cell_bits: fingerprint_bits + 2,
                        constants: LookupConstants::new(fingerprint_bits + 2, 0),
                    },
                    500
                );
            }
        }
    }

    #[test]
    fn kernels_locate_equal_windows_in_every_shape_of_narrow_cells() {
        for slice_bits in [16, 26, 33, 40, 54] {
            let shapes = (0..).map_while(|step| SliceShape::new(slice_bits, 0, step));
            // With more groups, batches use the portable kernel.
            let has_kernels =
                |shape: &SliceShape| shape.cell_bits() <= MAX_NARROW_BITS && shape.level() <= 32;
            for shape in shapes.filter(has_kernels) {
                compare!(
                    &CuckooLookup {
                        bytes: &[],
                        walk: shape,
                        cell_bits: shape.cell_bits(),
                        constants: LookupConstants::new(shape.cell_bits(), 0),
                    },
                    50
                );
            }
        }
    }
}
