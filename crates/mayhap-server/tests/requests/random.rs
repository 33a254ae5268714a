//! Numbers that look random, and the inputs that are made with them.

use crate::array;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    pub(crate) fn of(&mut self, bytes: &[u8]) -> u8 {
        bytes[self.below(bytes.len())]
    }

    /// A line of what matters to quotes, and little else.
    pub(crate) fn line(&mut self) -> Vec<u8> {
        const LETTERS: &[u8] = b"\"\"\"'''\\\\\\   \t\x0b\x0c\rxx0aAfGnrtbq\x80\xff";
        (0..self.below(24)).map(|_| self.of(LETTERS)).collect()
    }

    /// Some words as an array, with a byte or two that may be others.
    pub(crate) fn array(&mut self, first: &[&[u8]]) -> Vec<u8> {
        let words: Vec<Vec<u8>> = (0..self.below(4))
            .map(|_| {
                (0..self.below(12))
                    .map(|_| self.of(b"ab\r\n$*\xff"))
                    .collect()
            })
            .collect();
        let mut all = first.to_vec();
        all.extend(words.iter().map(Vec::as_slice));
        let mut bytes = array(&all);
        for _ in 0..self.below(3) {
            let at = self.below(bytes.len());
            bytes[at] = self.of(b"\r\n$*-+0123456789a \"'");
        }
        bytes
    }
}
