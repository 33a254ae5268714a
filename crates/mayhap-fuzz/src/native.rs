//! mayhap's own files.

use crate::round_trip::{KEYS, check_round_trip};
use crate::{LIMITS, checksums};
use mayhap_codec::native;
use mayhap_core::AnyFilter;

pub(crate) fn file(bytes: &[u8]) {
    for bytes in [bytes, &checksums::native(bytes)] {
        if let Ok(filter) = native::decode(bytes, LIMITS) {
            any(filter);
        }
    }
}

pub(crate) fn repair(bytes: &[u8]) {
    let sealed = [checksums::header_of_native(bytes), checksums::native(bytes)];
    for bytes in sealed {
        if let Ok(repaired) = native::repair_with_ones(&bytes, LIMITS, None) {
            assert!(repaired.damaged_pages.len() as u64 <= repaired.pages);
            assert!((0.0..=1.0).contains(&repaired.estimated_rate));
            if let Ok(whole) = native::decode(&bytes, LIMITS) {
                assert!(repaired.damaged_pages.is_empty() && whole == repaired.filter);
            }
            any(repaired.filter);
        }
    }
}

fn any(mut filter: AnyFilter) {
    let encode = |filter: &AnyFilter| native::encode(filter).expect("decoded filters are encoded");
    let decode = |bytes: &[u8]| native::decode(bytes, LIMITS);
    check_round_trip(&filter, encode, decode);
    _ = filter.stats();
    if !filter.accepts_key_bytes() {
        return;
    }
    // A growing filter allocates what its plan says, forged or not.
    let grows = match &filter {
        AnyFilter::Growing(_) | AnyFilter::Window(_) => true,
        AnyFilter::Cuckoo(cuckoo) => cuckoo.growth().is_some(),
        _ => false,
    };
    for key in KEYS {
        _ = filter.contains(key);
        if !grows && filter.try_insert(key).is_ok() {
            assert!(filter.contains(key), "an inserted key is found");
        }
        _ = filter.remove(key);
    }
    check_round_trip(&filter, encode, decode);
}
