//! Filters that keep all bits of a key in one block of memory, or in two.
//!
//! Blocks fill unevenly: with `B` bits a block and `c` bits a key, the keys of a block are Poisson
//! distributed around `B/c`, and the full blocks spoil the rate (Putze, Sanders and Singler 2007).
//! The rates here are exact for that model and many blocks. They are for comparing our own layout
//! and for sizing foreign ones: Parquet's split block, the lines of `RocksDB`.
//!
//! Nothing here knows hashes, or that blocks are whole: whoever makes a filter rounds up to those.

// All layouts are one chain. Of the bits that an absent key asks for, `u` are not set yet; each key
// in its block sets some more of them, with probabilities that the layout decides. The rate is the
// probability of `u = 0` when all keys of the block have gone by. Every term is positive, so that a
// rate of 1e-12 still has its digits; the closed form is an alternating sum that loses them all.
// The cost is the keys of a block times the square of the probes: 6 us for 512 bits at 1 %.

use super::{check_rate, classic};
use crate::PlanError;

/// The most probes in one block that can be reckoned with; above, every rate is NaN.
pub const MAX_PROBES: u32 = 32;

/// The most probes, over all blocks of a key, that [`best_free`] tries.
pub const MAX_BEST_PROBES: u32 = 24;

/// How far above the least number of bits an answer may be, as a share of it.
const PRECISION: f64 = 1e-9;

const COUNTS: usize = MAX_PROBES as usize + 1;

/// Blocks in which each key sets `probes` *different* bits: the best that can be done in a block.
/// To the nearest.
///
/// 1 for no probes, for no bits a key, and for more probes than bits in a block; 0 for infinitely
/// many bits a key; NaN for more than [`MAX_PROBES`] probes.
pub fn free_rate(bits_per_key: f64, block_bits: u32, probes: u32) -> f64 {
    if probes > block_bits {
        return 1.0;
    }
    let block = f64::from(block_bits);
    // The bit number `placed` of a key has that many fewer places to choose from.
    let hit = |unset: f64, set: f64, placed: f64| (unset - set) / (block - placed);
    rate(bits_per_key, block, probes, hit, certain)
}

/// Blocks in which each key has `probes` independent probes, which may fall together. To the
/// nearest, with the edges of [`free_rate`], except that there may be more probes than bits.
pub fn repeated_rate(bits_per_key: f64, block_bits: u32, probes: u32) -> f64 {
    let block = f64::from(block_bits);
    let hit = |unset: f64, set: f64, _| (unset - set) / block;
    // The probes of the key that is asked for may fall together as well.
    let different = |trials| successes(trials, |different, _| 1.0 - different / block);
    rate(bits_per_key, block, probes, hit, different)
}

/// Blocks of `lanes` lanes of `lane_bits` bits, in each of which each key sets one bit. To the
/// nearest, with the edges of [`free_rate`].
pub fn split_rate(bits_per_key: f64, lanes: u32, lane_bits: u32) -> f64 {
    let lane = f64::from(lane_bits);
    // Lane by lane; those with an unset bit come first.
    let hit = |unset: f64, _, lane_number: f64| if lane_number < unset { 1.0 / lane } else { 0.0 };
    let block = f64::from(lanes) * lane;
    rate(bits_per_key, block, lanes, hit, certain)
}

/// A key in two blocks: the square of the one-block rate at twice the load. To the nearest.
///
/// `one_block` gives the rate of one block at so many bits a key; its probes are half of the total.
pub fn two_blocks(bits_per_key: f64, one_block: impl Fn(f64) -> f64) -> f64 {
    let half = one_block(bits_per_key / 2.0);
    half * half
}

/// The bits a key at which a layout keeps a rate: the least ones, rounded up by at most one part in
/// 10^9, so that `layout` of the answer never exceeds what was asked for.
///
/// `layout` gives the rate at so many bits a key, and has to fall as these rise.
///
/// # Errors
///
/// A rate outside (0, 1), or one that the layout does not reach with 2^60 bits a key.
pub fn bits_per_key_for(
    false_positive_rate: f64,
    layout: impl Fn(f64) -> f64,
) -> Result<f64, PlanError> {
    check_rate(false_positive_rate)?;
    // Above 0 where too few bits, in logarithms, in which rates are nearly straight lines.
    let excess = |bits_per_key: f64| {
        let rate = layout(bits_per_key);
        let excess = libm::log(rate / false_positive_rate);
        if rate <= false_positive_rate {
            excess.min(0.0)
        } else {
            excess.max(f64::MIN_POSITIVE)
        }
    };
    let mut low = classic::ideal_bits_per_key(false_positive_rate);
    let mut low_excess = excess(low);
    while low_excess <= 0.0 && low > f64::MIN_POSITIVE {
        low /= 2.0;
        low_excess = excess(low);
    }
    let mut high = 2.0 * low;
    let mut high_excess = excess(high);
    while high_excess > 0.0 {
        (low, low_excess) = (high, high_excess);
        high *= 2.0;
        high_excess = excess(high);
        if high > libm::exp2(60.0) {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate that the layout can reach",
            });
        }
    }
    // Regula falsi, every third time the middle. Close to the goal the guess steps over it by less
    // than is asked for, so that the other end comes close as well.
    let mut step = 0;
    while high - low > PRECISION * low {
        step += 1;
        let share = low_excess / (low_excess - high_excess);
        let share = if step % 3 == 0 || !share.is_finite() {
            0.5
        } else {
            share
        };
        let guess = (low * libm::pow(high / low, share))
            .min(high * (1.0 - PRECISION / 4.0))
            .max(low * (1.0 + PRECISION / 4.0));
        let guess_excess = excess(guess);
        if guess_excess <= 0.0 {
            (high, high_excess) = (guess, guess_excess);
        } else {
            (low, low_excess) = (guess, guess_excess);
        }
    }
    Ok(high)
}

/// The number of probes, over all blocks of a key, with which [`free_rate`] needs the fewest bits a
/// key for a rate, and these bits, rounded as by [`bits_per_key_for`].
///
/// Tries up to [`MAX_BEST_PROBES`], in multiples of `blocks_per_key` (1 or 2; more are more lines
/// to fetch), and takes the lower number where two are equal. It is below the classic best: 6 for a
/// rate of 0.01, not 7.
///
/// # Errors
///
/// A rate outside (0, 1), a block without bits, and blocks a key outside 1 to [`MAX_BEST_PROBES`].
pub fn best_free(
    false_positive_rate: f64,
    block_bits: u32,
    blocks_per_key: u32,
) -> Result<(u32, f64), PlanError> {
    if block_bits == 0 {
        return Err(PlanError::InvalidInteger {
            field: "block_bits",
            value: 0,
            accepted: "at least 1 bit",
        });
    }
    if !(1..=MAX_BEST_PROBES).contains(&blocks_per_key) {
        return Err(PlanError::InvalidInteger {
            field: "blocks_per_key",
            value: blocks_per_key.into(),
            accepted: "1 or 2, at most 24",
        });
    }
    let blocks = f64::from(blocks_per_key);
    let bits_per_key = |probes: u32| {
        bits_per_key_for(false_positive_rate, |bits_per_key| {
            libm::pow(free_rate(bits_per_key / blocks, block_bits, probes), blocks)
        })
    };
    let mut best = (1, bits_per_key(1)?);
    for probes in 2..=(MAX_BEST_PROBES / blocks_per_key).min(block_bits) {
        let next = bits_per_key(probes)?;
        // The bits fall with the probes and then rise, and do not fall again.
        if next >= best.1 {
            break;
        }
        best = (probes, next);
    }
    Ok((best.0 * blocks_per_key, best.1))
}

/// The rate of a layout: see the top of the file.
///
/// `hit(unset, set, placed)` is the probability that the bit number `placed` of a key falls on one
/// of `unset` bits, of which that key has set `set` already. `asked(probes)` is how likely an
/// absent key asks for each number of different bits.
fn rate(
    bits_per_key: f64,
    block_bits: f64,
    probes: u32,
    hit: impl Fn(f64, f64, f64) -> f64,
    asked: impl Fn(usize) -> [f64; COUNTS],
) -> f64 {
    if probes > MAX_PROBES || bits_per_key.is_nan() {
        return f64::NAN;
    }
    if probes == 0 || block_bits == 0.0 || bits_per_key <= 0.0 {
        return 1.0;
    }
    // Every bit of a block is set, but for a chance below 1e-25.
    if f64::from(probes).min(block_bits) / bits_per_key > 100.0 {
        return 1.0;
    }
    let load = block_bits / bits_per_key;
    let all = probes as usize;
    // leads[u][v]: how likely one key leads from `u` unset bits to `v`.
    let mut leads = [[0.0; COUNTS]; COUNTS];
    for (unset, row) in leads.iter_mut().enumerate().take(all + 1) {
        *row = successes(all, |set, placed| hit(unset as f64, set, placed));
        row[..=unset].reverse();
    }
    let mut state = asked(all);

    // In rounds, so that the weight of no key at all, e^-load, does not underflow.
    let rounds = libm::ceil(load / 500.0).max(1.0);
    for _ in 0..rounds as u64 {
        go_by(load / rounds, &leads[..=all], &mut state[..=all]);
    }
    state[0].min(1.0)
}

/// Lets a Poisson distributed number of keys go by, `load` on average, at most 500.
fn go_by(load: f64, leads: &[[f64; COUNTS]], state: &mut [f64]) {
    let mut weight = libm::exp(-load);
    let mut sum = [0.0; COUNTS];
    for keys in 1..2_000 {
        for (sum, share) in sum.iter_mut().zip(&*state) {
            *sum += share * weight;
        }
        let keys = f64::from(keys);
        // The weights that are left make a series that falls faster than this geometric one.
        if keys > load && weight * load <= 1e-17 * sum[0] * (keys - load) {
            break;
        }
        weight *= load / keys;
        for (unset, leads) in leads.iter().enumerate() {
            let (fewer, same) = state.split_at_mut(unset);
            let share = same[0];
            same[0] = share * leads[unset];
            for (fewer, likely) in fewer.iter_mut().zip(leads) {
                *fewer += share * likely;
            }
        }
    }
    state.copy_from_slice(&sum[..state.len()]);
}

/// How likely each number of successes in so many trials is. `hit(successes, trial)` is the
/// probability that the next trial succeeds.
fn successes(trials: usize, hit: impl Fn(f64, f64) -> f64) -> [f64; COUNTS] {
    let mut likely = [0.0; COUNTS];
    likely[0] = 1.0;
    for trial in 0..trials {
        for count in (0..=trial).rev() {
            let hit = hit(count as f64, trial as f64);
            likely[count + 1] += likely[count] * hit;
            likely[count] *= 1.0 - hit;
        }
    }
    likely
}

/// A number of bits that is no matter of chance.
fn certain(count: usize) -> [f64; COUNTS] {
    let mut likely = [0.0; COUNTS];
    likely[count] = 1.0;
    likely
}

#[cfg(test)]
mod tests;
