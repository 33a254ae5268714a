//! Images of counting keys: counting Bloom filters, and counting cuckoo filters.

use super::fields::{FieldReader, FieldWriter};
use super::{ImageKind, Parts, growing_cuckoo};
use crate::native::{CountingKind, NativeCounting};
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::counting::CountingPlan;
use mayhap_core::{CountingBloom, Scheme};
use std::borrow::Cow;

/// The fields, followed by the counters if `with_bits`.
pub(super) fn parts(filter: &NativeCounting, with_bits: bool) -> Parts<'_> {
    match &filter.filter {
        CountingKind::Bloom { filter, items } => {
            let mut parts = vec![Cow::Owned(fields(filter, *items, with_bits))];
            if with_bits {
                parts.push(Cow::Borrowed(filter.bytes()));
            }
            parts
        }
        CountingKind::Cuckoo(filter) => {
            let mut out = FieldWriter::new(ImageKind::CountingCuckoo as u8, with_bits);
            out.scheme(filter.scheme());
            growing_cuckoo::write_counting_fields(filter, with_bits, &mut out);
            let mut parts = vec![Cow::Owned(out.finish())];
            if with_bits {
                let tables = filter.tables().map(|table| table.slices);
                growing_cuckoo::push_bits(tables, &mut parts);
            }
            parts
        }
    }
}

fn fields(counters: &CountingBloom, items: u64, with_bits: bool) -> Vec<u8> {
    let plan = counters.plan().classic();
    let mut out = FieldWriter::new(ImageKind::Counting as u8, with_bits);
    out.scheme(counters.hash_scheme());
    out.number(items);
    out.number(plan.capacity);
    out.rate(plan.false_positive_rate);
    out.rate(plan.rate_at_capacity);
    out.number(plan.bits);
    out.number(plan.probes.into());
    out.number(counters.scheme().id().into());
    out.number(counters.scheme().parameter());
    out.number(counters.plan().counter_bits().into());
    out.finish()
}

pub(super) fn read_bloom(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<NativeCounting, DecodeError> {
    let hash_scheme = at.scheme()?;
    let items = at.number("items")?;
    let plan = ClassicPlan {
        capacity: at.number("capacity")?,
        false_positive_rate: at.rate("rate asked")?,
        rate_at_capacity: at.rate("rate")?,
        bits: at.number("counters")?,
        probes: at.small("probes", "1 to 4096")?,
    };
    let rates = [plan.false_positive_rate, plan.rate_at_capacity];
    if plan.capacity == 0 || !rates.iter().all(|rate| (0.0..=1.0).contains(rate)) {
        return Err(at.wrong("capacity", plan.capacity, "1 or more, at rates from 0 to 1"));
    }
    let (id, parameter) = (
        at.small("walk", "the number of a walk")?,
        at.number("parameter of the walk")?,
    );
    let Some(scheme) = Scheme::from_id(id, parameter).filter(|scheme| scheme.is_native()) else {
        return Err(at.wrong("walk", id.into(), "the number of a walk of ours"));
    };
    let counter_bits = at.small("bits of a counter", "3 to 8")?;
    let plan = CountingPlan::from_classic(plan, counter_bits);
    let plan = plan.map_err(|error| at.plan_error(error))?;
    let size_bytes = plan.size_bytes();
    let filter = match at.bits(has_bits, size_bytes, limits)?.next(size_bytes)? {
        Some(bytes) => CountingBloom::from_bytes(plan, scheme, hash_scheme, &bytes),
        None => CountingBloom::from_plan(plan, scheme, hash_scheme),
    };
    let filter = filter.map_err(|error| at.plan_error(error))?;
    let filter = CountingKind::Bloom { filter, items };
    Ok(NativeCounting { filter })
}

pub(super) fn read_cuckoo(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<NativeCounting, DecodeError> {
    let scheme = at.scheme()?;
    let filter = growing_cuckoo::read_counting(at, scheme, has_bits, limits)?;
    let filter = CountingKind::Cuckoo(filter);
    Ok(NativeCounting { filter })
}
