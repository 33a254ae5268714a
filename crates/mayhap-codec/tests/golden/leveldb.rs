//! LevelDB: the filter policy.

use crate::case::{Case, CaseError, same};
use mayhap_codec::leveldb::{self, Filter};

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    let mut params = case.fields("params")?;
    let bits_per_key = u32::try_from(params.u64("bits_per_key")?)?;
    let count = params.u64("n")?;
    params.finish()?;
    let keys = case.keys()?;
    same("keys", &(keys.len() as u64), &count)?;
    let mut filter = leveldb::create(count, bits_per_key)?;
    for key in &keys {
        filter.insert(key.bytes());
    }
    let ours = leveldb::encode(&filter)?;
    let theirs = case.file("file")?;
    same("bytes", &ours, &theirs)?;
    let decoded = leveldb::decode(&theirs)?;
    if let Filter::Bloom(filter) = &decoded {
        same(
            "bytes of the decoded filter",
            &leveldb::encode(filter)?,
            &theirs,
        )?;
    }
    case.check_answers(|key| decoded.contains(key.bytes()))
}
