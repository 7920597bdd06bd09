//! A run that can begin.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use anyhow::bail;
use cookies::Cookies;
use model::Outcome;
use printable::counted;
use settings::plan::Plan;
use settings::usage;
use store::{Store, Totals};
use weburl::CanonicalUrl;

use crate::retry::Retry;
use crate::seeds::fresh_seeds;
use crate::stream::StreamTo;
use crate::tables::complete_dataset;
use crate::{Again, CrawlDir, Notice, SignIn, fixed, jar, keyring, outset};

/// What a run begins with.
#[derive(Default)]
pub struct Begin {
    /// URLs with these outcomes are visited again.
    pub retry: Vec<Outcome>,
    /// A round, in which pages are visited again.
    pub again: Option<Again>,
    /// The stream of earlier runs ends, and its unread lines are lost.
    pub forgets_stream: bool,
}

/// A run of a crawl's own that can begin: nothing was changed yet.
pub(crate) struct Ready {
    /// The seeds that the crawl has.
    known: HashSet<CanonicalUrl>,
    /// Those that are given.
    given: Vec<CanonicalUrl>,
    begin: Begin,
    cookies: Option<Cookies>,
    notices: Vec<Notice>,
}

impl Ready {
    /// Refuses what cannot begin, and logs in where something is to be visited.
    ///
    /// # Errors
    /// There are no seeds, a secret is missing, a round cannot begin, a login does not work, or the store cannot be read.
    pub(crate) fn of(
        dir: &CrawlDir,
        plan: &Plan,
        store: &Arc<dyn Store>,
        (given, begin): (Vec<CanonicalUrl>, Begin),
        sign_in: &mut SignIn,
    ) -> anyhow::Result<Self> {
        let known: HashSet<CanonicalUrl> = store.seeds()?.into_iter().collect();
        if given.is_empty() && known.is_empty() {
            bail!(usage("no seeds: give URLs, or --seeds FILE"));
        }
        let before = store.totals()?;
        if before.round.is_choosing && begin.again.is_none() {
            let (round, root) = (before.round.number, dir.root().display());
            bail!(usage(format!(
                "round {round} of {root} was about to begin when it broke off: --again, with what was given, begins it"
            )));
        }
        if let Some(again) = &begin.again {
            let left_out = again.left_out(store.as_ref())?;
            if left_out > 0 {
                let (round, root) = (before.round.number, dir.root().display());
                let left = counted(before.again, "URL");
                bail!(usage(format!(
                    "--only and --older-than choose the URLs of a round that begins. Round {round} of {root} goes on, with {left} left, of which \
                     {left_out} would not be chosen: `argiope crawl -o {root}` visits them all, `argiope steer {root} remove PATTERN` takes some \
                     out of the round"
                )));
            }
        }
        keyring::check(dir, plan)?;
        let retry = Retry::of_outcomes(dir, store.as_ref(), plan, &given, begin.retry.clone())?;
        let begins_round = match &begin.again {
            Some(again) => again.is_due(store.as_ref(), &plan.settings)?,
            None => false,
        };
        // With a wrong password nothing is begun, and no setting is stored.
        let has_work = before.pending > 0 || given.iter().any(|seed| !known.contains(seed));
        if has_work || begins_round || retry.is_due()? || unreached(dir, plan, store.as_ref(), &known)?.is_due()? {
            sign_in.log_in(dir, plan, store, &given)?;
        }
        let (cookies, notices) = (sign_in.cookies.clone(), std::mem::take(&mut sign_in.notices));
        Ok(Ready { known, given, begin, cookies, notices })
    }

    /// Begins it: the stream, the URLs and the round that are asked for, then the settings. Gives the seeds that the crawl does not have yet, and
    /// its totals before the run.
    ///
    /// # Errors
    /// The store or a file cannot be written.
    pub(crate) fn begin(
        self,
        dir: &CrawlDir,
        plan: &Plan,
        store: &Arc<dyn Store>,
        notices: &mut Vec<Notice>,
    ) -> anyhow::Result<(Vec<CanonicalUrl>, Totals)> {
        let Ready { known, given, begin, cookies, notices: of_sign_in } = self;
        notices.extend(outset::notices(dir, plan, store.as_ref(), known.iter().chain(&given), &begin.retry)?);
        if begin.forgets_stream {
            StreamTo::forget(&dir.stream())?;
        }
        if !begin.retry.is_empty() {
            let retry = Retry::of_outcomes(dir, store.as_ref(), plan, &given, begin.retry)?;
            notices.push(retry.run()?.notice());
        }
        if let Some(again) = begin.again {
            // A round that cannot go on is not begun.
            notices.extend(complete_dataset(dir, plan, store.as_ref())?);
            notices.push(again.begin(store.as_ref(), &plan.settings)?);
        }
        notices.extend(of_sign_in);
        let seeds = fresh_seeds(given, &known, store.as_ref())?;
        let before = store.totals()?;
        let retry = unreached(dir, plan, store.as_ref(), &known)?;
        // Before the settings, which point to them.
        keyring::fill(dir, plan, store.as_ref(), &seeds, notices)?;
        cookies.iter().try_for_each(|cookies| jar::keep(dir, cookies))?;
        dir.write_options(&plan.options)?;
        fixed::keep(dir, &plan.options)?;
        if retry.is_due()? {
            retry.run()?;
        }
        Ok((seeds, before))
    }
}

/// The seeds that failed, if the crawl has fetched nothing: the same command tries them again.
fn unreached<'a>(
    dir: &CrawlDir,
    plan: &'a Plan,
    store: &'a dyn Store,
    known: &'a HashSet<CanonicalUrl>,
) -> anyhow::Result<Retry<'a>> {
    let is_tried_again = |outcome: &Outcome| outcome.is_unreached();
    let outcomes = if store.totals()?.fetched() == 0 {
        Outcome::ALL.iter().copied().filter(is_tried_again).collect()
    } else {
        BTreeSet::new()
    };
    Ok(Retry { outcomes, only: Some(known), ..Retry::new(dir, store, plan) })
}
