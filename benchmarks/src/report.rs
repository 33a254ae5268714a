//! The tables, as Markdown that reads well on a terminal too, and their place in a document.

use crate::case::space;
use crate::figure::{Case, Place, Run, Spread, name};
use crate::peers::RATES;
use crate::targets::{Bound, Unit, Verdict, verdicts};
use std::fmt::Write;

/// Everything between the markers belongs to the benchmark, everything around them to people.
const BEGIN: &str = "<!-- figures: begin (written by benchmarks/, do not edit) -->";
const END: &str = "<!-- figures: end -->";

/// All tables of a run.
pub fn tables(run: &Run) -> String {
    let mut text = String::new();
    for line in run.machine.lines() {
        _ = writeln!(text, "- {line}");
    }
    section(&mut text, "Targets", &targets(run));
    for rate in RATES {
        let asked = percent(rate);
        section(
            &mut text,
            &format!("Queries at {asked}: ns per key, half of them present"),
            &times(run, Case::Query, rate),
        );
        section(
            &mut text,
            &format!(
                "Queries at {asked}: how many times as fast mayhap is, one by one / in a batch"
            ),
            &ratios(run, rate),
        );
        section(
            &mut text,
            &format!("Bits per key and measured rate at {asked}"),
            &shapes(run, rate),
        );
        section(
            &mut text,
            &format!("Inserts at {asked}: ns per key"),
            &times(run, Case::Insert, rate),
        );
        section(
            &mut text,
            &format!("Two threads inserting into one filter at {asked}: ns per key, wall time"),
            &times(run, Case::InsertTwoThreads, rate),
        );
        section(
            &mut text,
            &format!("URLs of 24 to 64 bytes at {asked}: ns per query, hashing included"),
            &times(run, Case::UrlQuery, rate),
        );
    }
    section(&mut text, "Space at the same measured rate", &space(run));
    let notes = notes(run);
    if !notes.is_empty() {
        _ = writeln!(text, "\nNotes:\n{notes}");
    }
    text
}

/// `document` with the tables in their place; at its end when it has no place for them yet.
pub fn place_into(document: &str, tables: &str) -> Result<String, String> {
    let block = format!("{BEGIN}\n\n{}\n\n{END}", tables.trim());
    match (document.find(BEGIN), document.find(END)) {
        (Some(begin), Some(end)) if begin < end => Ok(format!(
            "{}{block}{}",
            &document[..begin],
            &document[end + END.len()..]
        )),
        (None, None) if document.trim().is_empty() => Ok(format!("{block}\n")),
        (None, None) => Ok(format!("{}\n\n{block}\n", document.trim_end())),
        _ => Err(format!("one marker without the other: {BEGIN} .. {END}")),
    }
}

/// The header of the one column besides the first that holds words.
const AGAINST: &str = "against";

/// Rows of cells, the first one the header.
pub type Table = Vec<Vec<String>>;

fn section(text: &mut String, title: &str, table: &Table) {
    if table.len() > 1 {
        _ = writeln!(text, "\n### {title}\n\n{}", render(table).trim_end());
    }
}

/// Aligned columns: words to the left, numbers to the right.
pub fn render(table: &Table) -> String {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
            .max(3)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let is_word = |column: usize| column == 0 || table[0][column] == AGAINST;
    let mut text = String::new();
    for (at, row) in table.iter().enumerate() {
        for (column, width) in widths.iter().enumerate() {
            let cell = row.get(column).map_or("", String::as_str);
            _ = if is_word(column) {
                write!(text, "| {cell:<width$} ")
            } else {
                write!(text, "| {cell:>width$} ")
            };
        }
        text.push_str("|\n");
        if at == 0 {
            for (column, width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width + 1);
                _ = if is_word(column) {
                    write!(text, "|-{dashes}")
                } else {
                    write!(text, "|{dashes}:")
                };
            }
            text.push_str("|\n");
        }
    }
    text
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn targets(run: &Run) -> Table {
    let header = [
        "",
        AGAINST,
        "keys",
        "rate",
        "target",
        "median",
        "lowest to highest",
        "",
    ];
    let mut table = vec![row(&header)];
    for verdict in verdicts(run) {
        let unit = verdict.unit;
        let Spread { median, low, high } = verdict.found;
        let bound = match verdict.bound {
            Bound::AtLeast(bound) => format!("at least {}", amount(bound, unit)),
            Bound::AtMost(bound) => format!("at most {}", amount(bound, unit)),
        };
        table.push(vec![
            verdict.what.to_owned(),
            verdict.against.to_owned(),
            count(verdict.keys),
            percent(verdict.rate),
            bound,
            amount(median, unit),
            format!("{} to {}", amount(low, unit), amount(high, unit)),
            outcome(&verdict),
        ]);
    }
    table
}

fn outcome(verdict: &Verdict) -> String {
    verdict.missed_by().map_or("met".to_owned(), |percent| {
        format!("missed by {percent:.1} %")
    })
}

fn amount(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Times => format!("{number:.2}x"),
        Unit::BitsPerKey => format!("{number:.2}"),
        Unit::Fewer => format!("{number:.1} %"),
    }
}

/// Who took part in a case, in the order of the figures.
fn contenders(run: &Run, case: Case, rate: f64) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in run.first() {
        if figure.case == case && figure.rate == rate && !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

/// A row a contender, a column a size.
fn by_size(
    run: &Run,
    case: Case,
    names: &[&str],
    rate: f64,
    cell: impl Fn(Place, &str) -> Option<String>,
) -> Table {
    let sizes = run.sizes(case);
    let mut table = vec![row(&["keys"])];
    table[0].extend(sizes.iter().map(|&keys| count(keys)));
    for name in names {
        let mut line = vec![(*name).to_owned()];
        let cells = sizes
            .iter()
            .map(|&keys| cell(Place { case, keys, rate }, name));
        line.extend(cells.map(|cell| cell.unwrap_or("-".to_owned())));
        if line[1..].iter().any(|cell| cell != "-") {
            table.push(line);
        }
    }
    table
}

fn times(run: &Run, case: Case, rate: f64) -> Table {
    by_size(
        run,
        case,
        &contenders(run, case, rate),
        rate,
        |place, name| {
            let ns = run.ns(place, name)?;
            Some(if run.children.len() > 1 {
                format!(
                    "{} ({}-{})",
                    short(ns.median),
                    short(ns.low),
                    short(ns.high)
                )
            } else {
                short(ns.median)
            })
        },
    )
}

fn ratios(run: &Run, rate: f64) -> Table {
    let peers: Vec<&str> = contenders(run, Case::Query, rate)
        .into_iter()
        .filter(|name| ![name::MAYHAP, name::BATCH].contains(name))
        .collect();
    by_size(run, Case::Query, &peers, rate, |place, peer| {
        let single = run.ratio(place, peer, name::MAYHAP)?;
        let batch = run.ratio(place, peer, name::BATCH)?;
        Some(format!("{:.2}x / {:.2}x", single.median, batch.median))
    })
}

fn shapes(run: &Run, rate: f64) -> Table {
    let names = contenders(run, Case::Query, rate);
    by_size(run, Case::Query, &names, rate, |place, name| {
        if name == name::BATCH {
            return None;
        }
        let bits = run.spread(place, name, |figure| figure.bits_per_key)?;
        let rate = run.spread(place, name, |figure| figure.measured_rate)?;
        Some(format!("{:.2}, {}", bits.median, percent(rate.median)))
    })
}

fn space(run: &Run) -> Table {
    let header = [
        "rate asked",
        "rate measured",
        "mayhap, bits per key",
        "blocked optimum",
        "sbbf-rs-safe",
        "mayhap has fewer by",
        "fastbloom",
    ];
    let mut table = vec![row(&header)];
    for (rate, optimum) in space::OPTIMA {
        let place = Place {
            case: Case::Space,
            keys: space::KEYS,
            rate,
        };
        let bits = |name| run.spread(place, name, |figure| figure.bits_per_key);
        let measured = run.spread(place, name::MAYHAP, |figure| figure.measured_rate);
        let part = run.bits_ratio(place, name::MAYHAP, name::SBBF);
        if let (Some(ours), Some(sbbf), Some(fastbloom), Some(measured), Some(part)) = (
            bits(name::MAYHAP),
            bits(name::SBBF),
            bits(name::FASTBLOOM),
            measured,
            part,
        ) {
            table.push(vec![
                percent(rate),
                percent(measured.median),
                format!("{:.2}", ours.median),
                format!("{optimum:.2}"),
                format!("{:.2}", sbbf.median),
                format!("{:.1} %", 100.0 * (1.0 - part.median)),
                format!("{:.2}", fastbloom.median),
            ]);
        }
    }
    table
}

/// What was skipped and what else figures have to say: a line for each contender and note, with the places it belongs to.
fn notes(run: &Run) -> String {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for figure in run.first() {
        if let Some(note) = &figure.note {
            let note = format!("{}: {note}", figure.name);
            let place = format!("{} keys at {}", count(figure.keys), percent(figure.rate));
            match notes.iter_mut().find(|(said, _)| *said == note) {
                Some((_, places)) => places.push(place),
                None => notes.push((note, vec![place])),
            }
        }
    }
    let line =
        |(note, places): &(String, Vec<String>)| format!("- {note} ({})\n", places.join(", "));
    notes.iter().map(line).collect()
}

fn short(ns: f64) -> String {
    if ns < 100.0 {
        format!("{ns:.1}")
    } else {
        format!("{ns:.0}")
    }
}

/// 100k, 1M, 10M.
pub fn count(keys: u64) -> String {
    match keys {
        1_000_000.. if keys.is_multiple_of(1_000_000) => format!("{}M", keys / 1_000_000),
        1_000.. if keys.is_multiple_of(1_000) => format!("{}k", keys / 1_000),
        _ => keys.to_string(),
    }
}

/// Three digits that count: 1.00 %, 0.391 %, 0.0100 %.
fn percent(rate: f64) -> String {
    let rate = 100.0 * rate;
    match rate {
        0.9995.. => format!("{rate:.2} %"),
        0.09995.. => format!("{rate:.3} %"),
        f64::MIN_POSITIVE.. => format!("{rate:.4} %"),
        _ => "0 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_their_place_and_leave_the_rest() {
        let first = place_into("# Speed\n\nProse.\n", "one").unwrap();
        let second = place_into(&format!("{first}\nMore prose.\n"), "two").unwrap();
        assert!(second.starts_with("# Speed\n\nProse.\n"));
        assert!(second.ends_with("More prose.\n"));
        assert!(second.contains("two") && !second.contains("one"));
        assert!(place_into(BEGIN, "three").is_err());
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(100_000), "100k");
        assert_eq!(count(10_000_000), "10M");
        assert_eq!(percent(0.01), "1.00 %");
        assert_eq!(percent(1.0 / 256.0), "0.391 %");
        assert_eq!(percent(0.0001), "0.0100 %");
        assert_eq!(percent(0.0), "0 %");
    }

    #[test]
    fn columns_line_up() {
        let table = vec![row(&["keys", "1M"]), row(&["mayhap", "2.2"])];
        assert_eq!(
            render(&table),
            "| keys   |  1M |\n|--------|----:|\n| mayhap | 2.2 |\n"
        );
    }
}
