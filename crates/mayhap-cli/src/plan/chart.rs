//! Charts bits per key over the false-positive rate, one line per kind, and the lower bound.

use crate::human_format;
use mayhap_chart::{Axis, Chart, Region, Scale, Series};
use mayhap_codec::rate_steps;
use mayhap_core::Kind;
use mayhap_core::plan::size_bytes;

/// From the loosest rate to the strictest.
const RATES: (f64, f64) = (0.1, 1e-6);
/// Points per line, evenly spaced; powers of ten are among them.
const STEPS: u32 = 200;

/// The lines, in colours that people with red-green blindness can distinguish.
const LINES: [(Kind, &str, f64); 11] = [
    (Kind::Counting, "#7a5230", 2.0),
    (Kind::Window, "#a08500", 2.0),
    (Kind::WindowCuckoo, "#56b4e9", 2.0),
    (Kind::Growing, "#b3478f", 2.0),
    (Kind::Classic, "#8a8a8a", 2.0),
    (Kind::Bloom, "#0b5fa5", 3.5),
    (Kind::Cuckoo, "#d55e00", 2.5),
    (Kind::GrowingCuckoo, "#e69f00", 2.0),
    (Kind::CountingCuckoo, "#222222", 2.0),
    (Kind::Fuse, "#009e73", 2.5),
    (Kind::Ribbon, "#5b4bb5", 2.5),
];

/// The chart for this number of keys; `asked` is the requested rate.
pub(super) fn svg(keys: u64, asked: f64) -> String {
    let rates: Vec<f64> = rate_steps(RATES, STEPS).collect();
    let line = |name: &str, colour, width, is_dotted, bits: &dyn Fn(f64) -> Option<f64>| {
        let points: Vec<_> = rates
            .iter()
            .filter_map(|&rate| Some((rate, bits(rate)?)))
            .collect();
        Series {
            name: format!("{name}{}", at(asked, bits)),
            colour,
            width,
            is_dotted,
            is_strong: false,
            points,
        }
    };
    let mut lines: Vec<Series> = LINES
        .iter()
        .map(|&(kind, colour, width)| {
            let bits = |rate| Some(size_bytes(kind, keys, rate).ok()? as f64 * 8.0 / keys as f64);
            line(kind.name(), colour, width, false, &bits)
        })
        .collect();
    lines.push(line("limit", "#222222", 1.6, true, &|rate| {
        Some(-rate.log2())
    }));
    let ticks = (1..=6).map(|digits| {
        let rate = 10_f64.powi(-digits);
        (rate, human_format::requested_rate(rate))
    });
    Chart {
        title: "Bits per key".into(),
        subtitle: format!(
            "for {}, by false-positive rate; the numbers are for {}; lower is better",
            human_format::with_unit(keys, "key"),
            human_format::requested_rate(asked)
        ),
        x: Axis::new(
            "false-positive rate",
            Scale::Log,
            RATES.0,
            RATES.1,
            ticks.collect(),
        ),
        y: Axis::new(
            "",
            Scale::Log,
            3.0,
            128.0,
            [4, 8, 16, 32, 64, 128]
                .map(|bits| (f64::from(bits), bits.to_string()))
                .into(),
        ),
        lines,
        regions: requested_region(asked),
        marks: Vec::new(),
    }
    .to_svg()
}

/// Marks the requested rate, if it is in the chart.
fn requested_region(asked: f64) -> Vec<Region> {
    if !(RATES.1..RATES.0).contains(&asked) {
        return Vec::new();
    }
    // Wide enough for its name.
    vec![Region {
        name: "requested rate".into(),
        range: (asked, asked * (RATES.1 / RATES.0).powf(0.2)),
    }]
}

/// The label of a line: its bits at the requested rate.
fn at(rate: f64, bits: &dyn Fn(f64) -> Option<f64>) -> String {
    bits(rate).map_or(String::new(), |bits| {
        format!(" {}", human_format::significant(bits, 3))
    })
}
