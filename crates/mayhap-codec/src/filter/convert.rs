//! From one format to another, where the bits allow it.

use super::Filter;
use crate::{EncodeError, Format, OTHER_HASH, bip37, redis};
use mayhap_core::{AnyFilter, ClassicBloom, Scheme};

/// The version of RDB that is written when nobody says otherwise: what Redis 7.0 and all later ones load.
const RDB: u16 = 10;

/// Why a chain of layers stays what it is.
const LAYERS: &str =
    "it has several layers, of different sizes: only one of a single layer is bits alone";

impl Filter {
    /// The same filter in another format. Bits mean what the hash says that set them: a filter moves between formats of one hash,
    /// and into mayhap's own, which knows all of them.
    ///
    /// # Errors
    /// When the other format cannot hold it, with the reason.
    pub fn convert(self, to: Format) -> Result<Self, EncodeError> {
        let from = self.format();
        if from == to {
            return Ok(self);
        }
        let refuse = |reason| Err(EncodeError { format: to, reason });
        match (self, to) {
            (Self::Bits { filter, .. } | Self::Terms { filter, .. }, Format::Mayhap) => {
                Ok(Self::Native(filter.into()))
            }
            (Self::Column { filter, .. }, Format::Mayhap) => Ok(Self::Native(filter.into())),
            (Self::Bip37(filter), Format::Mayhap) => Ok(Self::Native(filter.filter.into())),
            (Self::Counting(filter), Format::Mayhap) => Ok(Self::Native(filter.into())),
            (Self::Counting(filter), Format::Hadoop) => match filter.to_classic() {
                Ok(filter) => Ok(bits(Format::Hadoop, filter)),
                Err(_) => refuse("there is no memory for it"),
            },
            (Self::Retouched(filter), Format::Hadoop) => {
                Ok(bits(Format::Hadoop, filter.as_classic().clone()))
            }
            (Self::Retouched(_), Format::Mayhap) => {
                refuse("its lists are of Hadoop's: convert it to hadoop, which keeps the bits")
            }
            (Self::Native(AnyFilter::Classic(filter)), to) => from_classic(filter, to),
            (Self::Native(AnyFilter::Counting(filter)), Format::HadoopCounting) => {
                match filter.scheme() {
                    Scheme::HadoopJenkins | Scheme::HadoopMurmur => Ok(Self::Counting(filter)),
                    _ => refuse(OTHER_HASH),
                }
            }
            (Self::Redis { filter, .. }, Format::RedisBloomDump) => Ok(Self::Redis {
                filter,
                rdb: Some(RDB),
            }),
            (
                Self::Redis {
                    filter: filter @ redis::Filter::Bloom(_),
                    ..
                },
                Format::RedisBloom,
            )
            | (
                Self::Redis {
                    filter: filter @ redis::Filter::Cuckoo(_),
                    ..
                },
                Format::RedisBloomCuckoo,
            ) => Ok(Self::Redis { filter, rdb: None }),
            (
                Self::Redis {
                    filter: redis::Filter::Bloom(filter),
                    ..
                },
                Format::Mayhap,
            ) => {
                let mut layers = filter.layers();
                match (layers.next(), layers.next()) {
                    (Some(layer), None) => Ok(Self::Native(layer.clone().into())),
                    _ => refuse(LAYERS),
                }
            }
            (Self::Dynamic(_), Format::Mayhap) => refuse(LAYERS),
            (Self::Nothing(_) | Self::Everything(_), _) => refuse("it has no bits"),
            (Self::Ribbon(_), _) => refuse("ribbons can be asked and not written"),
            _ => refuse(OTHER_HASH),
        }
    }
}

fn bits(format: Format, filter: ClassicBloom) -> Filter {
    Filter::Bits { format, filter }
}

/// Bits of a scheme that has a home.
fn from_classic(filter: ClassicBloom, to: Format) -> Result<Filter, EncodeError> {
    let home = match filter.scheme() {
        Scheme::GuavaMitz32 | Scheme::GuavaMitz64 => Some(Format::Guava),
        Scheme::HadoopMurmur | Scheme::HadoopJenkins => Some(Format::Hadoop),
        Scheme::SparkV1 | Scheme::SparkV2 { .. } => Some(Format::Spark),
        Scheme::ClickHouse => Some(Format::ClickHouse),
        Scheme::ClickHouseTerms { .. } => Some(Format::ClickHouseTokenbf),
        Scheme::LevelDb => Some(Format::LevelDb),
        Scheme::RocksDb | Scheme::RocksDbLegacy => Some(Format::RocksDb),
        Scheme::Parquet => Some(Format::Parquet),
        Scheme::Bip37 { .. } => Some(Format::Bip37),
        _ => None,
    };
    if home != Some(to) {
        return Err(EncodeError {
            format: to,
            reason: OTHER_HASH,
        });
    }
    Ok(match to {
        Format::ClickHouse => Filter::Column {
            distinct: filter.capacity(),
            filter,
        },
        Format::ClickHouseTokenbf => Filter::Terms {
            filter,
            ngram: None,
        },
        Format::Bip37 => Filter::Bip37(bip37::Bip37 { filter, flags: 0 }),
        format => bits(format, filter),
    })
}
