//! Scripts of the user's, run in the page after what is done on every page.

use std::time::Duration;

use serde::Deserialize;

use super::Tab;
use crate::{Behaviour, FoundBy, RenderFailure};

/// A script has the page's clock for this long.
const CLOCK_OF_A_SCRIPT: Duration = Duration::from_secs(60);
/// Between two looks whether it has ended the clock runs this far.
const CLOCK_OF_A_LOOK: Duration = Duration::from_millis(250);
/// The failures of a script that does not end on its own clock, and of one for which the page has no time left.
const UNENDED: &str = "did not end within a minute of the page's clock";
const UNENDED_ON_PAGE: &str = "did not end within the time of the page";
/// The longest message of an error that is kept, in characters.
const ERROR_CHARS_MAX: usize = 200;

/// How a script stands.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Done,
    Failed(String),
}

impl Tab<'_> {
    /// Runs all scripts, one after the other, until the deadline. What they add to the page is in its document.
    pub(super) async fn run_behaviours(&mut self) -> Result<(), RenderFailure> {
        let settings = self.settings;
        for behaviour in &settings.behaviours {
            let before = self.begin(self.deadline);
            let ran = self.run_behaviour(behaviour).await;
            match self.end(before, ran) {
                Ok(true) => {}
                Ok(false) => self.tell(&behaviour.name, UNENDED_ON_PAGE),
                Err(RenderFailure::Protocol { answer, .. }) => self.tell(&behaviour.name, &answer),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    async fn run_behaviour(&mut self, Behaviour { name, script }: &Behaviour) -> Result<(), RenderFailure> {
        self.has_clicked = true;
        let known: Vec<String> = self.read("argiopeCrawler.links()").await?;
        // A script that cannot be read fails here, one that throws below.
        self.evaluate(&format!("argiopeCrawler.run(async () => {{\n{script}\n}})\n//# sourceURL={name}")).await?;
        let mut ran = Duration::ZERO;
        loop {
            self.run_clock(CLOCK_OF_A_LOOK).await?;
            ran += CLOCK_OF_A_LOOK;
            match self.read("argiopeCrawler.ran()").await? {
                State::Running if ran < CLOCK_OF_A_SCRIPT => {}
                State::Running => {
                    self.tell(name, UNENDED);
                    break;
                }
                State::Failed(error) => {
                    self.tell(name, &error);
                    break;
                }
                State::Done => break,
            }
        }
        let links: Vec<String> = self.read("argiopeCrawler.links()").await?;
        links.into_iter().filter(|link| !known.contains(link)).for_each(|link| self.see(link, FoundBy::Script));
        self.take_document().await
    }

    fn tell(&mut self, name: &str, error: &str) {
        let line: String =
            error.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(ERROR_CHARS_MAX).collect();
        self.rendered.script_errors.push(format!("{name}: {line}"));
    }
}
