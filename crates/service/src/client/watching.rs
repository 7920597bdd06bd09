//! Round after round of the crawl of a server, as `argiope watch` begins them for a directory.

use std::time::Duration;

use api::{AgainRequest, AgainResponse, StatsRequest};
use crawl::Importance;
use crawl::watch::{Budget, EVERY_MIN};
use engine::clock::Clock;
use model::{Round, Timestamp};
use settings::units::Span;
use settings::usage;

use super::Client;

/// How rounds are begun.
#[derive(Clone, Debug)]
pub struct Watching {
    budget: Budget,
    every: Duration,
    importance: Importance,
}

impl Watching {
    /// Visits of known pages within a budget; how often pages are chosen; what makes a page important.
    ///
    /// # Errors
    /// Pages are chosen too often.
    pub fn new(budget: Budget, Span(every): Span, importance: Importance) -> anyhow::Result<Self> {
        if every < EVERY_MIN {
            return Err(usage(format!("--every must be at least {}", Span(EVERY_MIN))));
        }
        Ok(Watching { budget, every, importance })
    }

    /// Begins rounds until `told` does not want another. What a round does not choose is left for the next one. While a round goes on none begins.
    /// At a time with nothing to choose `told` gets no answer.
    ///
    /// # Errors
    /// The server does not answer, or says no; or `told` fails.
    pub async fn watch(
        &self,
        client: &mut Client,
        mut told: impl FnMut(Option<AgainResponse>) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        // A page is visited once in a round at most.
        let older_than = self.every.as_secs_f64();
        let importance = self.importance.as_str().to_owned();
        let stats = client.stats(StatsRequest {}).await?.into_inner();
        let began_at = Timestamp::default() + Duration::try_from_secs_f64(stats.round_began_at).unwrap_or_default();
        let last = Round { number: stats.round, began_at, is_choosing: false };
        let mut left = self.budget.first(&last, self.every, Clock::start().date());
        loop {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to VISITS_MAX")]
            let visits = left as u64;
            let answer = if visits > 0 {
                let importance = importance.clone();
                let request = AgainRequest { older_than, visits, importance, ..AgainRequest::default() };
                Some(client.again(request).await?.into_inner())
            } else {
                None
            };
            if let Some(begun) = answer.as_ref().filter(|answer| answer.begun) {
                left = (left - begun.urls as f64).max(0.0);
            }
            if !told(answer)? {
                return Ok(());
            }
            tokio::time::sleep(self.every).await;
            left = self.budget.next(left, self.every);
        }
    }
}
