//! `argiope client undo`: takes a change of the journal back.

use anyhow::bail;
use api::{JournalRequest, JournalResponse, Journaled, UndoRequest};
use clap::Args;
use settings::usage;

use super::Session;

/// Changes of the journal that are looked through: as many as the server tells.
const CHANGES_MAX: u32 = 1_000;

/// Which change is taken back.
#[derive(Args, Debug)]
pub(super) struct Undoing {
    /// When it was made, as `journal` tells it
    #[arg(value_name = "TIME")]
    at: String,
    /// The change, where several were made at that time
    #[arg(value_name = "CHANGE")]
    change: Option<String>,
    /// Change nothing; show what takes it back
    #[arg(long)]
    dry_run: bool,
}

impl Undoing {
    /// Takes it back by what the server tells, and by nothing else.
    ///
    /// # Errors
    /// There is no such change, nothing takes it back, or the server does not answer.
    pub(super) async fn undo(self, asked: &mut Session) -> anyhow::Result<()> {
        let Undoing { at, change, dry_run } = self;
        let request = JournalRequest { limit: CHANGES_MAX };
        let JournalResponse { changes } = asked.client.journal(request).await?.into_inner();
        let is_meant = |one: &Journaled| one.at == at && change.as_ref().is_none_or(|change| one.change == *change);
        let mut meant = changes.into_iter().filter(is_meant);
        let (Some(Journaled { at, change, undo, .. }), None) = (meant.next(), meant.next()) else {
            return Err(usage(format!("{at}: not one change of the journal; `argiope client journal` lists them")));
        };
        let undo = if dry_run { Vec::new() } else { undo };
        let answer = asked.client.undo(UndoRequest { at, change, undo }).await?.into_inner();
        asked.tell(&answer)?;
        if !answer.done && !dry_run {
            bail!("somebody has changed the crawl meanwhile");
        }
        Ok(())
    }
}
