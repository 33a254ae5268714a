//! The chart: nanoseconds per query over the number of keys, both axes logarithmic, a line a contender.

use crate::figure::{Case, Place, Run, name};
use crate::peers::STRICT;
use crate::report::count;
use mayhap_chart::{Axis, Chart, Scale, Series};

/// Who is drawn and how. Colours that people with red-green blindness can tell apart, and mayhap's the strongest.
const LINES: [(&str, &str, f64); 11] = [
    (name::BATCH, "#0b5fa5", 3.5),
    (name::MAYHAP, "#4a9fe0", 3.5),
    (name::SBBF, "#d55e00", 2.0),
    (name::FASTBLOOM, "#b3478f", 2.0),
    (name::OUR_FUSE_BATCH, "#00664a", 3.0),
    (name::FUSE, "#009e73", 2.0),
    (name::OUR_CUCKOO_BATCH, "#5b4bb5", 2.5),
    (name::QFILTER, "#a08500", 2.0),
    (name::CUCKOO, "#7a5230", 2.0),
    (name::SET, "#8a8a8a", 2.0),
    (name::PREFETCHED, "#222222", 1.6),
];

/// The chart of a run, at 0.39 %.
pub fn svg(run: &Run) -> String {
    let sizes = run.sizes(Case::Query);
    let lines = lines(run, &sizes);
    let all = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .map(|point| point.1)
    };
    let least = all().fold(f64::INFINITY, f64::min).min(1.0);
    let most = all().fold(0.0, f64::max).max(10.0);
    let first = sizes.first().map_or(1.0, |&keys| keys as f64);
    let last = sizes.last().map_or(10.0, |&keys| keys as f64);
    let ns = [
        0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0,
    ];
    Chart {
        title: "Nanoseconds per query".into(),
        subtitle: "0.39 % false positives, keys hashed, half of the queries present, one thread; lower is better".into(),
        x: Axis::new(
            "keys (size of mayhap's filter)",
            Scale::Log,
            first,
            last.max(2.0 * first),
            sizes.iter().map(|&keys| (keys as f64, tick(run, keys))).collect(),
        ),
        y: Axis::new(
            "",
            Scale::Log,
            least * 0.9,
            most * 1.15,
            ns.map(|ns| (ns, ns.to_string())).into(),
        ),
        lines,
        regions: Vec::new(),
        marks: Vec::new(),
    }
    .to_svg()
}

fn place(keys: u64) -> Place {
    Place {
        case: Case::Query,
        keys,
        rate: STRICT,
    }
}

fn lines(run: &Run, sizes: &[u64]) -> Vec<Series> {
    let point = |name, keys| Some((keys as f64, run.ns(place(keys), name)?.median));
    LINES
        .iter()
        .filter_map(|&(name, colour, width)| {
            let points: Vec<_> = sizes.iter().filter_map(|&keys| point(name, keys)).collect();
            let (_, ns) = points.last()?;
            Some(Series {
                name: format!("{name} {ns:.1}"),
                colour,
                width,
                is_dotted: name == name::PREFETCHED,
                is_strong: name.starts_with(name::MAYHAP),
                points,
            })
        })
        .collect()
}

/// Keys, and below them how large mayhap's filter is.
fn tick(run: &Run, keys: u64) -> String {
    let bits = run.spread(place(keys), name::MAYHAP, |figure| figure.bits_per_key);
    let size = bits.map_or(String::new(), |bits| bytes(bits.median * keys as f64 / 8.0));
    format!("{}\n{size}", count(keys))
}

fn bytes(count: f64) -> String {
    match count {
        1e9.. => format!("{:.1} GB", count / 1e9),
        1e7.. => format!("{:.0} MB", count / 1e6),
        1e6.. => format!("{:.1} MB", count / 1e6),
        _ => format!("{:.0} kB", count / 1e3),
    }
}
