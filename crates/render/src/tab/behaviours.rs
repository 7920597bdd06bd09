//! What is done on a page in place of a person: it is scrolled, and one element after the other is clicked.

use std::time::Duration;

use model::LeftOut;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Tab;
use crate::explorer::{Explorer, Look, Move};
use crate::{FoundBy, RenderFailure};

/// After a scroll the page's clock runs this far.
const CLOCK_OF_A_SCROLL: Duration = Duration::from_millis(500);
/// After a click it runs this far, and then in steps while the page requests something.
const CLOCK_OF_A_CLICK: Duration = Duration::from_secs(1);
/// Such a step.
const CLOCK_OF_A_REQUEST: Duration = Duration::from_millis(500);
/// Such steps after a click.
const REQUEST_STEPS_MAX: u32 = 4;
/// What a click does at once may take this part of the time of the page.
const CLICK_PART_OF_PAGE: u32 = 4;
/// Films and sounds play so long.
const CLOCK_OF_MEDIA: Duration = Duration::from_secs(2);
/// The page has come to its end when so many scrolls have moved nothing.
const LAST_SCROLLS: u32 = 2;
/// So many scrolls that moved nothing may pass without a frame that reports them to the page.
const UNREPORTED_SCROLLS_MAX: u32 = 10;
/// A page is scrolled so often.
const SCROLLS_MAX: u32 = 300;
/// A page grows so often by scrolling. It may be without end.
const GROWTHS_MAX: u32 = 50;

/// Films and sounds of a page.
#[derive(Deserialize)]
struct Played {
    /// Those that began to play.
    played: u32,
    /// The others.
    left: u32,
}

/// What came of scrolling once.
#[derive(Deserialize)]
struct Scrolled {
    /// Something on the page moved.
    moved: bool,
    /// How great the page is.
    size: f64,
    /// A frame has reported to the page what the scroll before brought into sight.
    reported: bool,
}

impl Tab<'_> {
    /// Scrolls the page, and everything in it that scrolls, to the end, until there is no more.
    pub(super) async fn scroll_in_time(&mut self) -> Result<(), RenderFailure> {
        let before = self.begin(self.deadline);
        let scrolled = self.scroll().await;
        let scrolled = self.end(before, scrolled);
        self.forgive(scrolled)
    }

    async fn scroll(&mut self) -> Result<(), RenderFailure> {
        // What watches neither is not changed by it.
        if self.evaluate("argiopeCrawler.scrolls()").await? != Value::Bool(true) {
            return Ok(());
        }
        let (mut size, mut growths, mut idle, mut unreported) = (None, 0, 0, 0);
        for _ in 0..SCROLLS_MAX {
            let scrolled: Scrolled = self.read("argiopeCrawler.scroll()").await?;
            if size.is_some_and(|size| scrolled.size > size) {
                growths += 1;
                idle = 0;
            } else if !scrolled.moved && scrolled.reported {
                idle += 1;
            } else if !scrolled.moved {
                unreported += 1;
            }
            if idle >= LAST_SCROLLS {
                return Ok(());
            }
            if unreported >= UNREPORTED_SCROLLS_MAX {
                self.rendered.left_out.count(LeftOut::Time);
                return Ok(());
            }
            if growths >= GROWTHS_MAX {
                break;
            }
            size = Some(scrolled.size);
            // One frame reports to the page what is in sight now. Another shows what the page does about it.
            self.paint().await?;
            self.run_clock(CLOCK_OF_A_SCROLL).await?;
            self.paint().await?;
        }
        self.rendered.left_out.count(LeftOut::Growth);
        Ok(())
    }

    /// Scrolls everything back to where it stood before [`Tab::scroll_in_time`].
    pub(super) async fn rewind(&mut self) -> Result<(), RenderFailure> {
        if self.evaluate("globalThis.argiopeCrawler?.rewind()").await? == Value::Bool(true) {
            self.paint().await?;
            self.run_clock(CLOCK_OF_A_SCROLL).await?;
            self.paint().await?;
        }
        Ok(())
    }

    /// Takes note of links that scrolling has shown, and that are gone.
    pub(super) async fn note_passed(&mut self) -> Result<(), RenderFailure> {
        let passed: Vec<String> = self.read("argiopeCrawler.passed()").await?;
        passed.into_iter().for_each(|url| self.see(url, FoundBy::Scroll));
        Ok(())
    }

    /// Plays the films and sounds of the page far enough that their sources are known.
    pub(super) async fn play_in_time(&mut self) -> Result<(), RenderFailure> {
        let before = self.begin(self.deadline);
        let played = self.play().await;
        let played = self.end(before, played);
        self.forgive(played)
    }

    async fn play(&mut self) -> Result<(), RenderFailure> {
        let Played { played, left } = self.read("argiopeCrawler.play()").await?;
        self.rendered.left_out.add(LeftOut::Media, left);
        if played > 0 {
            self.run_clock(CLOCK_OF_MEDIA).await?;
            self.evaluate("argiopeCrawler.pause()").await?;
        }
        Ok(())
    }

    /// Clicks on what looks like it, one element at a time, and notes what links come of it. What is added to the page is kept.
    pub(super) async fn click_in_time(&mut self) -> Result<(), RenderFailure> {
        let mut explorer = Explorer::new(self.settings.clicks_max);
        let before = self.begin(self.deadline);
        let explored = self.explore(&mut explorer).await;
        match self.end(before, explored) {
            Ok(true) => {}
            Ok(false) => explorer.stop(LeftOut::Time),
            Err(RenderFailure::Protocol { .. }) => explorer.stop(LeftOut::Gone),
            Err(failure) => return Err(failure),
        }
        self.rendered.left_out.extend(explorer.left_out());
        Ok(())
    }

    async fn explore(&mut self, explorer: &mut Explorer) -> Result<(), RenderFailure> {
        self.evaluate("argiopeCrawler.noteTaken()").await?;
        let mut look = self.look(explorer).await?;
        if self.evaluate("argiopeCrawler.isCut()").await? == Value::Bool(true) {
            self.rendered.left_out.count(LeftOut::Nodes);
        }
        loop {
            if self.requests >= self.settings.requests_max {
                explorer.stop(LeftOut::Requests);
                return Ok(());
            }
            let next = explorer.next(look);
            explorer.take_links().into_iter().for_each(|url| self.see(url, FoundBy::Click));
            let fresh = explorer.take_fresh_pieces();
            if !fresh.is_empty() && !self.parts.is_full() {
                let asked = format!("argiopeCrawler.parts({}, {})", json!(fresh), self.parts.room());
                let parts = self.read(&asked).await?;
                self.parts.take(parts);
            }
            let has_acted = match next {
                Move::End => return Ok(()),
                Move::Keep => {
                    self.take_document().await?;
                    self.evaluate("argiopeCrawler.noteTaken()").await?;
                    self.parts.forget(explorer.pieces());
                    false
                }
                Move::Click { depth, name } => self.click(depth, &name).await?,
                Move::Undo { depth, how } => {
                    self.act_on_page(&format!("argiopeCrawler.undo({depth}, {})", json!(how.as_str()))).await?
                }
                Move::Reload { then } => {
                    self.reload(explorer, &then).await?;
                    true
                }
            };
            look = None;
            if has_acted {
                self.settle_after_click().await?;
                look = self.look(explorer).await?;
            }
        }
    }

    /// What is seen of the page, `None` if it is what was seen last.
    async fn look(&mut self, explorer: &Explorer) -> Result<Option<Look>, RenderFailure> {
        self.read(&format!("argiopeCrawler.look({})", json!(explorer.state()))).await
    }

    /// Clicks on an element. Gives whether it is there.
    async fn click(&mut self, depth: usize, name: &str) -> Result<bool, RenderFailure> {
        self.has_clicked = true;
        self.act_on_page(&format!("argiopeCrawler.click({depth}, {})", json!(name))).await
    }

    /// Does something of which the page's scripts hear. Gives whether there was anything to do. Scripts that do not end are stopped.
    async fn act_on_page(&mut self, action: &str) -> Result<bool, RenderFailure> {
        let before = self.begin(Instant::now() + self.settings.page_time_max / CLICK_PART_OF_PAGE);
        let mut is_done = false;
        let acted = self.evaluate(action).await.map(|done| is_done = done == Value::Bool(true));
        if self.end(before, acted)? {
            return Ok(is_done);
        }
        self.connection.tell(Some(&self.session), "Runtime.terminateExecution", json!({})).await?;
        if Instant::now() >= self.limit {
            return Err(RenderFailure::Timeout(self.settings.page_time_max));
        }
        self.rendered.left_out.count(LeftOut::Hangs);
        Ok(true)
    }

    async fn settle_after_click(&mut self) -> Result<(), RenderFailure> {
        let mut before = self.requests;
        self.run_clock(CLOCK_OF_A_CLICK).await?;
        for _ in 0..REQUEST_STEPS_MAX {
            if self.requests == before {
                break;
            }
            before = self.requests;
            self.run_clock(CLOCK_OF_A_REQUEST).await?;
        }
        Ok(())
    }

    /// Loads the page again, with the answers that it had, and clicks on these.
    async fn reload(&mut self, explorer: &Explorer, then: &[String]) -> Result<(), RenderFailure> {
        self.restoring = Some(0);
        let restored = self.load_and_click(explorer, then).await;
        self.restoring = None;
        restored
    }

    async fn load_and_click(&mut self, explorer: &Explorer, then: &[String]) -> Result<(), RenderFailure> {
        // Its scripts may have put another URL into the address bar.
        self.evaluate(&format!("argiopeCrawler.comeHome({})", json!(self.page.url.as_str()))).await?;
        self.send_and_attend("Page.reload", json!({})).await?;
        while self.restoring == Some(0) {
            let next = self.next().await?;
            self.attend(next).await?;
        }
        self.wait().await?;
        self.evaluate("argiopeCrawler.noteTaken()").await?;
        for (depth, name) in then.iter().enumerate() {
            // Elements have their names by a look.
            self.look(explorer).await?;
            self.click(depth, name).await?;
            self.settle_after_click().await?;
        }
        Ok(())
    }

    /// The value of an expression in the page, as what it is to be.
    pub(super) async fn read<T: serde::de::DeserializeOwned>(&mut self, expression: &str) -> Result<T, RenderFailure> {
        let value = self.evaluate(expression).await?;
        let protocol = |error: serde_json::Error| RenderFailure::Protocol {
            method: "Runtime.evaluate",
            answer: error.to_string(),
        };
        serde_json::from_value(value).map_err(protocol)
    }
}
