//! The header: fixed fields, the plan of the kind, the lengths of the sections, and a checksum of all that.

use super::parts::{Parts, Section};
use super::{ALIGNMENT, FORMAT, HashKey, MAGIC, pages};
use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use mayhap_core::{HashScheme, KeyType, SipKey};
use twox_hash::XxHash3_64;

const MAJOR: u16 = 1;
const MINOR: u16 = 0;
const PAGE_BYTES: u32 = pages::PAGE_BYTES as u32;
const CHECKSUM_BYTES: u64 = 8;
/// The bytes before the plan.
const FIXED_BYTES: u64 = 88;
/// The largest plan: the generations of a window take a few dozen bytes for each of their layers.
const MAX_BYTES: u64 = 1 << 20;

/// Features that a reader must support, one bit each.
const KNOWN_FEATURES: u64 = EXCEPTIONS | SLICES;
/// The parts of an exception layer follow those of the filter.
pub(super) const EXCEPTIONS: u64 = 1;
/// A static filter of slices instead of hashes.
pub(super) const SLICES: u64 = 2;

/// The bit of the optional features which says that a filter is a set; the lowest byte is the key type.
const SET_BIT: u32 = 8;

const SELF_TEST: &[u8] = b"mayhap self-test";
const KEY_ID: &[u8] = b"mayhap key id";

/// A header whose checksum and lengths were verified.
pub(super) struct FileHeader<'a> {
    /// The position of the plan.
    pub(super) at: Cursor<'a>,
    pub(super) kind: u16,
    /// Required features, all of them known.
    pub(super) features: u64,
    pub(super) key_type: Option<KeyType>,
    pub(super) is_set: bool,
    pub(super) self_test: u64,
    /// Where the body begins.
    pub(super) body_begins: u64,
    /// The length of the sections and the padding between them.
    pub(super) body_bytes: u64,
    pub(super) checksum: u64,
    /// Where each section begins in the body, and its length.
    pub(super) sections: Vec<(u64, u64)>,
    plan_bytes: u64,
    hash: Hash,
}

enum Hash {
    Known(HashScheme),
    KeyOutside { id: u64 },
}

/// The id that a file stores for a secret key that it does not contain: equal for equal keys, and useless for finding the key.
pub fn key_id(key: SipKey) -> u64 {
    HashScheme::Sip13(key).hash(KEY_ID).to_u64()
}

/// The hash of a fixed key, which a reader must reproduce; 0 if the caller hashes.
pub(super) fn self_test(scheme: HashScheme) -> u64 {
    match scheme {
        HashScheme::Caller => 0,
        scheme => scheme.hash(SELF_TEST).to_u64(),
    }
}

/// The same for the probe sequence of another system: the position of its first probe.
pub(super) fn first_position(filter: &mayhap_core::ClassicBloom) -> u64 {
    filter.positions_of(SELF_TEST).next().unwrap_or(0)
}

/// The last eight bytes of a header.
pub(super) fn checksum_of(header: &[u8]) -> u64 {
    header
        .last_chunk()
        .map_or(0, |last| u64::from_le_bytes(*last))
}

impl<'a> FileHeader<'a> {
    /// The bytes of a header.
    pub(super) fn bytes(parts: &Parts<'_>, hash_key: HashKey) -> Vec<u8> {
        let (scheme, plan) = (parts.scheme, parts.plan.as_slice());
        let sections: Vec<u64> = parts.sections.iter().map(Section::len).collect();
        let used = FIXED_BYTES + plan.len() as u64 + 8 * sections.len() as u64 + CHECKSUM_BYTES;
        let header_bytes = used.next_multiple_of(ALIGNMENT);
        let body_bytes = lay_out(&sections).map_or(0, |(_, end)| end);
        let file_bytes = header_bytes + body_bytes + pages::table_bytes(body_bytes);
        let (key_place, key) = match (scheme, hash_key) {
            (HashScheme::Sip13(key), HashKey::Inside) => (1, key.to_bytes()),
            (HashScheme::Sip13(key), HashKey::Outside) => {
                (2, u128::from(key_id(key)).to_le_bytes())
            }
            (HashScheme::Xxh3 | HashScheme::Caller, _) => (0_u16, [0; 16]),
        };
        let mut out = Vec::with_capacity(header_bytes as usize);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&MAJOR.to_le_bytes());
        out.extend_from_slice(&MINOR.to_le_bytes());
        out.extend_from_slice(&(header_bytes as u32).to_le_bytes());
        out.extend_from_slice(&file_bytes.to_le_bytes());
        out.extend_from_slice(&parts.features.to_le_bytes());
        // Optional features: a reader ignores those that it does not know.
        let key_type = u64::from(parts.key_type.map_or(0, KeyType::id));
        let is_set = u64::from(parts.is_set) << SET_BIT;
        out.extend_from_slice(&(key_type | is_set).to_le_bytes());
        out.extend_from_slice(&parts.kind.to_le_bytes());
        out.extend_from_slice(&scheme.id().to_le_bytes());
        out.extend_from_slice(&key_place.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&key);
        out.extend_from_slice(&parts.self_test.to_le_bytes());
        out.extend_from_slice(&PAGE_BYTES.to_le_bytes());
        out.extend_from_slice(&(sections.len() as u32).to_le_bytes());
        out.extend_from_slice(&(plan.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(plan);
        for length in &sections {
            out.extend_from_slice(&length.to_le_bytes());
        }
        out.resize((header_bytes - CHECKSUM_BYTES) as usize, 0);
        out.extend_from_slice(&XxHash3_64::oneshot(&out).to_le_bytes());
        out
    }

    /// Reads and checks a header, and that the file has the length that it states.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, FORMAT);
        if at.take("magic", 8)? != MAGIC {
            let start = Cursor::new(bytes, FORMAT);
            let first = i128::from(bytes.first().copied().unwrap_or(0));
            return Err(start.value("first byte", first, "0x89, the first byte of a mayhap file"));
        }
        expect(&at, "version", at.clone().u16_le("version")?, MAJOR)?;
        at.take("versions", 4)?;
        let header_bytes = u64::from(at.clone().u32_le("header length")?);
        if !header_bytes.is_multiple_of(ALIGNMENT) || !(128..=MAX_BYTES).contains(&header_bytes) {
            let accepted = "a multiple of 64 from 128 to 2^20";
            return Err(at.value("header length", i128::from(header_bytes), accepted));
        }
        at.take("header length", 4)?;
        let mut whole = Cursor::new(bytes, FORMAT);
        let checked = whole.take("header", header_bytes - CHECKSUM_BYTES)?;
        let checksum = whole.clone().u64_le("header checksum")?;
        if checksum != XxHash3_64::oneshot(checked) {
            return Err(whole.error(Problem::Checksum));
        }

        let file_bytes = at.clone().u64_le("file length")?;
        let length_at = at.clone();
        at.take("file length", 8)?;
        let features = at.clone().u64_le("required features")?;
        let unknown = features & !KNOWN_FEATURES;
        if unknown != 0 {
            let accepted = "features that this version supports: use a newer mayhap";
            return Err(at.value("required features", i128::from(unknown), accepted));
        }
        at.take("features", 8)?;
        // The lowest byte is the key type. A newer one is ignored, as all optional features.
        let optional = at.u64_le("optional features")?;
        let key_type = KeyType::from_id(optional as u8);
        let is_set = optional >> SET_BIT & 1 == 1;
        let kind = at.u16_le("kind")?;
        let hash = Hash::read(&mut at)?;
        let self_test = at.u64_le("self-test")?;
        expect(
            &at,
            "page size",
            at.clone().u32_le("page size")?,
            PAGE_BYTES,
        )?;
        at.take("page size", 4)?;
        let count = u64::from(at.u32_le("sections")?);
        let plan_bytes = u64::from(at.u32_le("plan length")?);
        expect(&at, "reserved", at.clone().u32_le("reserved")?, 0_u32)?;
        at.take("reserved", 4)?;

        let used = FIXED_BYTES + plan_bytes + 8 * count + CHECKSUM_BYTES;
        if used.next_multiple_of(ALIGNMENT) != header_bytes {
            let accepted = "what plan and sections need, up to the next multiple of 64";
            return Err(at.value("header length", i128::from(header_bytes), accepted));
        }
        let mut after = at.clone();
        after.take("plan", plan_bytes)?;
        let mut lengths = Vec::with_capacity(count as usize);
        for _ in 0..count {
            lengths.push(after.u64_le("section length")?);
        }
        let zeros = after.take("end of the header", header_bytes - used)?;
        if zeros.iter().any(|&byte| byte != 0) {
            return Err(after.value("end of the header", 1, "zeros"));
        }
        let (sections, body_bytes) = lay_out(&lengths)
            .ok_or_else(|| after.value("section length", -1, "lengths whose sum is below 2^62"))?;
        let expected = header_bytes + body_bytes + pages::table_bytes(body_bytes);
        if file_bytes != expected {
            let accepted = "what the sections need";
            return Err(length_at.value("file length", i128::from(file_bytes), accepted));
        }
        let present = bytes.len() as u64;
        if present < file_bytes {
            return Err(length_at.error(Problem::Cut {
                what: "the file",
                needed: file_bytes,
                left: present,
            }));
        }
        if present > file_bytes {
            let bytes = present - file_bytes;
            return Err(length_at.error(Problem::Trailing { bytes }));
        }
        Ok(Self {
            at,
            kind,
            features,
            key_type,
            is_set,
            self_test,
            body_begins: header_bytes,
            body_bytes,
            checksum,
            sections,
            plan_bytes,
            hash,
        })
    }

    /// How keys are hashed, with the key in the file or with one that is kept elsewhere.
    pub(super) fn scheme(&self, key: Option<SipKey>) -> Result<HashScheme, DecodeError> {
        match (&self.hash, key) {
            (Hash::Known(scheme), _) => Ok(*scheme),
            (Hash::KeyOutside { id }, Some(key)) if *id == key_id(key) => {
                Ok(HashScheme::Sip13(key))
            }
            (Hash::KeyOutside { id }, _) => Err(self.at.error(Problem::KeyOutside { id: *id })),
        }
    }

    /// A cursor over the plan.
    pub(super) fn plan(&self) -> Result<Cursor<'a>, DecodeError> {
        self.at.clone().part("plan", self.plan_bytes)
    }

    /// Whether the reader hashes as the writer did.
    pub(super) fn check_self_test(&self, ours: u64) -> Result<(), DecodeError> {
        if ours == self.self_test {
            Ok(())
        } else {
            let accepted = "what our hash function gives for `mayhap self-test`";
            let found = i128::from(self.self_test);
            Err(self.at.value("self-test", found, accepted))
        }
    }
}

impl Hash {
    fn read(at: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let begin = at.clone();
        let (scheme, place) = (at.u16_le("hash scheme")?, at.u16_le("place of the key")?);
        expect(at, "reserved", at.clone().u16_le("reserved")?, 0_u16)?;
        at.take("reserved", 2)?;
        let bytes = at.take("key", 16)?;
        let number = bytes
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u128::from(byte));
        match (scheme, place) {
            (0, 0) if number == 0 => Ok(Self::Known(HashScheme::Caller)),
            (1, 0) if number == 0 => Ok(Self::Known(HashScheme::Xxh3)),
            (2, 1) => Ok(Self::Known(HashScheme::Sip13(SipKey::new(
                number.to_le_bytes(),
            )))),
            (2, 2) if number >> 64 == 0 => Ok(Self::KeyOutside { id: number as u64 }),
            (0..=2, place) => {
                let accepted = "0 without a key, 1 with one inside, 2 with one outside";
                Err(begin.value("place of the key", i128::from(place), accepted))
            }
            (scheme, _) => Err(begin.value("hash scheme", i128::from(scheme), "0, 1 or 2")),
        }
    }
}

/// Where sections of these lengths begin in the body, and where the last one ends; `None` if that overflows.
fn lay_out(lengths: &[u64]) -> Option<(Vec<(u64, u64)>, u64)> {
    let mut end = 0_u64;
    let mut places = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let begin = end.checked_next_multiple_of(ALIGNMENT)?;
        end = begin.checked_add(length).filter(|&end| end < 1 << 62)?;
        places.push((begin, length));
    }
    Some((places, end))
}

fn expect<T: Copy + PartialEq + Into<i128>>(
    at: &Cursor<'_>,
    field: &'static str,
    value: T,
    expected: T,
) -> Result<(), DecodeError> {
    if value == expected {
        return Ok(());
    }
    let accepted = match field {
        "version" => "1: a newer mayhap reads newer files",
        "page size" => "65536",
        _ => "0",
    };
    Err(at.value(field, value.into(), accepted))
}
