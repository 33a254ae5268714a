//! Contenders take turns, and the least time of each counts: what the machine does besides hits all of them, and only
//! slows.

/// One who is measured: a name, and a turn that returns its nanoseconds (all of them, not per key). The turn is told the
/// round.
pub struct Contender<'a> {
    pub name: &'static str,
    pub turn: Box<dyn FnMut(usize) -> f64 + 'a>,
}

impl<'a> Contender<'a> {
    pub fn new(name: &'static str, turn: impl FnMut(usize) -> f64 + 'a) -> Self {
        Self {
            name,
            turn: Box::new(turn),
        }
    }
}

/// The least time of each contender over the rounds. Who begins changes from round to round, so that nobody always runs
/// after the same neighbour.
pub fn alternate(rounds: usize, contenders: &mut [Contender<'_>]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; contenders.len()];
    for round in 0..rounds {
        for step in 0..contenders.len() {
            let at = (round + step) % contenders.len();
            least[at] = least[at].min((contenders[at].turn)(round));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_of_all_rounds_counts() {
        let mut contenders = [
            Contender::new("falling", |round| 10.0 - round as f64),
            Contender::new("rising", |round| 10.0 + round as f64),
        ];
        assert_eq!(alternate(3, &mut contenders), [8.0, 10.0]);
    }
}
