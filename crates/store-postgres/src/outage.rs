//! Whether databases can be reached, as a process notices it: told once when one is away, and once when it is there again.
//!
//! Every connection of a process has a thread of its own and tries again by itself, so an outage is met by several of them at once. A
//! connection that is lost and made again at once is no outage: only an attempt to connect tells.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What a process notices of its database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It cannot be reached. What needs it waits.
    Away {
        /// What came of the attempt.
        why: String,
    },
    /// It answers again.
    Back {
        /// How long it was away.
        after: Duration,
    },
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reach::Away { why } => {
                write!(f, "the database cannot be reached: {why}; what needs it waits, and tries again")
            }
            Reach::Back { after } => write!(f, "the database answers again, after {} seconds", after.as_secs()),
        }
    }
}

type Listener = Box<dyn Fn(&Reach) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();
static STATE: Mutex<State> = Mutex::new(State { has_answered: false, since: None });

/// Has this called whenever a database is away that has answered before, and when it is back, from now on. The first call counts.
pub fn on_reach(listener: impl Fn(&Reach) + Send + Sync + 'static) {
    let _ = LISTENER.set(Box::new(listener));
}

/// A database took longer to answer than anybody waits.
pub fn is_silent(seconds: u64) {
    tell(|state, now| state.away(now, || format!("no answer for {seconds} seconds")));
}

/// The database answers.
pub fn answers() {
    tell(State::back);
}

/// An attempt to connect failed in a way that passes.
pub(crate) fn failed(why: &dyn fmt::Display) {
    tell(|state, now| state.away(now, || why.to_string()));
}

fn tell(change: impl FnOnce(&mut State, Instant) -> Option<Reach>) {
    #[expect(clippy::disallowed_methods, reason = "how long a database is away is told to people")]
    let now = Instant::now();
    // The listener is called under the lock, so its calls are in order.
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(reach), Some(listener)) = (change(&mut state, now), LISTENER.get()) {
        listener(&reach);
    }
}

/// Whether the database is away.
struct State {
    /// What cannot be reached from the beginning is no outage: the command that needs it ends with an error.
    has_answered: bool,
    since: Option<Instant>,
}

impl State {
    fn away(&mut self, now: Instant, why: impl FnOnce() -> String) -> Option<Reach> {
        if self.since.is_some() || !self.has_answered {
            return None;
        }
        self.since = Some(now);
        Some(Reach::Away { why: why() })
    }

    fn back(&mut self, now: Instant) -> Option<Reach> {
        self.has_answered = true;
        let after = now.saturating_duration_since(self.since.take()?);
        Some(Reach::Back { after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_once_and_its_end_once() {
        #[expect(clippy::disallowed_methods, reason = "any instant")]
        let began = Instant::now();
        let mut state = State { has_answered: false, since: None };
        assert_eq!(state.away(began, || "refused".to_owned()), None, "it was never there");
        assert_eq!(state.back(began), None, "it was there all the time");
        let away = state.away(began, || "refused".to_owned());
        assert_eq!(away, Some(Reach::Away { why: "refused".to_owned() }));
        assert_eq!(state.away(began, || "refused".to_owned()), None, "another connection");
        let back = state.back(began + Duration::from_secs(22));
        assert_eq!(
            back.as_ref().map(ToString::to_string),
            Some("the database answers again, after 22 seconds".to_owned())
        );
        assert_eq!(state.back(began), None);
    }
}
