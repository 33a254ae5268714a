//! RedisBloom's rows of the table of formats: both families by SCANDUMP, and either by DUMP.

use super::{Bloom, Cuckoo, Filter, bloom, cuckoo, dump};
use crate::filter::{Description, Detail, FilterError, ForeignFilter, other_hash, share};
use crate::format::{Detection, FormatRow, Parameter};
use crate::open::single;
use crate::{
    BuildError, BuildOptions, EncodeError, FilterBuilder, Format, KeyReader, ParameterError,
    Parameters, StoredFilter,
};
use mayhap_core::{Kind, PlanError, Stats};

/// The version of RDB that is written by default: Redis 7.0 and all later versions load it.
pub(super) const DEFAULT_RDB: u16 = 10;

/// A filter of either family, and how it is carried.
#[derive(Clone, PartialEq, Debug)]
struct Carried {
    filter: Filter,
    /// The version of RDB in the trailer of a DUMP; `None` for SCANDUMP.
    rdb: Option<u16>,
}

/// A filter that SCANDUMP carries.
fn scanned(filter: Filter) -> StoredFilter {
    StoredFilter::foreign(Carried { filter, rdb: None })
}

/// A filter that DUMP or an RDB file carries.
pub(super) fn dumped(filter: Filter, rdb: Option<u16>) -> StoredFilter {
    StoredFilter::foreign(Carried { filter, rdb })
}

impl ForeignFilter for Carried {
    fn format(&self) -> Format {
        match (&self.filter, self.rdb) {
            (_, Some(_)) => Format::RedisBloomDump,
            (Filter::Bloom(_), None) => Format::RedisBloom,
            (Filter::Cuckoo(_), None) => Format::RedisBloomCuckoo,
        }
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        match &mut self.filter {
            Filter::Bloom(filter) => Ok(filter.try_insert(key)?),
            Filter::Cuckoo(filter) => {
                let was_in = filter.contains(key);
                filter.try_insert(key)?;
                Ok(!was_in)
            }
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        match &mut self.filter {
            Filter::Cuckoo(filter) => Ok(filter.remove(key)),
            Filter::Bloom(_) => Err(FilterError::no_remove(self.format())),
        }
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Ok(match (&self.filter, self.rdb) {
            (filter, Some(rdb)) => filter.dump(rdb),
            (Filter::Bloom(filter), None) => bloom::encode(filter),
            (Filter::Cuckoo(filter), None) => cuckoo::encode(filter),
        })
    }

    fn describe(&self) -> Description {
        match &self.filter {
            Filter::Bloom(filter) => describe_bloom(self.format(), filter),
            Filter::Cuckoo(filter) => describe_cuckoo(self.format(), filter),
        }
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match (self.filter, to) {
            (filter, Format::RedisBloomDump) => Ok(dumped(filter, Some(DEFAULT_RDB))),
            (filter @ Filter::Bloom(_), Format::RedisBloom)
            | (filter @ Filter::Cuckoo(_), Format::RedisBloomCuckoo) => Ok(scanned(filter)),
            (Filter::Bloom(filter), Format::Mayhap) => {
                let mut layers = filter.layers();
                match (layers.next(), layers.next()) {
                    (Some(layer), None) => Ok(StoredFilter::Native(layer.clone().into())),
                    _ => Err(EncodeError {
                        format: to,
                        reason: crate::LAYERS,
                    }),
                }
            }
            (Filter::Bloom(_) | Filter::Cuckoo(_), other) => Err(other_hash(other)),
        }
    }
}

fn describe_bloom(format: Format, filter: &Bloom) -> Description {
    let info = filter.info();
    let mut description = Description::layers(format, filter.layers());
    description.stats = Stats {
        kind: match info.expansion {
            Some(_) => Kind::Growing,
            None => Kind::Classic,
        },
        capacity: Some(info.capacity),
        false_positive_rate: Some(filter.error()),
        estimated_keys: Some(info.items),
        ..description.stats
    };
    let expansion = Detail::Number(info.expansion.map_or(0, u64::from));
    description.details.push(("expansion", expansion));
    description
}

fn describe_cuckoo(format: Format, filter: &Cuckoo) -> Description {
    let (info, table) = (filter.info(), filter.filter());
    let stats = Stats {
        capacity: Some(table.capacity()),
        bits: Some(8 * table.size_bytes()),
        fill: share(info.items, table.size_bytes()),
        estimated_keys: Some(info.items),
        estimated_rate: Some(table.estimated_rate()),
        layers: info.tables,
        ..Stats::new(Kind::Cuckoo, table.size_bytes())
    };
    Description {
        details: vec![
            ("tables", Detail::Number(info.tables)),
            ("bucket_size", Detail::Number(info.bucket_size.into())),
            ("max_iterations", Detail::Number(info.max_iterations.into())),
            ("expansion", Detail::Number(info.expansion.into())),
            ("deleted", Detail::Number(info.deleted)),
        ],
        ..Description::new(format, stats)
    }
}

pub(crate) const BLOOM: FormatRow = FormatRow {
    name: "redisbloom",
    description: "RedisBloom's BF.SCANDUMP, header and chunks",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| Ok(scanned(Filter::Bloom(bloom::decode(bytes)?)))),
    decode: |bytes, _, _| Ok(single(scanned(Filter::Bloom(bloom::decode(bytes)?)))),
    encode_bits: None,
    from_native: |_| Err(other_hash(Format::RedisBloom)),
    required_count: BuildOptions::count_keys,
    create: crate::format::unless_wasm(|options, keys| {
        Ok(scanned(create_bloom(options, keys)?).into())
    }),
    parameters: &[Parameter {
        name: "expansion",
        values: "nonscaling, or how many times as large each layer is, 1 to 32768",
    }],
    check_parameters: |parameters| expansion(parameters).map(drop),
    key_reader: KeyReader::text,
};

pub(crate) const CUCKOO: FormatRow = FormatRow {
    name: "redisbloom-cuckoo",
    description: "RedisBloom's CF.SCANDUMP, header and chunks",
    has_checksum: false,
    detection: Detection::Structure(|bytes, _| Ok(scanned(Filter::Cuckoo(cuckoo::decode(bytes)?)))),
    decode: |bytes, _, _| Ok(single(scanned(Filter::Cuckoo(cuckoo::decode(bytes)?)))),
    encode_bits: None,
    from_native: |_| Err(other_hash(Format::RedisBloomCuckoo)),
    required_count: BuildOptions::count_keys,
    create: crate::format::unless_wasm(|options, keys| {
        Ok(scanned(create_cuckoo(options, keys)?).into())
    }),
    parameters: &[
        BUCKET,
        ITERATIONS,
        Parameter {
            name: "expansion",
            values: "0 to 32768",
        },
    ],
    check_parameters: |parameters| cuckoo_shape(parameters).map(drop),
    key_reader: KeyReader::text,
};

pub(crate) const DUMP: FormatRow = FormatRow {
    name: "redisbloom-dump",
    description: "Redis's DUMP of a RedisBloom filter, by itself or in a database file (.rdb)",
    has_checksum: true,
    detection: Detection::Structure(|bytes, limits| {
        let rdb = dump::rdb_version(bytes);
        Ok(dumped(dump::decode(bytes, limits)?, rdb))
    }),
    decode: |bytes, options, _| {
        let filter = dump::decode(bytes, options.limits)?;
        Ok(single(dumped(filter, dump::rdb_version(bytes))))
    },
    encode_bits: None,
    from_native: |_| Err(other_hash(Format::RedisBloomDump)),
    required_count: BuildOptions::count_keys,
    create: crate::format::unless_wasm(create_dump),
    parameters: &[
        Parameter {
            name: "family",
            values: "bf or cf",
        },
        Parameter {
            name: "rdb",
            values: "the engine's version of RDB: 10 for Redis 7.0, 12 for 7.4 and later",
        },
        Parameter {
            name: "expansion",
            values: "how many times as large each layer or table is, to 32768, from 1 or nonscaling (bf), or from 0 (cf)",
        },
        BUCKET,
        ITERATIONS,
    ],
    check_parameters: |parameters| {
        rdb(parameters)?;
        if is_cuckoo(parameters)? {
            cuckoo_shape(parameters).map(drop)
        } else {
            expansion(parameters).map(drop)
        }
    },
    key_reader: KeyReader::text,
};

const BUCKET: Parameter = Parameter {
    name: "bucket",
    values: "1 to 255",
};

const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    values: "1 to 65535",
};

fn create_bloom(options: &BuildOptions, keys: u64) -> Result<Filter, BuildError> {
    let expansion = expansion(&options.parameters)?;
    let filter = Bloom::reserve(options.rate(), keys.max(1), expansion)?;
    Ok(Filter::Bloom(filter))
}

fn create_cuckoo(options: &BuildOptions, keys: u64) -> Result<Filter, BuildError> {
    let (bucket, iterations, expansion) = cuckoo_shape(&options.parameters)?;
    let filter: Result<Cuckoo, PlanError> =
        Cuckoo::reserve(keys.max(1), bucket, iterations, expansion);
    Ok(Filter::Cuckoo(filter?))
}

fn create_dump(options: &BuildOptions, keys: u64) -> Result<FilterBuilder, BuildError> {
    let filter = if is_cuckoo(&options.parameters)? {
        create_cuckoo(options, keys)?
    } else {
        create_bloom(options, keys)?
    };
    Ok(dumped(filter, Some(rdb(&options.parameters)?)).into())
}

/// How many times as large each layer is; `None` for a filter that does not grow.
fn expansion(parameters: &Parameters) -> Result<Option<u32>, ParameterError> {
    let given = parameters.parse("expansion", |value| match value {
        "nonscaling" => Some(None),
        number => {
            let number = number.parse().ok();
            number.filter(|n| (1..=32_768).contains(n)).map(Some)
        }
    })?;
    Ok(given.unwrap_or(Some(Bloom::DEFAULTS.2)))
}

/// Bucket size, iterations and expansion.
fn cuckoo_shape(parameters: &Parameters) -> Result<(u8, u16, u16), ParameterError> {
    let (_, bucket, iterations, expansion) = Cuckoo::DEFAULTS;
    let up_to = |name, max: u16| parameters.number(name, move |&number| number <= max);
    let bucket_given = up_to("bucket", 255)?.map(|bucket| bucket as u8);
    Ok((
        bucket_given.unwrap_or(bucket),
        up_to("iterations", u16::MAX)?.unwrap_or(iterations),
        up_to("expansion", 32_768)?.unwrap_or(expansion),
    ))
}

fn is_cuckoo(parameters: &Parameters) -> Result<bool, ParameterError> {
    let given = parameters.choose("family", &[("bf", false), ("cf", true)])?;
    Ok(given.unwrap_or(false))
}

fn rdb(parameters: &Parameters) -> Result<u16, ParameterError> {
    let given = parameters.number("rdb", |rdb| (1..=999).contains(rdb))?;
    Ok(given.unwrap_or(DEFAULT_RDB))
}
