//! Forgers make the checksums right again: whatever they write, it is refused, or a filter that answers and takes keys, in little
//! memory.

use super::filters::filters;
use super::{decode, header_bytes, key};
use mayhap_codec::{Problem, native};
use mayhap_core::{AnyFilter, ClearingStrategy, Fuse, HashScheme, PlanError};
use mayhap_testkit::peak_memory::peak_of;

/// Forgers fix the checksums: whatever they write into a header, it is refused, or a filter that answers and takes keys.
#[test]
fn forged_headers_do_no_harm() {
    let numbers = [
        0,
        1,
        2,
        127,
        (1 << 31) - 1,
        1 << 31,
        (1 << 32) - 1,
        (1 << 63) - 1,
        1 << 63,
        u64::MAX,
    ];
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let header = header_bytes(&bytes);
        // Fixed fields have two bytes or more; those of plans, and the lengths of sections, have eight.
        let fields = (8..88).step_by(2).chain((88..header - 8).step_by(8));
        for at in fields {
            for number in numbers {
                for length in [2, 8] {
                    let mut forged = bytes.clone();
                    let end = (at + length).min(header - 8);
                    forged[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
                    seal(&mut forged, header);
                    ask(&forged);
                }
            }
        }
    }
}

/// Bodies, too.
#[test]
fn forged_bodies_do_no_harm() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let header = header_bytes(&bytes);
        let body = bytes.len().saturating_sub(header + 16);
        for step in 0..300_usize {
            let mut forged = bytes.clone();
            if body > 0 {
                let at = header + step.wrapping_mul(7_368_787) % body;
                forged[at] = [0xff, 0, 1, 3, 0x80][step % 5];
            }
            seal(&mut forged, header);
            ask(&forged);
        }
    }
}

fn seal(bytes: &mut [u8], header: usize) {
    use twox_hash::XxHash3_64;
    let sum = XxHash3_64::oneshot(&bytes[..header - 8]);
    bytes[header - 8..header].copy_from_slice(&sum.to_le_bytes());
    let mut pages = 0;
    while bytes.len() - header > pages * ((1 << 16) + 8) + 8 {
        pages += 1;
    }
    let table = bytes.len() - 8 * (pages + 1);
    let sums: Vec<u8> = (0..)
        .zip(bytes[header..table].chunks(1 << 16))
        .flat_map(|(page, bytes)| XxHash3_64::oneshot_with_seed(page, bytes).to_le_bytes())
        .collect();
    bytes[table..table + sums.len()].copy_from_slice(&sums);
    let last = XxHash3_64::oneshot_with_seed(sum, &sums).to_le_bytes();
    let end = bytes.len() - 8;
    bytes[end..].copy_from_slice(&last);
}

/// Reads a file and, if it is one, asks and fills it. Neither takes more memory than the bytes are worth.
fn ask(bytes: &[u8]) {
    let (decoded, peak) = peak_of(|| decode(bytes));
    let length = bytes.len() as u64;
    assert!(peak <= (1 << 20) + 8 * length, "{length} bytes took {peak}");
    let Ok(mut filter) = decoded else {
        return;
    };
    let ((), peak) = peak_of(|| {
        _ = filter.stats();
        if filter.scheme() != HashScheme::Caller {
            use_up(&mut filter);
        }
    });
    assert!(
        peak <= (1 << 20) + 64 * length,
        "{filter:?} of {length} bytes took {peak}"
    );
}

fn use_up(filter: &mut AnyFilter) {
    for number in 0..60 {
        _ = filter.contains(key(number));
        _ = filter.try_insert(key(number));
        _ = filter.remove(key(number / 2));
    }
    if let AnyFilter::Retouched(filter) = filter {
        _ = filter.clear_false_positive(key(5), ClearingStrategy::Ratio);
        _ = filter.clear_all(ClearingStrategy::MinimumFalseNegatives);
    }
    _ = filter.stats();
    _ = filter.clear();
    for number in 0..60 {
        _ = filter.try_insert(key(number));
    }
}

/// A header whose lengths fit each other and nothing else.
#[test]
fn lengths_that_are_not_there_are_not_asked_for() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let header = header_bytes(&bytes);
        let number_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (sections, plan) = (number_at(76) as usize, number_at(80) as usize);
        for section in 0..sections {
            for length in [1 << 20, 1 << 31, 1 << 40, 1 << 61, 1 << 62, u64::MAX] {
                let mut forged = bytes.clone();
                let at = 88 + plan + 8 * section;
                forged[at..at + 8].copy_from_slice(&length.to_le_bytes());
                let lengths = forged[88 + plan..].as_chunks().0.iter().take(sections);
                let lengths = lengths.map(|length| u64::from_le_bytes(*length));
                let file_length = file_length(header as u64, lengths).unwrap_or(length);
                forged[16..24].copy_from_slice(&file_length.to_le_bytes());
                seal(&mut forged, header);
                let (decoded, peak) = peak_of(|| decode(&forged));
                assert!(decoded.is_err() && peak < 1 << 16, "{peak} bytes");
            }
        }
    }
}

/// Widths that a fuse filter cannot have, or that do not match its cells, and bits after the last cell.
#[test]
fn forged_widths_and_cells_of_a_fuse_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.mayhap");
    let is_refused = |forged: &[u8]| {
        std::fs::write(&path, forged).unwrap();
        decode(forged).is_err() && native::map(&path, native::Verify::Full, None).is_err()
    };
    let keys: Vec<_> = (0..1000).map(key).collect();
    for bits in 4..=32 {
        let rate = 1.01 * 0.5_f64.powi(bits);
        let bytes = native::encode(&Fuse::build(&keys, rate).unwrap()).unwrap();
        let header = header_bytes(&bytes);
        assert!(!is_refused(&bytes));
        for width in (0..70).chain([255, 256, 1 << 32, u64::MAX]) {
            let mut forged = bytes.clone();
            forged[104..112].copy_from_slice(&width.to_le_bytes());
            seal(&mut forged, header);
            assert_eq!(is_refused(&forged), width != bits as u64, "{width}");
        }
        if ![8, 16, 32].contains(&bits) {
            let mut forged = bytes.clone();
            // One page of cells, its checksum and that of the whole.
            let last = forged.len() - 17;
            forged[last] |= 0x80;
            seal(&mut forged, header);
            assert!(is_refused(&forged), "{bits} bits");
        }
    }
}

fn file_length(header: u64, mut sections: impl Iterator<Item = u64>) -> Option<u64> {
    let body = sections.try_fold(0_u64, |end, length| {
        end.checked_next_multiple_of(64)?.checked_add(length)
    })?;
    body.checked_add(header + 8 * body.div_ceil(1 << 16) + 8)
}

/// Plans that claim to go on with more than any memory.
#[test]
fn what_grows_does_not_grow_out_of_proportion() {
    let mut refused = 0;
    for filter in filters() {
        // Where the capacity is, or the keys of a window.
        let at = match &filter {
            AnyFilter::Growing(_) | AnyFilter::Window(_) => 88,
            AnyFilter::Cuckoo(cuckoo) if cuckoo.growth().is_some() => 96,
            _ => continue,
        };
        let bytes = native::encode(&filter).unwrap();
        for capacity in [1_u64 << 24, 1 << 32, 1 << 40] {
            let mut forged = bytes.clone();
            forged[at..at + 8].copy_from_slice(&capacity.to_le_bytes());
            seal(&mut forged, header_bytes(&bytes));
            ask(&forged);
            // Some are refused for another reason, and some go on with what cannot be planned, and so do not grow.
            let problem = decode(&forged).map_err(|error| error.problem);
            let out_of_proportion = |error: &PlanError| error.to_string().contains("next part");
            refused += u32::from(
                matches!(problem, Err(Problem::Plan(error)) if out_of_proportion(&error)),
            );
        }
    }
    assert!(refused > 30, "{refused}");
}
