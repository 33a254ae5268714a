//! `PackedFuseTable`: as `FuseTable`, for cells of any width.

use super::fuse_batch::{self, BlockLookup};
use super::plain_bytes::Plain;
use super::prefetch::prefetch;
use super::static_lookup::{StaticLookup, contains_each_portably};
use crate::plan::FuseShardShape;
use crate::probe::fuse::{FuseWalk, fingerprint};
use crate::store::{Owned, Storage, packed_size_bytes};
use crate::{KeyHash, PlanError};
use core::marker::PhantomData;

/// The packed cells of a `Fuse`. Invariant: there are some, the bytes end with the 8-byte load of the walk's last cell, and a cell that starts
/// inside some byte ends in the word `W` that starts there.
#[derive(Clone)]
pub(crate) struct PackedFuseTable<W, S: Storage = Owned> {
    walk: FuseWalk,
    bytes: S::Buffer<u8>,
    cell_bits: u32,
    /// The bits of a cell.
    mask: u32,
    word: PhantomData<W>,
}

/// What a cell is loaded with. The shorter of the two crosses fewer cache lines.
pub(crate) trait CellWord: Plain {
    /// The widest cell that one load covers, with up to 7 bits before it.
    const MAX_CELL_BITS: u32 = 8 * size_of::<Self>() as u32 - 7;

    /// The low 32 bits of a word, in little-endian order, after a shift to the right.
    fn shifted(self, shift: u32) -> u32;
}

impl CellWord for u32 {
    #[inline(always)]
    fn shifted(self, shift: u32) -> u32 {
        Self::from_le(self) >> shift
    }
}

impl CellWord for u64 {
    #[inline(always)]
    fn shifted(self, shift: u32) -> u32 {
        (Self::from_le(self) >> shift) as u32
    }
}

/// What a lookup reads, as positions of bits, and what it compares.
#[derive(Clone, Copy)]
pub(crate) struct PackedProbe {
    bits: [u64; 3],
    fingerprint: u32,
}

impl<W: CellWord, S: Storage> PackedFuseTable<W, S> {
    /// # Errors
    /// If bits after the last cell are not 0.
    pub(crate) fn new(
        walk: FuseWalk,
        cell_bits: u32,
        bytes: S::Buffer<u8>,
    ) -> Result<Self, PlanError> {
        assert!(
            (1..=W::MAX_CELL_BITS.min(32)).contains(&cell_bits),
            "a load covers a cell"
        );
        assert!(walk.shards > 0, "a lookup has cells to read");
        assert_eq!(
            packed_size_bytes(walk.cells(), cell_bits),
            bytes.len() as u128,
            "the walk ends with the cells"
        );
        let used = walk.cells() * u64::from(cell_bits);
        let after = bytes[(used / 8) as usize..].iter().rev();
        let rest = after.fold(0, |rest, &byte| rest << 8 | u64::from(byte)) >> (used % 8);
        if rest != 0 {
            return Err(PlanError::InvalidInteger {
                field: "bits after the last cell",
                value: rest,
                accepted: "0",
            });
        }
        Ok(Self {
            walk,
            bytes,
            cell_bits,
            mask: u32::MAX >> (32 - cell_bits),
            word: PhantomData,
        })
    }

    pub(crate) fn shape_and_seed(&self) -> (FuseShardShape, u64) {
        self.walk.shape_and_seed()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The first and the last byte of each cell of a hash.
    pub(crate) fn offsets(&self, hash: u64) -> Option<[[u64; 2]; 3]> {
        let probe = self.locate(hash)?;
        let last = u64::from(self.cell_bits) - 1;
        Some(probe.bits.map(|bit| [bit / 8, (bit + last) / 8]))
    }
}

impl<W, S: Storage> PartialEq for PackedFuseTable<W, S> {
    fn eq(&self, other: &Self) -> bool {
        self.walk == other.walk && self.cell_bits == other.cell_bits && *self.bytes == *other.bytes
    }
}

impl<W: CellWord, S: Storage> StaticLookup for PackedFuseTable<W, S> {
    type Probe = PackedProbe;

    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    #[inline(always)]
    fn locate(&self, hash: u64) -> Option<PackedProbe> {
        let (start, mixed) = self.walk.locate(hash);
        let cells = self.walk.cells_of(start, mixed);
        Some(PackedProbe {
            bits: cells.map(|cell| cell as u64 * u64::from(self.cell_bits)),
            fingerprint: fingerprint(mixed),
        })
    }

    #[inline(always)]
    unsafe fn check(&self, probe: &PackedProbe) -> bool {
        let [a, b, c] = probe.bits.map(|bit| {
            let byte = (bit / 8) as usize;
            // SAFETY: `cells_of` returns cells of the walk (a test in probe/fuse.rs), and `new` has checked that the bytes end
            // with the load of the last one.
            let word: W = unsafe { self.bytes.as_ptr().add(byte).cast::<W>().read_unaligned() };
            word.shifted((bit % 8) as u32)
        });
        // The bits above a cell are those of its neighbours.
        (a ^ b ^ c ^ probe.fingerprint) & self.mask == 0
    }

    #[inline(always)]
    fn prefetch(&self, probe: &PackedProbe) {
        for bit in probe.bits {
            self.prefetch_position(bit);
        }
    }

    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        if !fuse_batch::contains_each(self, hashes, found) {
            contains_each_portably(self, hashes, found);
        }
    }
}

impl<W: CellWord, S: Storage> BlockLookup for PackedFuseTable<W, S> {
    fn walk(&self) -> &FuseWalk {
        &self.walk
    }

    fn scale(&self) -> u32 {
        self.cell_bits
    }

    #[inline(always)]
    fn prefetch_position(&self, position: u64) {
        prefetch(self.bytes.as_ptr().wrapping_add((position / 8) as usize));
    }

    #[inline(always)]
    unsafe fn check_positions(&self, positions: [u64; 3], fingerprint: u32) -> bool {
        let probe = PackedProbe {
            bits: positions,
            fingerprint,
        };
        // SAFETY: the caller's promise.
        unsafe { self.check(&probe) }
    }
}
