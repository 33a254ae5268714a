//! `GrowingBloom`: six fields, five for each layer, and a section of lines a layer.

use super::{bloom, flag, refused};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Sections};
use mayhap_core::plan::GrowingPlan;
use mayhap_core::{GrowingBloom, HashScheme};

pub(super) fn write<'f>(filter: &'f GrowingBloom, parts: &mut Parts<'f>) {
    write_plan(filter.plan(), parts);
    parts.number(filter.keys_in_newest());
    parts.number(filter.has_overfull_layer().into());
    parts.number(filter.layer_count() as u64);
    for layer in filter.layers() {
        bloom::write(layer, parts);
    }
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<GrowingBloom, DecodeError> {
    let head = read_header(at)?;
    let mut layers = Vec::new();
    // Every layer has fields in the plan, which bounds this loop.
    for _ in 0..head.layers {
        layers.push(bloom::read(at, sections, scheme)?);
    }
    GrowingBloom::from_layers(head.plan, layers, head.in_newest, head.crowded).map_err(refused(at))
}

/// The fields before those of the layers.
pub(super) struct GrowingHeader {
    pub(super) plan: GrowingPlan,
    pub(super) in_newest: u64,
    pub(super) crowded: bool,
    pub(super) layers: u64,
}

pub(super) fn read_header(at: &mut Cursor<'_>) -> Result<GrowingHeader, DecodeError> {
    Ok(GrowingHeader {
        plan: read_plan(at)?,
        in_newest: at.u64_le("keys in the newest layer")?,
        crowded: flag(at, "crowded")?,
        layers: at.u64_le("layers")?,
    })
}

/// Capacity, maximum, 0 when there is none, and rate.
pub(super) fn write_plan(plan: &GrowingPlan, parts: &mut Parts<'_>) {
    parts.number(plan.capacity());
    parts.number(plan.maximum().unwrap_or(0));
    parts.rate(plan.false_positive_rate());
}

pub(super) fn read_plan(at: &mut Cursor<'_>) -> Result<GrowingPlan, DecodeError> {
    let capacity = at.u64_le("capacity")?;
    let maximum = Some(at.u64_le("maximum")?).filter(|&maximum| maximum != 0);
    let rate = at.f64_le("rate")?;
    GrowingPlan::from_shape(capacity, maximum, rate).map_err(refused(at))
}
