//! Images of native Bloom filters: of fixed size, chains of layers, with a window, and sets that grow or forget.

use super::fields::{FieldReader, FieldWriter};
use super::{ImageKind, Parts, growing_cuckoo, loading, window_cuckoo};
use crate::native::{BloomKind, GrowingSet, NativeBloom, WindowSet};
use crate::slot::AnyBloom;
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::{BloomPlan, WindowPlan};
use mayhap_core::{GrowingBloom, Timestamp, WindowBloom};
use std::borrow::Cow;

/// The fields, followed by the bits of every layer or table if `with_bits`.
pub(crate) fn parts(filter: &NativeBloom, with_bits: bool) -> Parts<'_> {
    let mut parts = vec![Cow::Owned(fields(filter, with_bits))];
    if with_bits {
        let layers = filter.layers().into_iter();
        parts.extend(layers.map(mayhap_core::Bloom::bytes));
        match &filter.kind {
            BloomKind::GrowingSet(set) => {
                let tables = set.filter.tables().map(|table| table.slices);
                growing_cuckoo::push_bits(tables, &mut parts);
            }
            BloomKind::WindowSet(set) => window_cuckoo::push_bits(&set.filter, &mut parts),
            // Their bits are those of the layers.
            BloomKind::Fixed(_) | BloomKind::Growing(_) | BloomKind::Window(_) => {}
        }
    }
    parts
}

fn fields(filter: &NativeBloom, with_bits: bool) -> Vec<u8> {
    let mut out = head(filter, with_bits);
    match &filter.kind {
        BloomKind::Fixed(filter) => out.bloom_plan(filter.plan()),
        BloomKind::Growing(filter) => {
            out.growing_plan(filter.plan());
            out.number(filter.keys_in_newest());
            out.number(filter.has_overfull_layer().into());
            out.number(filter.layer_count() as u64);
            for layer in filter.layers() {
                out.bloom_plan(layer.plan());
            }
        }
        BloomKind::Window(filter) => write_window(filter, &mut out),
        BloomKind::GrowingSet(set) => {
            loading::write(set.loading.as_ref(), &mut out);
            growing_cuckoo::write_fields(&set.filter, with_bits, &mut out);
        }
        BloomKind::WindowSet(set) => {
            loading::write(set.loading.as_ref(), &mut out);
            window_cuckoo::write_fields(&set.filter, with_bits, &mut out);
        }
    }
    out.finish()
}

/// The fields that all kinds begin with.
fn head(filter: &NativeBloom, with_bits: bool) -> FieldWriter {
    let kind = match &filter.kind {
        BloomKind::Fixed(_) => ImageKind::FixedBloom,
        BloomKind::Growing(_) => ImageKind::GrowingBloom,
        BloomKind::Window(_) => ImageKind::WindowBloom,
        BloomKind::GrowingSet(_) => ImageKind::GrowingSet,
        BloomKind::WindowSet(_) => ImageKind::WindowSet,
    };
    let mut out = FieldWriter::new(kind as u8, with_bits);
    out.scheme(filter.scheme());
    out.number(filter.items);
    out.number(filter.expansion.into());
    out
}

/// The header that SCANDUMP of a set begins with: an empty set that expects an image of `total` bytes.
pub(crate) fn loading_header(filter: &NativeBloom, total: u64) -> Vec<u8> {
    let mut out = head(filter, false);
    match &filter.kind {
        BloomKind::GrowingSet(set) => {
            loading::write_expected(total, &mut out);
            growing_cuckoo::write_fields(&set.filter, false, &mut out);
        }
        BloomKind::WindowSet(set) => {
            loading::write_expected(total, &mut out);
            window_cuckoo::write_fields(&set.filter, false, &mut out);
        }
        // They are loaded layer by layer.
        BloomKind::Fixed(_) | BloomKind::Growing(_) | BloomKind::Window(_) => {}
    }
    out.finish()
}

fn write_window(filter: &WindowBloom, out: &mut FieldWriter) {
    let plan = filter.plan();
    out.number(plan.keys_per_window());
    out.rate(plan.false_positive_rate());
    out.number(plan.slice_ms());
    out.number(plan.slices().into());
    out.number(filter.start().0);
    out.number(filter.newest().0);
    for (slice, in_newest, layers) in filter.generations() {
        out.number(slice);
        out.number(in_newest);
        out.number(layers.len() as u64);
        for layer in layers {
            out.bloom_plan(layer.plan());
        }
    }
}

/// The fields that all kinds begin with, after the scheme.
fn counts(at: &mut FieldReader<'_>) -> Result<(u64, u32), DecodeError> {
    let items = at.number("items")?;
    Ok((items, at.small("expansion", "a number of 32 bits")?))
}

/// The same for sets that count their items themselves.
fn counts_of_set(at: &mut FieldReader<'_>) -> Result<(u64, u32), DecodeError> {
    let (items, expansion) = counts(at)?;
    if items != 0 {
        return Err(at.wrong("items", items, "0, because the set counts its items"));
    }
    Ok((items, expansion))
}

fn size_bytes<'p>(plans: impl Iterator<Item = &'p BloomPlan>) -> u64 {
    plans
        .map(BloomPlan::size_bytes)
        .fold(0, u64::saturating_add)
}

pub(super) fn read_fixed(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyBloom, DecodeError> {
    let scheme = at.scheme()?;
    let (items, expansion) = counts(at)?;
    let plan = at.bloom_plan()?;
    let mut bits = at.bits(has_bits, plan.size_bytes(), limits)?;
    let filter = bits.bloom(at, plan, scheme)?;
    Ok(AnyBloom::Native(NativeBloom {
        kind: BloomKind::Fixed(filter),
        items,
        expansion,
    }))
}

pub(super) fn read_growing(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyBloom, DecodeError> {
    let scheme = at.scheme()?;
    let (items, expansion) = counts(at)?;
    let plan = at.growing_plan()?;
    let in_newest = at.number("keys in the newest layer")?;
    let crowded = at.flag("crowded")?;
    let count = at.number("layers")?;
    // Each layer has fields, so a wrong count ends with the bytes at the latest.
    let plans = (0..count).map(|_| at.bloom_plan());
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    let mut bits = at.bits(has_bits, size_bytes(plans.iter()), limits)?;
    let layers = plans.into_iter().map(|plan| bits.bloom(at, plan, scheme));
    let layers = layers.collect::<Result<Vec<_>, _>>()?;
    let filter = GrowingBloom::from_layers(plan, layers, in_newest, crowded)
        .map_err(|error| at.plan_error(error))?;
    Ok(AnyBloom::Native(NativeBloom {
        kind: BloomKind::Growing(filter),
        items,
        expansion,
    }))
}

pub(super) fn read_set(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyBloom, DecodeError> {
    let scheme = at.scheme()?;
    let (items, expansion) = counts_of_set(at)?;
    let loading = loading::read(at, limits)?;
    let filter = growing_cuckoo::read(at, scheme, has_bits, limits)?;
    Ok(AnyBloom::Native(NativeBloom {
        kind: BloomKind::GrowingSet(GrowingSet::new(filter, loading)),
        items,
        expansion,
    }))
}

pub(super) fn read_window_set(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyBloom, DecodeError> {
    let scheme = at.scheme()?;
    let (items, expansion) = counts_of_set(at)?;
    let loading = loading::read(at, limits)?;
    let filter = window_cuckoo::read(at, scheme, has_bits, limits)?;
    Ok(AnyBloom::Native(NativeBloom {
        kind: BloomKind::WindowSet(Box::new(WindowSet { filter, loading })),
        items,
        expansion,
    }))
}

pub(super) fn read_window(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyBloom, DecodeError> {
    let scheme = at.scheme()?;
    let (items, expansion) = counts(at)?;
    let (keys, rate) = (at.number("keys a window")?, at.rate("rate")?);
    let slice_ms = at.number("length of a slice")?;
    let slices = at.small("slices", "2 to 63")?;
    let plan = WindowPlan::from_shape(keys, rate, slice_ms, slices);
    let plan = plan.map_err(|error| at.plan_error(error))?;
    let start = Timestamp(at.number("start")?);
    let newest = Timestamp(at.number("newest")?);
    let mut generations = Vec::new();
    for _ in 0..=slices {
        let (slice, in_newest) = (at.number("slice")?, at.number("keys in the newest layer")?);
        let count = at.number("layers")?;
        let plans = (0..count).map(|_| at.bloom_plan());
        generations.push((slice, in_newest, plans.collect::<Result<Vec<_>, _>>()?));
    }
    let plans = generations.iter().flat_map(|(_, _, plans)| plans);
    let mut bits = at.bits(has_bits, size_bytes(plans), limits)?;
    let generations = generations.into_iter().map(|(slice, in_newest, plans)| {
        let layers = plans.into_iter().map(|plan| bits.bloom(at, plan, scheme));
        Ok((slice, in_newest, layers.collect::<Result<Vec<_>, _>>()?))
    });
    let generations = generations.collect::<Result<Vec<_>, DecodeError>>()?;
    let filter = WindowBloom::from_generations(plan, scheme, (start, newest), 0, generations)
        .map_err(|error| at.plan_error(error))?;
    Ok(AnyBloom::Native(NativeBloom {
        kind: BloomKind::Window(filter),
        items,
        expansion,
    }))
}
