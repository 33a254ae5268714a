//! Work without huge pages. The system clears a huge page when it is first touched, which takes up to 5 ms in a virtual machine: the longest insert
//! would be about the system only.

/// Calls `work` while this process gets no new huge pages.
pub fn without(work: impl FnOnce()) {
    disable(true);
    work();
    disable(false);
}

#[expect(unsafe_code, reason = "the standard library has no call for it")]
fn disable(is_disabled: bool) {
    // SAFETY: the call reads and writes no memory of ours. An error means that the system has no huge pages.
    unsafe {
        libc::prctl(
            libc::PR_SET_THP_DISABLE,
            libc::c_ulong::from(is_disabled),
            0,
            0,
            0,
        )
    };
}
