//! The parities of a `Ribbon`'s columns. A program built for plain x86-64 counts bits in a dozen instructions; the CPU has had
//! one for it since long, so that is used where the kernel says it is there.

use super::kernel::{Kernel, Usable};

/// For every column, whether an odd number of its bits meets the coefficients: bit `i` is column `i`. `words` are the columns'
/// words of one block and of the next.
#[inline(always)]
pub(crate) fn parities(kernel: Usable, words: &[u64], here: u64, there: u64) -> u32 {
    match kernel.get() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the kernel is usable, and both imply popcnt (`Kernel::is_available`).
        Kernel::Avx2 | Kernel::Avx512 => gather(words, here, there, |bits| unsafe { popcnt(bits) }),
        _ => gather(words, here, there, |bits| u64::from(bits.count_ones())),
    }
}

#[inline(always)]
fn gather(words: &[u64], here: u64, there: u64, ones: impl Fn(u64) -> u64) -> u32 {
    let (low, high) = words.split_at(words.len() / 2);
    let columns = low.iter().zip(high).rev();
    columns.fold(0, |found, (low, high)| {
        found << 1 | ones((low & here) ^ (high & there)) & 1
    }) as u32
}

/// # Safety
/// The CPU must have the instruction.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn popcnt(bits: u64) -> u64 {
    let ones;
    // SAFETY: the caller's promise; nothing but the result and the flags is written.
    unsafe {
        core::arch::asm!("popcnt {}, {}", out(reg) ones, in(reg) bits, options(pure, nomem, nostack));
    }
    ones
}
