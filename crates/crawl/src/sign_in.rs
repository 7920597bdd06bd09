//! The logins of a crawl, before what a command is asked to change.
//!
//! A round, or a retry, is begun in the state before the crawl runs. With a wrong password it would be begun for nothing. So the logins come
//! first where something is to be begun.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use cookies::Cookies;
use engine::clock::Clock;
use fetch::{FetchConfig, Fetcher};
use login::Logins;
use settings::plan::Plan;
use store::Store;
use weburl::CanonicalUrl;

use crate::{CrawlDir, Notice, jar, keyring};

/// The cookies of a crawl that is about to run, and its logins as far as they were needed so far.
pub struct SignIn {
    pub(crate) cookies: Option<Cookies>,
    pub(crate) notices: Vec<Notice>,
    /// None until they have worked.
    logins: Option<Logins>,
    clock: Clock,
}

impl SignIn {
    /// The cookies of a crawl, without any login so far.
    ///
    /// # Errors
    /// Their file is gone or cannot be used, or what is given cannot be a cookie.
    pub fn new(dir: &CrawlDir, plan: &Plan) -> anyhow::Result<Self> {
        let (clock, mut notices) = (Clock::start(), Vec::new());
        let cookies = jar::open(dir, plan, clock.date(), &mut notices)?;
        Ok(SignIn { cookies, notices, logins: None, clock })
    }

    /// Logs in, unless that was done, or there is nothing to log in to. This blocks the thread. `given` are seeds beside those of the store.
    /// Neither the state nor the settings change.
    ///
    /// # Errors
    /// A login does not work, or the store cannot be read.
    pub fn log_in(
        &mut self,
        dir: &CrawlDir,
        plan: &Plan,
        store: &Arc<dyn Store>,
        given: &[CanonicalUrl],
    ) -> anyhow::Result<()> {
        if plan.logins.is_empty() || self.logins.is_some() {
            return Ok(());
        }
        keyring::put_keys(dir, plan, store.as_ref(), given)?;
        let clock = self.clock;
        let config = FetchConfig { cookies: self.cookies.clone(), ..plan.fetch.clone() };
        let fetcher = Arc::new(Fetcher::new(config, Arc::new(move || clock.date()))?);
        let logins = logins_of(plan, &fetcher);
        engine::name_sites(&fetcher, store, given.iter().chain(logins.urls()), &store.seeds()?);
        // The caller may be a task of a runtime, which must not be blocked by a second one on its thread.
        let logging_in = || -> anyhow::Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(logins.begin())?)
        };
        std::thread::scope(|scope| scope.spawn(logging_in).join())
            .map_err(|_| anyhow!("internal error: logging in"))?
            .context("nothing was begun")?;
        self.logins = Some(logins);
        Ok(())
    }

    /// The logins for a crawl with this fetcher, which has the same cookies; those that have worked do not log in again.
    pub(crate) fn into_logins(self, plan: &Plan, fetcher: &Arc<Fetcher>) -> Option<Logins> {
        match self.logins {
            // The connections of the other one have ended with their runtime.
            Some(logins) => Some(logins.with_fetcher(fetcher.clone())),
            None => (!plan.logins.is_empty()).then(|| logins_of(plan, fetcher)),
        }
    }
}

fn logins_of(plan: &Plan, fetcher: &Arc<Fetcher>) -> Logins {
    Logins::new(plan.logins.clone(), fetcher.clone(), plan.settings.site_rules.politeness.delay)
}
