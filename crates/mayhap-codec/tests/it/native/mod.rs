//! Our own files: what is written is read, every damage is found, and nothing that strangers write does harm.

mod answers;
mod damage;
mod files;
mod filters;
mod forged;
mod golden;
mod repair;
mod round_trip;

use mayhap_codec::{DecodeError, Limits, native};
use mayhap_core::{AnyFilter, SipKey};

const SECRET: SipKey = SipKey::new(*b"sixteen secrets.");

fn key(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn filled(mut filter: AnyFilter, keys: u64) -> AnyFilter {
    for number in 0..keys {
        filter.try_insert(key(number)).expect("room");
    }
    filter
}

fn decode(bytes: &[u8]) -> Result<AnyFilter, DecodeError> {
    native::decode(bytes, Limits::default())
}

fn header_bytes(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
}
