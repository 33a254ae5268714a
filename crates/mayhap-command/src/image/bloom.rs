//! Images of native Bloom filters: of fixed size, growing, and with a window.

use super::fields::{FieldReader, FieldWriter};
use super::{ImageKind, Parts};
use crate::native::{BloomKind, NativeBloom};
use crate::slot::AnyBloom;
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::{BloomPlan, WindowPlan};
use mayhap_core::{GrowingBloom, Timestamp, WindowBloom};
use std::borrow::Cow;

/// The fields, followed by the bits of every layer if `with_bits`.
pub(super) fn parts(filter: &NativeBloom, with_bits: bool) -> Parts<'_> {
    let mut parts = vec![Cow::Owned(fields(filter, with_bits))];
    if with_bits {
        let layers = filter.layers().into_iter();
        parts.extend(layers.map(mayhap_core::Bloom::bytes));
    }
    parts
}

fn fields(filter: &NativeBloom, with_bits: bool) -> Vec<u8> {
    let kind = match &filter.kind {
        BloomKind::Fixed(_) => ImageKind::FixedBloom,
        BloomKind::Growing(_) => ImageKind::GrowingBloom,
        BloomKind::Window(_) => ImageKind::WindowBloom,
    };
    let mut out = FieldWriter::new(kind as u8, with_bits);
    out.scheme(filter.scheme());
    out.number(filter.items);
    out.number(filter.expansion.into());
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

/// The fields that all three kinds begin with, after the scheme.
fn counts(at: &mut FieldReader<'_>) -> Result<(u64, u32), DecodeError> {
    let items = at.number("items")?;
    Ok((items, at.small("expansion", "a number of 32 bits")?))
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
