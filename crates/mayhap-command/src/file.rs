//! A filter of a key as one that stands alone, and back: `MAYHAP.FILE key` answers with the bytes of a file, and `MAYHAP.LOAD` takes them.

use crate::native::{Asked, BloomKind};
use crate::{
    Bloom, Config, Context, Cuckoo, Limits, NativeBloom, NativeCounting, NativeCuckoo, Reply, Slot,
};
use crate::{NOT_FOUND, WRONG_TYPE};
use mayhap_codec::native::{self, FilterRef, HashKey};
use mayhap_core::AnyFilter;
use std::io::{self, Write};

/// Bytes of a reply at most: the longest bulk string of the protocol.
const MAX_REPLY: u64 = 512 << 20;

/// The answer of `MAYHAP.FILE`.
pub(crate) fn tell(slot: &Slot) -> Reply {
    if matches!(slot, Slot::Other) {
        return WRONG_TYPE;
    }
    let size_bytes = slot.size_bytes();
    if size_bytes > MAX_REPLY {
        return Reply::error(
            "ERR the filter is larger than a reply may be: write a file with MAYHAP.EXPORT, or carry it over with SCANDUMP and LOADCHUNK",
        );
    }
    let mut bytes = Vec::new();
    // Checksums take an eighth of a thousandth, and headers little.
    let expected = size_bytes + size_bytes / 4096 + 4096;
    if bytes.try_reserve(expected as usize).is_err() {
        return crate::NO_MEMORY;
    }
    match slot.write_file(&mut bytes) {
        Ok(true) => Reply::Bulk(bytes),
        Ok(false) => NOT_FOUND,
        Err(error) => Reply::Error(format!("ERR {error}").into()),
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
        max_bytes: context.max_bytes(),
    };
    let filter = native::decode_with_key(bytes, limits, context.secret)
        .map_err(|error| Reply::Error(format!("ERR {error}").into()))?;
    if !filter.accepts_key_bytes() {
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
    /// Writes a file with this filter, without the secret of its hash; `false` where there is none. This takes a few MiB besides the
    /// filter.
    ///
    /// # Errors
    /// When `out` does not take it.
    pub fn write_file(&self, mut out: impl Write) -> io::Result<bool> {
        let filter = match self {
            Self::Missing | Self::Other => return Ok(false),
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => {
                    let mut next = filter.scan(0);
                    while let Some((iterator, chunk)) = next {
                        out.write_all(&chunk)?;
                        next = filter.scan(iterator);
                    }
                    return Ok(true);
                }
                Bloom::Native(filter) => match &filter.kind {
                    BloomKind::Fixed(filter) => FilterRef::Bloom(filter),
                    BloomKind::Growing(filter) => FilterRef::Growing(filter),
                    BloomKind::Window(filter) => FilterRef::Window(filter),
                },
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => {
                    out.write_all(&filter.header())?;
                    for table in filter.filter().tables() {
                        out.write_all(table)?;
                    }
                    return Ok(true);
                }
                Cuckoo::Native(filter) => FilterRef::Cuckoo(&filter.filter),
            },
            Self::Counting(filter) => FilterRef::Counting(&filter.filter),
        };
        native::write_ref_with(filter, HashKey::Outside, out)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Command, Config, Context, Slot};
    use mayhap_codec::{Opening, open};
    use mayhap_core::{SipKey, Timestamp};

    #[test]
    fn a_file_answers_as_the_key_does() {
        let mut config = Config::default();
        for layout in ["native", "redisbloom"] {
            config
                .set("mayhap-layout", layout.as_bytes())
                .expect("a layout");
            let context = Context {
                config: &config,
                now: Timestamp(5),
                secret: SipKey::new([3; 16]),
                max_bytes: 1 << 20,
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
                let mut file = Vec::new();
                assert!(slot.write_file(&mut file).expect("a vector takes it"));
                let opening = Opening {
                    key: Some(context.secret),
                    ..Opening::default()
                };
                let filter = &open(&file, &opening).expect("a file")[0].filter;
                assert!(filter.contains(b"apple"), "{layout} {name}");
                assert!(!filter.contains(b"pear"), "{layout} {name}");
            }
        }
        assert!(!Slot::Missing.write_file(Vec::new()).expect("nothing"));
    }
}
