//! Keeps labels from overlapping.

/// The minimum distance between two labels.
const LEADING: f64 = 19.0;

/// Moves sorted positions at least `LEADING` apart, each group around its own centre.
pub(crate) fn spread_labels(wanted: &[f64]) -> Vec<f64> {
    // Groups of (sum of wanted positions, members); neighbours that meet are merged.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart_and_in_order() {
        let places = spread_labels(&[10.0, 12.0, 13.0, 200.0]);
        assert!(
            places
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= LEADING - 1e-9)
        );
        assert!((places[3] - 200.0).abs() < 1e-9);
    }
}
