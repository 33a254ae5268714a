//! Charts the fill of a filter's parts: a flat line if the keys are spread evenly.

use crate::human_format;
use mayhap_chart::{Axis, Chart, Scale, Series};
use mayhap_codec::{Description, OpenedFilter};
use std::path::Path;

/// The number of parts, one per point.
const PARTS: usize = 200;

/// The chart; `None` for filters without bits.
pub(super) fn svg(path: &Path, found: &OpenedFilter, description: &Description) -> Option<String> {
    let fills = found.filter.fills(PARTS)?;
    let step = 100.0 / fills.len() as f64;
    let points = |fill: &dyn Fn(usize) -> f64| {
        (0..fills.len())
            .map(|part| ((part as f64 + 0.5) * step, 100.0 * fill(part)))
            .collect()
    };
    let mean = fills.iter().sum::<f64>() / fills.len() as f64;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let keys = description.stats.estimated_keys.unwrap_or(0);
    let chart = Chart {
        title: format!("{name}: bits that are set, in percent"),
        subtitle: format!(
            "{}, {} filter, about {} keys, rate now {}; a filter in good health is flat",
            description.format,
            description.stats.kind,
            human_format::with_thousands_separators(keys),
            human_format::rate(description.stats.estimated_rate.unwrap_or(0.0), 3)
        ),
        x: percents("place in the filter, in percent", 20),
        y: percents("", 25),
        lines: vec![
            Series {
                name: "half: full".into(),
                colour: "#8a8a8a",
                width: 1.5,
                is_dotted: true,
                is_strong: false,
                points: points(&|_| 0.5),
            },
            Series {
                name: format!("fill {}", human_format::rate(mean, 3)),
                colour: "#0b5fa5",
                width: 2.5,
                is_dotted: false,
                is_strong: false,
                points: points(&|part| fills[part]),
            },
        ],
    };
    Some(chart.to_svg())
}

fn percents(name: &str, step: usize) -> Axis {
    let ticks = (0..=100).step_by(step);
    let ticks = ticks.map(|at| (f64::from(at), at.to_string()));
    Axis::new(name, Scale::Linear, 0.0, 100.0, ticks.collect())
}
