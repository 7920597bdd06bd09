//! `argiope client watch`: round after round, as `argiope watch` begins them.

use api::AgainRequest;
use clap::Args;
use crawl::Importance;
use crawl::watch::{Budget, EVERY_MIN, VISITS_MAX};
use settings::units::Span;
use settings::usage;

use super::Session;
use crate::commands::watch::importance;

/// What is watched, and how much.
#[derive(Args, Debug)]
pub(super) struct Watching {
    /// Visits of known pages: 5000/day, 200/h, 10/min
    #[arg(long, value_name = "N/TIME")]
    budget: Budget,
    /// How often pages are chosen; each time is a round
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    every: Span,
    /// What makes a page important
    #[arg(long, value_name = "WHAT", default_value = "equal", value_parser = importance(&Importance::OF_STATE))]
    importance: Importance,
    /// End after this many rounds
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
}

impl Watching {
    /// Begins rounds and tells of each. What a round does not choose is left for the next one. While a round goes on none begins.
    ///
    /// # Errors
    /// The server does not answer, or says no.
    pub(super) async fn watch(self, asked: &mut Session) -> anyhow::Result<()> {
        let Span(every) = self.every;
        if every < EVERY_MIN {
            return Err(usage(format!("--every must be at least {}", Span(EVERY_MIN))));
        }
        // A page is visited once in a round at most.
        let older_than = every.as_secs_f64();
        let importance = self.importance.as_str().to_owned();
        let mut left = 0.0;
        let mut begun = 0;
        loop {
            left = (left + self.budget.in_time(every)).min(VISITS_MAX);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to VISITS_MAX")]
            let visits = left as u64;
            if visits > 0 {
                let request = AgainRequest { older_than, only: Vec::new(), visits, importance: importance.clone() };
                let answer = asked.client.again(request).await?.into_inner();
                if answer.begun {
                    left = (left - answer.urls as f64).max(0.0);
                    begun += 1;
                }
                asked.tell(&answer)?;
            }
            if self.rounds.is_some_and(|max| begun >= max) {
                return Ok(());
            }
            tokio::time::sleep(every).await;
        }
    }
}
