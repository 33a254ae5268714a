//! Plain Redis strings as DUMP payloads: not filters, but servers store some next to them.

use super::dump::{CRC, TRAILER, append_trailer};
use super::value::{self, Budget, Stored};
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits};

/// The type of a plain string.
const TEXT: u8 = 0;

/// Whether the checksum of a DUMP payload is right, whatever it contains.
pub fn is_whole(payload: &[u8]) -> bool {
    payload.len() > TRAILER
        && payload
            .split_last_chunk::<8>()
            .is_some_and(|(summed, sum)| CRC.checksum(summed).to_le_bytes() == *sum)
}

/// The string in a DUMP payload; `None` if it contains something else.
pub fn decode(payload: &[u8], limits: Limits) -> Option<Result<Vec<u8>, DecodeError>> {
    if payload.first() != Some(&TEXT) {
        return None;
    }
    let body = &payload[1..payload.len().saturating_sub(TRAILER).max(1)];
    let mut at = Cursor::new(body, Format::RedisBloomDump);
    let mut read = || {
        let stored = Stored::read(&mut at, "string")?;
        let text = stored.bytes(&at, &mut Budget::new(limits))?.into_owned();
        at.finish()?;
        Ok(text)
    };
    Some(read())
}

/// The DUMP of a string for engines with this version of RDB.
pub fn encode(text: &[u8], rdb: u16) -> Vec<u8> {
    let mut out = vec![TEXT];
    value::put_plain_string(&mut out, text);
    append_trailer(out, rdb)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, is_whole};
    use crate::Limits;

    #[test]
    fn strings_come_back() {
        for text in [
            &b""[..],
            b"x",
            b"-12",
            b"2147483648",
            &[b'a'; 500],
            &[0, 255, 13],
        ] {
            let payload = encode(text, 10);
            assert!(is_whole(&payload));
            let back = decode(&payload, Limits::default()).expect("a string");
            assert_eq!(back.expect("whole"), text);
            for length in 0..payload.len() {
                assert!(!is_whole(&payload[..length]));
                // No panic, whatever comes of it.
                let _ = decode(&payload[..length], Limits::default());
            }
        }
    }

    #[test]
    fn a_string_of_redis_is_read() {
        // DUMP of `SET k hello` in Redis 7.0.
        let payload = b"\x00\x05hello\n\x00cr\xdfve4 \n";
        let back = decode(payload, Limits::default()).expect("a string");
        assert_eq!(back.expect("whole"), b"hello");
    }
}
