//! Positives and exceptions -> the layer: finds the exceptions that the base accepts, the positives that look like them, and
//! conflicts between the lists.
//!
//! Only exceptions that the base accepts are collected, and only positives that could be mistaken for one of them. A hash on both
//! lists is in both collections, so conflicts and collisions need not be searched elsewhere.

use super::base::sealed::BaseLookup;
use super::error::{MAX_NAMED_KEYS, display_name};
use super::layer::{DenyLayer, RelevantPositives};
use super::{ExceptingError, OnConflict};
use crate::build::shards::Items;
use crate::plan::ExceptingPlan;
use crate::store::bits::Bits;
use crate::store::reserve_more;
use crate::{Hashed, KeyHash, PlanError};
use alloc::string::String;
use alloc::vec::Vec;

/// How many items are looked up together.
const CHUNK: usize = 512;

/// A layer and its counts.
pub(super) struct BuiltLayer {
    pub(super) layer: DenyLayer,
    /// Exceptions that the layer denies.
    pub(super) corrected: u64,
    /// Hashes on both lists, for which a side was chosen.
    pub(super) resolved_conflicts: u64,
}

/// Builds the layer that makes a base exact on both lists.
pub(super) fn build_layer<P: Items<Item: Hashed>, E: Items<Item: Hashed>>(
    base: &impl BaseLookup,
    positives: &P,
    exceptions: &E,
    on_conflict: OnConflict,
) -> Result<BuiltLayer, ExceptingError> {
    base.check_base()?;
    let mut accepted = accepted(base, exceptions)?;
    let mut resolved_conflicts = 0;
    loop {
        let plan = ExceptingPlan::for_corrected(positives.count(), accepted.len() as u64);
        let concerned = RelevantPositives::new(&plan, &accepted)?;
        let is_concerned = |hash| concerned.contains(hash, &accepted);
        let mut relevant = relevant_positives(base, positives, is_concerned)?;
        let both = in_both(&accepted, &relevant)?;
        let alone = |hash: &u64| both.binary_search(hash).is_err();
        if !both.is_empty() {
            resolved_conflicts = both.len() as u64;
            match on_conflict {
                OnConflict::Refuse => {
                    return Err(conflict_error(base, positives, exceptions, &both));
                }
                OnConflict::Block => {
                    accepted.retain(alone);
                    // Starts again with the remaining exceptions, as if the others had never been on the list.
                    continue;
                }
                OnConflict::Allow => relevant.retain(alone),
            }
        }
        let corrected = accepted.len() as u64;
        return Ok(BuiltLayer {
            layer: DenyLayer::new(&plan, concerned, accepted, &relevant)?,
            corrected,
            resolved_conflicts,
        });
    }
}

/// Hashes all items, looks them up in the base, and passes each with its hash and the answer to `take`.
fn look_up_each<I: Items<Item: Hashed>>(
    base: &impl BaseLookup,
    items: &I,
    mut take: impl FnMut(&I::Item, u64, bool) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    let scheme = base.scheme();
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut hashes = [KeyHash::from_u64(0); CHUNK];
    let mut found = [false; CHUNK];
    let mut items = items.clone().into_iter();
    loop {
        chunk.clear();
        chunk.extend(items.by_ref().take(CHUNK));
        if chunk.is_empty() {
            return Ok(());
        }
        let (hashes, found) = (&mut hashes[..chunk.len()], &mut found[..chunk.len()]);
        for (hash, item) in hashes.iter_mut().zip(&chunk) {
            *hash = item.hash_with(&scheme);
        }
        base.contains_hashes(hashes, found);
        for ((item, hash), &found) in chunk.iter().zip(hashes).zip(&*found) {
            take(item, hash.to_u64(), found)?;
        }
    }
}

fn push(list: &mut Vec<u64>, hash: u64) -> Result<(), PlanError> {
    reserve_more(list, 1)?;
    list.push(hash);
    Ok(())
}

/// The distinct exceptions that the base accepts, sorted.
fn accepted(
    base: &impl BaseLookup,
    exceptions: &impl Items<Item: Hashed>,
) -> Result<Vec<u64>, PlanError> {
    let mut accepted = Vec::new();
    look_up_each(base, exceptions, |_, hash, found| {
        if found {
            push(&mut accepted, hash)?;
        }
        Ok(())
    })?;
    sort(&mut accepted);
    Ok(accepted)
}

/// The distinct positives that the layer needs to know, sorted.
fn relevant_positives(
    base: &impl BaseLookup,
    positives: &impl Items<Item: Hashed>,
    is_concerned: impl Fn(u64) -> bool,
) -> Result<Vec<u64>, ExceptingError> {
    let mut relevant = Vec::new();
    let mut missing = 0;
    let mut first = Vec::new();
    look_up_each(base, positives, |item, hash, found| {
        if !found {
            missing += 1;
            if first.len() < MAX_NAMED_KEYS {
                first.push(display_name(item, hash));
            }
        } else if is_concerned(hash) {
            push(&mut relevant, hash)?;
        }
        Ok(())
    })?;
    if missing > 0 {
        return Err(ExceptingError::NotInBase {
            first,
            count: missing,
        });
    }
    sort(&mut relevant);
    Ok(relevant)
}

fn sort(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.shrink_to_fit();
}

fn in_both(ours: &[u64], theirs: &[u64]) -> Result<Vec<u64>, PlanError> {
    let mut both = Vec::new();
    let mut theirs = theirs.iter().peekable();
    for &hash in ours {
        while theirs.next_if(|&&other| other < hash).is_some() {}
        if theirs.peek() == Some(&&hash) {
            push(&mut both, hash)?;
        }
    }
    Ok(both)
}

/// The error that lists what is on both lists; `both` is sorted. Keys are compared as bytes, to distinguish hash collisions from
/// keys on both lists.
fn conflict_error(
    base: &impl BaseLookup,
    positives: &impl Items<Item: Hashed>,
    exceptions: &impl Items<Item: Hashed>,
    both: &[u64],
) -> ExceptingError {
    match describe_conflicts(base, positives, exceptions, both) {
        Ok(error) => error,
        Err(error) => ExceptingError::Plan(error),
    }
}

fn describe_conflicts<P: Items<Item: Hashed>>(
    base: &impl BaseLookup,
    positives: &P,
    exceptions: &impl Items<Item: Hashed>,
    both: &[u64],
) -> Result<ExceptingError, PlanError> {
    let scheme = base.scheme();
    // The positives with these hashes, sorted by hash.
    let mut sides: Vec<(u64, P::Item)> = Vec::new();
    for item in positives.clone() {
        let hash = item.hash_with(&scheme).to_u64();
        if both.binary_search(&hash).is_ok() {
            reserve_more(&mut sides, 1)?;
            sides.push((hash, item));
        }
    }
    sides.sort_by_key(|(hash, _)| *hash);
    let mut is_conflict = Bits::zeroed(both.len() as u64)?;
    let mut is_collision = Bits::zeroed(both.len() as u64)?;
    let (mut conflicts, mut collisions) = (0, 0);
    let (mut keys, mut pairs): (Vec<String>, Vec<[String; 2]>) = (Vec::new(), Vec::new());
    for exception in exceptions.clone() {
        let hash = exception.hash_with(&scheme).to_u64();
        let Ok(number) = both.binary_search(&hash) else {
            continue;
        };
        let from = sides.partition_point(|(other, _)| *other < hash);
        let same_hash = sides[from..].iter().take_while(|(other, _)| *other == hash);
        let mut other_key = None;
        for (_, positive) in same_hash {
            match (positive.key_bytes(), exception.key_bytes()) {
                (Some(ours), Some(theirs)) if ours != theirs => other_key = Some(positive),
                _ => {
                    other_key = None;
                    break;
                }
            }
        }
        match other_key {
            None if is_conflict.set(number as u64) => {
                conflicts += 1;
                if keys.len() < MAX_NAMED_KEYS {
                    keys.push(display_name(&exception, hash));
                }
            }
            Some(positive) if is_collision.set(number as u64) => {
                collisions += 1;
                if pairs.len() < MAX_NAMED_KEYS {
                    pairs.push([display_name(positive, hash), display_name(&exception, hash)]);
                }
            }
            _ => {}
        }
    }
    Ok(if conflicts > 0 {
        ExceptingError::Conflict {
            first: keys,
            count: conflicts,
        }
    } else {
        ExceptingError::Collision {
            first: pairs,
            count: collisions,
        }
    })
}
