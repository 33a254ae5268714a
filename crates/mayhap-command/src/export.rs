//! A filter of a key as one that stands alone, for files.

use crate::native::BloomKind;
use crate::{Bloom, Cuckoo, Slot};
use mayhap::AnyFilter;
use mayhap_codec::{Filter, redis};

impl Slot {
    /// A copy of the filter, as libraries and the command line know it; none where there is no filter.
    pub fn to_filter(&self) -> Option<Filter> {
        let redis = |filter| Filter::Redis { filter, rdb: None };
        Some(match self {
            Self::Missing | Self::Other => return None,
            Self::Bloom(filter) => match &**filter {
                Bloom::RedisBloom(filter) => redis(redis::Filter::Bloom(filter.clone())),
                Bloom::Native(filter) => Filter::Native(match &filter.kind {
                    BloomKind::Fixed(filter) => AnyFilter::from(filter.clone()),
                    BloomKind::Growing(filter) => AnyFilter::from(filter.clone()),
                    BloomKind::Window(filter) => AnyFilter::from(filter.clone()),
                }),
            },
            Self::Cuckoo(filter) => match &**filter {
                Cuckoo::RedisBloom(filter) => redis(redis::Filter::Cuckoo(filter.clone())),
                Cuckoo::Native(filter) => Filter::Native(AnyFilter::from(filter.filter.clone())),
            },
            Self::Counting(filter) => Filter::Native(AnyFilter::from(filter.filter.clone())),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Command, Config, Context, Slot};
    use mayhap::{SipKey, Timestamp};

    #[test]
    fn a_copy_answers_as_the_key_does() {
        let mut config = Config::default();
        for layout in ["native", "redisbloom"] {
            config
                .set("mayhap-layout", layout.as_bytes())
                .expect("a layout");
            let context = Context {
                config: &config,
                now: Timestamp(5),
                secret: SipKey::new([3; 16]),
                most_bytes: 1 << 20,
            };
            for name in ["BF.ADD", "CF.ADD", "CBF.ADD"] {
                let mut slot = Slot::Missing;
                let make: &[&[u8]] = &[b"CBF.RESERVE", b"k", b"0.01", b"100"];
                let add: &[&[u8]] = &[name.as_bytes(), b"k", b"apple"];
                for words in [make, add].iter().skip(usize::from(name != "CBF.ADD")) {
                    let Ok(Command::Change(change)) = Command::parse(words, &config) else {
                        panic!("{name} changes");
                    };
                    change.apply(&mut slot, &[], &context);
                }
                let filter = slot.to_filter().expect("a filter");
                assert!(filter.contains(b"apple"), "{layout} {name}");
                assert!(!filter.contains(b"pear"), "{layout} {name}");
            }
        }
        assert!(Slot::Missing.to_filter().is_none());
    }
}
