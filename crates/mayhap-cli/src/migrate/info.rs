//! What INFO says about a filter, and the rates that follow from it.

use super::filter_type::{Family, FilterLayout, FilterType};
use super::node::CommandError;
use super::server::{Server, bytes_of, unexpected};
use mayhap_codec::redis::bloom::{self, LayerInfo};
use mayhap_command::Slot;
use mayhap_core::Timestamp;
use redis::Value;
use std::collections::BTreeMap;

/// The numbers of BF.INFO, CF.INFO or CBF.INFO by their names.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct FilterInfo {
    numbers: BTreeMap<String, i64>,
    error_rate: Option<f64>,
}

/// The columns of the report that describe a filter.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Description {
    pub(super) capacity: Option<u64>,
    pub(super) items: Option<u64>,
    pub(super) size_bytes: Option<u64>,
    pub(super) requested_rate: Option<f64>,
    pub(super) current_rate: Option<f64>,
}

const ITEMS: &str = "Number of items inserted";

impl FilterInfo {
    pub(super) fn read(
        server: &mut Server,
        family: Family,
        key: &[u8],
    ) -> Result<Self, CommandError> {
        let command = family.info_command();
        let name = String::from_utf8_lossy(command).into_owned();
        let parts = match server.run(key, &[command, key])? {
            Value::Array(parts) => parts,
            other => return Err(unexpected(&name, &other)),
        };
        let mut info = Self::default();
        let mut parts = parts.into_iter();
        while let (Some(field), Some(value)) = (parts.next(), parts.next()) {
            let field = bytes_of(field).map(|field| String::from_utf8_lossy(&field).into_owned());
            match (field, value) {
                (Some(field), Value::Int(number)) => _ = info.numbers.insert(field, number),
                // CBF.INFO, in RESP2.
                (Some(field), Value::BulkString(text)) if field == "Error rate" => {
                    info.error_rate = std::str::from_utf8(&text)
                        .ok()
                        .and_then(|text| text.parse().ok());
                }
                _ => {}
            }
        }
        Ok(info)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.numbers
            .get(name)
            .and_then(|number| u64::try_from(*number).ok())
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.number("Size").unwrap_or(0)
    }

    pub(super) fn items(&self) -> Option<u64> {
        self.number(ITEMS)
    }

    /// The first field that differs. Sizes include what an engine allocates, so that they may differ.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let names = self.numbers.keys().chain(other.numbers.keys());
        let mut names = names.filter(|name| *name != "Size");
        let shown = |value: Option<&i64>| value.map_or("nothing".to_owned(), i64::to_string);
        names.find_map(|name| {
            let (here, there) = (self.numbers.get(name), other.numbers.get(name));
            (here != there).then(|| {
                format!(
                    "\"{name}\" is {} at the source and {} at the target",
                    shown(here),
                    shown(there)
                )
            })
        })
    }

    fn capacity(&self, family: Family) -> Option<u64> {
        match family {
            Family::Bloom | Family::Counting => self.number("Capacity"),
            Family::Cuckoo => {
                let cells = self
                    .number("Number of buckets")?
                    .checked_mul(self.number("Bucket size")?)?;
                let growth = self.number("Expansion rate")?;
                let mut sum = 0_u64;
                let mut table = cells;
                // The number of tables is the server's claim.
                for _ in 0..self.number("Number of filters")?.min(65_536) {
                    sum = sum.checked_add(table)?;
                    table = table.checked_mul(growth.max(1))?;
                }
                Some(sum)
            }
        }
    }

    /// The header of an empty filter of RedisBloom's layout, which SCANDUMP does not give: 38 bytes, little-endian.
    pub(super) fn empty_cuckoo_header(&self) -> Option<Vec<u8>> {
        let short = |name| u16::try_from(self.number(name)?).ok();
        let mut header = Vec::new();
        for number in [
            self.number(ITEMS)?,
            self.number("Number of buckets")?,
            self.number("Number of items deleted")?,
            self.number("Number of filters")?,
        ] {
            header.extend(number.to_le_bytes());
        }
        for number in [
            short("Bucket size")?,
            short("Max iterations")?,
            short("Expansion rate")?,
        ] {
            header.extend(number.to_le_bytes());
        }
        Some(header)
    }

    /// The rate of a cuckoo filter of RedisBloom's layout from its load: fingerprints have 255 values.
    fn cuckoo_rate(&self) -> Option<f64> {
        let capacity = self
            .capacity(Family::Cuckoo)
            .filter(|&capacity| capacity > 0)?;
        let load = self.items()? as f64 / capacity as f64;
        let cells = 2.0
            * self.number("Bucket size")? as f64
            * load
            * self.number("Number of filters")? as f64;
        Some(1.0 - (1.0 - 1.0 / 255.0_f64).powf(cells))
    }

    pub(super) fn describe(&self, family: Family) -> Description {
        Description {
            capacity: self.capacity(family),
            items: self.items(),
            size_bytes: self.number("Size"),
            requested_rate: None,
            current_rate: None,
        }
    }
}

/// Native filters up to this size are read as a whole for their rates.
const WHOLE_BYTES: u64 = 4 << 20;
/// BF.ESTIMATE reads all bits, at several GB/s, and blocks an engine meanwhile.
const ESTIMATED_BYTES: u64 = 128 << 20;

/// Describes a filter of a server. `header` is the first reply of SCANDUMP, if there is one.
pub(super) fn describe(
    server: &mut Server,
    kind: FilterType,
    key: &[u8],
    info: &FilterInfo,
    header: Option<&[u8]>,
) -> Description {
    let mut description = info.describe(kind.family);
    match (kind.layout, kind.family) {
        (FilterLayout::RedisBloom, Family::Bloom) => {
            if let Some(Ok((requested, layers))) = header.map(bloom::header_info) {
                description.requested_rate = Some(requested);
                description.current_rate = Some(expected_rate(&layers));
            }
        }
        (FilterLayout::RedisBloom, _) => description.current_rate = info.cuckoo_rate(),
        (FilterLayout::Native, family) => {
            if info.size_bytes() <= WHOLE_BYTES {
                let payload = server.run(key, &[b"DUMP", key]).ok().and_then(bytes_of);
                let slot = payload.and_then(|payload| {
                    Slot::restore(&payload, mayhap_codec::Limits::default()).ok()
                });
                if let Some(stats) = slot.and_then(|slot| slot.stats(Timestamp::now())) {
                    description.capacity = stats.capacity.or(description.capacity);
                    description.requested_rate = stats.false_positive_rate;
                    description.current_rate = stats.estimated_rate;
                }
            } else if family == Family::Bloom && info.size_bytes() <= ESTIMATED_BYTES {
                if let Ok(Value::Array(parts)) = server.run(key, &[b"BF.ESTIMATE", key]) {
                    let rate = |at: usize| match parts.get(at) {
                        Some(Value::BulkString(text)) => {
                            std::str::from_utf8(text).ok()?.parse().ok()
                        }
                        Some(Value::Double(rate)) => Some(*rate),
                        _ => None,
                    };
                    description.current_rate = rate(3);
                    description.requested_rate = rate(5);
                }
            } else {
                description.requested_rate = info.error_rate;
            }
        }
    }
    description
}

/// Describes a filter of an RDB file.
pub(super) fn describe_slot(slot: &Slot) -> Description {
    let Some(stats) = slot.stats(Timestamp::now()) else {
        return Description::default();
    };
    Description {
        capacity: stats.capacity,
        items: stats.estimated_keys,
        size_bytes: Some(stats.size_bytes),
        requested_rate: stats.false_positive_rate,
        current_rate: stats.estimated_rate,
    }
}

/// The rate of layers with as many items as their header says.
fn expected_rate(layers: &[LayerInfo]) -> f64 {
    let fill = |layer: &LayerInfo| {
        let set = f64::from(layer.probes) * layer.items as f64 / layer.bits.max(1) as f64;
        -(-set).exp_m1()
    };
    rate_of_fills(layers.iter().map(|layer| (layer, fill(layer))))
}

/// The rate of layers with these shares of set bits.
pub(super) fn rate_of_fills<'l>(layers: impl Iterator<Item = (&'l LayerInfo, f64)>) -> f64 {
    let pass = |(layer, fill): (&LayerInfo, f64)| 1.0 - fill.powf(f64::from(layer.probes));
    1.0 - layers.map(pass).product::<f64>()
}
