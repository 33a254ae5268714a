//! Random requests, as bytes.

use super::array;
use mayhap_testkit::Random;

/// A line of quotes, escapes and blanks, and little else.
pub(crate) fn line(random: &mut Random) -> Vec<u8> {
    const BYTES: &[u8] = b"\"\"\"'''\\\\\\   \t\x0b\x0c\rxx0aAfGnrtbq\x80\xff";
    (0..random.below(24))
        .map(|_| random.choose(BYTES))
        .collect()
}

/// An array of these words and some random ones, with up to two bytes replaced.
pub(crate) fn damaged_array(random: &mut Random, first: &[&[u8]]) -> Vec<u8> {
    let words: Vec<Vec<u8>> = (0..random.below(4))
        .map(|_| {
            let length = random.below(12);
            (0..length)
                .map(|_| random.choose(b"ab\r\n$*\xff"))
                .collect()
        })
        .collect();
    let mut all = first.to_vec();
    all.extend(words.iter().map(Vec::as_slice));
    let mut bytes = array(&all);
    for _ in 0..random.below(3) {
        let at = random.index(bytes.len());
        bytes[at] = random.choose(b"\r\n$*-+0123456789a \"'");
    }
    bytes
}
