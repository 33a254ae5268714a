//! Items -> shards of hashes -> solved shards, in order, with the hashes of only some shards in memory at a time.
//!
//! With the feature `parallel`, several shards are solved at once, on scoped threads. The number of passes and threads does not
//! change the resulting bytes.

use crate::PlanError;
use crate::probe::fuse::shard;
use crate::store::{reserved, zeroed};
use alloc::vec;
use alloc::vec::Vec;

/// Items that are iterated several times, which takes less memory than storing their hashes.
pub(crate) trait Items: IntoIterator<IntoIter: ExactSizeIterator> + Clone {
    fn count(&self) -> u64 {
        self.clone().into_iter().len() as u64
    }
}

impl<I: IntoIterator<IntoIter: ExactSizeIterator> + Clone> Items for I {}

/// How many threads can be used.
pub(crate) fn available_threads() -> u64 {
    #[cfg(feature = "parallel")]
    return std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    #[cfg(not(feature = "parallel"))]
    1
}

/// The number of items, duplicates included, in each shard.
pub(crate) fn count_per_shard<I: Items>(
    items: &I,
    hash: impl Fn(I::Item) -> u64,
    shards: u64,
) -> Vec<u64> {
    let mut counts = vec![0; shards as usize];
    if let [only] = counts.as_mut_slice() {
        *only = items.count();
        return counts;
    }
    for item in items.clone() {
        counts[shard(hash(item), shards) as usize] += 1;
    }
    counts
}

/// Solves every shard, given its number and its hashes, with up to `threads` at once and `passes` passes over the items, and
/// passes the solutions to `take` in order. `counts` comes from [`count_per_shard`] for the same items.
pub(crate) fn solve_each<I: Items, S: Send>(
    items: &I,
    hash: impl Fn(I::Item) -> u64,
    counts: &[u64],
    (threads, passes): (u64, u64),
    solve: impl Fn(u64, &mut [u64]) -> Result<S, PlanError> + Sync,
    mut take: impl FnMut(S) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    let shards = counts.len() as u64;
    let per_pass = counts.len().div_ceil(passes as usize);
    for (pass, counts) in counts.chunks(per_pass).enumerate() {
        let first = (pass * per_pass) as u64;
        let mut hashes = gather(items, &hash, shards, first, counts)?;
        let mut rest = hashes.as_mut_slice();
        let mut parts = Vec::new();
        for (number, &count) in (first..).zip(counts) {
            let (part, after) = rest.split_at_mut(count as usize);
            parts.push((number, part));
            rest = after;
        }
        solve_shards(&mut parts, threads, &solve, &mut take)?;
    }
    Ok(())
}

/// Passes the hashes of every shard to `take`, in order, in `passes` passes over the items. `counts` as in [`solve_each`].
pub(crate) fn for_each_shard<I: Items>(
    items: &I,
    hash: impl Fn(I::Item) -> u64,
    counts: &[u64],
    passes: usize,
    mut take: impl FnMut(&mut [u64]),
) -> Result<(), PlanError> {
    let per_pass = counts.len().div_ceil(passes);
    for (pass, of_pass) in counts.chunks(per_pass).enumerate() {
        let first = (pass * per_pass) as u64;
        let mut hashes = gather(items, &hash, counts.len() as u64, first, of_pass)?;
        let mut rest = hashes.as_mut_slice();
        for &count in of_pass {
            let (part, after) = rest.split_at_mut(count as usize);
            take(part);
            rest = after;
        }
    }
    Ok(())
}

/// The hashes of the shards from `first` on, shard by shard.
fn gather<I: Items>(
    items: &I,
    hash: impl Fn(I::Item) -> u64,
    shards: u64,
    first: u64,
    counts: &[u64],
) -> Result<Vec<u64>, PlanError> {
    let total: u64 = counts.iter().sum();
    let all = items.clone().into_iter().map(hash);
    if shards == 1 {
        let mut hashes = reserved(total)?;
        hashes.extend(all);
        return Ok(hashes);
    }
    // One extra place for the hashes of other shards: writing them there is faster than a branch.
    let mut hashes = zeroed(total + 1)?;
    let mut ends: Vec<usize> = Vec::new();
    let mut sum = 0;
    for &count in counts {
        ends.push(sum);
        sum += count as usize;
    }
    ends.push(sum);
    for hash in all {
        let at = shard(hash, shards).wrapping_sub(first);
        let at = at.min(counts.len() as u64) as usize;
        hashes[ends[at]] = hash;
        ends[at] += usize::from(at < counts.len());
    }
    Ok(hashes)
}

#[cfg(feature = "parallel")]
fn solve_shards<S: Send>(
    parts: &mut [(u64, &mut [u64])],
    threads: u64,
    solve: &(impl Fn(u64, &mut [u64]) -> Result<S, PlanError> + Sync),
    take: &mut impl FnMut(S) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    for wave in parts.chunks_mut(threads as usize) {
        let (mine, others) = wave.split_first_mut().expect("chunks are not empty");
        let solved: Vec<_> = std::thread::scope(|scope| {
            let others: Vec<_> = others
                .iter_mut()
                .map(|(number, hashes)| scope.spawn(|| solve(*number, hashes)))
                .collect();
            let mine = solve(mine.0, mine.1);
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            core::iter::once(mine)
                .chain(others.into_iter().map(join))
                .collect()
        });
        for solved in solved {
            take(solved?)?;
        }
    }
    Ok(())
}

#[cfg(not(feature = "parallel"))]
fn solve_shards<S>(
    parts: &mut [(u64, &mut [u64])],
    _threads: u64,
    solve: &impl Fn(u64, &mut [u64]) -> Result<S, PlanError>,
    take: &mut impl FnMut(S) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    for (number, hashes) in parts {
        take(solve(*number, hashes)?)?;
    }
    Ok(())
}
