//! Maps values to positions on an axis.

/// The scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic.
    Log,
}

/// An axis: its name, its range and its labels.
pub struct Axis {
    pub(crate) name: String,
    scale: Scale,
    pub(crate) from: f64,
    to: f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// The range may be descending. Ticks outside are omitted; text after a line break in a label is a remark.
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

    /// The relative position of a value: 0 at the start, 1 at the end, never outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        // NaN is drawn at the start.
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
