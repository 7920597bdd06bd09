//! Fetches that are logged in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fetch::Fetcher;
use model::{Failure, FailureKind, FetchOutcome, FetchTask, Fetched, Purpose};
use tokio::sync::Mutex;
use weburl::CanonicalUrl;

use crate::attempt;
use crate::description::Login;
use crate::error::{LoginFailed, REDIRECTS_MAX};
use crate::marks::Seen;

/// Sessions that may end before a page is fetched in one of them; after that it has failed, and is tried again like any failure.
const SESSIONS_MAX: u32 = 8;

/// The logins of a crawl, with the fetcher whose jar has their cookies.
pub struct Logins {
    fetcher: Arc<Fetcher>,
    sessions: Vec<Session>,
    /// The wait between two requests of a login.
    pause: Duration,
}

/// A login, and how it stands.
struct Session {
    login: Login,
    /// How often it has worked; fetches that began before are no sign that it is needed again.
    number: AtomicU64,
    state: Mutex<State>,
    closed: AtomicU64,
}

#[derive(Default)]
struct State {
    attempts: u32,
    /// Where the last one led.
    home: Option<CanonicalUrl>,
}

/// How a login went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Its name.
    pub name: String,
    /// How often it has worked.
    pub logins: u64,
    /// Pages that look as if one were logged out, although one is: recorded as they are.
    pub closed: u64,
}

impl Logins {
    /// Logins that wait so long between their requests.
    #[must_use]
    pub fn new(logins: Vec<Login>, fetcher: Arc<Fetcher>, pause: Duration) -> Self {
        let session =
            |login| Session { login, number: AtomicU64::new(0), state: Mutex::default(), closed: AtomicU64::new(0) };
        Logins { fetcher, sessions: logins.into_iter().map(session).collect(), pause }
    }

    /// The same logins, as far as they have come, with another fetcher that has the same jar.
    #[must_use]
    pub fn with_fetcher(self, fetcher: Arc<Fetcher>) -> Self {
        Logins { fetcher, ..self }
    }

    /// Where the logins are. The user named them, as the seeds.
    pub fn urls(&self) -> impl Iterator<Item = &CanonicalUrl> {
        self.sessions.iter().map(|session| &session.login.url)
    }

    /// Logs in everywhere, except where that has worked already.
    ///
    /// # Errors
    /// One did not work.
    pub async fn begin(&self) -> Result<(), LoginFailed> {
        let without = |session: &&Session| session.number.load(Ordering::Acquire) == 0;
        for session in self.sessions.iter().filter(without) {
            session.log_in(&mut *session.state.lock().await, &self.fetcher, self.pause).await?;
        }
        Ok(())
    }

    /// How they went.
    #[must_use]
    pub fn tallies(&self) -> Vec<Tally> {
        let tally = |session: &Session| Tally {
            name: session.login.name.clone(),
            logins: session.number.load(Ordering::Relaxed),
            closed: session.closed.load(Ordering::Relaxed),
        };
        self.sessions.iter().map(tally).collect()
    }

    /// What a fetch may take longer than without logins.
    #[must_use]
    pub fn time_max(&self) -> Duration {
        let requests = u32::try_from(3 * (REDIRECTS_MAX + 1) + 2).unwrap_or(u32::MAX);
        // For each of these sessions, a login, a fetch, and a look at where that leads.
        let once = (self.fetcher.time_max(Purpose::Page, false) + self.pause) * requests;
        once * (SESSIONS_MAX + 1)
    }

    /// Carries out a task. If its answer shows that one is logged out, logs in and carries it out again; the first answer is not recorded.
    pub async fn fetch(&self, task: FetchTask) -> FetchOutcome {
        let Some(session) = self.sessions.iter().find(|session| session.is_for(&task)) else {
            return self.fetcher.fetch(task).await;
        };
        let (can_tell, mut has_logged_in) = (session.login.success.is_of_page(), false);
        let mut sessions = 0;
        loop {
            let number = session.number.load(Ordering::Acquire);
            let outcome = self.fetcher.fetch(task.clone()).await;
            if !session.is_logged_out(&outcome, &self.fetcher, self.pause).await {
                return outcome;
            }
            sessions += 1;
            let renewed = match () {
                // Where nothing tells whether one is logged in, a login of its own is all that a page gets.
                () if has_logged_in && !can_tell => Ok(Renewed::Alive),
                () if sessions > SESSIONS_MAX => {
                    let name = &session.login.name;
                    Err(format!("login {name}: {SESSIONS_MAX} sessions ended before this page came in one of them"))
                }
                () => session.renew(number, &self.fetcher, self.pause).await,
            };
            match renewed {
                Err(detail) => {
                    let failure = Failure { kind: FailureKind::Disconnected, detail };
                    return FetchOutcome { exchanges: Vec::new(), fetched: Fetched::Failed(failure), ..outcome };
                }
                Ok(Renewed::Alive) => {
                    session.closed.fetch_add(1, Ordering::Relaxed);
                    return outcome;
                }
                Ok(Renewed::ByOthers) => {}
                Ok(Renewed::Now) => has_logged_in = true,
            }
            tokio::time::sleep(self.pause).await;
        }
    }
}

/// What was found when a page looked as if one were logged out.
enum Renewed {
    /// One is not: the page is closed to this user.
    Alive,
    /// One was, until another fetch logged in.
    ByOthers,
    /// One was, until now.
    Now,
}

impl Session {
    /// Whether a task needs this login. The page with the form shows itself.
    fn is_for(&self, task: &FetchTask) -> bool {
        matches!(task.purpose, Purpose::Page | Purpose::Requisite)
            && !self.login.is_at_form(&task.url)
            && self.login.pages.iter().any(|pattern| pattern.matches(&task.url))
    }

    async fn is_logged_out(&self, outcome: &FetchOutcome, fetcher: &Fetcher, pause: Duration) -> bool {
        let Fetched::Response(response) = &outcome.fetched else { return false };
        let target = {
            let seen = Seen::new(&outcome.url, response);
            if self.login.is_logged_out(&seen) {
                return true;
            }
            seen.target()
        };
        match target {
            Some(target) => attempt::ends_at_form(&self.login, target, fetcher, pause).await,
            None => false,
        }
    }

    /// Logs in again, unless somebody did since `number` was read, or one is not logged out at all.
    async fn renew(&self, number: u64, fetcher: &Fetcher, pause: Duration) -> Result<Renewed, String> {
        let mut state = self.state.lock().await;
        if self.number.load(Ordering::Acquire) != number {
            return Ok(Renewed::ByOthers);
        }
        if let Some(home) = state.home.as_ref().filter(|_| self.login.success.is_of_page()) {
            tokio::time::sleep(pause).await;
            let is_alive = attempt::look_at(home, fetcher)
                .await
                .is_ok_and(|response| self.login.success.lacking(&Seen::new(home, &response), fetcher).is_none());
            if is_alive {
                return Ok(Renewed::Alive);
            }
        }
        if state.attempts >= self.login.logins_max {
            let Login { name, logins_max, .. } = &self.login;
            let s = if *logins_max == 1 { "" } else { "s" };
            return Err(format!("login {name}: logged out again after {logins_max} login{s} (max-logins)"));
        }
        tokio::time::sleep(pause).await;
        let done = self.log_in(&mut state, fetcher, pause).await;
        done.map(|()| Renewed::Now).map_err(|failed| failed.to_string())
    }

    async fn log_in(&self, state: &mut State, fetcher: &Fetcher, pause: Duration) -> Result<(), LoginFailed> {
        state.attempts += 1;
        let done = attempt::log_in(&self.login, fetcher, pause).await;
        state.home = Some(done.map_err(|error| LoginFailed { name: self.login.name.clone(), error })?);
        self.number.fetch_add(1, Ordering::Release);
        Ok(())
    }
}
