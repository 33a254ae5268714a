//! Which bytes and which hash a filter has: only the version of its SSTable says so, and that is in the file's name.

use crate::{ParameterError, Parameters};
use mayhap_core::Scheme;

/// The three layouts that Cassandra has had. Read by the wrong one, a filter denies keys that are in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Since 4.0: SSTable versions from `na` on, and all of the format `bti`.
    Cassandra4,
    /// 3.0 and 3.11, versions `ma` to `me`: the words are big-endian.
    Cassandra3,
    /// 1.2 to 2.2, versions `ia` to `lb`: the words are big-endian, and the halves of the hash are exchanged.
    Cassandra1,
}

/// The first version of the format `big` with each layout.
const FIRST_4: &str = "na";
const FIRST_3: &str = "ma";
const FIRST_1: &str = "ia";

impl Layout {
    /// The layout of an SSTable version, such as `nb`, in the format `big` or `bti`.
    ///
    /// # Errors
    /// When there is no such version, or it is older than Cassandra 1.2, whose filters have another hash.
    pub fn from_version(version: &str, format: &str) -> Result<Self, ParameterError> {
        let is_version =
            version.len() == 2 && version.bytes().all(|byte| byte.is_ascii_lowercase());
        let refuse = |expected: &str| {
            Err(ParameterError::Value {
                name: "version".to_owned(),
                value: version.to_owned(),
                expected: expected.to_owned(),
            })
        };
        match format {
            _ if !is_version => refuse(VERSIONS),
            "bti" => Ok(Self::Cassandra4),
            "big" if version >= FIRST_4 => Ok(Self::Cassandra4),
            "big" if version >= FIRST_3 => Ok(Self::Cassandra3),
            "big" if version >= FIRST_1 => Ok(Self::Cassandra1),
            "big" => refuse("ia (Cassandra 1.2) or later: filters before it have another hash"),
            _ => refuse(VERSIONS),
        }
    }

    /// The layout of a file by its name: `nb-1-big-Filter.db`, `da-1-bti-Filter.db` or, up to Cassandra 2.1,
    /// `keyspace-table-ka-1-Filter.db`. `None` if the name has no SSTable version.
    pub fn from_file_name(name: &str) -> Option<Result<Self, ParameterError>> {
        let (version, format) = version_in(name)?;
        Some(Self::from_version(version, format))
    }

    /// How keys become bits.
    pub const fn scheme(self) -> Scheme {
        match self {
            Self::Cassandra4 | Self::Cassandra3 => Scheme::Cassandra,
            Self::Cassandra1 => Scheme::CassandraOld,
        }
    }

    /// The order of the bytes in a word.
    pub const fn byte_order(self) -> ByteOrder {
        match self {
            Self::Cassandra4 => ByteOrder::New,
            Self::Cassandra3 | Self::Cassandra1 => ByteOrder::Old,
        }
    }
}

/// The order of the bytes in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteOrder {
    /// The lowest first.
    New,
    /// The highest first, as Java writes longs.
    Old,
}

impl ByteOrder {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Old => "old",
        }
    }
}

/// The name of a filter's file ends so, after the name of its SSTable.
const ENDING: &str = "-Filter.db";

/// The version and the format in the name of a file; older names have no format, which is `big`.
fn version_in(name: &str) -> Option<(&str, &str)> {
    let mut parts = name.strip_suffix(ENDING)?.rsplit('-');
    let is_version =
        |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    // A number, or since 4.1 an identifier of letters, digits and underscores.
    let is_generation = |part: &str| {
        let is_identifier = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !part.is_empty() && part.bytes().all(is_identifier)
    };
    let last = parts.next()?;
    if let "big" | "bti" = last {
        let (generation, version) = (parts.next()?, parts.next()?);
        let is_whole = is_generation(generation) && is_version(version) && parts.next().is_none();
        return is_whole.then_some((version, last));
    }
    let version = parts.next()?;
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    // Keyspace and table stand before it.
    let is_whole = is_number && is_version(version) && parts.count() >= 2;
    is_whole.then_some((version, "big"))
}

/// What is known about the layout of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KnownLayout {
    Layout(Layout),
    /// Only that the words are big-endian: either of two hash orders.
    OldBytes,
    Nothing,
}

const VERSIONS: &str =
    "an SSTable version as in the names of its files, such as nb, me, lb or da-bti";

impl KnownLayout {
    /// From `version=`, the name of the file and `order=`, which must not contradict each other.
    pub(super) fn from_parameters(parameters: &Parameters) -> Result<Self, ParameterError> {
        let given = parameters.parse("version", |text| Some(text.to_owned()))?;
        let given = given.as_deref().map(from_text).transpose()?;
        let named = parameters.file_name().and_then(Layout::from_file_name);
        let named = named.transpose()?;
        if let (Some(given), Some(named)) = (given, named)
            && given != named
        {
            return Err(ParameterError::Value {
                name: "version".to_owned(),
                value: parameters
                    .parse("version", |text| Some(text.to_owned()))?
                    .unwrap_or_default(),
                expected:
                    "the version in the file's name: leave out the parameter, or rename the file"
                        .to_owned(),
            });
        }
        let words = [("new", ByteOrder::New), ("old", ByteOrder::Old)];
        let order = parameters.choose("order", &words)?;
        match (named.or(given), order) {
            (Some(layout), Some(order)) if layout.byte_order() != order => {
                let right = layout.byte_order().name();
                Err(ParameterError::Value {
                    name: "order".to_owned(),
                    value: order.name().to_owned(),
                    expected: format!(
                        "{right}, as the SSTable's version says: leave out the parameter"
                    ),
                })
            }
            (Some(layout), _) => Ok(Self::Layout(layout)),
            (None, Some(ByteOrder::New)) => Ok(Self::Layout(Layout::Cassandra4)),
            (None, Some(ByteOrder::Old)) => Ok(Self::OldBytes),
            (None, None) => Ok(Self::Nothing),
        }
    }
}

/// `nb`, `nb-big` or `da-bti`; no version of `big` that is supported begins with a `d`.
fn from_text(text: &str) -> Result<Layout, ParameterError> {
    match text.split_once('-') {
        Some((version, format)) => Layout::from_version(version, format),
        None if text.starts_with('d') => Layout::from_version(text, "bti"),
        None => Layout::from_version(text, "big"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_the_version() {
        use Layout::{Cassandra1, Cassandra3, Cassandra4};
        for (name, layout) in [
            ("nb-1-big-Filter.db", Cassandra4),
            ("na-12345-big-Filter.db", Cassandra4),
            ("oa-3gk4_0xye_5mwbk2gmxk1pjg5v0q-big-Filter.db", Cassandra4),
            ("da-1-bti-Filter.db", Cassandra4),
            ("ma-1-big-Filter.db", Cassandra3),
            ("me-1-big-Filter.db", Cassandra3),
            ("mz-1-big-Filter.db", Cassandra3),
            ("lb-1-big-Filter.db", Cassandra1),
            ("la-1-big-Filter.db", Cassandra1),
            ("Keyspace1-Standard1-jb-0-Filter.db", Cassandra1),
            ("foo-atable-ka-1-Filter.db", Cassandra1),
            ("foo-atable-tmp-ka-1-Filter.db", Cassandra1),
            ("foo-atable-ic-7-Filter.db", Cassandra1),
        ] {
            assert_eq!(Layout::from_file_name(name), Some(Ok(layout)), "{name}");
        }
        for name in ["foo-atable-hf-7-Filter.db", "da-1-big-Filter.db"] {
            assert!(Layout::from_file_name(name).is_some_and(|layout| layout.is_err()));
        }
        for name in [
            "nb-1-big-Data.db",
            "Filter.db",
            "-Filter.db",
            "nb-Filter.db",
            "nb-1-Filter.db",
            "a-nb-1-big-Filter.db",
            "nb-1-huge-Filter.db",
            "nbb-1-big-Filter.db",
            "NB-1-big-Filter.db",
            "nb--big-Filter.db",
            "ka-1-Filter.db",
            "lb-100-p0.01.bin",
        ] {
            assert_eq!(Layout::from_file_name(name), None, "{name}");
        }
    }

    #[test]
    fn parameters_and_names_must_agree() {
        use KnownLayout::{Layout as Known, Nothing, OldBytes};
        let known = |given: &[&str], name: Option<&str>| {
            let parameters = Parameters::new(crate::Format::Cassandra, given)?;
            KnownLayout::from_parameters(&parameters.for_file(name))
        };
        let me = Some("me-1-big-Filter.db");
        assert_eq!(known(&[], None), Ok(Nothing));
        assert_eq!(known(&["order=old"], None), Ok(OldBytes));
        assert_eq!(known(&["order=new"], None), Ok(Known(Layout::Cassandra4)));
        assert_eq!(known(&[], me), Ok(Known(Layout::Cassandra3)));
        assert_eq!(known(&["order=old"], me), Ok(Known(Layout::Cassandra3)));
        assert_eq!(known(&["version=md"], me), Ok(Known(Layout::Cassandra3)));
        for (version, layout) in [
            ("da", Layout::Cassandra4),
            ("da-bti", Layout::Cassandra4),
            ("nb-big", Layout::Cassandra4),
            ("lb", Layout::Cassandra1),
        ] {
            let version = format!("version={version}");
            assert_eq!(known(&[&version], None), Ok(Known(layout)), "{version}");
        }
        for (given, name) in [
            (&["order=new"][..], me),
            (&["version=lb"], me),
            (&["version=nb", "order=old"], None),
            (&["version=hf"], None),
            (&["version=5.0"], None),
            (&["version=nb-tiny"], None),
            (&["order=big"], None),
            (&[], Some("a-b-hf-1-Filter.db")),
        ] {
            assert!(known(given, name).is_err(), "{given:?} {name:?}");
        }
    }
}
