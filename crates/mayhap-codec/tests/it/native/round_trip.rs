//! What is written is read.

use super::filters::filters;
use super::{SECRET, decode, filled, key};
use mayhap_codec::{Limits, Problem, native};
use mayhap_core::{AnyFilter, Bloom, HashScheme, SipKey};

#[test]
fn a_filter_comes_back_as_it_was_and_is_written_again_to_the_same_bytes() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let back = decode(&bytes).unwrap_or_else(|error| panic!("{filter:?}: {error}"));
        assert!(back == filter, "{filter:?} became {back:?}");
        assert_eq!(native::encode(&back).unwrap(), bytes, "{filter:?}");
        let mut streamed = Vec::new();
        native::write(&filter, &mut streamed).unwrap();
        assert_eq!(streamed, bytes);
        if filter.scheme() != HashScheme::Caller {
            let same = |number| filter.contains(key(number)) == back.contains(key(number));
            assert!((0..20_000).all(same), "{filter:?} answers in another way");
        }
    }
}

#[test]
fn a_key_that_is_kept_outside_must_be_given() {
    let filter = filled(Bloom::keyed(100, 0.01, SECRET).unwrap().into(), 100);
    let bytes = native::encode_with(&filter, native::HashKey::Outside).unwrap();
    let secret = SECRET.to_bytes();
    assert!(!bytes.windows(16).any(|window| window == secret));
    let id = native::key_id(SECRET);
    assert_eq!(
        decode(&bytes).unwrap_err().problem,
        Problem::KeyOutside { id }
    );
    let limits = Limits::default();
    let other = SipKey::new([7; 16]);
    assert!(native::decode_with_key(&bytes, limits, other).is_err());
    assert!(native::decode_with_key(&bytes, limits, SECRET).unwrap() == filter);
}

#[test]
fn a_file_that_is_larger_than_allowed_is_refused() {
    let filter = AnyFilter::from(Bloom::new(10_000, 0.01).unwrap());
    let bytes = native::encode(&filter).unwrap();
    let limits = Limits { max_bytes: 1000 };
    let problem = native::decode(&bytes, limits).unwrap_err().problem;
    assert!(matches!(problem, Problem::TooLarge { limit: 1000, .. }));
}
