//! Fetches that are logged in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fetch::Fetcher;
use model::{Failure, FailureKind, FetchOutcome, FetchTask, Fetched, Purpose};
use tokio::sync::Mutex;
use tokio::time::Instant;
use weburl::CanonicalUrl;

use crate::attempt::{self, MayAsk, Requests, Viewer};
use crate::description::Login;
use crate::error::{LoginError, LoginFailed, REDIRECTS_MAX};
use crate::marks::Seen;

/// Sessions that may end before a page is fetched in one of them; after that it has failed, and is tried again like any failure.
const SESSIONS_MAX: u32 = 8;

/// After so many refusals in a row a login is not tried again: a server may lock an account for wrong passwords.
const REFUSALS_MAX: u32 = 3;

/// The wait after the first refusal; each further one doubles it.
const REFUSED_WAIT: Duration = Duration::from_secs(60);

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
    refused: AtomicU64,
}

#[derive(Default)]
struct State {
    attempts: u32,
    /// Since it last worked.
    refusals: Option<Refusals>,
    /// Where the last one led.
    home: Option<CanonicalUrl>,
    /// Whether that page shows success to strangers, too: then it does not tell whether one is logged in. `None`: there is no answer yet.
    is_home_public: Option<bool>,
}

/// A server does not take what it was sent.
struct Refusals {
    times: u32,
    last: Instant,
    /// What it said last.
    reason: String,
}

impl Refusals {
    /// Why the login is not tried now; `None` if it may be.
    fn keep_back(&self, now: Instant) -> Option<String> {
        let Refusals { times, last, reason } = self;
        let wait = REFUSED_WAIT.saturating_mul(1 << times.saturating_sub(1).min(16));
        match *times {
            REFUSALS_MAX.. => Some(format!("{reason}; refused {times} times, not tried again in this run")),
            _ if now < *last + wait => Some(format!("{reason}; not tried again within {} s", wait.as_secs())),
            _ => None,
        }
    }
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
    /// How often it was refused.
    pub refused: u64,
}

impl Logins {
    /// Logins that wait so long between their requests.
    #[must_use]
    pub fn new(logins: Vec<Login>, fetcher: Arc<Fetcher>, pause: Duration) -> Self {
        let session = |login| Session {
            login,
            number: AtomicU64::new(0),
            state: Mutex::default(),
            closed: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        };
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
            session.log_in(&mut *session.state.lock().await, self.requests()).await?;
        }
        Ok(())
    }

    /// The requests of a login. The user has named it, so all of them may be made.
    fn requests(&self) -> Requests<'_> {
        Requests { fetcher: &self.fetcher, pause: self.pause, may_ask: &|_| true }
    }

    /// How they went.
    #[must_use]
    pub fn tallies(&self) -> Vec<Tally> {
        let tally = |session: &Session| Tally {
            name: session.login.name.clone(),
            logins: session.number.load(Ordering::Relaxed),
            closed: session.closed.load(Ordering::Relaxed),
            refused: session.refused.load(Ordering::Relaxed),
        };
        self.sessions.iter().map(tally).collect()
    }

    /// The longest that a fetch takes, if fetching and showing an answer takes `once` at most.
    #[must_use]
    pub fn time_max(&self, once: Duration) -> Duration {
        let requests = u32::try_from(3 * (REDIRECTS_MAX + 1) + 3).unwrap_or(u32::MAX);
        // For each of these sessions, a login, a fetch, and a look at where that leads.
        let logged_in = (self.fetcher.time_max(Purpose::Page, false) + self.pause) * requests;
        (once + logged_in) * (SESSIONS_MAX + 1)
    }

    /// Carries out a task. `show` makes of its answer what is recorded; it gets what it made before, if that is not recorded. If either
    /// shows that one is logged out, logs in and begins again. To see that, redirects are followed to what `may_ask` admits.
    pub async fn fetch<S, F>(
        &self,
        task: FetchTask,
        may_ask: impl Fn(&CanonicalUrl) -> bool + Sync,
        show: impl Fn(FetchOutcome, Option<S>) -> F,
    ) -> S
    where
        S: AsRef<FetchOutcome>,
        F: Future<Output = S>,
    {
        let Some(session) = self.sessions.iter().find(|session| session.is_for(&task)) else {
            return show(self.fetcher.fetch(task).await, None).await;
        };
        let requests = self.requests();
        let (mut sessions, mut has_logged_in, mut discarded) = (0, false, None);
        loop {
            let number = session.number.load(Ordering::Acquire);
            let outcome = self.fetcher.fetch(task.clone()).await;
            let answer = match session.is_logged_out(&outcome, &may_ask, requests).await {
                true => Answer::Served(Box::new(outcome)),
                false => {
                    let shown = show(outcome, discarded.take()).await;
                    if shown.as_ref().rendering.is_none()
                        || !session.is_logged_out(shown.as_ref(), &may_ask, requests).await
                    {
                        return shown;
                    }
                    Answer::Shown(shown)
                }
            };
            sessions += 1;
            let renewed = match sessions > SESSIONS_MAX {
                true => {
                    let name = &session.login.name;
                    Err(format!("login {name}: {SESSIONS_MAX} sessions ended before this page came in one of them"))
                }
                false => session.renew(number, has_logged_in, requests).await,
            };
            match (renewed, answer) {
                (Err(detail), answer) => {
                    let failed = failed(answer.as_ref(), detail);
                    return show(failed, answer.shown().or(discarded)).await;
                }
                (Ok(Renewed::Alive), answer) => {
                    session.closed.fetch_add(1, Ordering::Relaxed);
                    return match answer {
                        Answer::Served(outcome) => show(*outcome, discarded).await,
                        Answer::Shown(shown) => shown,
                    };
                }
                (Ok(renewed), answer) => {
                    has_logged_in |= matches!(renewed, Renewed::Now);
                    discarded = answer.shown().or(discarded);
                }
            }
            tokio::time::sleep(self.pause).await;
        }
    }
}

/// What looks as if one were logged out.
enum Answer<S> {
    /// An answer as it came.
    Served(Box<FetchOutcome>),
    /// What was made of it.
    Shown(S),
}

impl<S> Answer<S> {
    fn shown(self) -> Option<S> {
        match self {
            Answer::Served(_) => None,
            Answer::Shown(shown) => Some(shown),
        }
    }
}

impl<S: AsRef<FetchOutcome>> AsRef<FetchOutcome> for Answer<S> {
    fn as_ref(&self) -> &FetchOutcome {
        match self {
            Answer::Served(outcome) => outcome,
            Answer::Shown(shown) => shown.as_ref(),
        }
    }
}

/// The same fetch as a failure with this reason.
fn failed(outcome: &FetchOutcome, detail: String) -> FetchOutcome {
    let FetchOutcome { id, started_at, finished_at, response_time, .. } = *outcome;
    let fetched = Fetched::Failed(Failure { kind: FailureKind::Disconnected, detail });
    let (url, exchanges, rendering) = (outcome.url.clone(), Vec::new(), None);
    FetchOutcome { id, url, exchanges, fetched, rendering, started_at, finished_at, response_time }
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

    /// Whether an answer, and where a browser shows it, what that shows, is one for strangers.
    async fn is_logged_out(&self, outcome: &FetchOutcome, may_ask: MayAsk<'_>, requests: Requests<'_>) -> bool {
        let Fetched::Response(response) = &outcome.fetched else { return false };
        let target = {
            let document = outcome.rendering.as_ref().and_then(|rendering| rendering.document.as_ref().ok());
            let seen = match document {
                Some(document) => Seen::rendered(&outcome.url, document),
                None => Seen::new(&outcome.url, response),
            };
            if self.login.is_logged_out(&seen) {
                return true;
            }
            seen.target()
        };
        match target {
            Some(target) => attempt::ends_at_form(&self.login, (&outcome.url, target), may_ask, requests).await,
            None => false,
        }
    }

    /// Logs in again, unless somebody did since `number` was read, or one is not logged out at all. Where nothing tells that, a login of
    /// its own is all that a page gets.
    async fn renew(&self, number: u64, has_logged_in: bool, requests: Requests<'_>) -> Result<Renewed, String> {
        let mut state = self.state.lock().await;
        if self.number.load(Ordering::Acquire) != number {
            return Ok(Renewed::ByOthers);
        }
        if let Some(reason) = state.refusals.as_ref().and_then(|refusals| refusals.keep_back(Instant::now())) {
            return Err(reason);
        }
        if self.is_alive(&mut state, requests).await.unwrap_or(has_logged_in) {
            return Ok(Renewed::Alive);
        }
        if state.attempts >= self.login.logins_max {
            let Login { name, logins_max, .. } = &self.login;
            let s = if *logins_max == 1 { "" } else { "s" };
            return Err(format!("login {name}: logged out again after {logins_max} login{s} (max-logins)"));
        }
        tokio::time::sleep(requests.pause).await;
        let done = self.log_in(&mut state, requests).await;
        done.map(|()| Renewed::Now).map_err(|failed| failed.to_string())
    }

    /// Whether the session lasts; `None` if nothing tells.
    async fn is_alive(&self, state: &mut State, requests: Requests<'_>) -> Option<bool> {
        let home = state.home.as_ref().filter(|_| self.login.success.is_of_page())?;
        let shows_success = |viewer| attempt::shows_success(&self.login, home, viewer, requests);
        if shows_success(Viewer::Member).await != Some(true) {
            return Some(false);
        }
        if state.is_home_public.is_none() {
            state.is_home_public = shows_success(Viewer::Stranger).await;
        }
        (state.is_home_public == Some(false)).then_some(true)
    }

    async fn log_in(&self, state: &mut State, requests: Requests<'_>) -> Result<(), LoginFailed> {
        state.attempts += 1;
        let done = attempt::log_in(&self.login, requests).await;
        let is_refused = matches!(done, Err(LoginError::Refused { .. } | LoginError::Again { .. }));
        let done = done.map_err(|error| LoginFailed { name: self.login.name.clone(), error });
        let home = done.inspect_err(|failed| {
            if is_refused {
                self.refused.fetch_add(1, Ordering::Relaxed);
                let times = state.refusals.as_ref().map_or(0, |refusals| refusals.times) + 1;
                state.refusals = Some(Refusals { times, last: Instant::now(), reason: failed.to_string() });
            }
        })?;
        state.refusals = None;
        if state.home.as_ref() != Some(&home) {
            (state.home, state.is_home_public) = (Some(home), None);
        }
        self.number.fetch_add(1, Ordering::Release);
        Ok(())
    }
}
