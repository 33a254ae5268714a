//! `BF.MERGE key source [source ..]`: the key holds the items of all then. A missing key becomes a copy of the first source.

use crate::command::words;
use crate::native::Merged;
use crate::{Bloom, Context, NOT_FOUND, Outcome, Reply, Slot, WRONG_TYPE, image};
use mayhap::Mismatch;
use mayhap_codec::redis::UnionError;
use std::borrow::Cow;

pub(crate) fn merge(
    key: &[u8],
    slot: &mut Slot,
    sources: &[&Slot],
    context: &Context<'_>,
) -> Outcome {
    match merged(slot, sources, context) {
        Ok(filter) => {
            *slot = Slot::Bloom(Box::new(filter));
            // What the sources hold at the same moment elsewhere is not known: the result is passed on.
            let image = image::encode(slot);
            let load = words("MAYHAP.LOAD", key, &[&image, b"REPLACE"]);
            Outcome::instead(Reply::OK, vec![load])
        }
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

/// The union, made beside: where one does not fit, nothing is changed.
fn merged(slot: &Slot, sources: &[&Slot], context: &Context<'_>) -> Result<Bloom, Reply> {
    let mut filters = sources.iter().map(|source| bloom(source));
    let filters = filters.by_ref().collect::<Result<Vec<_>, _>>()?;
    let (first, rest) = match slot {
        Slot::Missing => match filters.split_first() {
            Some((first, rest)) => (*first, rest),
            None => return Err(NOT_FOUND),
        },
        slot => (bloom(slot)?, filters.as_slice()),
    };
    // As large as the largest, since shapes agree.
    let largest = filters
        .iter()
        .chain([&first])
        .map(|filter| size_bytes(filter));
    if largest
        .max()
        .is_some_and(|size| size > context.most_bytes())
    {
        return Err(crate::NO_MEMORY);
    }
    let mut union = first.try_clone().map_err(|_| crate::NO_MEMORY)?;
    for source in rest {
        unite(&mut union, source)?;
    }
    Ok(union)
}

fn size_bytes(filter: &Bloom) -> u64 {
    match filter {
        Bloom::RedisBloom(filter) => filter.info().size_bytes,
        Bloom::Native(filter) => filter.size_bytes(),
    }
}

fn unite(ours: &mut Bloom, theirs: &Bloom) -> Result<(), Reply> {
    let differ = |what: Cow<'static, str>| {
        Err(Reply::Error(Cow::Owned(format!(
            "ERR filters cannot be merged: they differ in {what}"
        ))))
    };
    match (ours, theirs) {
        (Bloom::Native(ours), Bloom::Native(theirs)) => match ours.union_with(theirs) {
            Ok(()) => Ok(()),
            Err(Merged::Kinds) => differ("whether they grow".into()),
            Err(Merged::Windows) => Err(Reply::error(
                "ERR filters cannot be merged: what a window remembers has its time",
            )),
            Err(Merged::Mismatch(Mismatch::HashKey)) => differ("hash key".into()),
            Err(Merged::Mismatch(Mismatch::Shape {
                field,
                ours,
                theirs,
            })) => differ(format!("{field}: {ours} and {theirs}").into()),
            Err(Merged::Mismatch(Mismatch::Memory { .. })) => Err(crate::NO_MEMORY),
            Err(Merged::Mismatch(_)) => differ("shape".into()),
        },
        (Bloom::RedisBloom(ours), Bloom::RedisBloom(theirs)) => match ours.union_with(theirs) {
            Ok(()) => Ok(()),
            Err(UnionError::Differ(field)) => differ(field.into()),
            Err(UnionError::Memory(_)) => Err(crate::NO_MEMORY),
        },
        _ => differ("layout".into()),
    }
}
