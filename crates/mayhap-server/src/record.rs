//! The format of records in the log and of entries in snapshots.
//!
//! A record of the log is one command, or all commands of a transaction. A command is the number of its arguments, and for each argument its
//! length and its bytes. Numbers have four bytes, little-endian. An entry of a snapshot is a key and its value.

use crate::call::lossy;
use crate::keyspace::{KeyEntry, SharedValue, Value};
use crate::recovery::memory_needed;
use crate::shared_slot::SharedSlot;
use mayhap_codec::{DecodeError, Format, Limits, Problem};
use mayhap_command::Slot;
use std::io;

/// The size above which a record takes no more commands. The last command may exceed it, within the limit of the format.
const MAX_BYTES: u64 = mayhap_log::MAX_BODY_BYTES / 2;

/// Commands that are not yet in the log.
#[derive(Debug, Default)]
pub(crate) struct Changes(Vec<u8>);

impl Changes {
    pub(crate) fn push<W: AsRef<[u8]>>(&mut self, args: &[W]) {
        number(&mut self.0, args.len());
        for argument in args {
            number(&mut self.0, argument.as_ref().len());
            self.0.extend_from_slice(argument.as_ref());
        }
    }

    /// Whether this many bytes still fit into the record.
    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        bytes.saturating_add(self.0.len() as u64) <= MAX_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
        // Large records are rare.
        self.0.shrink_to(1 << 16);
    }
}

/// The limits of the protocol keep requests far below 4 GiB.
fn number(bytes: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let number = take(bytes, 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(number) as usize)
}

/// The next command of a record.
pub(crate) fn next_command<'b>(body: &mut &'b [u8]) -> Option<Vec<&'b [u8]>> {
    let count = take_number(body)?;
    // An argument takes at least four bytes.
    let mut args = Vec::with_capacity(count.min(body.len() / 4));
    for _ in 0..count {
        let length = take_number(body)?;
        args.push(take(body, length)?);
    }
    Some(args)
}

const TEXT: u8 = 0;
const FILTER: u8 = 1;

/// Writes an entry of a snapshot in parts.
pub(crate) fn write_entry<E>(
    key: &[u8],
    expires: Option<u64>,
    value: &SharedValue,
    mut put: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let kind = match value {
        SharedValue::Text(_) => TEXT,
        SharedValue::Filter(_) => FILTER,
    };
    let mut head = Vec::with_capacity(13 + key.len());
    head.push(kind);
    head.extend_from_slice(&expires.unwrap_or(0).to_le_bytes());
    number(&mut head, key.len());
    head.extend_from_slice(key);
    put(&head)?;
    match value {
        SharedValue::Text(text) => put(text),
        SharedValue::Filter(slot) => slot.write(put),
    }
}

/// An entry of a snapshot as one vector.
#[cfg(test)]
pub(crate) fn entry(key: &[u8], body: &KeyEntry) -> Vec<u8> {
    let mut bytes = Vec::new();
    let value = body.value.share().expect("no command has it");
    let Ok(()) = write_entry(key, body.expires(), &value, |piece| {
        bytes.extend_from_slice(piece);
        Ok::<_, std::convert::Infallible>(())
    });
    bytes
}

/// There is no memory for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoMemory {
    /// The size of the value.
    pub(crate) bytes: u64,
}

/// A string value.
pub(crate) fn text(bytes: &[u8]) -> Result<Value, NoMemory> {
    let mut text = Vec::new();
    text.try_reserve_exact(bytes.len()).map_err(|_| NoMemory {
        bytes: bytes.len() as u64,
    })?;
    text.extend_from_slice(bytes);
    Ok(Value::Text(text.into()))
}

/// Reads an entry of a snapshot: the key, and its value if there is memory for it.
///
/// # Errors
/// If the bytes are invalid. Snapshots have checksums, so this means another version.
pub(crate) fn read_entry(bytes: &[u8]) -> Result<(&[u8], Result<KeyEntry, NoMemory>), String> {
    let mut rest = bytes;
    let head = EntryHead::read(&mut rest).ok_or(SHORT)?;
    let key = take(&mut rest, head.key_bytes).ok_or(SHORT)?;
    let value = match head.kind {
        TEXT => text(rest),
        FILTER => filter(key, Slot::decode(rest, LIMITS))?,
        kind => return Err(unknown(kind)),
    };
    Ok((
        key,
        value.map(|value| KeyEntry::new(value).until(head.expires)),
    ))
}

const SHORT: &str = "an entry of a snapshot is too short";
const LIMITS: Limits = Limits {
    max_bytes: u64::MAX,
};

/// The header before the name of a key.
struct EntryHead {
    kind: u8,
    expires: Option<u64>,
    key_bytes: usize,
}

const HEAD_BYTES: usize = 13;

impl EntryHead {
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let kind = take(bytes, 1)?[0];
        let expires = u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?);
        Some(Self {
            kind,
            expires: Some(expires).filter(|expires| *expires != 0),
            key_bytes: take_number(bytes)?,
        })
    }
}

fn unknown(kind: u8) -> String {
    format!("an entry of a snapshot has the unknown kind {kind}")
}

fn filter(key: &[u8], slot: Result<Slot, DecodeError>) -> Result<Result<Value, NoMemory>, String> {
    match slot {
        Ok(slot) => Ok(Ok(Value::Filter(SharedSlot::new(slot)))),
        Err(error) => match memory_needed(&error) {
            Some(bytes) => Ok(Err(NoMemory { bytes })),
            None => Err(format!("the key {:?}: {error}", lossy(key))),
        },
    }
}

/// Reads a large entry from its file, without loading the bytes of the entry as a whole.
///
/// # Errors
/// As [`read_entry`], or if the file cannot be read.
pub(crate) fn read_large_entry(
    length: u64,
    read: &dyn Fn(u64, &mut [u8]) -> io::Result<()>,
) -> Result<(Vec<u8>, Result<KeyEntry, NoMemory>), String> {
    let failed = |error: io::Error| format!("reading an entry of the snapshot: {error}");
    let mut head = [0; HEAD_BYTES];
    read(0, &mut head).map_err(failed)?;
    let head = EntryHead::read(&mut &head[..]).ok_or(SHORT)?;
    let begin = (HEAD_BYTES + head.key_bytes) as u64;
    let left = length.checked_sub(begin).ok_or(SHORT)?;
    let mut key = vec![0; head.key_bytes];
    read(HEAD_BYTES as u64, &mut key).map_err(failed)?;
    let value = match head.kind {
        TEXT => match mayhap_core::zeroed_bytes(left) {
            Ok(mut bytes) => {
                read(begin, &mut bytes).map_err(failed)?;
                Ok(Value::Text(bytes.into()))
            }
            Err(_) => Err(NoMemory { bytes: left }),
        },
        FILTER => {
            let mut at = begin;
            let mut failure = None;
            let more = |bytes: &mut [u8]| {
                if let Err(error) = read(at, bytes) {
                    failure = Some(error);
                    return Err(DecodeError {
                        format: Format::Mayhap,
                        offset: at,
                        problem: Problem::Cut {
                            what: "snapshot",
                            needed: bytes.len() as u64,
                            left: 0,
                        },
                    });
                }
                at += bytes.len() as u64;
                Ok(())
            };
            let slot = Slot::decode_from(left, more, LIMITS);
            if let Some(error) = failure {
                return Err(failed(error));
            }
            filter(&key, slot)?
        }
        kind => return Err(unknown(kind)),
    };
    Ok((
        key,
        value.map(|value| KeyEntry::new(value).until(head.expires)),
    ))
}

#[cfg(test)]
mod tests {
    use super::{Changes, entry, next_command, read_entry};
    use crate::keyspace::{KeyEntry, Value};

    #[test]
    fn commands_come_back_and_shortened_ones_do_not() {
        let mut changes = Changes::default();
        changes.push(&[&b"DEL"[..], b""]);
        changes.push(&[&b"SET"[..], b"\0\xff", b"x"]);
        let mut body = changes.bytes();
        assert_eq!(next_command(&mut body), Some(vec![&b"DEL"[..], b""]));
        assert_eq!(
            next_command(&mut body),
            Some(vec![&b"SET"[..], b"\0\xff", b"x"])
        );
        assert!(body.is_empty());
        for length in 0..15 {
            assert_eq!(next_command(&mut &changes.bytes()[..length]), None);
        }
        assert_eq!(next_command(&mut &[255_u8; 12][..]), None);
    }

    #[test]
    fn the_record_limit_is_below_the_limit_of_the_log() {
        let mut changes = Changes::default();
        assert!(changes.has_room_for(512 << 20));
        assert!(!changes.has_room_for(mayhap_log::MAX_BODY_BYTES));
        assert!(!changes.has_room_for(u64::MAX));
        let max_bytes = mayhap_log::MAX_BODY_BYTES / 2;
        assert!(changes.has_room_for(max_bytes));
        changes.push(&[b"DEL", &b"k"[..]]);
        assert!(!changes.has_room_for(max_bytes));
    }

    #[test]
    fn entries_come_back() {
        let body = KeyEntry::new(Value::Text((*b"x\0").into())).until(Some(7));
        let bytes = entry(b"key", &body);
        let (key, back) = read_entry(&bytes).expect("an entry");
        let back = back.expect("memory");
        assert_eq!((key, back.expires()), (&b"key"[..], Some(7)));
        assert!(matches!(back.value, Value::Text(text) if *text == *b"x\0"));
        for length in 0..16 {
            assert!(read_entry(&bytes[..length]).is_err());
        }
    }
}
