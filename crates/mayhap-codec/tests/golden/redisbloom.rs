//! RedisBloom: filters made by commands, their SCANDUMP and their DUMP.

use crate::case::{Case, CaseError, Fields, from_hex, indices, same};
use mayhap_codec::Limits;
use mayhap_codec::redis::{Bloom, Cuckoo, Filter, bloom, cuckoo, dump};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};

/// The version of RDB of the engine that wrote the dumps, and of the older one that gave the other trailer.
const RDB: u16 = 12;
const OLDER_RDB: u16 = 10;

/// What `MEMORY USAGE` adds for a key of one letter.
const KEY_OVERHEAD: u64 = 32;

/// How many keys are counted.
const COUNTED: usize = 2000;

pub(crate) fn check(case: &mut Case) -> Result<(), CaseError> {
    // Remarks on how the case came about, for readers.
    case.ignore(&["note", "made_with"]);
    let family = case.text("family")?;
    let name = case.text("key_name_in_setup")?;
    let (mut ours, mut used) = Made::by_setup(&family, &name, &case.list("setup")?)?;
    for step in case.list("steps")? {
        used.extend(ours.step(step)?);
    }
    let filter = ours.filter()?;
    let ours = match filter {
        Filter::Bloom(_) => "BF",
        Filter::Cuckoo(_) => "CF",
    };
    same("family", &ours, &family.as_str())?;
    same("info", &info(&filter), &case.take("info")?)?;
    same("debug", &debug(&filter), &case.take("debug")?)?;
    let memory = size_bytes(&filter) + KEY_OVERHEAD;
    same("memory usage", &memory, &case.u64("memory_usage")?)?;

    let (chunks, dumped) = (encode(&filter), filter.dump(RDB));
    let loaded = check_scandump(case, &filter, &chunks)?;
    let restored = check_dump(case, &dumped)?;
    same("the filter from its chunks", &loaded, &filter)?;
    same("the filter from its dump", &restored, &filter)?;
    check_older_trailer(case, &filter, &dumped)?;

    let absent = keys(case.take("absent_rule")?)?;
    let positives = indices(&case.take("false_positives")?)?;
    for filter in [&loaded, &restored] {
        let numbered = absent.iter().filter(|(_, key)| filter.contains(key));
        let found: Vec<u64> = numbered.map(|(number, _)| *number).collect();
        same("false positives", &found, &positives)?;
    }
    if let (Filter::Cuckoo(loaded), Filter::Cuckoo(restored)) = (&loaded, &restored) {
        let counted = case.take("count_of_first_2000_distinct_keys")?;
        let counted_absent = case.take("count_of_absent")?;
        for filter in [loaded, restored] {
            check_counts(filter, &used, &absent, &counted, &counted_absent)?;
        }
    } else {
        // A Bloom filter that refused a key has failed above.
        let missing = used.iter().filter(|key| !loaded.contains(key)).count();
        same("missing keys", &missing, &0)?;
    }
    Ok(())
}

/// A filter that commands have made, if one of them has, and its family.
struct Made {
    filter: Option<Filter>,
    family: String,
}

impl Made {
    /// The filter, and the items that were put into it on the way.
    fn by_setup(
        family: &str,
        name: &str,
        setup: &[Value],
    ) -> Result<(Self, Vec<Vec<u8>>), CaseError> {
        let (mut made, mut used) = (None, Vec::new());
        for command in setup {
            let words: Option<Vec<&str>> = command
                .as_array()
                .and_then(|words| words.iter().map(Value::as_str).collect());
            let words = words.ok_or_else(|| CaseError::new(format!("{command} is no command")))?;
            let [command, key, rest @ ..] = words.as_slice() else {
                return Err(CaseError::new("a command without a key"));
            };
            same("key of a command", key, &name)?;
            if let Some(options) = InsertOptions::parse(command, rest)? {
                let mut filter = options.filter(made)?;
                for item in options.items {
                    if let Filter::Bloom(filter) = &mut filter {
                        used.push(item.as_bytes().to_vec());
                        filter.try_insert(item.as_bytes())?;
                    }
                }
                made = Some(filter);
            } else {
                made = Some(run(command, rest, made)?);
            }
        }
        let (filter, family) = (made, family.to_owned());
        Ok((Self { filter, family }, used))
    }

    /// The filter, made as a command makes it that finds none.
    fn filter(self) -> Result<Filter, CaseError> {
        Ok(match (self.filter, self.family.as_str()) {
            (Some(filter), _) => filter,
            (None, "BF") => {
                let (error, capacity, expansion) = Bloom::DEFAULTS;
                Filter::Bloom(Bloom::reserve(error, capacity, Some(expansion))?)
            }
            (None, "CF") => {
                let (capacity, bucket_size, iterations, expansion) = Cuckoo::DEFAULTS;
                let filter = Cuckoo::reserve(capacity, bucket_size, iterations, expansion)?;
                Filter::Cuckoo(filter)
            }
            (None, other) => return Err(CaseError::new(format!("family {other} is not known"))),
        })
    }

    /// Applies a command to its keys, which it returns. Options stand behind its name.
    fn step(&mut self, step: Value) -> Result<Vec<Vec<u8>>, CaseError> {
        let mut step = Fields::new("a step", step)?;
        let command = step.text("op")?;
        let (command, options) = command.split_once(' ').unwrap_or((&command, ""));
        let made = self.filter.take();
        let mut options: Vec<&str> = options.split_whitespace().collect();
        let mut filter = if options.is_empty() {
            let family = self.family.clone();
            let filter = made;
            Self { filter, family }.filter()?
        } else {
            // The keys are its items.
            if options.last().is_none_or(|last| !is(last, "ITEMS")) {
                options.push("ITEMS");
            }
            match InsertOptions::parse(command, &options)? {
                Some(options) => options.filter(made)?,
                None => return Err(CaseError::new(format!("{command} has no options here"))),
            }
        };
        let keys = keys(step.take("keys")?)?;
        let mut odd = Vec::new();
        for (number, key) in &keys {
            let reply = apply(&mut filter, command, key)?;
            if reply != 1 {
                odd.push(json!([number, reply]));
            }
        }
        same("replies that are not 1", &odd, &step.list("replies_not_1")?)?;
        step.finish()?;
        self.filter = Some(filter);
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }
}

fn apply(filter: &mut Filter, command: &str, key: &[u8]) -> Result<i64, CaseError> {
    Ok(match (filter, command) {
        (Filter::Bloom(filter), "BF.ADD" | "BF.MADD" | "BF.INSERT") => {
            i64::from(filter.try_insert(key)?)
        }
        (Filter::Cuckoo(filter), "CF.ADD" | "CF.INSERT") => {
            filter.try_insert(key).map_or(-1, |()| 1)
        }
        (Filter::Cuckoo(filter), "CF.ADDNX" | "CF.INSERTNX") => {
            filter.insert_if_absent(key).map_or(-1, i64::from)
        }
        (Filter::Cuckoo(filter), "CF.DEL") => i64::from(filter.remove(key)),
        _ => return Err(CaseError::new(format!("command {command} is not known"))),
    })
}

fn is(word: &str, name: &str) -> bool {
    word.eq_ignore_ascii_case(name)
}

/// `BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item ..`
struct InsertOptions<'w> {
    error: f64,
    capacity: u64,
    expansion: u32,
    creates: bool,
    is_fixed: bool,
    items: &'w [&'w str],
}

impl<'w> InsertOptions<'w> {
    /// `None` for other commands.
    fn parse(command: &str, words: &'w [&'w str]) -> Result<Option<Self>, CaseError> {
        if command != "BF.INSERT" {
            return Ok(None);
        }
        let (error, capacity, expansion) = Bloom::DEFAULTS;
        let mut options = Self {
            error,
            capacity,
            expansion,
            creates: true,
            is_fixed: false,
            items: &[],
        };
        let mut rest = words;
        loop {
            match rest {
                [items, rest @ ..] if is(items, "ITEMS") => {
                    options.items = rest;
                    return Ok(Some(options));
                }
                [name, value, after @ ..] if is(name, "CAPACITY") => {
                    options.capacity = value.parse()?;
                    rest = after;
                }
                [name, value, after @ ..] if is(name, "ERROR") => {
                    options.error = value.parse()?;
                    rest = after;
                }
                [name, value, after @ ..] if is(name, "EXPANSION") => {
                    options.expansion = value.parse()?;
                    rest = after;
                }
                [name, after @ ..] if is(name, "NOCREATE") => {
                    options.creates = false;
                    rest = after;
                }
                [name, after @ ..] if is(name, "NONSCALING") => {
                    options.is_fixed = true;
                    rest = after;
                }
                [word, ..] => return Err(CaseError::new(format!("option {word} is not known"))),
                [] => return Err(CaseError::new("BF.INSERT without ITEMS")),
            }
        }
    }

    /// The filter that is there, or a new one. Options matter to a new one only.
    fn filter(&self, made: Option<Filter>) -> Result<Filter, CaseError> {
        let (error, capacity, expansion) = (self.error, self.capacity, self.expansion);
        Ok(match made {
            Some(filter @ Filter::Bloom(_)) => filter,
            Some(_) => return Err(CaseError::new("BF.INSERT into a cuckoo filter")),
            None if !self.creates => return Err(CaseError::new("NOCREATE, and no filter")),
            None if self.is_fixed => {
                let most = Limits::default().max_bytes;
                let filter = Bloom::reserve_fixed_within(error, capacity, expansion, most)?;
                Filter::Bloom(filter)
            }
            None => Filter::Bloom(Bloom::reserve(error, capacity, Some(expansion))?),
        })
    }
}

/// A command of a setup.
fn run(command: &str, words: &[&str], made: Option<Filter>) -> Result<Filter, CaseError> {
    let option = |name: &str| -> Result<Option<u32>, CaseError> {
        let at = words.iter().position(|word| *word == name);
        let value = at.and_then(|at| words.get(at + 1));
        Ok(value.map(|value| value.parse()).transpose()?)
    };
    let known = ["EXPANSION", "NONSCALING", "BUCKETSIZE", "MAXITERATIONS"];
    let unknown = words.iter().find(|word| {
        let is_name = word.starts_with(|first: char| first.is_ascii_uppercase());
        command.ends_with("RESERVE") && is_name && !known.contains(word)
    });
    if let Some(word) = unknown {
        return Err(CaseError::new(format!("option {word} is not known")));
    }
    Ok(match (command, words, made) {
        ("BF.RESERVE", [error, capacity, ..], None) => {
            let expansion = match option("EXPANSION")? {
                _ if words.contains(&"NONSCALING") => None,
                given => given.or(Some(Bloom::DEFAULTS.2)),
            };
            Filter::Bloom(Bloom::reserve(
                error.parse()?,
                capacity.parse()?,
                expansion,
            )?)
        }
        ("CF.RESERVE", [capacity, ..], None) => {
            let (_, bucket_size, iterations, expansion) = Cuckoo::DEFAULTS;
            let bucket_size = option("BUCKETSIZE")?.unwrap_or(bucket_size.into());
            let iterations = option("MAXITERATIONS")?.unwrap_or(iterations.into());
            let expansion = option("EXPANSION")?.unwrap_or(expansion.into());
            Filter::Cuckoo(Cuckoo::reserve(
                capacity.parse()?,
                bucket_size.try_into()?,
                iterations.try_into()?,
                expansion.try_into()?,
            )?)
        }
        ("BF.LOADCHUNK", ["1", header], None) => {
            Filter::Bloom(Bloom::from_header(&from_hex(header)?, Limits::default())?)
        }
        ("CF.LOADCHUNK", ["1", header], None) => {
            Filter::Cuckoo(Cuckoo::from_header(&from_hex(header)?, Limits::default())?)
        }
        ("BF.LOADCHUNK", [iterator, chunk], Some(Filter::Bloom(mut filter))) => {
            filter.load_chunk(iterator.parse()?, &from_hex(chunk)?)?;
            Filter::Bloom(filter)
        }
        ("CF.LOADCHUNK", [iterator, chunk], Some(Filter::Cuckoo(mut filter))) => {
            filter.load_chunk(iterator.parse()?, &from_hex(chunk)?)?;
            Filter::Cuckoo(filter)
        }
        _ => return Err(CaseError::new(format!("{command} {words:?} is not known"))),
    })
}

/// The keys of a rule of this dialect, with their numbers.
fn keys(rule: Value) -> Result<Vec<(u64, Vec<u8>)>, CaseError> {
    let mut rule = Fields::new("a rule", rule)?;
    let kind = rule.text("rule")?;
    let start = rule.maybe("start").and_then(|start| start.as_u64());
    let count = rule.u64("count")?;
    let prefix = match kind.as_str() {
        "prefix" => rule.text("prefix")?,
        "le64" | "tail" => String::new(),
        other => return Err(CaseError::new(format!("rule {other} is not known"))),
    };
    rule.finish()?;
    let key = |i: u64| match kind.as_str() {
        "prefix" => format!("{prefix}{i}").into_bytes(),
        "le64" => i.to_le_bytes().to_vec(),
        _ => (0..i).map(|j| ((31 * i + 7 * j) % 256) as u8).collect(),
    };
    let start = start.unwrap_or(0);
    Ok((start..start + count).map(|i| (i, key(i))).collect())
}

fn info(filter: &Filter) -> Value {
    match filter {
        Filter::Bloom(filter) => {
            let info = filter.info();
            json!([
                "Capacity",
                info.capacity,
                "Size",
                info.size_bytes,
                "Number of filters",
                info.layers,
                "Number of items inserted",
                info.items,
                "Expansion rate",
                info.expansion,
            ])
        }
        Filter::Cuckoo(filter) => {
            let info = filter.info();
            json!([
                "Size",
                info.size_bytes,
                "Number of buckets",
                info.buckets,
                "Number of filters",
                info.tables,
                "Number of items inserted",
                info.items,
                "Number of items deleted",
                info.deleted,
                "Bucket size",
                info.bucket_size,
                "Expansion rate",
                info.expansion,
                "Max iterations",
                info.max_iterations,
            ])
        }
    }
}

fn debug(filter: &Filter) -> Value {
    match filter {
        Filter::Bloom(filter) => json!(filter.debug_lines()),
        Filter::Cuckoo(filter) => json!(filter.debug_line()),
    }
}

fn size_bytes(filter: &Filter) -> u64 {
    match filter {
        Filter::Bloom(filter) => filter.info().size_bytes,
        Filter::Cuckoo(filter) => filter.info().size_bytes,
    }
}

fn encode(filter: &Filter) -> Vec<u8> {
    match filter {
        Filter::Bloom(filter) => bloom::encode(filter),
        Filter::Cuckoo(filter) => cuckoo::encode(filter),
    }
}

fn scan(filter: &Filter, iterator: i64) -> Option<(i64, Vec<u8>)> {
    match filter {
        Filter::Bloom(filter) => filter.scan(iterator),
        Filter::Cuckoo(filter) => filter.scan(iterator),
    }
}

/// The chunks are ours, one by one and end to end; the filter that they load is returned.
fn check_scandump(case: &mut Case, filter: &Filter, ours: &[u8]) -> Result<Filter, CaseError> {
    let mut scandump = case.fields("scandump")?;
    let (chunks, terminator) = (scandump.list("chunks")?, scandump.take("terminator")?);
    let theirs = case.file_of(&mut scandump, "file")?;
    check_digest(&mut scandump, &theirs)?;
    scandump.finish()?;

    let (mut iterator, mut loaded) = (0, None);
    for chunk in chunks {
        let mut chunk = Fields::new("a chunk", chunk)?;
        let (offset, length) = (chunk.u64("offset")?, chunk.u64("length")?);
        let bytes = theirs.get(offset as usize..(offset + length) as usize);
        let bytes = bytes.ok_or_else(|| CaseError::new("a chunk outside of its file"))?;
        let next = chunk.i64("iter")?;
        chunk.finish()?;
        same(
            "chunk",
            &scan(filter, iterator),
            &Some((next, bytes.to_vec())),
        )?;
        loaded = Some(load(filter, loaded, next, bytes)?);
        iterator = next;
    }
    same("chunk after the last", &scan(filter, iterator), &None)?;
    let end = match filter {
        Filter::Bloom(_) => json!([0, ""]),
        Filter::Cuckoo(_) => json!([0, null]),
    };
    same("terminator", &end, &terminator)?;

    let Some(loaded) = loaded else {
        // A cuckoo filter without keys has no SCANDUMP.
        same("bytes of no chunks", &theirs.len(), &0)?;
        return Ok(filter.clone());
    };
    same("chunks end to end", &ours, &theirs.as_slice())?;
    let decoded = match filter {
        Filter::Bloom(_) => Filter::Bloom(bloom::decode(&theirs)?),
        Filter::Cuckoo(_) => Filter::Cuckoo(cuckoo::decode(&theirs)?),
    };
    same("the decoded chunks", &decoded, &loaded)?;
    same("chunks of the loaded filter", &encode(&loaded), &theirs)?;
    Ok(loaded)
}

/// LOADCHUNK.
fn load(
    like: &Filter,
    loaded: Option<Filter>,
    iterator: i64,
    chunk: &[u8],
) -> Result<Filter, CaseError> {
    let limits = Limits::default();
    Ok(match (loaded, like) {
        (None, Filter::Bloom(_)) => Filter::Bloom(Bloom::from_header(chunk, limits)?),
        (None, Filter::Cuckoo(_)) => Filter::Cuckoo(Cuckoo::from_header(chunk, limits)?),
        (Some(Filter::Bloom(mut filter)), _) => {
            filter.load_chunk(iterator, chunk)?;
            Filter::Bloom(filter)
        }
        (Some(Filter::Cuckoo(mut filter)), _) => {
            filter.load_chunk(iterator, chunk)?;
            Filter::Cuckoo(filter)
        }
    })
}

/// The file is the one that the case was made with.
fn check_digest(fields: &mut Fields, file: &[u8]) -> Result<(), CaseError> {
    let digest = Sha256::digest(file).to_vec();
    same("sha256", &digest, &from_hex(&fields.text("sha256")?)?)
}

/// The dump is ours; the filter that it restores is returned.
fn check_dump(case: &mut Case, ours: &[u8]) -> Result<Filter, CaseError> {
    let mut fields = case.fields("dump")?;
    let theirs = case.file_of(&mut fields, "file")?;
    check_digest(&mut fields, &theirs)?;
    same(
        "length of the dump",
        &(ours.len() as u64),
        &fields.u64("length")?,
    )?;
    fields.finish()?;
    same("dump", &ours, &theirs.as_slice())?;
    let restored = dump::decode(&theirs, Limits::default())?;
    same("dump of the restored filter", &restored.dump(RDB), &theirs)?;
    Ok(restored)
}

/// An older engine writes the same but for the trailer.
fn check_older_trailer(case: &mut Case, filter: &Filter, dumped: &[u8]) -> Result<(), CaseError> {
    let Some(older) = case.maybe("dump_rdb10") else {
        return Ok(());
    };
    let mut older = Fields::new("dump_rdb10", older)?;
    older.ignore(&["note"]);
    let trailer = from_hex(&older.text("trailer_hex")?)?;
    older.finish()?;
    let mut expected = dumped[..dumped.len() - trailer.len()].to_vec();
    expected.extend(trailer);
    same(
        "dump for an older engine",
        &filter.dump(OLDER_RDB),
        &expected,
    )?;
    same(
        "the filter from it",
        &dump::decode(&expected, Limits::default())?,
        filter,
    )
}

fn check_counts(
    filter: &Cuckoo,
    used: &[Vec<u8>],
    absent: &[(u64, Vec<u8>)],
    counted: &Value,
    counted_absent: &Value,
) -> Result<(), CaseError> {
    let mut seen = HashSet::new();
    let distinct = used.iter().filter(|key| seen.insert(*key)).take(COUNTED);
    let counts: Vec<u64> = distinct.map(|key| filter.count(key)).collect();
    same("counts", &json!(counts), counted)?;
    let counts: BTreeMap<String, u64> = absent
        .iter()
        .map(|(number, key)| (number.to_string(), filter.count(key)))
        .filter(|(_, count)| *count > 0)
        .collect();
    same("counts of absent keys", &json!(counts), counted_absent)
}
