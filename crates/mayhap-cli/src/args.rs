//! The command line: subcommands, flags, and the parsers of counts, sizes and rates.
//!
//! Parsers accept what people write (`100M`, `1.5GB`, `0.1%`) and reject what is ambiguous. The library decides whether a filter
//! of that size is possible.

use crate::{
    add_remove, build, check, index, info, join, man_pages, merge, named_values, serve, uniq,
    verify, which,
};
use clap::{Args, Parser, Subcommand};
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
    /// Serve filters to Redis clients
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeArgs),
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

const COUNT: &str = "give a whole number from 1 to 1.8e19, such as 1000000, 10k, 100M or 1e9";
const RATE: &str = "give a rate above 0 and below 1, such as 0.01 or 1%";
const BYTES: &str =
    "give a size of 1 byte or more, such as 64MiB, 1.5GB or 1e6 (a single M could mean MB or MiB)";

/// A number of keys: `1000000`, `1_000_000`, `10k`, `1.5M`, `1e9`.
pub(crate) fn count(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = split_unit(text);
    let tens = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 3,
        "m" => 6,
        "g" => 9,
        "t" => 12,
        _ => return Err(COUNT),
    };
    match scaled(&number, tens, 0) {
        Some((keys, true)) if keys > 0 => Ok(keys),
        _ => Err(COUNT),
    }
}

/// A number of keys that may be 0: other systems have rules for that.
pub(crate) fn count_or_none(text: &str) -> Result<u64, &'static str> {
    match text.trim() {
        "0" => Ok(0),
        text => count(text),
    }
}

/// A size in bytes, rounded down: `64MiB`, `1.5GB`, `1e6`.
pub(crate) fn bytes(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = split_unit(text);
    let (tens, shift) = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => (0, 0),
        "kb" => (3, 0),
        "mb" => (6, 0),
        "gb" => (9, 0),
        "tb" => (12, 0),
        "kib" => (0, 10),
        "mib" => (0, 20),
        "gib" => (0, 30),
        "tib" => (0, 40),
        _ => return Err(BYTES),
    };
    match scaled(&number, tens, shift) {
        Some((bytes, _)) if bytes > 0 => Ok(bytes),
        _ => Err(BYTES),
    }
}

/// A false-positive rate: `0.01`, `1e-3`, `1%`.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let rate = match text.strip_suffix('%') {
        // Parsed as decimals, so that 0.7% is the same number as 0.007.
        Some(percent) => format!("{}e-2", percent.trim_end()).parse::<f64>(),
        None => text.parse(),
    };
    match rate {
        Ok(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        Ok(rate) if (1.0..100.0).contains(&rate) && !text.ends_with('%') => {
            Err(format!("{RATE} (did you mean {text}%?)"))
        }
        _ => Err(RATE.to_owned()),
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

/// Splits `1.5 GB` into `1.5` and `GB`; underscores are ignored.
fn split_unit(text: &str) -> (String, &str) {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    (number.trim_end().replace('_', ""), &text[number.len()..])
}

/// number x 10^tens x 2^shift, rounded down, and whether it was exact; `None` if it is not a number or does not fit.
fn scaled(number: &str, tens: u32, shift: u32) -> Option<(u64, bool)> {
    let unit = 10_u64.pow(tens) << shift;
    if let Ok(whole) = number.parse::<u64>() {
        return Some((whole.checked_mul(unit)?, true));
    }
    let value = if tens == 0 {
        number.parse::<f64>().ok()? * unit as f64
    } else {
        // Parsed as decimals: 1.005k is 1005, and 1.005 * 1000.0 is a little less.
        format!("{number}e{tens}").parse::<f64>().ok()?
    };
    let fits = (0.0..18_446_744_073_709_551_616.0).contains(&value);
    fits.then(|| (value as u64, value.fract() == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, keys) in [
            ("1", 1),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1.005k", 1005),
            ("1.5M", 1_500_000),
            ("100M", 100_000_000),
            ("2g", 2_000_000_000),
            ("1e9", 1_000_000_000),
            ("1T", 1_000_000_000_000),
            (" 7 k ", 7000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(keys), "{text}");
        }
    }

    #[test]
    fn counts_that_are_none_are_refused() {
        for text in [
            "",
            "0",
            "0k",
            "-1",
            "1.5",
            "0.5k1",
            "k",
            "e",
            "1e",
            "ten",
            "nan",
            "inf",
            "1e30",
            "1e400",
            "1e9k",
            "10x",
            "10kB",
            "1 000",
            "18446744073709551616",
            "99999999T",
        ] {
            assert_eq!(count(text), Err(COUNT), "{text}");
        }
    }

    #[test]
    fn sizes_count_in_thousands_or_in_1024s() {
        for (text, size) in [
            ("64", 64),
            ("64B", 64),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("64MB", 64_000_000),
            ("1.5GB", 1_500_000_000),
            ("1.5GiB", 3 << 29),
            ("0.5KiB", 512),
            ("1kB", 1000),
            ("2TiB", 2 << 40),
            ("1TB", 1_000_000_000_000),
            ("1e6", 1_000_000),
            ("100.9", 100),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in [
            "",
            "0",
            "0.5",
            "-1",
            "64M",
            "64G",
            "M",
            "MiB",
            "nan",
            "1e400",
            "1e30",
            "20000000TB",
            "99999999TiB",
            "64 MiBs",
        ] {
            assert_eq!(bytes(text), Err(BYTES), "{text}");
        }
    }

    #[test]
    fn rates_are_shares_or_percents() {
        for (text, share) in [
            ("0.01", 0.01),
            ("1%", 0.01),
            ("1 %", 0.01),
            ("0.1%", 0.001),
            ("0.7%", 0.007),
            ("1e-3", 0.001),
            ("99.9%", 0.999),
            (".5", 0.5),
        ] {
            assert_eq!(rate(text), Ok(share), "{text}");
        }
        for text in [
            "", "%", "0", "0%", "1", "100%", "2", "-1", "-1%", "NaN", "inf", "1e400", "1e-400",
            "one", "1%%", "0,01",
        ] {
            let refused = rate(text).expect_err(text);
            assert!(refused.starts_with(RATE), "{text}: {refused}");
        }
        assert!(rate("1").is_err_and(|error| error.ends_with("(did you mean 1%?)")));
        assert!(rate("100%").is_err_and(|error| !error.contains("did you mean")));
    }

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
