//! The command line: subcommands, flags, and the parsers of their values. The codec has those of counts, sizes and rates.

use crate::{
    add_remove, build, check, index, info, join, man_pages, merge, migrate, named_values, page,
    serve, uniq, verify, which,
};
use clap::{Args, Parser, Subcommand};
use mayhap_codec::values::split_unit;
pub(crate) use mayhap_codec::values::{bytes, count, rate};
use mayhap_core::Kind;
use std::path::PathBuf;
use std::time::Duration;

/// Membership filters at memory speed: "definitely not", or "mayhap".
#[derive(Parser, Debug)]
#[command(name = "mayhap", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CliCommand {
    /// Build a filter from keys, one per line
    #[command(after_help = build::EXAMPLES)]
    Build(build::BuildArgs),
    /// Print the lines that may be in a filter
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckArgs),
    /// Insert keys into a filter
    #[command(after_help = add_remove::ADD_EXAMPLES)]
    Add(add_remove::AddArgs),
    /// Remove keys from a counting or cuckoo filter
    #[command(after_help = add_remove::REMOVE_EXAMPLES)]
    Remove(add_remove::ChangeArgs),
    /// Print each line the first time it is seen
    #[command(after_help = uniq::EXAMPLES)]
    Uniq(uniq::UniqArgs),
    /// Show what a filter is, how full it is and its false-positive rate, in any format
    #[command(after_help = info::EXAMPLES)]
    Info(info::InfoArgs),
    /// Recommend a kind of filter, and compute its size, rate or capacity
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Merge filters into their union
    #[command(after_help = merge::MERGE_EXAMPLES)]
    Merge(merge::MergeArgs),
    /// Convert a filter to another format
    #[command(after_help = merge::CONVERT_EXAMPLES)]
    Convert(merge::ConvertArgs),
    /// Check every checksum of a file, and repair a damaged one
    #[command(after_help = verify::EXAMPLES)]
    Verify(verify::VerifyArgs),
    /// Halve a Bloom filter that is too large
    #[command(after_help = merge::FOLD_EXAMPLES)]
    Fold(merge::FoldArgs),
    /// Print the rows of a table that may match a smaller table (Bloom join)
    #[command(after_help = join::EXAMPLES)]
    Join(join::JoinArgs),
    /// Index files, to find out which of them may hold a key
    #[command(after_help = index::EXAMPLES)]
    Index(index::IndexArgs),
    /// Print the files that may hold a key
    #[command(after_help = which::EXAMPLES)]
    Which(which::WhichArgs),
    /// Move filters from RedisBloom or mayhap to another server
    #[command(after_help = migrate::EXAMPLES)]
    Migrate(migrate::MigrateArgs),
    /// Serve filters to Redis clients
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeArgs),
    /// Write the web page as one file: plan filters and look into files without a server
    #[command(after_help = page::EXAMPLES)]
    Page(page::PageArgs),
    /// Measure every kind of filter on this machine, relative to memory speed
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(BenchArgs),
    /// Print a completion script for a shell
    #[command(after_help = man_pages::COMPLETIONS_EXAMPLES)]
    Completions(man_pages::CompletionsArgs),
    /// Print the manual page
    #[command(after_help = man_pages::MAN_EXAMPLES)]
    Man(man_pages::ManArgs),
}

const EXAMPLES: &str = "\
Examples:
  mayhap build -o seen.mayhap urls.txt      build a filter from lines
  mayhap check seen.mayhap more.txt         print the lines that may be in it
  mayhap uniq urls.txt                      print each line once, without sorting
  mayhap join --left few.csv --right many.csv --on id   print the rows that may match
  mayhap index --column id -o ids.idx data/     index a folder; `mayhap which ids.idx KEY` names the files
  mayhap info users.guava dump.rdb          describe filters of any format
  mayhap plan --keys 10M --fpr 0.1%         compute the memory for ten million keys
  mayhap bench                              measure filters on this machine

Exit status: 0 success, 1 nothing found, 2 error.";

const BENCH_EXAMPLES: &str = "\
Examples:
  mayhap bench                            every kind; takes two minutes
  mayhap bench --kind bloom               100k to 100M keys; takes half a minute
  mayhap bench --kind bloom --keys 1e9    a billion keys
  mayhap bench --kind fuse,ribbon --keys 10k,1M --fpr 5%,0.4%
  mayhap bench --json > today.jsonl       one object per line, times in ns per key

Rounds of queries alternate with rounds of plain memory loads; the best round of each is reported. \"chased\"
is a load that depends on the previous one. \"fetched\" prefetches the lines of a key and does nothing else,
so no batch query can be faster. All answers are verified; a wrong answer ends with status 2.";

const PLAN_EXAMPLES: &str = "\
Examples:
  mayhap plan --keys 10M --fpr 1%         how much memory?
  mayhap plan --keys 10M --memory 64MiB   which false-positive rate?
  mayhap plan --memory 1.5GB --fpr 0.001  how many keys fit?
  mayhap plan --keys 10M --fpr 1% --delete              keys will be removed later
  mayhap plan --keys 10M --fpr 1% --static --except 1M  a fixed set; a million keys must never match
  mayhap plan --keys 1e9 --fpr 1e-4 --json
  mayhap plan --keys 1M --fpr 1% --plot kinds.svg       plot the bits per key of every kind
  mayhap plan --keys 1M --fpr 1% --cost-skip 0.001 --cost-lookup 5 --present 0.1
  mayhap plan --keys 1M --cost-skip 0.001 --cost-lookup 5 --present 0.1 --cost-gib 3e6

Without --delete, --grow, --window or --static, keys are only added, about as many as --keys.
All costs must have the same unit, for example milliseconds or cents. The best rate is the one with the lowest
total cost of lookups and memory.
MB and GB are powers of 1000, MiB and GiB powers of 1024.";

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Kinds of filter to measure [default: all]
    #[arg(long, value_name = "K,..", value_delimiter = ',', value_parser = named_values::kind())]
    pub(crate) kind: Option<Vec<Kind>>,
    /// How many keys, as 1000000, 10k, 100M or 1e9 [default: 100k,1M,10M,100M for bloom, 1M,10M for others]
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = count,
          allow_negative_numbers = true)]
    pub(crate) keys: Option<Vec<u64>>,
    /// False-positive rates, as 0.01 or 1% [default: 1%,0.1% for bloom, 1% for others]
    #[arg(long, value_name = "P,..", value_delimiter = ',', value_parser = rate,
          allow_negative_numbers = true)]
    pub(crate) fpr: Option<Vec<f64>>,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// At least two of the first three are required; the subcommand checks this itself, to report it in one line.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct PlanArgs {
    /// How many keys, as 1000000, 10k, 100M or 1e9
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) keys: Option<u64>,
    /// False-positive rate, as 0.01 or 1%
    #[arg(long, value_name = "P", value_parser = rate, allow_negative_numbers = true)]
    pub(crate) fpr: Option<f64>,
    /// Maximum size of the filter, as 64MiB, 1.5GB or 1e6
    #[arg(long, value_name = "B", value_parser = bytes, allow_negative_numbers = true)]
    pub(crate) memory: Option<u64>,
    /// Keys will be removed later
    #[arg(long)]
    pub(crate) delete: bool,
    /// --keys is only an estimate: there may be many more
    #[arg(long)]
    pub(crate) grow: bool,
    /// Keys expire after a while; --keys is the number per window
    #[arg(long)]
    pub(crate) window: bool,
    /// All keys are known before the filter is built
    #[arg(long = "static")]
    pub(crate) fixed: bool,
    /// Number of known keys that must never be false positives
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) except: Option<u64>,
    /// Cost of a lookup that the filter answers (C1), in any unit
    #[arg(long, value_name = "C1", allow_negative_numbers = true)]
    pub(crate) cost_skip: Option<f64>,
    /// Cost of a lookup that passes the filter (C2), in the same unit
    #[arg(long, value_name = "C2", allow_negative_numbers = true)]
    pub(crate) cost_lookup: Option<f64>,
    /// Fraction of lookups for keys that are present (P3), as 0.1
    #[arg(long, value_name = "P3", allow_negative_numbers = true)]
    pub(crate) present: Option<f64>,
    /// Cost of a GiB of memory for the period of --lookups, in the same unit: finds the best rate
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) cost_gib: Option<f64>,
    /// Number of lookups in that period [default: 1M]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) lookups: Option<u64>,
    /// Plot bits per key over the rate for every kind, or the costs if they are given, as SVG
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    pub(crate) plot: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number of keys that may be 0: other systems have rules for that.
pub(crate) fn count_or_none(text: &str) -> Result<u64, &'static str> {
    match text.trim() {
        "0" => Ok(0),
        text => count(text),
    }
}

/// The file of a drawing.
pub(crate) fn svg_file(text: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("svg") => {
            Err("plots are SVG: give a name that ends in .svg")
        }
        _ => Ok(path),
    }
}

/// A time: `90s`, `15m`, `24h`, `7d`.
pub(crate) fn duration(text: &str) -> Result<Duration, &'static str> {
    const TIME: &str = "give a time above 0, such as 90s, 15m, 24h or 7d";
    let (number, unit) = split_unit(text);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(TIME),
    };
    let number: f64 = number.parse().map_err(|_| TIME)?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(TIME),
    }
}

/// A number of threads.
pub(crate) fn thread_count(text: &str) -> Result<usize, &'static str> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("give a number of threads from 1 to 1024"),
    }
}

/// The given number of threads, or one per core.
pub(crate) fn threads(given: Option<usize>) -> usize {
    given.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A delimiter of fields.
pub(crate) fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] if !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err("give one character, not a quote or a line end, such as ; or tab"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_the_arguments_holds_together() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn delimiters_are_one_byte() {
        for (text, byte) in [
            (";", b';'),
            ("tab", b'\t'),
            ("\\t", b'\t'),
            ("|", b'|'),
            ("\t", b'\t'),
        ] {
            assert_eq!(delimiter(text), Ok(byte));
        }
        for text in ["", "ab", "\"", "\n", "\r", "\u{e9}"] {
            assert!(delimiter(text).is_err(), "{text:?}");
        }
    }
}
