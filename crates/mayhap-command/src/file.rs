//! A filter of a key as one that stands alone, and back: `MAYHAP.FILE key` answers with the bytes of a file, and `MAYHAP.LOAD` takes them.

use crate::native::{Asked, BloomKind};
use crate::{
    Bloom, Config, Context, Cuckoo, Limits, NativeBloom, NativeCounting, NativeCuckoo, Reply, Slot,
};
use crate::{NOT_FOUND, WRONG_TYPE};
use mayhap::AnyFilter;
use mayhap_codec::native::{self, HashKey};
use mayhap_codec::{EncodeError, Filter, redis};

/// The bytes of a file with this filter, without the secret of its hash.
///
/// # Errors
/// When there is no format for such a filter.
pub fn file_of(filter: &Filter) -> Result<Vec<u8>, EncodeError> {
    match filter {
        Filter::Native(filter) => native::encode_with(filter, HashKey::Outside),
        filter => filter.encode(),
    }
}

/// The answer of `MAYHAP.FILE`.
pub(crate) fn tell(slot: &Slot) -> Reply {
    if matches!(slot, Slot::Other) {
        return WRONG_TYPE;
    }
    match slot.to_filter().map(|filter| file_of(&filter)) {
        None => NOT_FOUND,
        Some(Ok(bytes)) => Reply::Bulk(bytes),
        Some(Err(error)) => Reply::Error(format!("ERR {error}").into()),
    }
}

/// Whether these bytes are those of a file of ours.
pub(crate) fn is_file(bytes: &[u8]) -> bool {
    bytes.starts_with(&native::MAGIC)
}

const ASKED_ONLY: Reply = Reply::error(
    "ERR no key can hold this kind of filter: put its file into the folder of `mayhap serve`, or ask it by `mayhap check`",
);

const NO_KEYS: Reply = Reply::error(
    "ERR the filter was made by `for_hashes` and holds its maker's own hashes: ask it by `contains_hash` in the program that hashes its keys",
);

/// The filter of a file, whose hash has its own secret or the host's; and its image.
pub(crate) fn read(bytes: &[u8], context: &Context<'_>) -> Result<(Slot, Vec<u8>), Reply> {
    let limits = Limits {
        most_bytes: context.most_bytes(),
    };
    let filter = native::decode_with_key(bytes, limits, context.secret)
        .map_err(|error| Reply::Error(format!("ERR {error}").into()))?;
    if !filter.takes_keys() {
        return Err(NO_KEYS);
    }
    let slot = slot_of(filter, context.config)?;
    // A file may have what no command makes: what cannot go through logs is not taken.
    let image = slot.encode();
    match Slot::decode(&image, limits) {
        Ok(again) if again == slot => Ok((slot, image)),
        _ => Err(ASKED_ONLY),
    }
}

fn slot_of(filter: AnyFilter, config: &Config) -> Result<Slot, Reply> {
    let bloom = |kind, items, expansion| {
        Slot::Bloom(Box::new(Bloom::Native(NativeBloom {
            kind,
            items,
            expansion,
        })))
    };
    Ok(match filter {
        AnyFilter::Bloom(filter) => {
            let items = filter.estimated_keys();
            bloom(BloomKind::Fixed(filter), items, 0)
        }
        AnyFilter::Growing(filter) => {
            let items = filter.estimated_keys();
            bloom(
                BloomKind::Growing(filter),
                items,
                config.bf_expansion.max(1),
            )
        }
        // It counts by itself.
        AnyFilter::Window(filter) => bloom(BloomKind::Window(filter), 0, 0),
        AnyFilter::Cuckoo(filter) => {
            let grows = filter.growth().is_some();
            let asked = Asked {
                bucket_size: config.cf_bucket_size,
                max_iterations: config.cf_max_iterations,
                expansion: if grows { config.cf_expansion.max(1) } else { 0 },
            };
            Slot::Cuckoo(Box::new(Cuckoo::Native(NativeCuckoo {
                filter,
                removed: 0,
                asked,
                staged: None,
            })))
        }
        AnyFilter::Counting(filter) => {
            let items = filter.estimated_keys();
            Slot::Counting(Box::new(NativeCounting { filter, items }))
        }
        _ => return Err(ASKED_ONLY),
    })
}

impl Slot {
    /// A copy of the filter, as libraries and the command line know it; none where there is no filter.
    pub fn to_filter(&self) -> Option<Filter> {
        let redis = |filter| Filter::Redis { filter, rdb: None };
        Some(match self {
            Self::Missing | Self::Other => return None,
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => redis(redis::Filter::Bloom(filter.clone())),
                Bloom::Native(filter) => Filter::Native(match &filter.kind {
                    BloomKind::Fixed(filter) => AnyFilter::from(filter.clone()),
                    BloomKind::Growing(filter) => AnyFilter::from(filter.clone()),
                    BloomKind::Window(filter) => AnyFilter::from(filter.clone()),
                }),
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => redis(redis::Filter::Cuckoo(filter.clone())),
                Cuckoo::Native(filter) => Filter::Native(AnyFilter::from(filter.filter.clone())),
            },
            Self::Counting(filter) => Filter::Native(AnyFilter::from(filter.filter.clone())),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Command, Config, Context, Slot};
    use mayhap::{SipKey, Timestamp};

    #[test]
    fn a_copy_answers_as_the_key_does() {
        let mut config = Config::default();
        for layout in ["native", "redisbloom"] {
            config
                .set("mayhap-layout", layout.as_bytes())
                .expect("a layout");
            let context = Context {
                config: &config,
                now: Timestamp(5),
                secret: SipKey::new([3; 16]),
                most_bytes: 1 << 20,
            };
            for name in ["BF.ADD", "CF.ADD", "CBF.ADD"] {
                let mut slot = Slot::Missing;
                let make: &[&[u8]] = &[b"CBF.RESERVE", b"k", b"0.01", b"100"];
                let add: &[&[u8]] = &[name.as_bytes(), b"k", b"apple"];
                for words in [make, add].iter().skip(usize::from(name != "CBF.ADD")) {
                    let Ok(Command::Change(change)) = Command::parse(words, &config) else {
                        panic!("{name} changes");
                    };
                    change.apply(&mut slot, &[], &context);
                }
                let filter = slot.to_filter().expect("a filter");
                assert!(filter.contains(b"apple"), "{layout} {name}");
                assert!(!filter.contains(b"pear"), "{layout} {name}");
            }
        }
        assert!(Slot::Missing.to_filter().is_none());
    }
}
