//! Solves a part of a `Ribbon` shard by shard. The shards follow each other without gaps, and the words of the columns end with
//! the part.

use super::eliminate::BandMatrix;
use super::sort::sort;
use crate::PlanError;
use crate::plan::{RibbonPlan, shard_slots};
use crate::probe::blocked::mul_high;
use crate::probe::ribbon::fingerprint;
use crate::store::{reserved, zeroed};
use alloc::vec::Vec;

/// A part in which every key finds its fingerprint.
pub(crate) struct SolvedRibbonPart {
    /// Slots and seed of every shard; the last one ends at a block boundary.
    pub(crate) shards: Vec<(u64, u8)>,
    /// For every block of 64 slots, a word of each column.
    pub(crate) words: Vec<u64>,
    /// Blocks with an extra column; they come first.
    pub(crate) wide_blocks: u64,
    /// Distinct keys.
    pub(crate) keys: u64,
}

/// Solves part number `part` for its spread hashes, which may repeat and are overwritten.
pub(crate) fn solve(
    part: u64,
    hashes: &mut [u64],
    plan: &RibbonPlan,
) -> Result<SolvedRibbonPart, PlanError> {
    sort(hashes, &mut zeroed(hashes.len() as u64)?);
    let keys = super::dedup_sorted(hashes);
    let mut rest = &hashes[..keys];
    let columns = u64::from(plan.columns());
    let (boundary, share) = plan.boundary();
    let max_blocks = (keys + keys / 128) as u64 / 64 + 3;
    let mut solved = SolvedRibbonPart {
        shards: reserved(plan.shards_per_part())?,
        words: reserved(max_blocks * (columns + 1))?,
        wide_blocks: u64::MAX,
        keys: keys as u64,
    };
    let mut band = BandMatrix::<u64>::new();
    let mut first_slot = 0;
    let numbers = part * plan.shards_per_part()..(part + 1) * plan.shards_per_part();
    for number in numbers.clone() {
        let count = rest.partition_point(|&hash| mul_high(hash, plan.shards()) == number);
        let (keys, after) = rest.split_at(count);
        rest = after;
        let is_last = number + 1 == numbers.end;
        let slots = |attempt| {
            let slots = shard_slots(count as u64, attempt).max(64);
            if is_last {
                (first_slot + slots).next_multiple_of(64) - first_slot
            } else {
                slots
            }
        };
        let shard = band.eliminate(keys, |&hash| (hash, fingerprint(hash)), slots)?;
        if number >= boundary {
            let at_boundary = if number == boundary {
                RibbonPlan::wide_blocks(first_slot, shard.slots, share)
            } else {
                first_slot.div_ceil(64)
            };
            solved.wide_blocks = solved.wide_blocks.min(at_boundary);
        }
        let wide_blocks = solved.wide_blocks;
        let word = |block: u64| (block * columns + block.min(wide_blocks)) as usize;
        let words = &mut solved.words;
        words.resize(word((first_slot + shard.slots).div_ceil(64)), 0);
        let is_wide = first_slot / 64 < wide_blocks;
        band.solve(
            first_slot,
            (columns + u64::from(is_wide)) as usize,
            |block, column, bits| {
                if (column as u64) < columns || block < wide_blocks {
                    words[word(block) + column] |= bits;
                }
            },
        );
        solved.shards.push((shard.slots, shard.seed));
        first_slot += shard.slots;
    }
    solved.wide_blocks = solved.wide_blocks.min(first_slot / 64);
    Ok(solved)
}
