//! What must hold for every filter of every format: encoding and decoding it returns the same filter and the same bytes.

use mayhap_core::ClassicBloom;
use std::fmt::Debug;

/// Keys to look up: empty, short, long, and of the lengths at which hash functions take another branch.
pub(crate) const KEYS: [&[u8]; 6] = [
    b"",
    b"a",
    b"some key",
    b"a key of 17 bytes",
    &[0xff; 100],
    &[7; 300],
];

/// Checks that a filter is decoded from its bytes, and encoded into the same bytes again.
///
/// # Panics
/// When it is not.
pub fn check_round_trip<F: PartialEq + Debug, E: Debug>(
    filter: &F,
    encode: impl Fn(&F) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<F, E>,
) {
    let bytes = encode(filter);
    let again = decode(&bytes).expect("encoded bytes are decoded");
    #[expect(clippy::eq_op, reason = "a filter with a NaN is not equal to itself")]
    let is_itself = filter == filter;
    assert!(
        again == *filter || !is_itself,
        "{filter:?} is decoded as {again:?}"
    );
    assert!(
        encode(&again) == bytes,
        "{filter:?} is encoded differently the second time"
    );
}

/// The same for flat bits, before and after keys are inserted.
pub(crate) fn check_bits<E: Debug, D: Debug>(
    mut filter: ClassicBloom,
    encode: impl Fn(&ClassicBloom) -> Result<Vec<u8>, E>,
    decode: impl Fn(&[u8]) -> Result<ClassicBloom, D>,
) {
    let encode = |filter: &ClassicBloom| encode(filter).expect("decoded filters are encoded");
    check_round_trip(&filter, encode, &decode);
    let mut found = [false; KEYS.len()];
    filter.contains_each(&KEYS, &mut found);
    let one_by_one = KEYS.map(|key| filter.contains(key));
    assert_eq!(one_by_one, found, "single and batch lookups agree");
    for key in KEYS {
        let was_in = filter.contains(key);
        let new = filter.insert(key);
        assert!(!(new && was_in), "a key that was found is not new");
        assert!(filter.contains(key), "an inserted key is found");
    }
    assert!((0.0..=1.0).contains(&filter.estimated_rate()));
    check_round_trip(&filter, encode, &decode);
}
