//! `argiope client report`: what the crawl came to, in the forms that `argiope report` has.

use std::path::Path;

use anyhow::Context;
use api::ReportRequest;
use report::Statistics;

use super::Session;
use crate::commands::report::write_page;

impl Session {
    /// Shows the report, or writes it as a page.
    ///
    /// # Errors
    /// The server does not answer, or the page cannot be written.
    pub(super) async fn report(&mut self, html: Option<&Path>) -> anyhow::Result<()> {
        let statistics = self.client.report(ReportRequest {}).await?.into_inner().statistics;
        let read: Statistics = serde_json::from_str(&statistics).context("another version of the program answered")?;
        if let Some(path) = html {
            write_page(path, &read)?;
        }
        match (self.json, html) {
            (true, _) => printable::write_json_line(&mut self.out, &read)?,
            (false, None) => self.out.write_all(report::text(&read).as_bytes())?,
            (false, Some(_)) => {}
        }
        Ok(())
    }
}
