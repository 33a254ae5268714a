//! `WindowBloom`: eight fields, three for each generation and five for each of its layers; a section of lines a layer.

use super::{bloom, flag, refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Sections};
use mayhap_core::plan::WindowPlan;
use mayhap_core::{BurstPolicy, HashScheme, Timestamp, WindowBloom};

pub(super) fn write<'f>(filter: &'f WindowBloom, parts: &mut Parts<'f>) {
    let plan = filter.plan();
    parts.number(plan.keys_per_window());
    parts.rate(plan.false_positive_rate());
    parts.number(plan.slice_ms());
    parts.number(plan.slices().into());
    parts.number((filter.burst_policy() == BurstPolicy::RotateEarly).into());
    parts.number(filter.start().0);
    parts.number(filter.newest().0);
    parts.number(filter.rotated_early());
    for (slice, in_newest, layers) in filter.generations() {
        parts.number(slice);
        parts.number(in_newest);
        parts.number(layers.len() as u64);
        for layer in layers {
            bloom::write(layer, parts);
        }
    }
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<WindowBloom, DecodeError> {
    let (keys, rate) = (at.u64_le("keys a window")?, at.f64_le("rate")?);
    let slice_ms = at.u64_le("length of a slice")?;
    let slices = small(at, "slices", "2 to 63")?;
    let plan = WindowPlan::from_shape(keys, rate, slice_ms, slices).map_err(refused(at))?;
    let burst = if flag(at, "rotates early")? {
        BurstPolicy::RotateEarly
    } else {
        BurstPolicy::Overflow
    };
    let start = Timestamp(at.u64_le("start")?);
    let newest = Timestamp(at.u64_le("newest")?);
    let skipped = at.u64_le("slices ended early")?;
    let mut generations = Vec::new();
    for _ in 0..=slices {
        let (slice, in_newest) = (at.u64_le("slice")?, at.u64_le("keys in the newest layer")?);
        let count = at.u64_le("layers")?;
        let mut layers = Vec::new();
        // Every layer has fields in the plan, which bounds this loop.
        for _ in 0..count {
            layers.push(bloom::read(at, sections, scheme)?);
        }
        generations.push((slice, in_newest, layers));
    }
    WindowBloom::from_generations(plan, scheme, (start, newest), skipped, generations)
        .map(|filter| filter.with_burst_policy(burst))
        .map_err(refused(at))
}
