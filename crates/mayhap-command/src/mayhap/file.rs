//! `MAYHAP.FILE key`: the filter of a key as the bytes of a mayhap file, and the reverse for `MAYHAP.LOAD`.

use crate::command::{ApplyQuery, GenericQuery};
use crate::native::{BloomKind, CountingKind, CuckooKind, CuckooParameters, GrowingSet, WindowSet};
use crate::{
    AnyBloom, AnyCuckoo, Config, Context, Limits, NativeBloom, NativeCounting, NativeCuckoo, Reply,
    Slot,
};
use crate::{NOT_FOUND, WRONG_TYPE};
use mayhap_codec::native::{self, HashKey};
use mayhap_core::AnyFilter;
use std::io::{self, Write};

/// The longest bulk string of the protocol.
const MAX_REPLY_BYTES: u64 = 512 << 20;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct File;

impl ApplyQuery for File {
    fn apply(&self, slot: &Slot, _context: &Context<'_>) -> Reply {
        if matches!(slot, Slot::Other) {
            return WRONG_TYPE;
        }
        let size_bytes = slot.size_bytes();
        if size_bytes > MAX_REPLY_BYTES {
            return Reply::error(
                "ERR the filter is larger than a reply may be: write a file with MAYHAP.EXPORT, or copy it with SCANDUMP and LOADCHUNK",
            );
        }
        let mut bytes = Vec::new();
        // Checksums take one byte in 8192, and headers little.
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

    fn as_generic(&self) -> Option<GenericQuery<'_>> {
        None
    }
}

/// Whether these are the bytes of a mayhap file.
pub(super) fn is_file(bytes: &[u8]) -> bool {
    bytes.starts_with(&native::MAGIC)
}

const UNSUPPORTED_KIND: Reply = Reply::error(
    "ERR no key can hold this kind of filter: put its file into the folder of `mayhap serve`, or query it with `mayhap check`",
);

const NO_KEYS: Reply = Reply::error(
    "ERR the filter was created by `for_hashes` and holds hashes of its creator: query it with `contains_hash` in the program that hashes its keys",
);

/// The filter of a file and its image. The key of its hash is in the file, or is the host's secret.
pub(super) fn read(bytes: &[u8], context: &Context<'_>) -> Result<(Slot, Vec<u8>), Reply> {
    let limits = Limits {
        max_bytes: context.max_bytes(),
    };
    let filter = native::decode_with_key(bytes, limits, context.secret)
        .map_err(|error| Reply::Error(format!("ERR {error}").into()))?;
    if !filter.accepts_key_bytes() {
        return Err(NO_KEYS);
    }
    let slot = slot_from_filter(filter, context.config)?;
    // A file may hold a filter that no command creates. One that does not survive the log is rejected.
    let image = slot.encode();
    match Slot::decode(&image, limits) {
        Ok(again) if again == slot => Ok((slot, image)),
        _ => Err(UNSUPPORTED_KIND),
    }
}

/// The value of a key. A growing cuckoo filter becomes a cuckoo key, unless a Bloom key wrote it.
fn slot_from_filter(filter: AnyFilter, config: &Config) -> Result<Slot, Reply> {
    let bloom = |kind, items, expansion| {
        Slot::Bloom(Box::new(AnyBloom::Native(NativeBloom {
            kind,
            items,
            expansion,
        })))
    };
    let cuckoo = |filter: CuckooKind| {
        let parameters = CuckooParameters {
            bucket_size: config.cf_bucket_size,
            max_iterations: config.cf_max_iterations,
            expansion: if filter.grows() {
                config.cf_expansion.max(1)
            } else {
                0
            },
        };
        Slot::Cuckoo(Box::new(AnyCuckoo::Native(NativeCuckoo {
            filter,
            removed: 0,
            parameters,
            loading: None,
        })))
    };
    let counting = |filter| Slot::Counting(Box::new(NativeCounting { filter }));
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
        // A window filter counts its items itself.
        AnyFilter::Window(filter) => bloom(BloomKind::Window(filter), 0, 0),
        AnyFilter::WindowCuckoo(filter) => {
            let loading = None;
            let set = Box::new(WindowSet { filter, loading });
            bloom(BloomKind::WindowSet(set), 0, 0)
        }
        AnyFilter::Cuckoo(filter) => cuckoo(CuckooKind::Tables(filter)),
        AnyFilter::GrowingCuckoo(filter) if filter.is_set() => {
            let set = BloomKind::GrowingSet(GrowingSet::new(filter, None));
            bloom(set, 0, config.bf_expansion.max(1))
        }
        AnyFilter::GrowingCuckoo(filter) => cuckoo(CuckooKind::Growing(filter)),
        AnyFilter::Counting(filter) => {
            let items = filter.estimated_keys();
            counting(CountingKind::Bloom { filter, items })
        }
        AnyFilter::CountingCuckoo(filter) => counting(CountingKind::Cuckoo(filter)),
        AnyFilter::Classic(_)
        | AnyFilter::Fuse(_)
        | AnyFilter::Ribbon(_)
        | AnyFilter::Retouched(_)
        | AnyFilter::Excepting(_) => return Err(UNSUPPORTED_KIND),
    })
}

impl Slot {
    /// Writes a file with this filter, without the secret of its hash; `false` if the key holds no filter. Uses a few MiB besides the
    /// filter.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_file(&self, mut out: impl Write) -> io::Result<bool> {
        match self {
            Self::Missing | Self::Other => return Ok(false),
            Self::Bloom(filter) => match &**filter {
                AnyBloom::RedisBloom(filter) => {
                    let mut next = filter.scan(0);
                    while let Some((iterator, chunk)) = next {
                        out.write_all(&chunk)?;
                        next = filter.scan(iterator);
                    }
                }
                AnyBloom::Native(filter) => match &filter.kind {
                    BloomKind::Fixed(filter) => native::write_with(filter, HashKey::Outside, out)?,
                    BloomKind::Growing(filter) => {
                        native::write_with(filter, HashKey::Outside, out)?;
                    }
                    BloomKind::Window(filter) => native::write_with(filter, HashKey::Outside, out)?,
                    BloomKind::WindowSet(set) => {
                        native::write_with(&set.filter, HashKey::Outside, out)?;
                    }
                    BloomKind::GrowingSet(set) => {
                        native::write_with(&set.filter, HashKey::Outside, out)?;
                    }
                },
            },
            Self::Cuckoo(filter) => match &**filter {
                AnyCuckoo::RedisBloom(filter) => {
                    out.write_all(&filter.header())?;
                    for table in filter.filter().tables() {
                        out.write_all(table)?;
                    }
                }
                AnyCuckoo::Native(filter) => match &filter.filter {
                    CuckooKind::Tables(filter) => {
                        native::write_with(filter, HashKey::Outside, out)?;
                    }
                    CuckooKind::Growing(filter) => {
                        native::write_with(filter, HashKey::Outside, out)?;
                    }
                },
            },
            Self::Counting(filter) => match &filter.filter {
                CountingKind::Bloom { filter, .. } => {
                    native::write_with(filter, HashKey::Outside, out)?;
                }
                CountingKind::Cuckoo(filter) => {
                    native::write_with(filter, HashKey::Outside, out)?;
                }
            },
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Command, Config, Context, Slot};
    use mayhap_codec::{OpenOptions, open};
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
                    let Ok(Command::Write(write)) = Command::parse(words, &config) else {
                        panic!("{name} writes");
                    };
                    write.apply(&mut slot, &[], &context);
                }
                let mut file = Vec::new();
                assert!(slot.write_file(&mut file).expect("a vector takes it"));
                let opening = OpenOptions {
                    key: Some(context.secret),
                    ..OpenOptions::default()
                };
                let filter = &open(&file, &opening).expect("a file")[0].filter;
                assert!(filter.contains(b"apple"), "{layout} {name}");
                assert!(!filter.contains(b"pear"), "{layout} {name}");
            }
        }
        assert!(!Slot::Missing.write_file(Vec::new()).expect("nothing"));
    }
}
