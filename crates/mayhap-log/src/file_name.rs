//! File names: `log-0000000001` and `snapshot-0000000001`, with the suffix `.tmp` until they are complete. All other
//! files are ignored.

/// The largest generation that fits into a name.
pub(crate) const MAX_GENERATION: u64 = 9_999_999_999;
const DIGITS: usize = 10;
const TEMPORARY: &str = ".tmp";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Log,
    Snapshot,
}

impl FileKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Log => "log-",
            Self::Snapshot => "snapshot-",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileName {
    pub(crate) kind: FileKind,
    pub(crate) generation: u64,
    pub(crate) is_temporary: bool,
}

pub(crate) fn complete(kind: FileKind, generation: u64) -> String {
    format!("{}{generation:0DIGITS$}", kind.prefix())
}

pub(crate) fn temporary(kind: FileKind, generation: u64) -> String {
    complete(kind, generation) + TEMPORARY
}

/// The file that keeps the part of another file that was given up, from this byte on.
pub(crate) fn lost(kind: FileKind, generation: u64, offset: u64) -> String {
    format!("{}-from-{offset}.lost", complete(kind, generation))
}

pub(crate) fn parse(name: &str) -> Option<FileName> {
    let (stem, is_temporary) = match name.strip_suffix(TEMPORARY) {
        Some(stem) => (stem, true),
        None => (name, false),
    };
    let (kind, digits) = [FileKind::Log, FileKind::Snapshot]
        .into_iter()
        .find_map(|kind| Some((kind, stem.strip_prefix(kind.prefix())?)))?;
    if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(FileName {
        kind,
        generation: digits.parse().ok()?,
        is_temporary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_other_files_are_ignored() {
        for kind in [FileKind::Log, FileKind::Snapshot] {
            for generation in [0, 1, MAX_GENERATION] {
                let name = |is_temporary| FileName {
                    kind,
                    generation,
                    is_temporary,
                };
                assert_eq!(parse(&complete(kind, generation)), Some(name(false)));
                assert_eq!(parse(&temporary(kind, generation)), Some(name(true)));
                assert_eq!(parse(&lost(kind, generation, 5)), None);
            }
        }
        for other in [
            "",
            "log-",
            "log-1",
            "log-00000000001",
            "log-+000000001",
            "lock",
            "log-0000000001.tmp.tmp",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
