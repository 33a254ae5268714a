//! The types of keys: which are filters, of which family and layout, and with which commands they are read.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Bloom,
    Cuckoo,
    Counting,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum FilterLayout {
    /// Byte-exact with RedisBloom
    #[value(name = "redisbloom")]
    RedisBloom,
    /// mayhap's own
    Native,
}

impl fmt::Display for FilterLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RedisBloom => "redisbloom",
            Self::Native => "native",
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FilterType {
    pub(super) family: Family,
    pub(super) layout: FilterLayout,
}

impl FilterType {
    /// By the answer of TYPE.
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        let (family, layout) = match name {
            b"MBbloom--" => (Family::Bloom, FilterLayout::RedisBloom),
            b"MBbloomCF" => (Family::Cuckoo, FilterLayout::RedisBloom),
            b"mayhap-bf" => (Family::Bloom, FilterLayout::Native),
            b"mayhap-cf" => (Family::Cuckoo, FilterLayout::Native),
            b"mayhap-cb" => (Family::Counting, FilterLayout::Native),
            _ => return None,
        };
        Some(Self { family, layout })
    }

    /// A cuckoo filter of RedisBloom's layout: without items, it has no chunks.
    pub(super) fn is_classic_cuckoo(self) -> bool {
        self.family == Family::Cuckoo && self.layout == FilterLayout::RedisBloom
    }
}

impl Family {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Cuckoo => "cuckoo",
            Self::Counting => "counting",
        }
    }

    pub(super) fn info_command(self) -> &'static [u8] {
        match self {
            Self::Bloom => b"BF.INFO",
            Self::Cuckoo => b"CF.INFO",
            Self::Counting => b"CBF.INFO",
        }
    }

    pub(super) fn query_command(self) -> &'static [u8] {
        match self {
            Self::Bloom => b"BF.MEXISTS",
            Self::Cuckoo => b"CF.MEXISTS",
            Self::Counting => b"CBF.MEXISTS",
        }
    }

    /// The commands that read and write chunks; counting filters have none.
    pub(super) fn chunk_commands(self) -> Option<(&'static [u8], &'static [u8])> {
        match self {
            Self::Bloom => Some((b"BF.SCANDUMP", b"BF.LOADCHUNK")),
            Self::Cuckoo => Some((b"CF.SCANDUMP", b"CF.LOADCHUNK")),
            Self::Counting => None,
        }
    }
}

/// What a key is that looks like a filter to its users and is none, or none that can be moved: its name, and why it stays.
pub(super) fn other_type(name: &[u8]) -> Option<(&'static str, Stays)> {
    Some(match name {
        b"CMSk-TYPE" => ("count-min sketch", Stays::NotAFilter),
        b"TopK-TYPE" => ("top-k", Stays::NotAFilter),
        b"TDIS-TYPE" => ("t-digest", Stays::NotAFilter),
        b"mayhap-file" => (
            "file",
            Stays::Filter("it is a file in the data folder of the server: copy the file"),
        ),
        b"bloomfltr" => (
            "valkey-bloom",
            Stays::Filter(
                "filters of valkey-bloom have neither SCANDUMP nor a layout that others read: add the keys again",
            ),
        ),
        _ => return None,
    })
}

/// Why a key is not moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stays {
    NotAFilter,
    Filter(&'static str),
}
