//! A filter of Cassandra's with the layout that it is written in.

use super::layout::{ByteOrder, Layout};
use super::{Filter, encode_bits, refuse};
use crate::filter::{Description, Detail, FilterError, ForeignFilter, other_hash, same_type};
use crate::{EncodeError, Format, StoredFilter};
use mayhap_core::{ClassicBloom, Kind, Scheme, Stats};

/// Bits, and the byte order to write them in.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SsTableFilter {
    bits: ClassicBloom,
    /// The same bits under the other hash order, if it is not known which of the two set them.
    other: Option<ClassicBloom>,
    order: ByteOrder,
}

/// A filter that was decoded or created with a layout.
pub(super) fn stored(filter: Filter, layout: Layout) -> StoredFilter {
    match filter {
        Filter::AlwaysPresent => StoredFilter::foreign(AlwaysPresent),
        Filter::Bloom(bits) => StoredFilter::foreign(SsTableFilter {
            bits,
            other: None,
            order: layout.byte_order(),
        }),
    }
}

const UNKNOWN_HASH: &str =
    "its hash order is unknown: give the SSTable's version, as in -P version=me";

impl SsTableFilter {
    pub(super) fn of_either_hash(bits: ClassicBloom, other: ClassicBloom) -> Self {
        Self {
            bits,
            other: Some(other),
            order: ByteOrder::Old,
        }
    }
}

impl ForeignFilter for SsTableFilter {
    fn format(&self) -> Format {
        Format::Cassandra
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.bits.contains(key) || self.other.as_ref().is_some_and(|other| other.contains(key))
    }

    fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
        self.bits.contains_each(keys, found);
        if let Some(other) = &self.other {
            for (key, found) in keys.iter().zip(found) {
                *found = *found || other.contains(*key);
            }
        }
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        if self.other.is_some() {
            return Err(FilterError::Unsupported {
                format: Format::Cassandra,
                reason: "of an unknown hash order takes no keys: give the SSTable's version, as in -P version=me",
            });
        }
        Ok(self.bits.insert(key))
    }

    fn union_with(&mut self, other: &dyn ForeignFilter) -> Result<(), FilterError> {
        let theirs = same_type::<Self>(other)?;
        if self.other.is_some() != theirs.other.is_some() {
            return Err(FilterError::no_union(Format::Cassandra));
        }
        self.bits.union_with(&theirs.bits)?;
        if let (Some(ours), Some(theirs)) = (&mut self.other, &theirs.other) {
            ours.union_with(theirs)?;
        }
        Ok(())
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        encode_bits(&self.bits, self.order)
    }

    fn describe(&self) -> Description {
        let mut description = Description::flat_bits(Format::Cassandra, &self.bits);
        let hash_order = match (&self.other, self.bits.scheme()) {
            (Some(_), _) => {
                // A key is found by either of two walks.
                let rate = self.bits.estimated_rate();
                description.stats.estimated_rate = Some(rate * (2.0 - rate));
                "unknown, both are queried"
            }
            (None, Scheme::CassandraOld) => "old",
            (None, _) => "new",
        };
        let text = |text: &str| Detail::Text(text.to_owned());
        description.details.extend([
            ("byte_order", text(self.order.name())),
            ("hash_order", text(hash_order)),
        ]);
        description
    }

    fn encode_for_file(&self, name: &str) -> Result<Vec<u8>, EncodeError> {
        let layout = match Layout::from_file_name(name) {
            None => return self.encode(),
            Some(Err(_)) => {
                return Err(refuse(
                    "Cassandra before 1.2 has another hash: use another file name",
                ));
            }
            Some(Ok(layout)) => layout,
        };
        if self.other.is_some() {
            return Err(refuse(UNKNOWN_HASH));
        }
        if layout.scheme() != self.bits.scheme() {
            return Err(refuse(
                "the SSTable version in the file's name has another hash order: use the name of the right version, or build a new filter from the keys",
            ));
        }
        encode_bits(&self.bits, layout.byte_order())
    }

    fn bits(&self) -> Option<&ClassicBloom> {
        Some(&self.bits)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        match (to, self.other) {
            (Format::Mayhap, None) => Ok(StoredFilter::Native(self.bits.into())),
            (Format::Mayhap, Some(_)) => Err(EncodeError {
                format: to,
                reason: UNKNOWN_HASH,
            }),
            (other, _) => Err(other_hash(other)),
        }
    }
}

/// The filter of a table with `bloom_filter_fp_chance = 1`.
#[derive(Clone, PartialEq, Debug)]
struct AlwaysPresent;

impl ForeignFilter for AlwaysPresent {
    fn format(&self) -> Format {
        Format::Cassandra
    }

    fn contains(&self, _key: &[u8]) -> bool {
        true
    }

    fn insert(&mut self, _key: &[u8]) -> Result<bool, FilterError> {
        Ok(false)
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Ok(Vec::new())
    }

    fn describe(&self) -> Description {
        let stats = Stats {
            estimated_rate: Some(1.0),
            ..Stats::new(Kind::Classic, 0)
        };
        Description::new(Format::Cassandra, stats)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        Err(EncodeError {
            format: to,
            reason: "it has no bits: every key may be in it",
        })
    }
}
