//! Fills an open-addressing table at once. One by one, items that were chosen to have the same preferred slot would take
//! quadratic time, and such items can come from a file.

/// Fills an empty table, each item in its preferred slot or the next free one. There must be more slots than items.
pub(crate) fn fill_table<T: Copy>(items: &mut [T], slots: &mut [T], home: impl Fn(&T) -> usize) {
    debug_assert!(items.len() < slots.len());
    items.sort_unstable_by_key(&home);
    let mut free = 0;
    let mut fits = |item: &T| {
        free = home(item).max(free) + 1;
        free <= slots.len()
    };
    let fitting = items.iter().take_while(|item| fits(item)).count();
    // Items that do not fit before the end wrap around to the start. That displaces others, up to the first gap, and there is
    // one.
    let (fitting, others) = items.split_at(fitting);
    slots[..others.len()].copy_from_slice(others);
    let mut free = others.len();
    for item in fitting {
        let at = home(item).max(free);
        slots[at] = *item;
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
    fn every_item_is_found_by_linear_probing() {
        let slots = 64;
        for count in [0, 1, 2, 30, 63] {
            for spread in [1, 2, 7, 64] {
                for from in [0, 31, 60, 63] {
                    // The preferred slot is in the upper bits; 0 is an empty slot.
                    let home = |item: &u64| (item >> 32) as usize;
                    let item = |at: u64| ((from + at % spread) % slots) << 32 | (at + 1);
                    let mut items: Vec<u64> = (0..count).map(item).collect();
                    let mut table = vec![0; slots as usize];
                    fill_table(&mut items, &mut table, home);
                    assert_eq!(
                        table.iter().filter(|&&item| item != 0).count() as u64,
                        count
                    );
                    for item in items {
                        let walk = (0..slots as usize).map(|step| table[(home(&item) + step) % 64]);
                        let mut run = walk.take_while(|&at| at != 0);
                        assert!(run.any(|at| at == item), "{count} {spread} {from}");
                    }
                }
            }
        }
    }
}
