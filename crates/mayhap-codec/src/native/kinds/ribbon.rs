//! `Ribbon`: seven fields; a section that says where shards begin, and one of columns.

use super::{refused, slices, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::parts::{Parts, Section, Sections, words};
#[cfg(feature = "formats")]
use mayhap_core::Kind;
use mayhap_core::plan::RibbonPlan;
use mayhap_core::{HashScheme, Ribbon};

pub(super) fn write<'f>(filter: &'f Ribbon, parts: &mut Parts<'f>) {
    let (plan, bits) = (filter.plan(), filter.parts());
    parts.number(plan.keys());
    parts.rate(plan.false_positive_rate());
    parts.number(plan.columns().into());
    parts.rate(plan.wide_share());
    parts.number(plan.parts());
    parts.number(plan.shards_per_part());
    parts.number(bits.wide_blocks);
    slices::write(filter.slice_lengths(), parts);
    parts.sections.push(Section::entries(bits.directory));
    parts.sections.push(Section::words(bits.words));
}

/// The fields of the plan, as they are stored.
#[cfg(feature = "formats")]
pub(crate) fn plan_bytes(filter: &Ribbon) -> Vec<u8> {
    let mut parts = super::start(Kind::Ribbon, filter.scheme(), None);
    write(filter, &mut parts);
    parts.plan
}

/// The plan, and the number of blocks with a column more.
pub(crate) fn read_plan(at: &mut Cursor<'_>) -> Result<(RibbonPlan, u64), DecodeError> {
    let (keys, rate) = (at.u64_le("keys")?, at.f64_le("rate")?);
    let columns = small(at, "columns", "at most 32")?;
    let wide_share = at.f64_le("share of keys with an extra bit")?;
    let (parts, shards) = (at.u64_le("parts")?, at.u64_le("shards of a part")?);
    let plan = RibbonPlan::from_shape(keys, rate, columns, wide_share, parts, shards);
    let plan = plan.map_err(refused(at))?;
    Ok((plan, at.u64_le("blocks with a column more")?))
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    scheme: HashScheme,
) -> Result<Ribbon, DecodeError> {
    let (plan, wide_blocks) = read_plan(at)?;
    let directory = sections.entries(at)?;
    let columns = words(sections.whole(at, 8)?).collect();
    Ribbon::from_parts(plan, scheme, directory, columns, wide_blocks).map_err(refused(at))
}
