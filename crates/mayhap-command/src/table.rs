//! All commands: how many words each has, and what a host tells of it (`COMMAND INFO`, `COMMAND DOCS`).

use crate::Argument;

/// A command of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Specification {
    /// In lower case.
    pub name: &'static str,
    /// Fewest words, the name included.
    pub fewest: usize,
    /// Most words.
    pub most: usize,
    /// As `COMMAND INFO` has it: the number of words, or the fewest with a minus where there may be more.
    pub arity: i64,
    /// Whether it changes filters.
    pub writes: bool,
    /// As `COMMAND INFO` has them.
    pub flags: &'static [&'static str],
    /// Without the `@`.
    pub categories: &'static [&'static str],
    /// Where the first key stands, the name being 0.
    pub first_key: i64,
    /// Where the last key stands; -1 is the last word.
    pub last_key: i64,
    /// Where the name of another command stands that this one carries and runs. A host with access rules checks the caller's rights to
    /// that command too.
    pub carried_command: Option<usize>,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its arguments, in their order.
    pub arguments: &'static [Argument],
    /// What it costs, in a line.
    pub complexity: &'static str,
    /// Since when it exists: for commands of RedisBloom the version of RedisBloom, for ours the version of mayhap.
    pub since: &'static str,
    pub(crate) verb: Verb,
}

/// Which command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    BfReserve,
    BfAdd,
    BfMadd,
    BfInsert,
    BfExists,
    BfMexists,
    BfCard,
    BfInfo,
    BfDebug,
    BfScandump,
    BfLoadchunk,
    BfMerge,
    BfEstimate,
    BfWindow,
    CfReserve,
    CfAdd,
    CfAddnx,
    CfInsert,
    CfInsertnx,
    CfExists,
    CfMexists,
    CfCount,
    CfDel,
    CfCompact,
    CfInfo,
    CfDebug,
    CfScandump,
    CfLoadchunk,
    CbfReserve,
    CbfAdd,
    CbfMadd,
    CbfDel,
    CbfCount,
    CbfExists,
    CbfMexists,
    CbfInfo,
    MayhapFile,
    MayhapLoad,
    MayhapAt,
}

const MANY: usize = usize::MAX;

/// What flags and categories a command has.
#[derive(Clone, Copy)]
enum Class {
    /// Makes a filter of a given size.
    Reserve,
    /// May take memory.
    Write,
    /// Takes none.
    Shrink,
    /// Told without looking at bits.
    Info,
    Read,
    /// Reads the whole filter.
    Slow,
    /// Changes the filter, and stands among those that only read.
    Compact,
}

impl Class {
    const fn writes(self) -> bool {
        matches!(
            self,
            Self::Reserve | Self::Write | Self::Shrink | Self::Compact
        )
    }

    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Reserve | Self::Write => &["write", "denyoom", "module"],
            Self::Shrink => &["write", "module", "fast"],
            Self::Slow => &["readonly", "module"],
            Self::Info | Self::Read | Self::Compact => &["readonly", "module", "fast"],
        }
    }

    const fn categories(self, family: Family) -> &'static [&'static str] {
        match (family, self) {
            (Family::Bloom, Self::Reserve) => &["write", "fast", "bloom"],
            (Family::Bloom, Self::Write | Self::Shrink) => &["write", "bloom"],
            (Family::Bloom, Self::Info) => &["read", "fast", "bloom"],
            (Family::Bloom, Self::Slow) => &["read", "slow", "bloom"],
            (Family::Bloom, Self::Read | Self::Compact) => &["read", "bloom"],
            (Family::Cuckoo, Self::Reserve) => &["write", "fast", "cuckoo"],
            (Family::Cuckoo, Self::Write | Self::Shrink) => &["write", "cuckoo"],
            (Family::Cuckoo, Self::Info) => &["read", "fast", "cuckoo"],
            (Family::Cuckoo, Self::Slow) => &["read", "slow", "cuckoo"],
            (Family::Cuckoo, Self::Read | Self::Compact) => &["read", "cuckoo"],
            (Family::Any, Self::Slow | Self::Info | Self::Read | Self::Compact) => {
                &["read", "slow"]
            }
            (Family::Any, Self::Reserve | Self::Write | Self::Shrink) => {
                &["write", "slow", "dangerous"]
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Family {
    /// Counting ones too: a host knows no category of theirs.
    Bloom,
    Cuckoo,
    /// Filters of every family, whole or behind a time: in no category of filters, because whoever may use one family would reach the
    /// others through these.
    Any,
}

const fn of(
    verb: Verb,
    name: &'static str,
    (fewest, most): (usize, usize),
    class: Class,
    family: Family,
    summary: &'static str,
) -> Specification {
    Specification {
        name,
        fewest,
        most,
        arity: if fewest == most {
            fewest.cast_signed() as i64
        } else {
            -(fewest.cast_signed() as i64)
        },
        writes: class.writes(),
        flags: class.flags(),
        categories: class.categories(family),
        first_key: 1,
        last_key: 1,
        carried_command: None,
        summary,
        arguments: verb.arguments(),
        complexity: verb.complexity(),
        since: verb.since(),
        verb,
    }
}

const fn bf(
    verb: Verb,
    name: &'static str,
    words: (usize, usize),
    class: Class,
    summary: &'static str,
) -> Specification {
    of(verb, name, words, class, Family::Bloom, summary)
}

const fn cf(
    verb: Verb,
    name: &'static str,
    words: (usize, usize),
    class: Class,
    summary: &'static str,
) -> Specification {
    of(verb, name, words, class, Family::Cuckoo, summary)
}

const fn any(
    verb: Verb,
    name: &'static str,
    words: (usize, usize),
    class: Class,
    summary: &'static str,
) -> Specification {
    of(verb, name, words, class, Family::Any, summary)
}

/// All commands.
#[rustfmt::skip]
pub const COMMANDS: [Specification; 39] = [
    bf(Verb::BfReserve, "bf.reserve", (4, 7), Class::Reserve, "Makes an empty Bloom filter."),
    bf(Verb::BfAdd, "bf.add", (3, 3), Class::Write, "Adds an item to a Bloom filter, which is made if it is missing."),
    bf(Verb::BfMadd, "bf.madd", (3, MANY), Class::Write, "Adds items to a Bloom filter, which is made if it is missing."),
    bf(Verb::BfInsert, "bf.insert", (4, MANY), Class::Write, "Adds items to a Bloom filter, which is made as asked if it is missing."),
    bf(Verb::BfExists, "bf.exists", (3, 3), Class::Read, "Tells whether an item may be in a Bloom filter."),
    bf(Verb::BfMexists, "bf.mexists", (3, MANY), Class::Read, "Tells for each item whether it may be in a Bloom filter."),
    bf(Verb::BfCard, "bf.card", (2, 2), Class::Info, "Tells how many items were added to a Bloom filter."),
    bf(Verb::BfInfo, "bf.info", (2, 3), Class::Info, "Describes a Bloom filter."),
    bf(Verb::BfDebug, "bf.debug", (2, 2), Class::Read, "Describes the layers of a Bloom filter."),
    bf(Verb::BfScandump, "bf.scandump", (3, 3), Class::Read, "Gives the next piece of a Bloom filter."),
    bf(Verb::BfLoadchunk, "bf.loadchunk", (4, 4), Class::Write, "Puts back a piece of a Bloom filter."),
    Specification { last_key: -1, ..bf(Verb::BfMerge, "bf.merge", (3, MANY), Class::Write, "Adds the items of other Bloom filters to one, which is made if it is missing.") },
    bf(Verb::BfEstimate, "bf.estimate", (2, 2), Class::Slow, "Estimates items and error rate of a Bloom filter from its bits."),
    bf(Verb::BfWindow, "bf.window", (5, 5), Class::Reserve, "Makes an empty Bloom filter that forgets items after some seconds."),
    cf(Verb::CfReserve, "cf.reserve", (3, MANY), Class::Reserve, "Makes an empty cuckoo filter."),
    cf(Verb::CfAdd, "cf.add", (3, 3), Class::Write, "Adds an item to a cuckoo filter, which is made if it is missing."),
    cf(Verb::CfAddnx, "cf.addnx", (3, 3), Class::Write, "Adds an item to a cuckoo filter if it is not in yet."),
    cf(Verb::CfInsert, "cf.insert", (4, MANY), Class::Write, "Adds items to a cuckoo filter, which is made as asked if it is missing."),
    cf(Verb::CfInsertnx, "cf.insertnx", (4, MANY), Class::Write, "Adds the items to a cuckoo filter that are not in yet."),
    cf(Verb::CfExists, "cf.exists", (3, 3), Class::Read, "Tells whether an item may be in a cuckoo filter."),
    cf(Verb::CfMexists, "cf.mexists", (3, MANY), Class::Read, "Tells for each item whether it may be in a cuckoo filter."),
    cf(Verb::CfCount, "cf.count", (3, 3), Class::Read, "Tells how often an item may be in a cuckoo filter."),
    cf(Verb::CfDel, "cf.del", (3, 3), Class::Shrink, "Takes an item out of a cuckoo filter once."),
    Specification { arity: -1, ..cf(Verb::CfCompact, "cf.compact", (2, 2), Class::Compact, "Moves items of a cuckoo filter together.") },
    cf(Verb::CfInfo, "cf.info", (2, 2), Class::Info, "Describes a cuckoo filter."),
    cf(Verb::CfDebug, "cf.debug", (2, 2), Class::Read, "Describes a cuckoo filter in a line."),
    cf(Verb::CfScandump, "cf.scandump", (3, 3), Class::Read, "Gives the next piece of a cuckoo filter."),
    cf(Verb::CfLoadchunk, "cf.loadchunk", (4, 4), Class::Write, "Puts back a piece of a cuckoo filter."),
    bf(Verb::CbfReserve, "cbf.reserve", (4, 4), Class::Reserve, "Makes an empty counting Bloom filter."),
    bf(Verb::CbfAdd, "cbf.add", (3, 3), Class::Write, "Adds an item to a counting Bloom filter once more."),
    bf(Verb::CbfMadd, "cbf.madd", (3, MANY), Class::Write, "Adds items to a counting Bloom filter once more each."),
    bf(Verb::CbfDel, "cbf.del", (3, 3), Class::Shrink, "Takes an item out of a counting Bloom filter once."),
    bf(Verb::CbfCount, "cbf.count", (3, 3), Class::Read, "Tells how often an item was added to a counting Bloom filter, or more."),
    bf(Verb::CbfExists, "cbf.exists", (3, 3), Class::Read, "Tells whether an item may be in a counting Bloom filter."),
    bf(Verb::CbfMexists, "cbf.mexists", (3, MANY), Class::Read, "Tells for each item whether it may be in a counting Bloom filter."),
    bf(Verb::CbfInfo, "cbf.info", (2, 2), Class::Slow, "Describes a counting Bloom filter."),
    any(Verb::MayhapFile, "mayhap.file", (2, 2), Class::Slow, "Gives a filter as the bytes of a file, without the secret of its hash."),
    any(Verb::MayhapLoad, "mayhap.load", (3, 4), Class::Write, "Puts a whole filter, as logs and replicas get it or as MAYHAP.FILE gives it, into a missing key; REPLACE for any."),
    Specification { first_key: 3, last_key: 3, carried_command: Some(2), ..any(Verb::MayhapAt, "mayhap.at", (4, MANY), Class::Write, "Does what follows as if it had come at that time, in milliseconds since 1970, as logs and replicas do.") },
];

/// Slots of the table by hashes of names: a power of two, and few enough are taken that most names stand where they hash to.
const SLOTS: usize = 256;
const EMPTY: u8 = u8::MAX;

/// Where each command stands in `COMMANDS`, by the hash of its name.
const BY_NAME: [u8; SLOTS] = {
    let mut slots = [EMPTY; SLOTS];
    let mut number = 0;
    while number < COMMANDS.len() {
        let mut at = hash(COMMANDS[number].name.as_bytes());
        while slots[at] != EMPTY {
            at = (at + 1) % SLOTS;
        }
        slots[at] = number as u8;
        number += 1;
    }
    slots
};

/// The same for a name in either case: of its length and four letters, which tell all names apart but a few.
const fn hash(name: &[u8]) -> usize {
    if name.len() < 4 {
        return 0;
    }
    let last = name.len() - 1;
    let letters = [name[0], name[3], name[4 * last / 8], name[last]];
    let letters = u32::from_le_bytes(letters) | 0x2020_2020;
    let hash = (letters ^ (name.len() as u32) << 9).wrapping_mul(0x9e37_79b1);
    (hash >> 24) as usize % SLOTS
}

/// No name is longer.
const LONGEST: usize = 16;

/// The command of that name, in whatever case.
pub fn find(name: &[u8]) -> Option<&'static Specification> {
    if name.len() > LONGEST {
        return None;
    }
    let mut at = hash(name);
    loop {
        let command = COMMANDS.get(usize::from(BY_NAME[at]))?;
        if name.eq_ignore_ascii_case(command.name.as_bytes()) {
            return Some(command);
        }
        at = (at + 1) % SLOTS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_in_any_case_and_nothing_else_is() {
        for command in &COMMANDS {
            assert_eq!(find(command.name.as_bytes()), Some(command));
            assert_eq!(find(command.name.to_uppercase().as_bytes()), Some(command));
            assert!(command.name.len() <= LONGEST && command.fewest <= command.most);
            let mut longer = command.name.as_bytes().to_vec();
            longer.push(b'x');
            assert_eq!(find(&longer), None);
            assert_eq!(find(&command.name.as_bytes()[2..]), None);
        }
        for other in [
            "",
            "get",
            "bf.",
            "bf.adc",
            "BF\u{e}ADD",
            "a name that is longer than any",
        ] {
            assert_eq!(find(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn they_are_described_as_the_contract_has_them() {
        let told = |name: &str| find(name.as_bytes()).expect("a command");
        assert_eq!((told("bf.add").arity, told("bf.exists").arity), (3, 3));
        assert_eq!(
            (told("bf.reserve").arity, told("cf.compact").arity),
            (-4, -1)
        );
        assert_eq!(told("cf.del").flags, ["write", "module", "fast"]);
        assert_eq!(told("cf.compact").flags, ["readonly", "module", "fast"]);
        assert_eq!(told("cf.reserve").categories, ["write", "fast", "cuckoo"]);
        assert_eq!(
            (told("bf.merge").first_key, told("bf.merge").last_key),
            (1, -1)
        );
    }

    #[test]
    fn commands_that_reach_every_family_are_in_the_category_of_none() {
        let carries = |command: &Specification| command.carried_command.is_some();
        let carriers: Vec<_> = COMMANDS.iter().filter(|command| carries(command)).collect();
        assert_eq!(carriers.len(), 1);
        assert_eq!(carriers[0].name, "mayhap.at");
        for command in &COMMANDS {
            let (family, _) = command.name.split_once('.').expect("a family");
            let category = match family {
                "bf" | "cbf" => Some(&"bloom"),
                "cf" => Some(&"cuckoo"),
                _ => None,
            };
            let mut named = command.categories.iter();
            let found = named.find(|name| ["bloom", "cuckoo"].contains(name));
            assert_eq!(found, category, "{}", command.name);
        }
    }
}
