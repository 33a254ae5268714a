//! Clocks. CPU time of the calling thread, because other programs on the machine must not count; wall time only where two
//! threads work together.

use std::time::Instant;

/// Nanoseconds of CPU time that the calling thread spends in `work`.
pub fn cpu_ns(work: impl FnOnce()) -> f64 {
    let start = thread_cpu_ns();
    work();
    (thread_cpu_ns() - start) as f64
}

/// Nanoseconds between the first start and the last end of several threads.
pub fn wall_ns(spans: &[(Instant, Instant)]) -> f64 {
    let first = spans.iter().map(|span| span.0).min();
    let last = spans.iter().map(|span| span.1).max();
    match (first, last) {
        (Some(first), Some(last)) => (last - first).as_nanos() as f64,
        _ => 0.0,
    }
}

#[expect(
    unsafe_code,
    reason = "the standard library has no clock of a thread's CPU time"
)]
fn thread_cpu_ns() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec to write to, and the clock exists on every system that libc offers it for.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    assert_eq!(
        failed, 0,
        "this system has no clock for CPU time of threads"
    );
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
