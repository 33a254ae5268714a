//! Many items into an open table at once. One by one, items whose homes were chosen to be the same would take a time that grows with
//! the square of their number, and such items can come from a file.

/// Puts items into an empty table, each at its home or at the next place that is free. There must be more places than items.
pub(crate) fn fill_table<T: Copy>(items: &mut [T], places: &mut [T], home: impl Fn(&T) -> usize) {
    debug_assert!(items.len() < places.len());
    items.sort_unstable_by_key(&home);
    let mut free = 0;
    let mut fits = |item: &T| {
        free = home(item).max(free) + 1;
        free <= places.len()
    };
    let fitting = items.iter().take_while(|item| fits(item)).count();
    // Those that do not fit before the end go on at the beginning. That moves others, up to the first gap, and there is one.
    let (fitting, others) = items.split_at(fitting);
    places[..others.len()].copy_from_slice(others);
    let mut free = others.len();
    for item in fitting {
        let at = home(item).max(free);
        places[at] = *item;
        free = at + 1;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn every_item_is_found_from_its_home_on() {
        let places = 64;
        for count in [0, 1, 2, 30, 63] {
            for spread in [1, 2, 7, 64] {
                for from in [0, 31, 60, 63] {
                    // The home is in the upper bits; 0 is an empty place.
                    let home = |item: &u64| (item >> 32) as usize;
                    let item = |at: u64| ((from + at % spread) % places) << 32 | (at + 1);
                    let mut items: Vec<u64> = (0..count).map(item).collect();
                    let mut table = vec![0; places as usize];
                    fill_table(&mut items, &mut table, home);
                    assert_eq!(
                        table.iter().filter(|&&item| item != 0).count() as u64,
                        count
                    );
                    for item in items {
                        let walk =
                            (0..places as usize).map(|step| table[(home(&item) + step) % 64]);
                        let mut run = walk.take_while(|&at| at != 0);
                        assert!(run.any(|at| at == item), "{count} {spread} {from}");
                    }
                }
            }
        }
    }
}
