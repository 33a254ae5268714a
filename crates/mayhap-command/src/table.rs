//! All filter commands, one row each: how it is called, what hosts report about it (`COMMAND INFO`, `COMMAND DOCS`), and how it is parsed.

use crate::arguments::{
    BUCKET_SIZE, CAPACITY, CAPACITY_OPTION, COMMAND, COMMAND_ARGUMENTS, DATA, ERROR_OPTION,
    ERROR_RATE, EXPANSION_OPTION, INFO_FIELD, ITEM, ITEMS, ITERATOR, KEY, MANY_ITEMS,
    MAX_ITERATIONS, NO_CREATE, NON_SCALING, REPLACE, SECONDS, SOURCES, UNIX_TIME,
};
use crate::spec::{Arity, Categories, CommandSpec, FilterCommand, Flags, KeyPositions, Parse};
use crate::{Argument, bf, cbf, cf, mayhap};

/// The flags and ACL categories that commands have in common.
#[derive(Clone, Copy)]
struct Class {
    flags: Flags,
    categories: Categories,
}

impl Class {
    /// Commands of one family. `MODULE` is among the flags of all of them.
    const fn new(family: Categories, flags: Flags, categories: Categories) -> Self {
        Self {
            flags: flags.with(Flags::MODULE),
            categories: categories.with(family),
        }
    }

    const fn with(self, flags: Flags) -> Self {
        Self {
            flags: self.flags.with(flags),
            ..self
        }
    }
}

const WRITE_AND_ALLOCATE: Flags = Flags::WRITE.with(Flags::DENYOOM);
const READ_FAST: Flags = Flags::READONLY.with(Flags::FAST);

// Categories are RedisBloom's, which do not always follow from the flags. Counting filters belong to its category `bloom`.
const BLOOM: Categories = Categories::BLOOM;
const BLOOM_CREATE: Class = Class::new(
    BLOOM,
    WRITE_AND_ALLOCATE,
    Categories::WRITE.with(Categories::FAST),
);
const BLOOM_WRITE: Class = Class::new(BLOOM, WRITE_AND_ALLOCATE, Categories::WRITE);
const BLOOM_REMOVE: Class = Class::new(BLOOM, Flags::WRITE.with(Flags::FAST), Categories::WRITE);
const BLOOM_INFO: Class = Class::new(BLOOM, READ_FAST, Categories::READ.with(Categories::FAST));
const BLOOM_READ: Class = Class::new(BLOOM, READ_FAST, Categories::READ);
const BLOOM_SLOW: Class = Class::new(
    BLOOM,
    Flags::READONLY,
    Categories::READ.with(Categories::SLOW),
);

const CUCKOO: Categories = Categories::CUCKOO;
const CUCKOO_CREATE: Class = Class::new(
    CUCKOO,
    WRITE_AND_ALLOCATE,
    Categories::WRITE.with(Categories::FAST),
);
const CUCKOO_WRITE: Class = Class::new(CUCKOO, WRITE_AND_ALLOCATE, Categories::WRITE);
const CUCKOO_REMOVE: Class = Class::new(CUCKOO, Flags::WRITE.with(Flags::FAST), Categories::WRITE);
const CUCKOO_INFO: Class = Class::new(CUCKOO, READ_FAST, Categories::READ.with(Categories::FAST));
const CUCKOO_READ: Class = Class::new(CUCKOO, READ_FAST, Categories::READ);

// Commands on filters of every family are in no family's category: a user with access to one family would reach the others.
const ANY_SLOW: Class = Class::new(
    Categories::NONE,
    Flags::READONLY,
    Categories::READ.with(Categories::SLOW),
);
const ANY_WRITE: Class = Class::new(
    Categories::NONE,
    WRITE_AND_ALLOCATE,
    Categories::WRITE
        .with(Categories::SLOW)
        .with(Categories::DANGEROUS),
);

/// Versions that introduced commands: RedisBloom's, and mayhap's for our own.
const REDISBLOOM: &str = "1.0.0";
const REDISBLOOM_2_4: &str = "2.4.4";
const MAYHAP: &str = "0.1.0";

const CONSTANT: &str = "O(1)";
const PER_HASH: &str = "O(k), where k is the number of hash functions";
const PER_HASH_AND_ITEM: &str =
    "O(k * n), where k is the number of hash functions and n is the number of items";
const PER_TABLE: &str = "O(t), where t is the number of tables";
const PER_ITEM_AND_TABLE: &str =
    "O(n * t), where n is the number of items and t is the number of tables";
const PER_TABLE_AND_ITERATION: &str =
    "O(t + i), where t is the number of tables and i is MAXITERATIONS";
const PER_ITEM_TABLE_AND_ITERATION: &str = "O(n * (t + i)), where n is the number of items, t is the number of tables and i is MAXITERATIONS";
const PER_CHUNK: &str = "O(n), where n is the size of the chunk";
const PER_SIZE: &str = "O(n), where n is the size of the filter";
const PER_SIZE_OF_ALL: &str = "O(n), where n is the size of all filters together";
const AS_CARRIED: &str = "The complexity of the command that it carries";

/// What `COMMAND DOCS` reports: summary, complexity, version and arguments.
type Docs = (
    &'static str,
    &'static str,
    &'static str,
    &'static [Argument],
);

const fn row(
    name: &'static str,
    arity: Arity,
    class: Class,
    parse: Parse,
    docs: Docs,
) -> FilterCommand {
    let (summary, complexity, since, arguments) = docs;
    FilterCommand {
        spec: CommandSpec {
            name,
            arity,
            flags: class.flags,
            categories: class.categories,
            keys: KeyPositions::ONE,
            group: "module",
            summary,
            complexity,
            since,
            arguments,
        },
        carried_command: None,
        parse,
    }
}

impl FilterCommand {
    const fn keys(mut self, keys: KeyPositions) -> Self {
        self.spec.keys = keys;
        self
    }

    const fn carries(mut self, command: usize) -> Self {
        self.carried_command = Some(command);
        self
    }
}

/// All filter commands.
#[rustfmt::skip]
pub static COMMANDS: [FilterCommand; 39] = [
    row("bf.reserve", Arity::between(4, 7), BLOOM_CREATE, |args| Ok(args.write(bf::Reserve::parse(args)?)),
        ("Creates an empty Bloom filter.", CONSTANT, REDISBLOOM, &[KEY, ERROR_RATE, CAPACITY, EXPANSION_OPTION, NON_SCALING])),
    row("bf.add", Arity::exactly(3), BLOOM_WRITE, |args| Ok(args.write(bf::Add::parse(args))),
        ("Adds an item to a Bloom filter, which is created if it is missing.", PER_HASH, REDISBLOOM, &[KEY, ITEM])),
    row("bf.madd", Arity::at_least(3), BLOOM_WRITE, |args| Ok(args.write(bf::Insert::parse_madd(args))),
        ("Adds items to a Bloom filter, which is created if it is missing.", PER_HASH_AND_ITEM, REDISBLOOM, &[KEY, MANY_ITEMS])),
    row("bf.insert", Arity::at_least(4), BLOOM_WRITE, |args| Ok(args.write(bf::Insert::parse(args)?)),
        ("Adds items to a Bloom filter, which is created with these options if it is missing.", PER_HASH_AND_ITEM, REDISBLOOM, &[KEY, CAPACITY_OPTION, ERROR_OPTION, EXPANSION_OPTION, NO_CREATE, NON_SCALING, ITEMS, MANY_ITEMS])),
    row("bf.exists", Arity::exactly(3), BLOOM_READ, |args| Ok(args.query(bf::Exists::parse(args))),
        ("Returns whether an item may be in a Bloom filter.", PER_HASH, REDISBLOOM, &[KEY, ITEM])),
    row("bf.mexists", Arity::at_least(3), BLOOM_READ, |args| Ok(args.query(bf::Mexists::parse(args))),
        ("Returns for each item whether it may be in a Bloom filter.", PER_HASH_AND_ITEM, REDISBLOOM, &[KEY, MANY_ITEMS])),
    row("bf.card", Arity::exactly(2), BLOOM_INFO, |args| Ok(args.query(bf::Card)),
        ("Returns the number of items that were added to a Bloom filter.", CONSTANT, REDISBLOOM_2_4, &[KEY])),
    row("bf.info", Arity::between(2, 3), BLOOM_INFO, |args| Ok(args.query(bf::Info::parse(args))),
        ("Returns information about a Bloom filter.", CONSTANT, REDISBLOOM, &[KEY, INFO_FIELD])),
    row("bf.debug", Arity::exactly(2), BLOOM_READ, |args| Ok(args.query(bf::Debug)),
        ("Returns information about the layers of a Bloom filter.", CONSTANT, REDISBLOOM, &[KEY])),
    row("bf.scandump", Arity::exactly(3), BLOOM_READ, |args| Ok(args.query(bf::Scandump::parse(args))),
        ("Returns the next chunk of a Bloom filter.", PER_CHUNK, REDISBLOOM, &[KEY, ITERATOR])),
    row("bf.loadchunk", Arity::exactly(4), BLOOM_WRITE.with(Flags::LARGE_ARGUMENT), |args| Ok(args.write(bf::Loadchunk::parse(args))),
        ("Loads a chunk of a Bloom filter.", PER_CHUNK, REDISBLOOM, &[KEY, ITERATOR, DATA])),
    row("bf.merge", Arity::at_least(3), BLOOM_WRITE.with(Flags::WHOLE_FILTER), |args| Ok(args.write(bf::Merge::parse(args))),
        ("Adds the items of other Bloom filters to one, which is created if it is missing.", PER_SIZE_OF_ALL, MAYHAP, &[KEY, SOURCES])).keys(KeyPositions::ALL),
    row("bf.estimate", Arity::exactly(2), BLOOM_SLOW.with(Flags::WHOLE_FILTER), |args| Ok(args.query(bf::Estimate)),
        ("Estimates the number of items and the error rate of a Bloom filter from its bits.", PER_SIZE, MAYHAP, &[KEY])),
    row("bf.window", Arity::exactly(5), BLOOM_CREATE, |args| Ok(args.write(bf::Reserve::parse_window(args)?)),
        ("Creates an empty Bloom filter that forgets items after some seconds.", CONSTANT, MAYHAP, &[KEY, ERROR_RATE, CAPACITY, SECONDS])),
    row("cf.reserve", Arity::at_least(3), CUCKOO_CREATE, |args| Ok(args.write(cf::Reserve::parse(args)?)),
        ("Creates an empty cuckoo filter.", CONSTANT, REDISBLOOM, &[KEY, CAPACITY, BUCKET_SIZE, MAX_ITERATIONS, EXPANSION_OPTION, ERROR_OPTION])),
    row("cf.add", Arity::exactly(3), CUCKOO_WRITE, |args| Ok(args.write(cf::Add::parse(args))),
        ("Adds an item to a cuckoo filter, which is created if it is missing.", PER_TABLE_AND_ITERATION, REDISBLOOM, &[KEY, ITEM])),
    row("cf.addnx", Arity::exactly(3), CUCKOO_WRITE, |args| Ok(args.write(cf::Add::parse_nx(args))),
        ("Adds an item to a cuckoo filter if it does not seem to contain it.", PER_TABLE_AND_ITERATION, REDISBLOOM, &[KEY, ITEM])),
    row("cf.insert", Arity::at_least(4), CUCKOO_WRITE, |args| Ok(args.write(cf::Insert::parse(args)?)),
        ("Adds items to a cuckoo filter, which is created with these options if it is missing.", PER_ITEM_TABLE_AND_ITERATION, REDISBLOOM, &[KEY, CAPACITY_OPTION, NO_CREATE, ITEMS, MANY_ITEMS])),
    row("cf.insertnx", Arity::at_least(4), CUCKOO_WRITE, |args| Ok(args.write(cf::Insert::parse_nx(args)?)),
        ("Adds the items to a cuckoo filter that it does not seem to contain.", PER_ITEM_TABLE_AND_ITERATION, REDISBLOOM, &[KEY, CAPACITY_OPTION, NO_CREATE, ITEMS, MANY_ITEMS])),
    row("cf.exists", Arity::exactly(3), CUCKOO_READ, |args| Ok(args.query(cf::Exists::parse(args))),
        ("Returns whether an item may be in a cuckoo filter.", PER_TABLE, REDISBLOOM, &[KEY, ITEM])),
    row("cf.mexists", Arity::at_least(3), CUCKOO_READ, |args| Ok(args.query(cf::Mexists::parse(args))),
        ("Returns for each item whether it may be in a cuckoo filter.", PER_ITEM_AND_TABLE, REDISBLOOM, &[KEY, MANY_ITEMS])),
    row("cf.count", Arity::exactly(3), CUCKOO_READ, |args| Ok(args.query(cf::Count::parse(args))),
        ("Returns how often an item may be in a cuckoo filter.", PER_TABLE, REDISBLOOM, &[KEY, ITEM])),
    row("cf.del", Arity::exactly(3), CUCKOO_REMOVE, |args| Ok(args.write(cf::Del::parse(args))),
        ("Removes an item from a cuckoo filter once.", PER_TABLE, REDISBLOOM, &[KEY, ITEM])),
    row("cf.compact", Arity::exactly(2).reported_as(-1), CUCKOO_READ.with(Flags::UNDECLARED_WRITE).with(Flags::WHOLE_FILTER), |args| Ok(args.write(cf::Compact)),
        ("Moves the items of a cuckoo filter into fewer tables.", PER_SIZE, REDISBLOOM, &[KEY])),
    row("cf.info", Arity::exactly(2), CUCKOO_INFO, |args| Ok(args.query(cf::Info)),
        ("Returns information about a cuckoo filter.", CONSTANT, REDISBLOOM, &[KEY])),
    row("cf.debug", Arity::exactly(2), CUCKOO_READ, |args| Ok(args.query(cf::Debug)),
        ("Returns information about a cuckoo filter in one line.", CONSTANT, REDISBLOOM, &[KEY])),
    row("cf.scandump", Arity::exactly(3), CUCKOO_READ, |args| Ok(args.query(cf::Scandump::parse(args))),
        ("Returns the next chunk of a cuckoo filter.", PER_CHUNK, REDISBLOOM, &[KEY, ITERATOR])),
    row("cf.loadchunk", Arity::exactly(4), CUCKOO_WRITE.with(Flags::LARGE_ARGUMENT), |args| Ok(args.write(cf::Loadchunk::parse(args))),
        ("Loads a chunk of a cuckoo filter.", PER_CHUNK, REDISBLOOM, &[KEY, ITERATOR, DATA])),
    row("cbf.reserve", Arity::exactly(4), BLOOM_CREATE, |args| Ok(args.write(cbf::Reserve::parse(args)?)),
        ("Creates an empty counting Bloom filter.", CONSTANT, MAYHAP, &[KEY, ERROR_RATE, CAPACITY])),
    row("cbf.add", Arity::exactly(3), BLOOM_WRITE, |args| Ok(args.write(cbf::Add::parse(args))),
        ("Adds an item to a counting Bloom filter once more.", PER_HASH, MAYHAP, &[KEY, ITEM])),
    row("cbf.madd", Arity::at_least(3), BLOOM_WRITE, |args| Ok(args.write(cbf::Madd::parse(args))),
        ("Adds each item to a counting Bloom filter once more.", PER_HASH_AND_ITEM, MAYHAP, &[KEY, MANY_ITEMS])),
    row("cbf.del", Arity::exactly(3), BLOOM_REMOVE, |args| Ok(args.write(cbf::Del::parse(args))),
        ("Removes an item from a counting Bloom filter once.", PER_HASH, MAYHAP, &[KEY, ITEM])),
    row("cbf.count", Arity::exactly(3), BLOOM_READ, |args| Ok(args.query(cbf::Count::parse(args))),
        ("Returns how often an item was added to a counting Bloom filter, or more.", PER_HASH, MAYHAP, &[KEY, ITEM])),
    row("cbf.exists", Arity::exactly(3), BLOOM_READ, |args| Ok(args.query(cbf::Exists::parse(args))),
        ("Returns whether an item may be in a counting Bloom filter.", PER_HASH, MAYHAP, &[KEY, ITEM])),
    row("cbf.mexists", Arity::at_least(3), BLOOM_READ, |args| Ok(args.query(cbf::Mexists::parse(args))),
        ("Returns for each item whether it may be in a counting Bloom filter.", PER_HASH_AND_ITEM, MAYHAP, &[KEY, MANY_ITEMS])),
    row("cbf.info", Arity::exactly(2), BLOOM_SLOW.with(Flags::WHOLE_FILTER), |args| Ok(args.query(cbf::Info)),
        ("Returns information about a counting Bloom filter.", PER_SIZE, MAYHAP, &[KEY])),
    row("mayhap.file", Arity::exactly(2), ANY_SLOW.with(Flags::WHOLE_FILTER), |args| Ok(args.query(mayhap::File)),
        ("Returns a filter as the bytes of a file, without the secret of its hash.", PER_SIZE, MAYHAP, &[KEY])),
    row("mayhap.load", Arity::between(3, 4), ANY_WRITE.with(Flags::LARGE_ARGUMENT), |args| Ok(args.write(mayhap::Load::parse(args)?)),
        ("Loads a whole filter, as replicated or as returned by MAYHAP.FILE, into a missing key, or with REPLACE into any key.", PER_SIZE, MAYHAP, &[KEY, DATA, REPLACE])),
    row("mayhap.at", Arity::at_least(4), ANY_WRITE.with(Flags::LARGE_ARGUMENT).with(Flags::WHOLE_FILTER), |args| mayhap::At::parse(args),
        ("Runs a command as if at that time, in milliseconds since 1970. Used in logs and replication.", AS_CARRIED, MAYHAP, &[UNIX_TIME, COMMAND, KEY, COMMAND_ARGUMENTS])).keys(KeyPositions::at(3)).carries(2),
];

/// Buckets of the hash table of names: a power of two, large enough that most names are in the bucket that they hash to.
const BUCKETS: usize = 256;
const EMPTY: u8 = u8::MAX;

/// The index of each command in `COMMANDS`, by the hash of its name.
static BY_NAME: [u8; BUCKETS] = {
    let mut buckets = [EMPTY; BUCKETS];
    let mut number = 0;
    while number < COMMANDS.len() {
        let mut at = hash(COMMANDS[number].spec.name.as_bytes());
        while buckets[at] != EMPTY {
            at = (at + 1) % BUCKETS;
        }
        buckets[at] = number as u8;
        number += 1;
    }
    buckets
};

/// Hashes the length of a name and four of its letters, ignoring case. Few names collide.
const fn hash(name: &[u8]) -> usize {
    if name.len() < 4 {
        return 0;
    }
    let last = name.len() - 1;
    let letters = [name[0], name[3], name[4 * last / 8], name[last]];
    let letters = u32::from_le_bytes(letters) | 0x2020_2020;
    let hash = (letters ^ (name.len() as u32) << 9).wrapping_mul(0x9e37_79b1);
    (hash >> 24) as usize % BUCKETS
}

/// The length of the longest name, or more.
const MAX_NAME: usize = 16;

/// Finds a command by its name, ignoring case.
pub fn find(name: &[u8]) -> Option<&'static FilterCommand> {
    if name.len() > MAX_NAME {
        return None;
    }
    let mut at = hash(name);
    loop {
        let command = COMMANDS.get(usize::from(BY_NAME[at]))?;
        if name.eq_ignore_ascii_case(command.spec.name.as_bytes()) {
            return Some(command);
        }
        at = (at + 1) % BUCKETS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: impl AsRef<[u8]>) -> Option<&'static str> {
        find(name.as_ref()).map(|command| command.spec.name)
    }

    #[test]
    fn every_command_is_found_in_any_case_and_nothing_else_is() {
        for FilterCommand { spec, .. } in &COMMANDS {
            let name = spec.name;
            assert_eq!(found(name), Some(name));
            assert_eq!(found(name.to_uppercase()), Some(name));
            assert!(name.len() <= MAX_NAME);
            assert_eq!(found(format!("{name}x")), None);
            assert_eq!(found(&name[2..]), None);
        }
        for other in [
            "",
            "get",
            "bf.",
            "bf.adc",
            "BF\u{e}ADD",
            "a name that is longer than any",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn arity_flags_categories_and_keys_are_those_of_the_contract() {
        let spec = |name: &str| find(name.as_bytes()).expect("a command").spec;
        let arity = |name: &str| spec(name).arity.reported();
        assert_eq!((arity("bf.add"), arity("bf.exists")), (3, 3));
        assert_eq!((arity("bf.reserve"), arity("cf.compact")), (-4, -1));
        let flags = |name: &str| spec(name).flags.names().collect::<Vec<_>>();
        assert_eq!(flags("cf.del"), ["write", "module", "fast"]);
        assert_eq!(flags("cf.compact"), ["readonly", "module", "fast"]);
        assert!(spec("cf.compact").writes() && !spec("cf.exists").writes());
        let categories = spec("cf.reserve").categories.names();
        assert!(categories.eq(["write", "fast", "cuckoo"]));
        assert_eq!(spec("bf.merge").keys, KeyPositions::ALL);
    }

    #[test]
    fn commands_that_reach_every_family_are_in_the_category_of_none() {
        let carries = |command: &&FilterCommand| command.carried_command.is_some();
        let carriers: Vec<_> = COMMANDS.iter().filter(carries).collect();
        assert_eq!(carriers.len(), 1);
        assert_eq!(carriers[0].spec.name, "mayhap.at");
        for FilterCommand { spec, .. } in &COMMANDS {
            let (family, _) = spec.name.split_once('.').expect("a family");
            let is_in = |category| spec.categories.contains(category);
            let in_families = (is_in(Categories::BLOOM), is_in(Categories::CUCKOO));
            let expected = (matches!(family, "bf" | "cbf"), family == "cf");
            assert_eq!(in_families, expected, "{}", spec.name);
        }
    }
}
