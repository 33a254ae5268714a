//! What holds for every filter of every format.

use mayhap_core::ClassicBloom;
use std::fmt::Debug;

/// Keys to ask about: none, short, long, and of the lengths at which hashes change their ways.
pub(crate) const KEYS: [&[u8]; 6] = [
    b"",
    b"a",
    b"some key",
    b"a key of 17 bytes",
    &[0xff; 100],
    &[7; 300],
];

/// What a filter is written as is read as the same filter, and written the same again.
pub(crate) fn comes_back<F: PartialEq + Debug, E: Debug>(
    filter: &F,
    encode: impl Fn(&F) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<F, E>,
) {
    let bytes = encode(filter);
    let again = decode(&bytes).expect("what we have written is read");
    #[expect(
        clippy::eq_op,
        reason = "where a weight is no number, it is not the same"
    )]
    let is_itself = filter == filter;
    assert!(
        again == *filter || !is_itself,
        "{filter:?} came back as {again:?}"
    );
    assert!(
        encode(&again) == bytes,
        "{filter:?} is written in another way"
    );
}

/// The law for flat bits, before and after keys are put in.
pub(crate) fn of_bits<E: Debug, D: Debug>(
    mut filter: ClassicBloom,
    encode: impl Fn(&ClassicBloom) -> Result<Vec<u8>, E>,
    decode: impl Fn(&[u8]) -> Result<ClassicBloom, D>,
) {
    let encode = |filter: &ClassicBloom| encode(filter).expect("what was read is written");
    comes_back(&filter, encode, &decode);
    let mut found = [false; KEYS.len()];
    filter.contains_each(&KEYS, &mut found);
    let one_by_one = KEYS.map(|key| filter.contains(key));
    assert_eq!(one_by_one, found, "one by one and together");
    for key in KEYS {
        let was_in = filter.contains(key);
        let new = filter.insert(key);
        assert!(!(new && was_in), "a key that was found is not new");
        assert!(filter.contains(key), "a key that was put in is found");
    }
    assert!((0.0..=1.0).contains(&filter.estimated_rate()));
    comes_back(&filter, encode, &decode);
}
