//! What is measured, one case a file. Each gives figures and stops the run when an answer is wrong.

pub mod insert;
pub mod query;
pub mod space;
pub mod url;

use crate::clock::cpu_ns;
use crate::keys::Queries;
use crate::measure::Contender;

/// Rounds of inserting so many keys: more where they are few, since short work is disturbed more and costs less.
fn rounds_for(rounds: usize, keys: u64) -> usize {
    match keys {
        0..=300_000 => 8 * rounds,
        300_001..=3_000_000 => 3 * rounds,
        3_000_001..=30_000_000 => rounds,
        _ => rounds.min(2),
    }
}

/// Asks all queries and writes down all answers.
pub type Ask<'a, Q> = Box<dyn Fn(&[Q], &mut [bool]) + 'a>;

/// A contender whose turn asks everything, timed, and then checks the answers. `found` is spoilt before, differently in every
/// round, so that an answer that was not given is noticed.
fn asking<'a, Q>(
    name: &'static str,
    ask: Ask<'a, Q>,
    queries: &'a Queries<Q>,
    found: &'a mut [bool],
) -> Contender<'a> {
    let mut before = None;
    Contender::new(name, move |round| {
        found.fill(round % 2 == 0);
        let ns = cpu_ns(|| ask(&queries.asked, found));
        let wrong = false_positives(name, queries, found);
        assert_eq!(
            *before.get_or_insert(wrong),
            wrong,
            "{name} answers differently when asked again"
        );
        ns
    })
}

/// How many strangers were taken for keys. A key taken for a stranger ends the run.
fn false_positives<Q>(name: &str, queries: &Queries<Q>, found: &[bool]) -> usize {
    assert_eq!(found.len(), queries.present.len());
    let mut wrong = 0;
    for (at, (&present, &found)) in queries.present.iter().zip(found).enumerate() {
        assert!(
            found || !present,
            "{name} does not know a key that is in: query {at}"
        );
        wrong += usize::from(found && !present);
    }
    wrong
}

/// The share of strangers that were taken for keys.
fn measured_rate<Q>(name: &str, queries: &Queries<Q>, found: &[bool]) -> f64 {
    let strangers = queries.present.iter().filter(|present| !**present).count();
    false_positives(name, queries, found) as f64 / strangers as f64
}

/// Ends the run when mayhap's rate is worse than asked by more than chance explains: five standard errors of the sample and
/// of the spread between filters.
fn check_rate(plan: &mayhap::plan::BloomPlan, measured: f64, strangers: f64) {
    let asked = plan.false_positive_rate();
    let variance = 1.0 / (strangers * asked) + plan.relative_variance_at(plan.capacity());
    let limit = asked * (1.0 + 5.0 * variance.sqrt());
    assert!(
        measured <= limit,
        "mayhap was asked for a rate of {asked}, and {measured} was measured: more than {limit}, which chance would allow"
    );
}
