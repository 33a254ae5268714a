//! `Fuse`: seven fields, and a section of cells.

use super::{refused, slices, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Section, Sections};
#[cfg(feature = "formats")]
use mayhap_core::Kind;
use mayhap_core::plan::FusePlan;
use mayhap_core::{Fuse, FuseLayout, HashScheme};

pub(super) fn write<'f>(filter: &'f Fuse, parts: &mut Parts<'f>) {
    let (plan, layout) = (filter.plan(), filter.layout());
    parts.number(plan.keys());
    parts.rate(plan.false_positive_rate());
    parts.number(plan.cell_bits().into());
    parts.number(plan.shards());
    parts.number(layout.segment_bits.into());
    parts.number(layout.starts);
    parts.number(layout.seed);
    slices::write(filter.slice_lengths(), parts);
    let section = Section::Bytes(filter.bytes());
    parts.sections.push(section);
}

/// The fields of the plan, as they are stored.
#[cfg(feature = "formats")]
pub(crate) fn plan_bytes(filter: &Fuse) -> Vec<u8> {
    let mut parts = super::start(Kind::Fuse, filter.scheme(), None);
    write(filter, &mut parts);
    parts.plan
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<Fuse, DecodeError> {
    let (plan, layout) = read_plan(at)?;
    let cells = sections.any(at)?;
    Fuse::from_bytes(plan, layout, scheme, cells).map_err(refused(at))
}

pub(crate) fn read_plan(at: &mut Cursor<'_>) -> Result<(FusePlan, FuseLayout), DecodeError> {
    let (keys, rate) = (at.u64_le("keys")?, at.f64_le("rate")?);
    let cell_bits = small(at, "bits of a cell", "4 to 32")?;
    let shards = at.u64_le("shards")?;
    let plan = FusePlan::from_shape(keys, rate, cell_bits, shards).map_err(refused(at))?;
    let layout = FuseLayout {
        segment_bits: small(at, "bits of a segment", "at most 16")?,
        starts: at.u64_le("segments in which a key can start")?,
        seed: at.u64_le("seed")?,
    };
    Ok((plan, layout))
}
