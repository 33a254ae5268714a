//! `BF.MERGE key source [source ..]`: adds the items of all sources to the filter of a key. A missing key becomes a copy of the first source.
//!
//! It is replicated verbatim: logs and replicas see all changes of all keys in one order, so the sources are identical there.

use super::bloom;
use crate::command::ApplyWrite;
use crate::native::MergeError;
use crate::spec::Args;
use crate::{AnyBloom, Context, NOT_FOUND, NativeBloom, Outcome, Reply, Slot, WRONG_TYPE};
use mayhap_codec::redis::UnionError;
use mayhap_core::Mismatch;
use std::borrow::Cow;
use std::collections::HashSet;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Merge<'a> {
    sources: Vec<&'a [u8]>,
}

impl<'a> Merge<'a> {
    /// Drops the key itself and repeated sources: merging them again would change nothing.
    pub(crate) fn parse(args: &Args<'_, 'a>) -> Self {
        let mut seen = HashSet::from([args.key()]);
        let sources = args.rest().iter().copied();
        Self {
            sources: sources.filter(|source| seen.insert(source)).collect(),
        }
    }
}

impl<'a> ApplyWrite<'a> for Merge<'a> {
    fn apply(
        &self,
        _key: &[u8],
        slot: &mut Slot,
        sources: &[&Slot],
        context: &Context<'_>,
    ) -> Outcome {
        match merge_all(slot, sources, context) {
            Ok(()) => Outcome::verbatim(Reply::OK),
            Err(reply) => Outcome::rejected(reply),
        }
    }

    fn may_grow(&self, _slot: &Slot) -> bool {
        true
    }

    fn sources(&self) -> &[&'a [u8]] {
        &self.sources
    }
}

/// Checks that all filters can be merged before it changes anything. Copies only what a missing key or a shorter chain of layers needs; the
/// union of growing sets is built beside them.
fn merge_all(slot: &mut Slot, sources: &[&Slot], context: &Context<'_>) -> Result<(), Reply> {
    let filters = sources.iter().map(|source| bloom(source));
    let filters = filters.collect::<Result<Vec<_>, _>>()?;
    let (first, rest) = match slot {
        Slot::Missing => match filters.split_first() {
            Some((first, rest)) => (*first, rest),
            None => return Err(NOT_FOUND),
        },
        ref slot => (bloom(slot)?, filters.as_slice()),
    };
    // Unless they are growing sets, the shapes agree and the union is as large as the largest filter.
    let largest = filters
        .iter()
        .chain([&first])
        .map(|filter| size_bytes(filter));
    if largest.max().is_some_and(|size| size > context.max_bytes()) {
        return Err(crate::NO_MEMORY);
    }
    // A source that can be merged with the longest chain and with the first filter can be merged with all others.
    let longest = (0..rest.len()).max_by_key(|&at| size_bytes(rest[at]));
    for source in rest {
        check_mergeable(first, source)?;
        longest.map_or(Ok(()), |longest| check_mergeable(rest[longest], source))?;
    }
    if !rest.is_empty()
        && let Some(union) = union_of_sets(first, rest, context.max_bytes())
    {
        *slot = Slot::Bloom(Box::new(AnyBloom::Native(union?)));
        return Ok(());
    }
    let was_missing = matches!(slot, Slot::Missing);
    if was_missing {
        let copy = first.try_clone().map_err(|_| crate::NO_MEMORY)?;
        *slot = Slot::Bloom(Box::new(copy));
    }
    let Slot::Bloom(union) = slot else {
        return Err(WRONG_TYPE);
    };
    // The longest chain first: only its layers need memory, so nothing has changed yet if there is none.
    let others = (0..rest.len()).filter(|&at| Some(at) != longest);
    let mut order = longest.into_iter().chain(others);
    let merged = order.try_for_each(|at| merge(union, rest[at]));
    if merged.is_err() && was_missing {
        *slot = Slot::Missing;
    }
    merged
}

/// The union of growing sets, if these are such.
fn union_of_sets(
    first: &AnyBloom,
    rest: &[&AnyBloom],
    max_bytes: u64,
) -> Option<Result<NativeBloom, Reply>> {
    let rest: Vec<&NativeBloom> = rest.iter().filter_map(|filter| native(filter)).collect();
    let union = native(first)?.union_of(&rest, max_bytes)?;
    Some(union.map_err(merge_error))
}

fn native(filter: &AnyBloom) -> Option<&NativeBloom> {
    match filter {
        AnyBloom::Native(filter) => Some(filter),
        AnyBloom::RedisBloom(_) => None,
    }
}

fn size_bytes(filter: &AnyBloom) -> u64 {
    match filter {
        AnyBloom::RedisBloom(filter) => filter.info().size_bytes,
        AnyBloom::Native(filter) => filter.size_bytes(),
    }
}

fn differ(what: impl Into<Cow<'static, str>>) -> Reply {
    Reply::Error(Cow::Owned(format!(
        "ERR filters cannot be merged: they differ in {}",
        what.into()
    )))
}

fn merge_error(error: MergeError) -> Reply {
    match error {
        MergeError::Kinds => differ("whether they grow"),
        MergeError::Growth => Reply::error(
            "ERR filters cannot be merged: one was created with a capacity and the other without: reserve both with the same capacity",
        ),
        MergeError::Windows => {
            Reply::error("ERR filters cannot be merged: they are window filters")
        }
        MergeError::Mismatch(Mismatch::HashKey) => differ("hash key"),
        MergeError::Mismatch(Mismatch::Shape {
            field,
            ours,
            theirs,
        }) => differ(format!("{field}: {ours} and {theirs}")),
        MergeError::Mismatch(Mismatch::Memory { .. }) => crate::NO_MEMORY,
        MergeError::Mismatch(_) => differ("shape"),
    }
}

fn union_error(error: UnionError) -> Reply {
    match error {
        UnionError::Differ(field) => differ(field),
        UnionError::Memory(_) => crate::NO_MEMORY,
    }
}

fn check_mergeable(ours: &AnyBloom, theirs: &AnyBloom) -> Result<(), Reply> {
    match (ours, theirs) {
        (AnyBloom::Native(ours), AnyBloom::Native(theirs)) => {
            ours.check_union(theirs).map_err(merge_error)
        }
        (AnyBloom::RedisBloom(ours), AnyBloom::RedisBloom(theirs)) => {
            ours.check_union(theirs).map_err(union_error)
        }
        _ => Err(differ("layout")),
    }
}

fn merge(ours: &mut AnyBloom, theirs: &AnyBloom) -> Result<(), Reply> {
    match (ours, theirs) {
        (AnyBloom::Native(ours), AnyBloom::Native(theirs)) => {
            ours.union_with(theirs).map_err(merge_error)
        }
        (AnyBloom::RedisBloom(ours), AnyBloom::RedisBloom(theirs)) => {
            ours.union_with(theirs).map_err(union_error)
        }
        _ => Err(differ("layout")),
    }
}
