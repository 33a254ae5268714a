//! Line charts as SVG: a title, two axes, and lines with their names at their ends.
//!
//! Plotting crates need fonts and rasterizers, and put the names of lines into a legend box; this is a few hundred lines without
//! a dependency, and the names never overlap.

mod axis;
mod label_layout;

pub use axis::{Axis, Scale};

use std::fmt::Write;

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 540.0;
/// The plot area: room for numbers on the left, names on the right, the title above, the axis below.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 470.0;
/// The distance between the frame and the first and last point of a line.
const INSET: f64 = 16.0;
/// Sizes of text.
const TEXT: f64 = 14.0;
const SMALL_TEXT: f64 = 12.0;
/// The distance between a marked point and its name.
const MARK_DISTANCE: f64 = 14.0;

/// A chart.
pub struct Chart {
    /// What the chart shows.
    pub title: String,
    /// The conditions, and which direction is better.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis; the title names it.
    pub y: Axis,
    /// The lines, in drawing order.
    pub lines: Vec<Series>,
    /// Named parts of the horizontal axis.
    pub regions: Vec<Region>,
    /// Named points.
    pub marks: Vec<Mark>,
}

/// A part of the horizontal axis. A line marks its beginning, and its name is above it if there is room.
pub struct Region {
    /// Its name.
    pub name: String,
    /// Where it begins and ends.
    pub range: (f64, f64),
}

/// A point that is circled and named.
pub struct Mark {
    /// Its name.
    pub name: String,
    /// An SVG colour.
    pub colour: &'static str,
    /// The point.
    pub point: (f64, f64),
}

/// A line through points, with its style.
pub struct Series {
    /// The label at its end.
    pub name: String,
    /// An SVG colour.
    pub colour: &'static str,
    /// In pixels.
    pub width: f64,
    /// Dotted lines are references and limits.
    pub is_dotted: bool,
    /// Whether the name is bold and the points have dots.
    pub is_strong: bool,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
}

impl Chart {
    /// The chart as the contents of an SVG file.
    pub fn to_svg(&self) -> String {
        let mut svg = self.head();
        self.grid(&mut svg);
        for region in &self.regions {
            self.region(&mut svg, region);
        }
        for line in &self.lines {
            self.draw(&mut svg, line);
        }
        for mark in &self.marks {
            self.mark(&mut svg, mark);
        }
        self.names(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            LEFT + INSET + (RIGHT - LEFT - 2.0 * INSET) * self.x.share(x),
            BOTTOM - (BOTTOM - TOP) * self.y.share(y),
        )
    }

    fn head(&self) -> String {
        let (title, subtitle) = (escaped(&self.title), escaped(&self.subtitle));
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="14" fill="#333">
<title>{title}</title>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#fcfcfa"/>
<text x="{LEFT}" y="34" font-size="20" font-weight="bold" fill="#111">{title}</text>
<text x="{LEFT}" y="57" fill="#666">{subtitle}</text>
<text x="{}" y="{}" text-anchor="middle" fill="#666">{}</text>
"##,
            f64::midpoint(LEFT, RIGHT),
            HEIGHT - 12.0,
            escaped(&self.x.name)
        )
    }

    fn grid(&self, svg: &mut String) {
        for (value, label) in &self.y.ticks {
            let y = self.at((self.x.from, *value)).1;
            _ = writeln!(
                svg,
                r##"<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}" stroke="#e2e2de"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"##,
                LEFT - 10.0,
                y + 5.0,
                escaped(label)
            );
        }
        for (value, label) in &self.x.ticks {
            let x = self.at((*value, self.y.from)).0;
            // Text after a line break is a remark below the label.
            let (label, remark) = label.split_once('\n').unwrap_or((label, ""));
            _ = writeln!(
                svg,
                r##"<line x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{BOTTOM}" stroke="#eeeeea"/><text x="{x:.1}" y="{}" text-anchor="middle">{}</text><text x="{x:.1}" y="{}" text-anchor="middle" font-size="12" fill="#777">{}</text>"##,
                BOTTOM + 22.0,
                escaped(label),
                BOTTOM + 39.0,
                escaped(remark)
            );
        }
    }

    fn region(&self, svg: &mut String, region: &Region) {
        let ends = [region.range.0, region.range.1].map(|x| self.at((x, self.y.from)).0);
        let (begin, end) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        _ = writeln!(
            svg,
            r##"<line x1="{begin:.1}" x2="{begin:.1}" y1="{TOP}" y2="{BOTTOM}" stroke="#b8b8b2" stroke-dasharray="5 4"/>"##
        );
        if text_width(&region.name, SMALL_TEXT) <= end - begin {
            _ = writeln!(
                svg,
                r##"<text x="{:.1}" y="{}" text-anchor="middle" font-size="{SMALL_TEXT}" fill="#777">{}</text>"##,
                f64::midpoint(begin, end),
                TOP + 14.0,
                escaped(&region.name)
            );
        }
    }

    fn mark(&self, svg: &mut String, mark: &Mark) {
        let (x, y) = self.at(mark.point);
        // Above the point, and inside the frame.
        let half = text_width(&mark.name, TEXT) / 2.0;
        let middle = x.clamp(LEFT + half, RIGHT - half);
        let above = if y - MARK_DISTANCE - TEXT > TOP {
            y - MARK_DISTANCE
        } else {
            y + MARK_DISTANCE + TEXT
        };
        let colour = mark.colour;
        _ = writeln!(
            svg,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="6" fill="#fcfcfa" stroke="{colour}" stroke-width="2.5"/><text x="{middle:.1}" y="{above:.1}" text-anchor="middle" font-weight="bold" fill="{colour}" stroke="#fcfcfa" stroke-width="4" paint-order="stroke">{}</text>"##,
            escaped(&mark.name)
        );
    }

    fn draw(&self, svg: &mut String, line: &Series) {
        let (mut path, mut dots) = (String::new(), String::new());
        for &point in &line.points {
            let (x, y) = self.at(point);
            _ = write!(path, "{x:.1},{y:.1} ");
            if line.is_strong {
                _ = write!(dots, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3"/>"#);
            }
        }
        let Series { colour, width, .. } = line;
        _ = writeln!(
            svg,
            r#"<g><title>{}</title><polyline points="{}" fill="none" stroke="{colour}" stroke-width="{width}"{} stroke-linejoin="round"/><g fill="{colour}">{dots}</g></g>"#,
            escaped(&line.name),
            path.trim_end(),
            if line.is_dotted {
                r#" stroke-dasharray="2 4""#
            } else {
                ""
            },
        );
    }

    /// The legend: every name beside the end of its line, moved apart to avoid overlaps.
    fn names(&self, svg: &mut String) {
        let mut ends: Vec<((f64, f64), &Series)> = self
            .lines
            .iter()
            .filter_map(|line| Some((self.at(*line.points.last()?), line)))
            .collect();
        ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let places =
            label_layout::spread_labels(&ends.iter().map(|end| end.0.1).collect::<Vec<_>>());
        for (&((x, y), line), place) in ends.iter().zip(places) {
            let beside = RIGHT + 14.0;
            let colour = line.colour;
            let weight = if line.is_strong { "bold" } else { "normal" };
            _ = writeln!(
                svg,
                r#"<line x1="{:.1}" y1="{y:.1}" x2="{:.1}" y2="{place:.1}" stroke="{colour}" stroke-opacity="0.45"/><text x="{beside}" y="{:.1}" fill="{colour}" font-weight="{weight}">{}</text>"#,
                x + 5.0,
                beside - 4.0,
                place + 5.0,
                escaped(&line.name),
            );
        }
    }
}

/// The width of a text, a little too large for most fonts.
fn text_width(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(name: &str) -> Chart {
        Chart {
            title: "Cats & dogs".into(),
            subtitle: "a < b".into(),
            x: Axis::new(
                "time",
                Scale::Linear,
                0.0,
                10.0,
                vec![(0.0, "0".into()), (10.0, "ten\nat last".into())],
            ),
            y: Axis::new("", Scale::Log, 1.0, 100.0, vec![(10.0, "10".into())]),
            regions: vec![
                Region {
                    name: "early".into(),
                    range: (0.0, 5.0),
                },
                Region {
                    name: "too long for its width".into(),
                    range: (5.0, 5.5),
                },
            ],
            marks: vec![Mark {
                name: "here".into(),
                colour: "#009e73",
                point: (5.0, 10.0),
            }],
            lines: vec![Series {
                name: name.into(),
                colour: "#0b5fa5",
                width: 2.0,
                is_dotted: false,
                is_strong: true,
                points: vec![(0.0, 1.0), (5.0, 10.0), (10.0, 100.0)],
            }],
        }
    }

    #[test]
    fn points_are_where_their_axes_put_them() {
        let svg = chart("line").to_svg();
        assert!(
            svg.contains(r#"points="86.0,470.0 365.0,275.0 644.0,80.0""#),
            "{svg}"
        );
        assert!(svg.contains(">at last<"));
    }

    #[test]
    fn regions_are_named_where_the_name_fits() {
        let svg = chart("line").to_svg();
        assert!(svg.contains(">early<"), "{svg}");
        assert!(!svg.contains("too long"), "{svg}");
    }

    #[test]
    fn marks_are_circled() {
        let svg = chart("line").to_svg();
        assert!(
            svg.contains(r#"<circle cx="365.0" cy="275.0" r="6""#),
            "{svg}"
        );
        assert!(svg.contains(">here<"));
    }

    #[test]
    fn text_cannot_break_out() {
        let svg = chart("</text><script>").to_svg();
        assert!(svg.contains("Cats &amp; dogs") && svg.contains("a &lt; b"));
        assert!(!svg.contains("<script>"));
    }
}
