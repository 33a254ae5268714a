//! Maps values to positions on an axis.

/// How values are mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// In proportion to their difference.
    Linear,
    /// In proportion to the logarithm of their ratio.
    Log,
}

/// An axis: its name, its range and its ticks.
pub struct Axis {
    pub(crate) name: String,
    scale: Scale,
    pub(crate) from: f64,
    to: f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis from one value to another, which may be the smaller one. Ticks outside of the range are dropped; text after a line
    /// break in a label is a remark.
    pub fn new(
        name: impl Into<String>,
        scale: Scale,
        from: f64,
        to: f64,
        mut ticks: Vec<(f64, String)>,
    ) -> Self {
        ticks.retain(|(value, _)| (from.min(to)..=from.max(to)).contains(value));
        Self {
            name: name.into(),
            scale,
            from,
            to,
            ticks,
        }
    }

    /// The position of a value on the axis: 0 at its start, 1 at its end; clamped.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        // Draws a chart even for values that are not numbers.
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_may_run_backwards_and_lose_no_value() {
        let rates = Axis::new(
            "",
            Scale::Log,
            0.1,
            1e-5,
            vec![(0.01, "1 %".into()), (1.0, "all".into())],
        );
        assert!((rates.share(0.001) - 0.5).abs() < 1e-12);
        assert_eq!(rates.ticks.len(), 1);
        assert_eq!(
            (rates.share(1.0), rates.share(0.0), rates.share(f64::NAN)),
            (0.0, 0.0, 0.0)
        );
    }
}
