//! `Journal` and `Undo`: the changes of the crawl, and what takes them back.
//!
//! What takes a change back is decided by [`crawl::steer::Undo`], as for a crawl by one process.

use api::{JournalRequest, JournalResponse, Journaled, UndoRequest, UndoResponse};
use crawl::steer::Undo;
use crawl::{Change, Changed};
use tonic::Status;

use super::published::CHANGES_MAX;
use super::service::Service;
use super::steering;
use console::message::message;

/// Changes in an answer, unless the request says otherwise, and at most.
const JOURNAL_DEFAULT: u32 = 100;
const JOURNAL_MAX: u32 = 1_000;

/// The last changes.
///
/// # Errors
/// The database failed.
pub(super) async fn journal(service: &Service, request: JournalRequest) -> Result<JournalResponse, Status> {
    let max = if request.limit == 0 { JOURNAL_DEFAULT } else { request.limit.min(JOURNAL_MAX) } as usize;
    let changes = steering::last(service, max).await?;
    let plan = service.plan().await?;
    let told = |changed: Changed| {
        let (undo, no_undo) = match changed.undo(&plan.options) {
            Undo::By(changes) => (in_words(&changes), String::new()),
            Undo::Not(why) => (Vec::new(), why.to_owned()),
        };
        Journaled { change: changed.change.to_string(), at: changed.at, undo, no_undo }
    };
    Ok(JournalResponse { changes: changes.into_iter().map(told).collect() })
}

/// Takes a change back, if that is still done by what the request names.
///
/// # Errors
/// There is no such change, nothing takes it back, or the database failed.
pub(super) async fn undo(service: &Service, request: UndoRequest) -> Result<UndoResponse, Status> {
    let UndoRequest { at, change, undo } = request;
    let all = steering::last(service, CHANGES_MAX).await?;
    let changed = all.into_iter().rev().find(|changed| changed.at == at && changed.change.to_string() == change);
    let changed = changed.ok_or_else(|| Status::not_found("the journal has no such change"))?;
    loop {
        let (number, plan) = service.in_force().await?;
        let by = match changed.undo(&plan.options) {
            Undo::By(by) => by,
            Undo::Not(why) => {
                return Err(Status::failed_precondition(message(format_args!("{change}: no undo: {why}"))));
            }
        };
        let words = in_words(&by);
        if words != undo {
            return Ok(UndoResponse { undo: words, ..UndoResponse::default() });
        }
        // Where others have changed the crawl meanwhile, something else may take it back.
        if let Some((_, going_by)) = steering::make_after(service, number, &plan.options, &by).await? {
            let (workers, workers_behind) = (going_by.going, going_by.behind);
            return Ok(UndoResponse { undo: words, done: true, workers, workers_behind });
        }
    }
}

fn in_words(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}
