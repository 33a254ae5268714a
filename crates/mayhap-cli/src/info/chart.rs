//! Charts the fill of a filter's parts: a flat line if the keys are spread evenly, and steps if it has layers.

use crate::human_format;
use mayhap_chart::{Axis, Chart, Region, Scale, Series};
use mayhap_codec::{Description, LayerFill, OpenedFilter};
use mayhap_core::Kind;
use std::path::Path;

/// The number of parts, one per point.
const PARTS: usize = 200;

/// The chart; `None` for filters without bits.
pub(super) fn svg(path: &Path, found: &OpenedFilter, description: &Description) -> Option<String> {
    let fills = found.filter.fills(PARTS)?;
    let layers = found.filter.layer_fills();
    let step = 100.0 / fills.len() as f64;
    let points = fills.iter().enumerate();
    let points = points.map(|(part, fill)| ((part as f64 + 0.5) * step, 100.0 * fill));
    let mean = fills.iter().sum::<f64>() / fills.len() as f64;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let place = found.location.to_string();
    let mut lines = Vec::new();
    lines.extend(full_line(&layers));
    let average = if layers.len() > 1 { "average " } else { "" };
    lines.push(Series {
        name: format!("{average}fill {}", human_format::rate(mean, 3)),
        colour: "#0b5fa5",
        width: 2.5,
        is_dotted: false,
        is_strong: false,
        points: points.collect(),
    });
    let chart = Chart {
        title: if place.is_empty() {
            format!("{name}: bits that are set, in percent")
        } else {
            format!("{name}, {place}: bits that are set, in percent")
        },
        subtitle: subtitle(description),
        x: percents(&x_name(description.stats.kind, layers.len()), 20),
        y: percents("", 25),
        lines,
        regions: regions(description.stats.kind, &layers),
        marks: Vec::new(),
    };
    Some(chart.to_svg())
}

fn subtitle(description: &Description) -> String {
    let stats = &description.stats;
    let keys = match stats.estimated_keys {
        Some(keys) => human_format::about_keys(keys),
        None => "an unknown number of keys".to_owned(),
    };
    let rate = stats.estimated_rate.map_or(String::new(), |rate| {
        format!(", current rate {}", human_format::rate(rate, 3))
    });
    format!(
        "{}, {} filter, {keys}{rate}",
        description.format, stats.kind
    )
}

/// The axis, and what a healthy filter looks like.
fn x_name(kind: Kind, layers: usize) -> String {
    let shape = match (kind, layers) {
        (_, 1) => "the fill should be even",
        (Kind::Window, _) => "each step is a layer of a slice of the window",
        (_, _) => "each step is a layer, and the last one is being filled",
    };
    format!("position in the filter, in percent; {shape}")
}

/// Where each layer begins and ends, in percent.
fn ranges(layers: &[LayerFill]) -> Vec<(f64, f64)> {
    let mut begin = 0.0;
    layers
        .iter()
        .map(|layer| {
            let range = (begin, begin + 100.0 * layer.share);
            begin = range.1;
            range
        })
        .collect()
}

/// The fill of each layer at its capacity, where that is known.
fn full_line(layers: &[LayerFill]) -> Option<Series> {
    let mut points = Vec::new();
    for (layer, range) in layers.iter().zip(ranges(layers)) {
        let full = 100.0 * layer.fill_at_capacity?;
        points.extend([(range.0, full), (range.1, full)]);
    }
    let last = points.last()?.1;
    Some(Series {
        name: format!("full at {}", human_format::rate(last / 100.0, 3)),
        colour: "#8a8a8a",
        width: 1.5,
        is_dotted: true,
        is_strong: false,
        points,
    })
}

fn regions(kind: Kind, layers: &[LayerFill]) -> Vec<Region> {
    if layers.len() < 2 {
        return Vec::new();
    }
    let numbered = (1..).zip(ranges(layers));
    let region = |(number, range): (usize, _)| Region {
        // The slices of a window have layers of their own.
        name: if kind == Kind::Window {
            String::new()
        } else {
            format!("layer {number}")
        },
        range,
    };
    numbered.map(region).collect()
}

fn percents(name: &str, step: usize) -> Axis {
    let ticks = (0..=100).step_by(step);
    let ticks = ticks.map(|at| (f64::from(at), at.to_string()));
    Axis::new(name, Scale::Linear, 0.0, 100.0, ticks.collect())
}
