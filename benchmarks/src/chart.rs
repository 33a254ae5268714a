//! The chart: nanoseconds per query over the number of keys, both axes logarithmic, a line a contender.

use crate::figure::{Case, Place, Run, name};
use crate::peers::STRICT;
use crate::report::count;
use std::fmt::Write;

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 540.0;
/// The plot inside: room for numbers on the left, names on the right, title above, axis below.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 470.0;
/// The least distance of two names.
const LEADING: f64 = 19.0;

/// Who is drawn and how. Colours that people with red-green blindness can tell apart, and mayhap's the strongest.
const LINES: [(&str, &str, &str); 11] = [
    (name::BATCH, "#0b5fa5", r#"stroke-width="3.5""#),
    (name::MAYHAP, "#4a9fe0", r#"stroke-width="3.5""#),
    (name::SBBF, "#d55e00", r#"stroke-width="2""#),
    (name::FASTBLOOM, "#b3478f", r#"stroke-width="2""#),
    (name::OUR_FUSE_BATCH, "#00664a", r#"stroke-width="3""#),
    (name::FUSE, "#009e73", r#"stroke-width="2""#),
    (name::OUR_CUCKOO_BATCH, "#5b4bb5", r#"stroke-width="2.5""#),
    (name::QFILTER, "#a08500", r#"stroke-width="2""#),
    (name::CUCKOO, "#7a5230", r#"stroke-width="2""#),
    (name::SET, "#8a8a8a", r#"stroke-width="2""#),
    (
        name::PREFETCHED,
        "#222222",
        r#"stroke-width="1.6" stroke-dasharray="2 4""#,
    ),
];

struct Line {
    name: &'static str,
    colour: &'static str,
    stroke: &'static str,
    /// Keys and nanoseconds.
    points: Vec<(f64, f64)>,
}

/// The chart of a run, at 0.39 %.
pub fn svg(run: &Run) -> String {
    let sizes = run.sizes(Case::Query);
    let lines = lines(run, &sizes);
    let scale = Scale::of(&sizes, &lines);
    let mut svg = head();
    grid(&mut svg, &scale, &sizes, run);
    for line in &lines {
        draw(&mut svg, &scale, line);
    }
    names(&mut svg, &scale, &lines);
    svg.push_str("</svg>\n");
    svg
}

fn lines(run: &Run, sizes: &[u64]) -> Vec<Line> {
    let point = |name, keys| {
        let place = Place {
            case: Case::Query,
            keys,
            rate: STRICT,
        };
        Some((keys as f64, run.ns(place, name)?.median))
    };
    LINES
        .iter()
        .map(|&(name, colour, stroke)| Line {
            name,
            colour,
            stroke,
            points: sizes.iter().filter_map(|&keys| point(name, keys)).collect(),
        })
        .filter(|line| !line.points.is_empty())
        .collect()
}

/// From keys and nanoseconds to places on the page.
struct Scale {
    keys: (f64, f64),
    ns: (f64, f64),
}

impl Scale {
    fn of(sizes: &[u64], lines: &[Line]) -> Self {
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
        Self {
            keys: (first, last.max(2.0 * first)),
            ns: (least * 0.9, most * 1.15),
        }
    }

    fn x(&self, keys: f64) -> f64 {
        LEFT + 16.0 + (RIGHT - LEFT - 32.0) * share(self.keys, keys)
    }

    fn y(&self, ns: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * share(self.ns, ns)
    }
}

fn share((low, high): (f64, f64), value: f64) -> f64 {
    (value / low).ln() / (high / low).ln()
}

fn head() -> String {
    let middle = (LEFT + RIGHT) / 2.0;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="14" fill="#333">
<title>Nanoseconds per query over the number of keys</title>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#fcfcfa"/>
<text x="{LEFT}" y="34" font-size="20" font-weight="bold" fill="#111">Nanoseconds per query</text>
<text x="{LEFT}" y="57" fill="#666">0.39 % false positives, keys hashed, half of the queries present, one thread; lower is better</text>
<text x="{middle}" y="{}" text-anchor="middle" fill="#666">keys (size of mayhap's filter)</text>
"##,
        HEIGHT - 12.0
    )
}

fn grid(svg: &mut String, scale: &Scale, sizes: &[u64], run: &Run) {
    for ns in [
        0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0,
    ] {
        if ns < scale.ns.0 || ns > scale.ns.1 {
            continue;
        }
        let y = scale.y(ns);
        _ = writeln!(
            svg,
            r##"<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}" stroke="#e2e2de"/><text x="{}" y="{:.1}" text-anchor="end">{ns}</text>"##,
            LEFT - 10.0,
            y + 5.0
        );
    }
    for &keys in sizes {
        let place = Place {
            case: Case::Query,
            keys,
            rate: STRICT,
        };
        let bits = run.spread(place, name::MAYHAP, |figure| figure.bits_per_key);
        let size = bits.map_or(String::new(), |bits| bytes(bits.median * keys as f64 / 8.0));
        let x = scale.x(keys as f64);
        _ = writeln!(
            svg,
            r##"<line x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{BOTTOM}" stroke="#eeeeea"/><text x="{x:.1}" y="{}" text-anchor="middle">{}</text><text x="{x:.1}" y="{}" text-anchor="middle" font-size="12" fill="#777">{size}</text>"##,
            BOTTOM + 22.0,
            count(keys),
            BOTTOM + 39.0
        );
    }
}

fn draw(svg: &mut String, scale: &Scale, line: &Line) {
    let Line {
        name,
        colour,
        stroke,
        ..
    } = line;
    let mut path = String::new();
    let mut dots = String::new();
    for &(keys, ns) in &line.points {
        let (x, y) = (scale.x(keys), scale.y(ns));
        _ = write!(path, "{x:.1},{y:.1} ");
        _ = write!(dots, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3"/>"#);
    }
    _ = writeln!(
        svg,
        r#"<g><title>{}</title><polyline points="{}" fill="none" stroke="{colour}" {stroke} stroke-linejoin="round"/><g fill="{colour}">{dots}</g></g>"#,
        escaped(name),
        path.trim_end()
    );
}

/// The legend: every name beside the end of its line, moved apart where they would overlap.
fn names(svg: &mut String, scale: &Scale, lines: &[Line]) {
    let mut ends: Vec<(f64, &Line, f64)> = lines
        .iter()
        .filter_map(|line| line.points.last().map(|&(_, ns)| (scale.y(ns), line, ns)))
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places = apart(&ends.iter().map(|end| end.0).collect::<Vec<_>>());
    for ((y, line, ns), place) in ends.iter().zip(places) {
        let (keys, _) = line.points[line.points.len() - 1];
        let (x, colour) = (RIGHT + 14.0, line.colour);
        let weight = if line.name.starts_with(name::MAYHAP) {
            "bold"
        } else {
            "normal"
        };
        _ = writeln!(
            svg,
            r#"<line x1="{:.1}" y1="{y:.1}" x2="{:.1}" y2="{place:.1}" stroke="{colour}" stroke-opacity="0.45"/><text x="{x}" y="{:.1}" fill="{colour}" font-weight="{weight}">{} {ns:.1}</text>"#,
            scale.x(keys) + 5.0,
            x - 4.0,
            place + 5.0,
            escaped(line.name),
        );
    }
}

/// Moves sorted places apart to at least `LEADING`, each crowd around its own middle.
fn apart(wanted: &[f64]) -> Vec<f64> {
    // Crowds of (sum of wanted places, members); neighbours that meet become one.
    let mut crowds: Vec<(f64, usize)> = Vec::new();
    let top = |&(sum, members): &(f64, usize)| {
        sum / members as f64 - LEADING * (members - 1) as f64 / 2.0
    };
    for &place in wanted {
        let mut crowd = (place, 1);
        while let Some(before) = crowds.last() {
            if top(before) + LEADING * before.1 as f64 <= top(&crowd) {
                break;
            }
            crowd = (crowd.0 + before.0, crowd.1 + before.1);
            crowds.pop();
        }
        crowds.push(crowd);
    }
    crowds
        .iter()
        .flat_map(|crowd| (0..crowd.1).map(move |at| top(crowd) + LEADING * at as f64))
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn bytes(count: f64) -> String {
    match count {
        1e9.. => format!("{:.1} GB", count / 1e9),
        1e7.. => format!("{:.0} MB", count / 1e6),
        1e6.. => format!("{:.1} MB", count / 1e6),
        _ => format!("{:.0} kB", count / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart_and_in_order() {
        let places = apart(&[10.0, 12.0, 13.0, 200.0]);
        assert!(
            places
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= LEADING - 1e-9)
        );
        assert_eq!(places[3], 200.0);
    }
}
