//! How a page's time passes: at first as it does for a visitor, then in steps, fast where the page only waits for a timer. Its clock
//! stands while an answer is on its way, and hardly moves while it waits for what no clock tells: storage, workers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::Tab;
use crate::{PAGE_CLOCK, RenderFailure, Wait};

/// What a page does at once has this time, by the clock of the machine. What it does later is done on its own clock.
const SETTLES_WITHIN: Duration = Duration::from_secs(2);
/// Between two looks at a page that is waited for its clock runs this far.
const CLOCK_OF_A_STEP: Duration = Duration::from_millis(500);
/// The clock runs this far at once, first and then at most: storage and frames may be behind by no more.
const STEPS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// The clock runs this far at once, and stands as long, while the page waits for what no clock tells.
const STEP_OF_BUSY_PAGE: Duration = Duration::from_millis(2);
/// Such steps of a page. One that goes on is not waited for.
const BUSY_STEPS_MAX: u32 = 1_000;
/// A step before which answers came counts as so many, for what the page waits for. Else a worker that goes on asking would be waited for as
/// often as one that computes, which takes minutes.
const STEPS_OF_AN_ANSWER: u32 = 50;
/// The clock runs this far at once, and stands as long, while the page waits for a worker: its timers have the time of the machine.
const STEP_WITH_WORKER: Duration = Duration::from_millis(50);
/// A page that is not painted by then, by the clock of the machine, goes on as it is.
const PAINTED_WITHIN: Duration = Duration::from_secs(2);
/// A page that goes on asking is looked at after so many steps.
const IDLE_STEPS_MAX: u32 = 120;

/// What a page waits for besides timers and answers, as page.js tells.
struct Pending {
    /// For storage, for a worker, for the end of an animation.
    is_busy: bool,
    /// It observes what is seen of it, which takes a frame to be told.
    observes: bool,
    /// No timer is due: its clock may jump.
    is_calm: bool,
    /// It has a worker that has not answered.
    awaits_worker: bool,
}

impl Tab<'_> {
    /// Waits for what is to be waited for, until the deadline: what a page shows by then is kept, unless something is to be there.
    pub(super) async fn wait_in_time(&mut self) -> Result<(), RenderFailure> {
        loop {
            let loads = self.loads;
            let before = self.begin(self.deadline);
            let waited = self.wait().await;
            let is_there = self.end(before, waited)?;
            if !is_there && matches!(self.settings.wait, Wait::Selector(_)) {
                return Err(RenderFailure::Timeout(self.settings.page_time_max));
            }
            if !is_there || self.loads == loads {
                return Ok(());
            }
        }
    }

    /// Waits for what is to be waited for.
    pub(super) async fn wait(&mut self) -> Result<(), RenderFailure> {
        // Not after the first load: once a page has a clock of its own, it keeps it.
        if !self.has_clock {
            let before = self.begin(Instant::now() + SETTLES_WITHIN);
            let settled = self.settle().await;
            self.end(before, settled)?;
        }
        match &self.settings.wait {
            Wait::Clock(time) => self.run_clock(*time).await?,
            Wait::Idle => self.wait_until_idle().await?,
            Wait::Selector(selector) => {
                let is_there = format!("document.querySelector({}) !== null", json!(selector));
                self.run_clock(PAGE_CLOCK).await?;
                while self.evaluate(&is_there).await? != Value::Bool(true) {
                    self.run_clock(CLOCK_OF_A_STEP).await?;
                }
            }
        }
        if !self.late.is_empty() {
            self.late.iter_mut().for_each(|late| late.left = Duration::ZERO);
            self.give_late().await?;
            self.run_clock(CLOCK_OF_A_STEP).await?;
        }
        Ok(())
    }

    async fn wait_until_idle(&mut self) -> Result<(), RenderFailure> {
        for _ in 0..IDLE_STEPS_MAX {
            let before = self.requests;
            self.run_clock(CLOCK_OF_A_STEP).await?;
            if self.requests == before {
                break;
            }
        }
        Ok(())
    }

    /// Waits until the page is loaded, has its answers, and is not busy.
    async fn settle(&mut self) -> Result<(), RenderFailure> {
        loop {
            self.wait_for_answers().await?;
            match self.evaluate("globalThis.argiopeCrawler?.settled()").await {
                // It has gone, and another document comes in its place.
                Err(RenderFailure::Protocol { .. }) => {}
                settled if self.waiting == 0 => return settled.map(drop),
                settled => drop(settled?),
            }
        }
    }

    async fn wait_for_answers(&mut self) -> Result<(), RenderFailure> {
        while self.waiting > 0 {
            let next = self.next().await?;
            self.attend(next).await?;
        }
        Ok(())
    }

    /// Lets the page's clock run, and waits until it stops.
    pub(super) async fn run_clock(&mut self, time: Duration) -> Result<(), RenderFailure> {
        let (first, most) = STEPS;
        let (mut left, mut step, mut painted_at) = (time, first, None);
        // How much the page had requested when it was calm, and how many answers it had at the last look.
        let (mut calm_at, mut looked_at) = (None, self.rendered.served);
        loop {
            self.wait_for_answers().await?;
            let looks = if self.rendered.served == looked_at { 1 } else { STEPS_OF_AN_ANSWER };
            looked_at = self.rendered.served;
            let pending = self.pending(left, looks).await?;
            let is_busy = pending.is_busy && self.busy_steps < BUSY_STEPS_MAX;
            if left.is_zero() && !is_busy {
                return Ok(());
            }
            let is_painted = pending.observes && painted_at != Some(self.rendered.served);
            if is_painted {
                painted_at = Some(self.rendered.served);
                self.paint().await?;
            }
            let requested = (pending.is_calm && !is_painted).then_some((self.requests, self.rendered.served));
            // A step has passed in which nothing began: nor does it in the rest.
            let is_calm = requested.is_some() && requested == calm_at;
            calm_at = requested;
            if is_busy {
                // It is no time of the page's: how long others take would end it earlier or later.
                self.busy_steps += 1;
                self.attend_for(STEP_OF_BUSY_PAGE).await?;
                self.advance(STEP_OF_BUSY_PAGE).await?;
                continue;
            }
            let now = if pending.awaits_worker && !self.worker_time.is_zero() {
                let step = STEP_WITH_WORKER.min(self.worker_time);
                self.worker_time -= step;
                self.attend_for(step).await?;
                step
            } else if is_calm {
                left
            } else {
                step = (step * 2).min(most);
                step
            };
            let now = self.late.iter().map(|late| late.left).fold(now.min(left), Duration::min);
            self.advance(now).await?;
            left -= now;
            if left.is_zero() && is_calm {
                return Ok(());
            }
        }
    }

    /// Lets the clock run on: fast where the page waits for it, not at all while it waits for an answer.
    async fn advance(&mut self, time: Duration) -> Result<(), RenderFailure> {
        let budget = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        let known = self.late.len();
        let policy = if known == 0 { "pauseIfNetworkFetchesPending" } else { "advance" };
        let policy = json!({"policy": policy, "budget": budget});
        (self.has_clock, self.has_clock_stopped) = (true, false);
        self.send_and_attend("Emulation.setVirtualTimePolicy", policy).await?;
        while !self.has_clock_stopped {
            let next = self.next().await?;
            self.attend(next).await?;
        }
        for late in self.late.iter_mut().take(known) {
            late.left = late.left.saturating_sub(time);
        }
        self.give_late().await
    }

    /// Does not let the clock stand for what has no answer.
    pub(super) async fn tell_clock_to_go_on(&self) -> Result<(), RenderFailure> {
        self.connection.tell(Some(&self.session), "Emulation.setVirtualTimePolicy", json!({"policy": "advance"})).await
    }

    /// What the page waits for, if its clock is to run this far. It counts as so many looks at it.
    async fn pending(&mut self, time: Duration, looks: u32) -> Result<Pending, RenderFailure> {
        let asked = format!("globalThis.argiopeCrawler?.pending({}, {looks})", time.as_millis());
        let bits = match self.evaluate(&asked).await {
            // Between two documents there is nothing to ask.
            Err(RenderFailure::Protocol { .. }) => 0,
            bits => bits?.as_u64().unwrap_or(0),
        };
        Ok(Pending {
            is_busy: bits & 1 != 0,
            observes: bits & 2 != 0,
            is_calm: bits & 4 != 0,
            awaits_worker: bits & 8 != 0,
        })
    }

    /// Has the page painted: else no frame may come, and nothing that waits for one.
    pub(super) async fn paint(&mut self) -> Result<(), RenderFailure> {
        let pixel = json!({"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1});
        let asked = json!({"format": "jpeg", "quality": 1, "optimizeForSpeed": true, "clip": pixel});
        // A page that is in the middle of a transition may not be painted while its clock stands.
        let before = self.begin(Instant::now() + PAINTED_WITHIN);
        let painted = self.send_and_attend("Page.captureScreenshot", asked).await;
        match self.end(before, painted.map(drop)) {
            Err(RenderFailure::Protocol { .. }) => Ok(()),
            painted => painted.map(drop),
        }
    }

    /// Sees to what comes within this time.
    async fn attend_for(&mut self, time: Duration) -> Result<(), RenderFailure> {
        let end = Instant::now() + time;
        while let Ok(next) = timeout_at(end, self.next()).await {
            self.attend(next?).await?;
        }
        Ok(())
    }
}
