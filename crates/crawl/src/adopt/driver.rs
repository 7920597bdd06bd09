//! The engine's step with recorded answers in place of the network.

use std::collections::VecDeque;

use anyhow::anyhow;
use engine::clock::Clock;
use engine::{Command, Event, Fetch, Record, Recorder, Settings, Start, State, look_into};
use model::{FetchTask, Fetched, Resolved};

use super::answers::Answers;

/// Answers in memory that the step has not seen yet.
pub(super) const ANSWERS_AT_ONCE: usize = 8;
/// Records in one commit.
const COMMIT_RECORDS_MAX: usize = 512;
/// Sites asked for at once.
const SITES_FOUND_MAX: usize = 4_096;

/// Runs until every URL that waits and has an answer has its outcome.
///
/// # Errors
/// An answer cannot be read, or recording fails.
pub(super) fn run(settings: &Settings, recorder: &mut Recorder, answers: &Answers) -> anyhow::Result<()> {
    let clock = Clock::start();
    let store = recorder.store().clone();
    // Nothing is asked of anybody, so nobody has to be left alone after an earlier run.
    let mut state = State::new(settings.clone(), clock.now(), Start::New);
    let mut events = VecDeque::from([Event::Begin {
        seeds: Vec::new(),
        known_seeds: store.seeds()?,
        round: 1,
        pages: 0,
        bytes: 0,
        requisites: 0,
    }]);
    let (mut records, mut alarm) = (Vec::new(), None);
    let mut now = clock.now();
    loop {
        let event = match events.pop_front() {
            Some(event) => event,
            None if !records.is_empty() => commit(recorder, &mut records)?,
            None => {
                let at = alarm.take().ok_or_else(|| anyhow!("internal error: nothing is left to do, and no end"))?;
                // Whatever it waits for, there is no need to.
                now = now.max(at);
                Event::Wake
            }
        };
        for command in state.step(now, now, event) {
            match command {
                Command::Fetch(task) => events.push_back(answer(&task, answers, settings)?),
                Command::Resolve { site, .. } => {
                    events.push_back(Event::Resolved { site: site.key(), found: Ok(Resolved::by_hand(Vec::new())) });
                }
                // Nobody is asked for rules while pages are taken in.
                Command::FetchTarget(task) => events.push_back(Event::NotAsked(task.id)),
                Command::ResolveTarget { url } => {
                    events.push_back(Event::TargetResolved { url: url.key(), addresses: Ok(Vec::new()) });
                }
                Command::ReadRules { site, code, body } => {
                    let rules = Some(engine::read_rules(code, &body, settings));
                    events.push_back(Event::RulesRead { site, rules });
                }
                Command::FindRules { site } => {
                    if !records.is_empty() {
                        events.push_back(commit(recorder, &mut records)?);
                    }
                    events.push_back(Event::RulesFound { site, record: store.site(site)?.map(Box::new) });
                }
                Command::ReadRobots { url } => {
                    let record = store.site(url.key().site)?.map(Box::new);
                    events.push_back(Event::RobotsRead { url: url.key(), record });
                }
                Command::Record(record) => {
                    records.push(*record);
                    if records.len() >= COMMIT_RECORDS_MAX {
                        events.push_back(commit(recorder, &mut records)?);
                    }
                }
                Command::Load { site, with_record, after, max } => {
                    if !records.is_empty() {
                        events.push_back(commit(recorder, &mut records)?);
                    }
                    let record = if with_record { store.site(site)?.map(Box::new) } else { None };
                    let queue = store.pending(site, after, max)?;
                    let all = queue.len() < max;
                    events.push_back(Event::Loaded { site, record, queue, all });
                }
                Command::FindSites { after } => {
                    if !records.is_empty() {
                        events.push_back(commit(recorder, &mut records)?);
                    }
                    let sites = store.sites_with_pending(after, SITES_FOUND_MAX)?;
                    let all = sites.len() < SITES_FOUND_MAX;
                    events.push_back(Event::SitesFound { sites, all });
                }
                Command::WakeAt(at) => alarm = Some(at),
                Command::Released { .. } | Command::Abandon => {}
                Command::Finish(_) => return Ok(()),
            }
        }
    }
}

fn commit(recorder: &mut Recorder, records: &mut Vec<Record>) -> anyhow::Result<Event> {
    let (records, committed) = recorder.commit(std::mem::take(records))?;
    Ok(Event::Committed { records, committed })
}

fn answer(task: &FetchTask, answers: &Answers, settings: &Settings) -> anyhow::Result<Event> {
    let mut outcome = answers.read(task)?;
    let content = look_into(&outcome, task.purpose, settings);
    if let Fetched::Response(response) = &mut outcome.fetched {
        response.body = bytes::Bytes::new();
    }
    Ok(Event::Fetched(Box::new(Fetch { outcome, content })))
}
