//! Answers to scripts reach the page in the order of the requests: what scripts add to a page stands in the same order every time.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// An answer waits for those that were requested before it for this long, by the clock of the machine.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers that wait for earlier ones. One at a time is on its way into the page.
pub(super) struct Order<T> {
    /// The turn of the next request.
    next: u64,
    /// The turn whose answer is the next for the page.
    due: u64,
    early: BTreeMap<u64, T>,
    /// The request whose answer is on its way into the page.
    loading: Option<String>,
    /// When nothing is kept back any more.
    until: Option<Instant>,
}

impl<T> Order<T> {
    pub(super) fn new() -> Self {
        Order { next: 0, due: 0, early: BTreeMap::new(), loading: None, until: None }
    }

    /// The turn of a request.
    pub(super) fn turn(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Takes an answer. Gives the one that the page gets now.
    pub(super) fn came(&mut self, turn: u64, answer: T, now: Instant) -> Option<T> {
        if turn < self.due {
            return Some(answer);
        }
        self.early.insert(turn, answer);
        self.release(now)
    }

    /// The answer to this request is on its way.
    pub(super) fn given(&mut self, request: String) {
        self.loading = Some(request);
    }

    /// The page has the answer to a request. Gives the next one.
    pub(super) fn loaded(&mut self, request: &str, now: Instant) -> Option<T> {
        self.loading.take_if(|loading| *loading == request)?;
        self.until = None;
        self.release(now)
    }

    fn release(&mut self, now: Instant) -> Option<T> {
        let given = if self.loading.is_none() { self.early.remove(&self.due) } else { None };
        self.due += u64::from(given.is_some());
        self.until = if self.early.is_empty() { None } else { self.until.or(Some(now + PATIENCE)) };
        given
    }

    /// When to give what is kept back.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// What was kept back long enough.
    pub(super) fn overdue(&mut self) -> Vec<T> {
        (self.until, self.loading) = (None, None);
        self.due = self.early.last_key_value().map_or(self.due, |(turn, _)| turn + 1);
        std::mem::take(&mut self.early).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_given_in_the_order_of_the_requests() {
        let now = Instant::now();
        for came in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]] {
            let mut order = Order::new();
            let turns: Vec<u64> = came.iter().map(|_| order.turn()).collect();
            assert_eq!(turns, [0, 1, 2, 3]);
            let mut given = Vec::new();
            for turn in came {
                let mut next = order.came(turn, turn, now);
                while let Some(answer) = next {
                    given.push(answer);
                    order.given(answer.to_string());
                    next = order.loaded("another", now).or_else(|| order.loaded(&answer.to_string(), now));
                }
            }
            assert_eq!((given, order.until()), (vec![0, 1, 2, 3], None), "{came:?}");
        }
    }

    #[test]
    fn one_answer_at_a_time_is_on_its_way() {
        let now = Instant::now();
        let mut order = Order::new();
        let (first, second) = (order.turn(), order.turn());
        assert_eq!(order.came(first, "a", now), Some("a"));
        order.given("1".to_owned());
        assert_eq!((order.until(), order.came(second, "b", now)), (None, None));
        assert_eq!(order.until(), Some(now + PATIENCE));
        assert_eq!((order.loaded("1", now), order.until()), (Some("b"), None));
    }

    #[test]
    fn nothing_waits_for_ever() {
        let now = Instant::now();
        let mut order = Order::new();
        let _ = [order.turn(), order.turn(), order.turn()];
        assert_eq!((order.came(2, 2, now), order.came(1, 1, now + PATIENCE / 2)), (None, None));
        assert_eq!(order.until(), Some(now + PATIENCE), "counted from the first");
        assert_eq!(order.overdue(), [1, 2]);
        assert_eq!(order.came(0, 0, now + PATIENCE), Some(0), "what comes late is given at once");
    }
}
