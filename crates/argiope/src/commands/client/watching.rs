//! `argiope client watch`: round after round, as `argiope watch` begins them.

use api::AgainResponse;
use clap::Args;
use crawl::Importance;
use settings::units::Span;

use super::Session;
use crate::commands::watch::{Amount, importance};

/// What is watched, and how much.
#[derive(Args, Debug)]
pub(super) struct Watching {
    /// How many visits.
    #[command(flatten)]
    amount: Amount,
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
    /// Begins rounds and tells of each.
    ///
    /// # Errors
    /// The server does not answer, or says no.
    pub(super) async fn watch(self, asked: &mut Session) -> anyhow::Result<()> {
        let watching = service::client::Watching::new(self.amount.budget()?, self.every, self.importance)?;
        let mut client = asked.client.clone();
        let mut begun = 0;
        let told = |answer: Option<AgainResponse>| {
            if let Some(answer) = answer {
                begun += u64::from(answer.begun);
                asked.tell(&answer)?;
            }
            Ok(self.rounds.is_none_or(|max| begun < max))
        };
        watching.watch(&mut client, told).await
    }
}
