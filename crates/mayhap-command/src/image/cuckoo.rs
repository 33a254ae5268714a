//! Images of native cuckoo filters, including those that are being loaded.

use super::fields::{FieldReader, FieldWriter};
use super::{ImageKind, Parts, growing_cuckoo, loading};
use crate::native::{CuckooKind, CuckooParameters, NativeCuckoo, PartialImage};
use crate::slot::AnyCuckoo;
use mayhap_codec::{DecodeError, Limits};
use mayhap_core::plan::CuckooPlan;
use mayhap_core::{Cuckoo, HashScheme, PlanError};
use std::borrow::Cow;

/// The fields, followed by the cells of every table if `with_bits`.
pub(crate) fn parts(filter: &NativeCuckoo, with_bits: bool) -> Parts<'_> {
    let mut parts = vec![Cow::Owned(fields(filter, with_bits))];
    if with_bits {
        match &filter.filter {
            CuckooKind::Tables(filter) => {
                let tables = filter.tables();
                parts.extend(tables.map(|(_, cells)| Cow::Borrowed(cells)));
            }
            CuckooKind::Growing(filter) => {
                let tables = filter.tables().map(|table| table.slices);
                growing_cuckoo::push_bits(tables, &mut parts);
            }
        }
    }
    parts
}

/// Everything except the cells.
fn fields(filter: &NativeCuckoo, with_bits: bool) -> Vec<u8> {
    let mut out = FieldWriter::new(kind(&filter.filter) as u8, with_bits);
    let scheme = filter.filter.scheme();
    write_head(scheme, filter.removed, filter.parameters, &mut out);
    loading::write(filter.loading.as_ref(), &mut out);
    match &filter.filter {
        CuckooKind::Tables(filter) => write_tables(filter, &mut out),
        CuckooKind::Growing(filter) => growing_cuckoo::write_fields(filter, with_bits, &mut out),
    }
    out.finish()
}

fn kind(filter: &CuckooKind) -> ImageKind {
    match filter {
        CuckooKind::Tables(filter) if filter.growth().is_none() => ImageKind::FixedCuckoo,
        CuckooKind::Tables(_) => ImageKind::CuckooChain,
        CuckooKind::Growing(_) => ImageKind::GrowingCuckoo,
    }
}

fn write_tables(cells: &Cuckoo, out: &mut FieldWriter) {
    if let Some(growth) = cells.growth() {
        out.growing_plan(growth);
        out.number(cells.tables().count() as u64);
    }
    let mut twins = cells.extra_copies();
    for (plan, _) in cells.tables() {
        write_plan(plan, out);
        if let Some((number, twins)) = twins.next() {
            out.number(number.into());
            out.number(twins.len() as u64);
            for (twin, times) in twins {
                out.number(twin);
                out.number(times);
            }
        }
    }
}

/// The header that SCANDUMP begins with: an empty filter of this shape that expects an image of `total` bytes.
pub(crate) fn loading_header(filter: &NativeCuckoo, total: u64) -> Vec<u8> {
    let mut out = FieldWriter::new(kind(&filter.filter) as u8, false);
    write_head(filter.filter.scheme(), 0, filter.parameters, &mut out);
    loading::write_expected(total, &mut out);
    match &filter.filter {
        CuckooKind::Tables(filter) => write_first_table(filter, &mut out),
        CuckooKind::Growing(filter) => growing_cuckoo::write_fields(filter, false, &mut out),
    }
    out.finish()
}

fn write_first_table(cells: &Cuckoo, out: &mut FieldWriter) {
    let growth = cells.growth();
    let first = growth.and_then(|growth| {
        out.growing_plan(growth);
        out.number(1);
        growth.cuckoo_table(0).ok()
    });
    write_plan(first.as_ref().unwrap_or(cells.plan()), out);
    if growth.is_some() {
        out.number(0);
        out.number(0);
    }
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
        Ok(Self {
            scheme,
            removed,
            parameters,
            loading: loading::read(at, limits)?,
        })
    }

    fn with(self, filter: CuckooKind) -> AnyCuckoo {
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
        Some(cells) => Cuckoo::from_bytes(plan, head.scheme, &cells),
        None => Cuckoo::from_plan(plan, head.scheme),
    };
    filter
        .map(|filter| head.with(CuckooKind::Tables(filter)))
        .map_err(|error| at.plan_error(error))
}

pub(super) fn read_growing(
    at: &mut FieldReader<'_>,
    has_bits: bool,
    limits: Limits,
) -> Result<AnyCuckoo, DecodeError> {
    let head = CuckooHeader::read(at, limits)?;
    let filter = growing_cuckoo::read(at, head.scheme, has_bits, limits)?;
    Ok(head.with(CuckooKind::Growing(filter)))
}

/// A table of a chain: shape, number, twins.
type Table = (CuckooPlan, u32, Vec<(u64, u64)>);

fn read_table(at: &mut FieldReader<'_>) -> Result<Table, DecodeError> {
    let plan = read_plan(at)?;
    let number = at.small("number of a table", "at most 1000")?;
    Ok((plan, number, at.pairs("twins")?))
}

pub(super) fn read_chain(
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
            Cuckoo::growing_from_plan(growth, head.scheme)
        }
        [(plan, number, twins)] if !has_bits => empty(plan.size_bytes()).and_then(|cells| {
            let table = (*plan, *number, cells.as_slice(), twins.iter().copied());
            Cuckoo::from_tables(growth, head.scheme, [table])
        }),
        _ => {
            let cells = tables.iter().map(|(plan, ..)| bits.next(plan.size_bytes()));
            let cells = cells.collect::<Result<Vec<_>, _>>()?;
            let tables = tables.into_iter().zip(&cells);
            let tables = tables.map(|((plan, number, twins), cells)| {
                (plan, number, cells.as_deref().unwrap_or_default(), twins)
            });
            Cuckoo::from_tables(growth, head.scheme, tables)
        }
    };
    filter
        .map(|filter| head.with(CuckooKind::Tables(filter)))
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
