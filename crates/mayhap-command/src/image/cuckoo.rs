//! Images of native cuckoo filters, including those that are being loaded.

use super::fields::{FieldReader, FieldWriter};
use super::{ImageKind, Parts};
use crate::native::{CuckooParameters, NativeCuckoo, PartialImage};
use crate::slot::AnyCuckoo;
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::CuckooPlan;
use mayhap_core::{HashScheme, PlanError};
use std::borrow::Cow;

/// The fields, followed by the cells of every table if `with_bits`.
pub(crate) fn parts(filter: &NativeCuckoo, with_bits: bool) -> Parts<'_> {
    let mut parts = vec![Cow::Owned(fields(filter, with_bits))];
    if with_bits {
        let tables = filter.filter.tables();
        parts.extend(tables.map(|(_, cells)| Cow::Borrowed(cells)));
    }
    parts
}

/// Everything except the cells.
fn fields(filter: &NativeCuckoo, with_bits: bool) -> Vec<u8> {
    let cells = &filter.filter;
    let kind = match cells.growth() {
        None => ImageKind::FixedCuckoo,
        Some(_) => ImageKind::GrowingCuckoo,
    };
    let mut out = FieldWriter::new(kind as u8, with_bits);
    write_head(cells.scheme(), filter.removed, filter.parameters, &mut out);
    match &filter.loading {
        None => out.number(0),
        Some(image) => {
            out.number(image.total);
            out.number(image.bytes.len() as u64);
            out.bytes(&image.bytes);
        }
    }
    if let Some(growth) = cells.growth() {
        out.growing_plan(growth);
        out.number(cells.tables().count() as u64);
    }
    let mut twins = cells.extra_copies();
    for (plan, _) in cells.tables() {
        write_plan(plan, &mut out);
        if let Some((number, twins)) = twins.next() {
            out.number(number.into());
            out.number(twins.len() as u64);
            for (twin, times) in twins {
                out.number(twin);
                out.number(times);
            }
        }
    }
    out.finish()
}

/// The header that SCANDUMP begins with: an empty filter of this shape that expects an image of `total` bytes.
pub(crate) fn loading_header(filter: &NativeCuckoo, total: u64) -> Vec<u8> {
    let cells = &filter.filter;
    let growth = cells.growth();
    let kind = match growth {
        None => ImageKind::FixedCuckoo,
        Some(_) => ImageKind::GrowingCuckoo,
    };
    let mut out = FieldWriter::new(kind as u8, false);
    write_head(cells.scheme(), 0, filter.parameters, &mut out);
    out.number(total);
    out.number(0);
    let first = growth.and_then(|growth| {
        out.growing_plan(growth);
        out.number(1);
        growth.cuckoo_table(0).ok()
    });
    write_plan(first.as_ref().unwrap_or(cells.plan()), &mut out);
    if growth.is_some() {
        out.number(0);
        out.number(0);
    }
    out.finish()
}

fn write_head(
    scheme: HashScheme,
    removed: u64,
    parameters: CuckooParameters,
    out: &mut FieldWriter,
) {
    out.scheme(scheme);
    out.number(removed);
    out.number(parameters.bucket_size.into());
    out.number(parameters.max_iterations.into());
    out.number(parameters.expansion.into());
}

fn write_plan(plan: &CuckooPlan, out: &mut FieldWriter) {
    out.number(plan.capacity());
    out.rate(plan.false_positive_rate());
    out.number(plan.cells());
    out.number(plan.fingerprint_bits().into());
}

struct CuckooHeader {
    scheme: HashScheme,
    removed: u64,
    parameters: CuckooParameters,
    loading: Option<PartialImage>,
}

impl CuckooHeader {
    fn read(at: &mut FieldReader<'_>, limits: Limits) -> Result<Self, DecodeError> {
        let scheme = at.scheme()?;
        let removed = at.number("removed items")?;
        let parameters = CuckooParameters {
            bucket_size: at.small("bucket size", "at most 255")?,
            max_iterations: at.small("most iterations", "at most 65535")?,
            expansion: at.small("expansion", "at most 65535")?,
        };
        let total = at.number("bytes to be loaded")?;
        let loading = if total == 0 {
            None
        } else {
            let count = at.number("bytes that are loaded")?;
            if count >= total || total > max_partial_image(limits) {
                let accepted = "fewer than are to come, and these within the limit";
                return Err(at.wrong("bytes that are loaded", count, accepted));
            }
            let bytes = at.take("bytes that are loaded", count)?.to_vec();
            Some(PartialImage { total, bytes })
        };
        Ok(Self {
            scheme,
            removed,
            parameters,
            loading,
        })
    }

    fn with(self, filter: mayhap_core::Cuckoo) -> AnyCuckoo {
        AnyCuckoo::Native(NativeCuckoo {
            filter,
            removed: self.removed,
            parameters: self.parameters,
            loading: self.loading,
        })
    }
}

fn read_plan(at: &mut FieldReader<'_>) -> Result<CuckooPlan, DecodeError> {
    let capacity = at.number("capacity")?;
    let rate = at.rate("rate")?;
    let cells = at.number("cells")?;
    let fingerprint_bits = at.small("bits of a fingerprint", "4 to 26")?;
    CuckooPlan::from_shape(capacity, rate, cells, fingerprint_bits)
        .map_err(|error| at.plan_error(error))
}

pub(super) fn read_fixed(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyCuckoo, DecodeError> {
    let head = CuckooHeader::read(at, limits)?;
    let plan = read_plan(at)?;
    let cells = at
        .bits(has_bits, plan.size_bytes(), limits)?
        .next(plan.size_bytes())?;
    let filter = match cells {
        Some(cells) => mayhap_core::Cuckoo::from_bytes(plan, head.scheme, &cells),
        None => mayhap_core::Cuckoo::from_plan(plan, head.scheme),
    };
    filter
        .map(|filter| head.with(filter))
        .map_err(|error| at.plan_error(error))
}

/// The largest image of a filter within the limit: cells, twins and fields.
pub(crate) fn max_partial_image(limits: Limits) -> u64 {
    limits.max_bytes.saturating_mul(2).saturating_add(1 << 16)
}

/// A table of a growing filter: shape, number, twins.
type Table = (CuckooPlan, u32, Vec<(u64, u64)>);

fn read_table(at: &mut FieldReader<'_>) -> Result<Table, DecodeError> {
    let plan = read_plan(at)?;
    let number = at.small("number of a table", "at most 1000")?;
    let count = at.number("twins")?;
    let bytes = at.take("twins", count.saturating_mul(16))?;
    let words = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word));
    let (twins, times) = (words.clone().step_by(2), words.skip(1).step_by(2));
    Ok((plan, number, twins.zip(times).collect()))
}

pub(super) fn read_growing(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyCuckoo, DecodeError> {
    let head = CuckooHeader::read(at, limits)?;
    let growth = at.growing_plan()?;
    let count = at.number("tables")?;
    // Each table has fields, so a wrong count ends with the bytes at the latest.
    let tables = (0..count).map(|_| read_table(at));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let sizes = tables.iter().map(|(plan, ..)| plan.size_bytes());
    let mut bits = at.bits(has_bits, sizes.fold(0, u64::saturating_add), limits)?;
    let filter = match tables.as_slice() {
        [(plan, 0, twins)]
            if !has_bits && twins.is_empty() && growth.cuckoo_table(0) == Ok(*plan) =>
        {
            mayhap_core::Cuckoo::growing_from_plan(growth, head.scheme)
        }
        [(plan, number, twins)] if !has_bits => empty(plan.size_bytes()).and_then(|cells| {
            let table = (*plan, *number, cells.as_slice(), twins.iter().copied());
            mayhap_core::Cuckoo::from_tables(growth, head.scheme, [table])
        }),
        _ => {
            let cells = tables.iter().map(|(plan, ..)| bits.next(plan.size_bytes()));
            let cells = cells.collect::<Result<Vec<_>, _>>()?;
            let tables = tables.into_iter().zip(&cells);
            let tables = tables.map(|((plan, number, twins), cells)| {
                (plan, number, cells.as_deref().unwrap_or_default(), twins)
            });
            mayhap_core::Cuckoo::from_tables(growth, head.scheme, tables)
        }
    };
    filter
        .map(|filter| head.with(filter))
        .map_err(|error| at.plan_error(error))
}

/// Empty cells; their number was checked against the limit.
fn empty(size_bytes: u64) -> Result<Vec<u8>, PlanError> {
    let mut cells = Vec::new();
    let count = usize::try_from(size_bytes).unwrap_or(usize::MAX);
    let no_memory = |_| PlanError::OutOfMemory { size_bytes };
    cells.try_reserve_exact(count).map_err(no_memory)?;
    cells.resize(count, 0);
    Ok(cells)
}
