//! Keeps labels from overlapping.

/// The minimum distance between two labels.
const LEADING: f64 = 19.0;

/// Moves sorted labels apart to at least `LEADING`, each group around its own centre.
pub(crate) fn spread_labels(wanted: &[f64]) -> Vec<f64> {
    // Groups of (sum of wanted positions, members); neighbours that overlap are merged.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    let top = |&(sum, members): &(f64, usize)| {
        sum / members as f64 - LEADING * (members - 1) as f64 / 2.0
    };
    for &position in wanted {
        let mut group = (position, 1);
        while let Some(before) = groups.last() {
            if top(before) + LEADING * before.1 as f64 <= top(&group) {
                break;
            }
            group = (group.0 + before.0, group.1 + before.1);
            groups.pop();
        }
        groups.push(group);
    }
    groups
        .iter()
        .flat_map(|group| (0..group.1).map(move |at| top(group) + LEADING * at as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_apart_and_in_order() {
        let positions = spread_labels(&[10.0, 12.0, 13.0, 200.0]);
        assert!(
            positions
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= LEADING - 1e-9)
        );
        assert!((positions[3] - 200.0).abs() < 1e-9);
    }
}
