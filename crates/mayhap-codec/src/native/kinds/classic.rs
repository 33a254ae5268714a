//! `ClassicBloom` and `CountingBloom`: eight fields and a section of words; one field more and a section of packed counters.

use super::{refused, small};
use crate::DecodeError;
use crate::bits;
use crate::cursor::Cursor;
use crate::native::header::first_position;
use crate::native::parts::{Parts, Section, Sections};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::counting::CountingPlan;
use mayhap_core::{ClassicBloom, CountingBloom, HashScheme, Scheme};
use std::borrow::Cow;

pub(super) fn write<'f>(filter: &'f ClassicBloom, parts: &mut Parts<'f>) {
    write_plan(filter.plan(), filter.scheme(), parts);
    parts.sections.push(Section::Bytes(filter.bytes()));
}

pub(super) fn read(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    hash_scheme: HashScheme,
) -> Result<ClassicBloom, DecodeError> {
    let (plan, scheme) = read_plan(at, hash_scheme)?;
    let section = sections.take(at, plan.bits.div_ceil(64).saturating_mul(8))?;
    let words = bits::from_bytes(section);
    ClassicBloom::from_words(plan, scheme, hash_scheme, words).map_err(refused(at))
}

pub(super) fn write_counting<'f>(filter: &'f CountingBloom, parts: &mut Parts<'f>) {
    write_plan(filter.plan().classic(), filter.scheme(), parts);
    parts.number(filter.plan().counter_bits().into());
    let section = Section::Bytes(Cow::Borrowed(filter.bytes()));
    parts.sections.push(section);
}

pub(super) fn read_counting(
    at: &mut Cursor<'_>,
    sections: &mut Sections<'_>,
    hash_scheme: HashScheme,
) -> Result<CountingBloom, DecodeError> {
    let (plan, scheme) = read_counting_plan(at, hash_scheme)?;
    let counters = sections.take(at, plan.size_bytes())?;
    CountingBloom::from_bytes(plan, scheme, hash_scheme, counters).map_err(refused(at))
}

fn read_counting_plan(
    at: &mut Cursor<'_>,
    hash_scheme: HashScheme,
) -> Result<(CountingPlan, Scheme), DecodeError> {
    let (plan, scheme) = read_plan(at, hash_scheme)?;
    let counter_bits = small(at, "bits of a counter", "3 to 8")?;
    let plan = CountingPlan::from_classic(plan, counter_bits).map_err(refused(at))?;
    Ok((plan, scheme))
}

/// The bits of a filter, in its section.
pub(super) fn bits(at: &mut Cursor<'_>, hash_scheme: HashScheme) -> Result<u64, DecodeError> {
    read_plan(at, hash_scheme).map(|(plan, _)| plan.bits)
}

/// The same of all counters.
pub(super) fn counting_bits(
    at: &mut Cursor<'_>,
    hash_scheme: HashScheme,
) -> Result<u64, DecodeError> {
    let (plan, _) = read_counting_plan(at, hash_scheme)?;
    Ok(plan.counters().saturating_mul(plan.counter_bits().into()))
}

fn write_plan(plan: &ClassicPlan, scheme: Scheme, parts: &mut Parts<'_>) {
    parts.number(plan.capacity);
    parts.rate(plan.false_positive_rate);
    parts.rate(plan.rate_at_capacity);
    parts.number(plan.bits);
    parts.number(plan.probes.into());
    parts.number(scheme.id().into());
    parts.number(scheme.parameter());
    parts.number(walk_test(scheme));
}

pub(super) fn read_plan(
    at: &mut Cursor<'_>,
    hash_scheme: HashScheme,
) -> Result<(ClassicPlan, Scheme), DecodeError> {
    let capacity = at.u64_le("capacity")?;
    let (asked, false_positive_rate) = (rate(at, "requested rate")?, rate(at, "rate")?);
    let bits = at.u64_le("bits")?;
    let probes = small(at, "probes", "1 to 4096")?;
    let begin = at.clone();
    let (id, parameter) = (
        small(at, "walk", WALKS)?,
        at.u64_le("parameter of the walk")?,
    );
    let Some(scheme) = Scheme::from_id(id, parameter) else {
        return Err(begin.value("walk", i128::from(id), WALKS));
    };
    if !scheme.is_native() && hash_scheme != HashScheme::Caller {
        let accepted = "a native walk, because the walks of other systems hash by themselves";
        return Err(begin.value("walk", i128::from(id), accepted));
    }
    let begin = at.clone();
    let test = at.u64_le("test of the walk")?;
    if test != walk_test(scheme) {
        let accepted = "the first position of the key `mayhap self-test`";
        return Err(begin.value("test of the walk", i128::from(test), accepted));
    }
    if capacity == 0 {
        return Err(begin.value("capacity", 0, "at least 1"));
    }
    let plan = ClassicPlan {
        capacity,
        false_positive_rate: asked,
        bits,
        probes,
        rate_at_capacity: false_positive_rate,
    };
    Ok((plan, scheme))
}

const WALKS: &str = "a number in the list of walks, with its parameter";

fn rate(at: &mut Cursor<'_>, field: &'static str) -> Result<f64, DecodeError> {
    let begin = at.clone();
    let rate = at.f64_le(field)?;
    if (0.0..=1.0).contains(&rate) {
        Ok(rate)
    } else {
        Err(begin.value(field, i128::from(rate.to_bits()), "a number from 0 to 1"))
    }
}

/// The first probe of another system's scheme in 2^16 bits, which detects readers that hash differently from the writer; 0 for our own
/// schemes, for which the hash in the header does it.
fn walk_test(scheme: Scheme) -> u64 {
    if scheme.is_native() {
        return 0;
    }
    let filter = ClassicPlan::with_bits_and_probes(TEST_BITS, 8)
        .and_then(|plan| ClassicBloom::from_plan(plan, scheme, HashScheme::Caller));
    filter.map_or(0, |filter| first_position(&filter))
}

const TEST_BITS: u64 = 1 << 16;
