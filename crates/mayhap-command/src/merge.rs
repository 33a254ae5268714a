//! `BF.MERGE key source [source ..]`: the key holds the items of all then. A missing key becomes a copy of the first source.
//!
//! It is passed on as it came: logs and replicas have all changes of all keys in one order, so that the sources are the same there.

use crate::native::Merged;
use crate::{Bloom, Context, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE};
use mayhap_codec::redis::UnionError;
use mayhap_core::Mismatch;
use std::borrow::Cow;

pub(crate) fn merge(slot: &mut Slot, sources: &[&Slot], context: &Context<'_>) -> Outcome {
    match unite_all(slot, sources, context) {
        Ok(()) => Outcome::done(Reply::OK),
        Err(reply) => Outcome::told(reply),
    }
}

fn bloom(slot: &Slot) -> Result<&Bloom, Reply> {
    match slot {
        Slot::Missing => Err(NOT_FOUND),
        Slot::Bloom(filter) => Ok(filter),
        _ => Err(WRONG_TYPE),
    }
}

/// Nothing is copied but what a missing key, or a shorter chain, takes over: where one does not fit, that is known before anything
/// is changed.
fn unite_all(slot: &mut Slot, sources: &[&Slot], context: &Context<'_>) -> Result<(), Reply> {
    let filters = sources.iter().map(|source| bloom(source));
    let filters = filters.collect::<Result<Vec<_>, _>>()?;
    let (first, rest) = match slot {
        Slot::Missing => match filters.split_first() {
            Some((first, rest)) => (*first, rest),
            None => return Err(NOT_FOUND),
        },
        ref slot => (bloom(slot)?, filters.as_slice()),
    };
    // As large as the largest, since shapes agree.
    let largest = filters
        .iter()
        .chain([&first])
        .map(|filter| size_bytes(filter));
    if largest.max().is_some_and(|size| size > context.max_bytes()) {
        return Err(crate::NO_MEMORY);
    }
    // The longest chain takes over no layers from the others: who fits it and the first fits everybody.
    let longest = (0..rest.len()).max_by_key(|&at| size_bytes(rest[at]));
    for source in rest {
        check(first, source)?;
        longest.map_or(Ok(()), |longest| check(rest[longest], source))?;
    }
    let was_missing = matches!(slot, Slot::Missing);
    if was_missing {
        let copy = first.try_clone().map_err(|_| crate::NO_MEMORY)?;
        *slot = Slot::Bloom(Box::new(copy));
    }
    let Slot::Bloom(union) = slot else {
        return Err(WRONG_TYPE);
    };
    // The longest first: only its layers need memory, so that nothing is changed when there is none.
    let others = (0..rest.len()).filter(|&at| Some(at) != longest);
    let mut order = longest.into_iter().chain(others);
    let united = order.try_for_each(|at| unite(union, rest[at]));
    if united.is_err() && was_missing {
        *slot = Slot::Missing;
    }
    united
}

fn size_bytes(filter: &Bloom) -> u64 {
    match filter {
        Bloom::RedisBloom(filter) => filter.info().size_bytes,
        Bloom::Native(filter) => filter.size_bytes(),
    }
}

fn differ(what: impl Into<Cow<'static, str>>) -> Reply {
    Reply::Error(Cow::Owned(format!(
        "ERR filters cannot be merged: they differ in {}",
        what.into()
    )))
}

fn refused(merged: Merged) -> Reply {
    match merged {
        Merged::Kinds => differ("whether they grow"),
        Merged::Windows => {
            Reply::error("ERR filters cannot be merged: what a window remembers has its time")
        }
        Merged::Mismatch(Mismatch::HashKey) => differ("hash key"),
        Merged::Mismatch(Mismatch::Shape {
            field,
            ours,
            theirs,
        }) => differ(format!("{field}: {ours} and {theirs}")),
        Merged::Mismatch(Mismatch::Memory { .. }) => crate::NO_MEMORY,
        Merged::Mismatch(_) => differ("shape"),
    }
}

fn union_refused(error: UnionError) -> Reply {
    match error {
        UnionError::Differ(field) => differ(field),
        UnionError::Memory(_) => crate::NO_MEMORY,
    }
}

/// Whether they can be merged.
fn check(ours: &Bloom, theirs: &Bloom) -> Result<(), Reply> {
    match (ours, theirs) {
        (Bloom::Native(ours), Bloom::Native(theirs)) => ours.check_union(theirs).map_err(refused),
        (Bloom::RedisBloom(ours), Bloom::RedisBloom(theirs)) => {
            ours.check_union(theirs).map_err(union_refused)
        }
        _ => Err(differ("layout")),
    }
}

fn unite(ours: &mut Bloom, theirs: &Bloom) -> Result<(), Reply> {
    match (ours, theirs) {
        (Bloom::Native(ours), Bloom::Native(theirs)) => ours.union_with(theirs).map_err(refused),
        (Bloom::RedisBloom(ours), Bloom::RedisBloom(theirs)) => {
            ours.union_with(theirs).map_err(union_refused)
        }
        _ => Err(differ("layout")),
    }
}
