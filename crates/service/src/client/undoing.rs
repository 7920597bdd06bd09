//! A change of the journal is taken back.

use anyhow::bail;
use api::{JournalRequest, JournalResponse, Journaled, UndoRequest, UndoResponse};
use settings::usage;

use super::Client;

/// Changes of the journal that are looked through: as many as the server tells.
const CHANGES_MAX: u32 = 1_000;

/// Takes the change back that was made at a time, by what the server tells and by nothing else; with `dry_run` only asks what that is. The
/// words of the change are needed where several were made at that time.
///
/// # Errors
/// There is no such change, nothing takes it back, somebody changes the crawl meanwhile, or the server does not answer.
pub async fn undo(client: &mut Client, at: &str, change: Option<&str>, dry_run: bool) -> anyhow::Result<UndoResponse> {
    let JournalResponse { changes } = client.journal(JournalRequest { limit: CHANGES_MAX }).await?.into_inner();
    let is_meant = |one: &Journaled| one.at == at && change.is_none_or(|change| one.change == change);
    let mut meant = changes.into_iter().filter(is_meant);
    let (Some(Journaled { at, change, undo, .. }), None) = (meant.next(), meant.next()) else {
        return Err(usage(format!("{at}: not one change of the journal; `argiope client journal` lists them")));
    };
    let undo = if dry_run { Vec::new() } else { undo };
    let answer = client.undo(UndoRequest { at, change, undo }).await?.into_inner();
    if !answer.done && !dry_run {
        bail!("somebody has changed the crawl meanwhile: nothing was done");
    }
    Ok(answer)
}
