//! Chunks of a filter: SCANDUMP at one side, LOADCHUNK at the other. One chunk is in memory at a time.

use super::filter_type::{Family, FilterLayout, FilterType};
use super::info::rate_of_fills;
use super::node::CommandError;
use super::server::{Server, accepted, bytes_of, is_stopped, unexpected};
use mayhap_codec::redis::MAX_CHUNK;
use mayhap_codec::redis::bloom::{self, LayerInfo};
use mayhap_command::{Command, Config, Context, Reply, Slot};
use mayhap_core::{HashScheme, SipKey, Timestamp};
use redis::Value;

/// What is sent at once: LOADCHUNK accepts chunks of any size, in order. The target first touches that much memory, which takes tens of
/// milliseconds per MiB on a busy virtual machine.
const PIECE_BYTES: usize = 256 << 10;
/// A header takes a few fields for each layer, and one of a native filter the numbers of its tables.
const MAX_HEADER_BYTES: usize = 16 << 20;

/// The reply to SCANDUMP: the next iterator and the bytes; `None` at the end.
pub(super) fn scan(
    server: &mut Server,
    family: Family,
    key: &[u8],
    iterator: i64,
) -> Result<Option<(i64, Vec<u8>)>, CommandError> {
    if is_stopped() {
        return Err(CommandError::Interrupted);
    }
    let Some((command, _)) = family.chunk_commands() else {
        return Ok(None);
    };
    let reply = server.run(key, &[command, key, iterator.to_string().as_bytes()])?;
    let name = String::from_utf8_lossy(command);
    let Value::Array(parts) = reply else {
        return Err(unexpected(&name, &reply));
    };
    let mut parts = parts.into_iter();
    let (next, chunk) = match (parts.next(), parts.next()) {
        (Some(Value::Int(next)), Some(chunk)) => (next, bytes_of(chunk)),
        _ => return Err(unexpected(&name, &Value::Nil)),
    };
    let Some(chunk) = chunk.filter(|_| next != 0) else {
        return Ok(None);
    };
    // Iterators count bytes from 1, and the header has 0.
    let expected = match iterator {
        0 => Some(1),
        _ => i64::try_from(chunk.len())
            .ok()
            .and_then(|bytes| iterator.checked_add(bytes)),
    };
    if chunk.is_empty() || expected != Some(next) {
        return Err(CommandError::broken(format!(
            "{name} replied with {} bytes and iterator {next} behind iterator {iterator}: is this RedisBloom or mayhap?",
            chunk.len()
        )));
    }
    if chunk.len() > (MAX_CHUNK as usize).max(MAX_HEADER_BYTES) {
        return Err(CommandError::broken(format!(
            "{name} replied with {} bytes, and 16 MiB are the most: is this RedisBloom or mayhap?",
            chunk.len()
        )));
    }
    server.count_bytes(chunk.len());
    Ok(Some((next, chunk)))
}

/// Loads a chunk behind the header into the filter, in pieces.
pub(super) fn load(
    server: &mut Server,
    family: Family,
    key: &[u8],
    iterator: i64,
    chunk: &[u8],
) -> Result<(), CommandError> {
    let Some((_, command)) = family.chunk_commands() else {
        return Ok(());
    };
    let mut end = iterator - i64::try_from(chunk.len()).unwrap_or(0);
    for piece in chunk.chunks(PIECE_BYTES) {
        if is_stopped() {
            return Err(CommandError::Interrupted);
        }
        end += i64::try_from(piece.len()).unwrap_or(0);
        let reply = server.run(key, &[command, key, end.to_string().as_bytes(), piece])?;
        accepted(&String::from_utf8_lossy(command), &reply)?;
        server.count_bytes(piece.len());
    }
    Ok(())
}

/// What was read of a filter in one pass: enough to notice changes in the next.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Fingerprint {
    pub(super) header: Vec<u8>,
    /// For each chunk, the iterator behind it and its hash.
    pub(super) chunks: Vec<(i64, u64)>,
}

pub(super) fn hash(chunk: &[u8]) -> u64 {
    HashScheme::Xxh3.hash(chunk).to_u64()
}

/// Reads a whole filter; `each` receives the number of each chunk behind the header, its iterator, its hash and its bytes.
pub(super) fn read_all(
    server: &mut Server,
    family: Family,
    key: &[u8],
    mut each: impl FnMut(usize, (i64, u64), &[u8]) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let mut iterator = 1;
    for number in 0.. {
        let Some((next, chunk)) = scan(server, family, key, iterator)? else {
            break;
        };
        each(number, (next, hash(&chunk)), &chunk)?;
        iterator = next;
    }
    Ok(())
}

/// The fingerprint of a filter; `None` if it has no chunks.
pub(super) fn fingerprint(
    server: &mut Server,
    family: Family,
    key: &[u8],
) -> Result<Option<Fingerprint>, CommandError> {
    let Some((_, header)) = scan(server, family, key, 0)? else {
        return Ok(None);
    };
    let mut chunks = Vec::new();
    read_all(server, family, key, |_, chunk, _| {
        chunks.push(chunk);
        Ok(())
    })?;
    Ok(Some(Fingerprint { header, chunks }))
}

/// The fingerprint of a filter of a file, as its server would report it; `None` if it has no chunks.
pub(super) fn fingerprint_of_slot(slot: &Slot, family: Family) -> Option<Fingerprint> {
    let (command, _) = family.chunk_commands()?;
    let scan =
        |iterator: i64| match apply(slot, &[command, b"key", iterator.to_string().as_bytes()]) {
            Reply::Array(parts) => match parts.as_slice() {
                [Reply::Integer(next), Reply::Bulk(chunk)] if *next > iterator => {
                    Some((*next, chunk.clone()))
                }
                _ => None,
            },
            _ => None,
        };
    let (_, header) = scan(0)?;
    let (mut iterator, mut chunks) = (1, Vec::new());
    while let Some((next, chunk)) = scan(iterator) {
        chunks.push((next, hash(&chunk)));
        iterator = next;
    }
    Some(Fingerprint { header, chunks })
}

/// The reply to a command that reads.
pub(super) fn apply(slot: &Slot, words: &[&[u8]]) -> Reply {
    let config = Config::default();
    let context = Context {
        config: &config,
        now: Timestamp::now(),
        secret: SipKey::new([0; 16]),
        max_bytes: u64::MAX,
    };
    match Command::parse(words, &config) {
        Ok(Command::Query(query)) => query.apply(slot, &context),
        Ok(Command::Write(_)) => Reply::Null,
        Err(reply) => reply,
    }
}

/// Counts the set bits of the layers of a Bloom filter of RedisBloom's layout while it is copied.
pub(super) struct BitCounter {
    layers: Vec<(LayerInfo, u64)>,
}

impl BitCounter {
    pub(super) fn new(kind: FilterType, header: &[u8]) -> Self {
        let is_known = kind.family == Family::Bloom && kind.layout == FilterLayout::RedisBloom;
        let layers = match bloom::header_info(header) {
            Ok((_, layers)) if is_known => layers,
            _ => Vec::new(),
        };
        Self {
            layers: layers.into_iter().map(|layer| (layer, 0)).collect(),
        }
    }

    /// A chunk never crosses the end of a layer.
    pub(super) fn count(&mut self, iterator: i64, chunk: &[u8]) {
        let begin = iterator - 1 - i64::try_from(chunk.len()).unwrap_or(0);
        let mut begin = u64::try_from(begin).unwrap_or(0);
        for (layer, set_bits) in &mut self.layers {
            if begin < layer.size_bytes {
                let ones = |byte: &u8| u64::from(byte.count_ones());
                *set_bits += chunk.iter().map(ones).sum::<u64>();
                return;
            }
            begin -= layer.size_bytes;
        }
    }

    pub(super) fn rate(&self) -> Option<f64> {
        let fills = self
            .layers
            .iter()
            .map(|(layer, set)| (layer, (*set as f64 / layer.bits.max(1) as f64).min(1.0)));
        (!self.layers.is_empty()).then(|| rate_of_fills(fills))
    }
}
