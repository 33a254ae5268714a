//! Indexes of files.

use crate::checksums;
use mayhap_codec::index::{Index, SCHEME};

pub(crate) fn file(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), checksums::index(bytes)] {
        let Ok(index) = Index::decode(bytes) else {
            continue;
        };
        // Few hashes verify the pages that they need, many all of them.
        let hashes: Vec<_> = (0..20_u64)
            .map(|key| SCHEME.hash(key.to_le_bytes().as_slice()))
            .collect();
        for filter in index.directory().filters() {
            let (mut few, mut many) = ([false; 3], [false; 20]);
            let read_few = index.contains_hashes(filter, &hashes[..3], &mut few);
            let read_many = index.contains_hashes(filter, &hashes, &mut many);
            if read_few.is_ok() && read_many.is_ok() {
                assert_eq!(few, many[..3], "answers do not depend on the batch");
            }
        }
        _ = index.verify();
        _ = index.used_bytes();
    }
}
