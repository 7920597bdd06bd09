//! `--webhook`: changes are posted to a URL.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use ask::follow::{Receiver, Round, patiently};
use clap::Args;
use printable::{counted, write_json_line};
use serde::Serialize;
use serde_json::Value;
use settings::usage;
use tokio::runtime::Runtime;
use webhook::{Lines, Outbox, Secret, Webhook, wait_after};

use crawl::opened::Opened;

/// The directory of the outboxes in the crawl's directory.
const DIR: &str = "webhooks";
/// The variable with the secret.
const SECRET_VARIABLE: &str = "ARGIOPE_WEBHOOK_SECRET";
/// Posts of the same changes before a command without `--follow` gives up.
const POSTS_MAX: u32 = 6;

/// Where changes are posted to.
#[derive(Args, Debug)]
pub struct WebhookArgs {
    /// Post the changes of each round to this URL, as JSON, until they are accepted (docs/again.md#webhooks)
    #[arg(long, value_name = "URL", conflicts_with_all = ["json", "html", "feed", "since"])]
    pub webhook: Option<String>,
    /// Sign posts with the secret in this file, which only its owner may read [default: the variable ARGIOPE_WEBHOOK_SECRET]
    #[arg(long, value_name = "FILE", requires = "webhook")]
    pub webhook_secret: Option<PathBuf>,
}

/// The body of a post.
#[derive(Serialize)]
struct Body<'a> {
    crawl: &'a str,
    round: u32,
    changes: Vec<Value>,
}

/// Posts changes.
pub(super) struct Poster {
    webhook: Webhook,
    outbox: Outbox,
    crawl_id: String,
    runtime: Runtime,
    /// Posts of the same changes, at most.
    posts_max: u32,
}

impl Poster {
    /// Opens the outbox of a URL in a crawl's directory.
    pub(super) fn open(args: &WebhookArgs, url: &str, root: &Path, follows: bool) -> anyhow::Result<Self> {
        let crawl_id = patiently(follows, || Ok(Opened::new(root)?.view().crawl_id()?))?;
        let secret = match (&args.webhook_secret, std::env::var(SECRET_VARIABLE)) {
            (Some(path), _) => Some(Secret::read(path).map_err(|error| usage(format!("--webhook-secret: {error}")))?),
            (None, Ok(text)) => Some(Secret::new(&text).with_context(|| SECRET_VARIABLE)?),
            (None, Err(_)) => None,
        };
        let webhook = Webhook::new(url, secret).map_err(|error| usage(format!("--webhook: {error}")))?;
        let outbox = Outbox::open(&root.join(DIR), webhook.url())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Poster { webhook, outbox, crawl_id, runtime, posts_max: if follows { u32::MAX } else { POSTS_MAX } })
    }

    /// Posts lines until they are accepted.
    fn post(&self, lines: &Lines) -> anyhow::Result<()> {
        let changes = lines.lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
        let body = serde_json::to_vec(&Body { crawl: &self.crawl_id, round: lines.round, changes })?;
        let mut refusals = 0;
        while let Err(refused) = self.runtime.block_on(self.webhook.post(body.clone())) {
            refusals += 1;
            if refusals >= self.posts_max {
                bail!("--webhook: {refused}; the changes are kept, and the same command goes on with them");
            }
            let wait = wait_after(refusals);
            console::say!("--webhook: {refused}; posted again in {} s", wait.as_secs());
            std::thread::sleep(wait);
        }
        Ok(())
    }
}

impl Receiver for Poster {
    fn next(&self) -> Option<u32> {
        self.outbox.round()
    }

    fn take(&mut self, round: &Round<'_>) -> anyhow::Result<()> {
        self.outbox
            .fill(round.number, |mut to| round.changes(&mut |changed| write_json_line(&mut to, &changed)).map(drop))
    }

    fn deliver(&mut self) -> anyhow::Result<()> {
        if !self.outbox.is_filled() {
            return Ok(());
        }
        let (round, mut posted) = (self.outbox.round().unwrap_or_default(), 0);
        while let Some(lines) = self.outbox.next()? {
            self.post(&lines)?;
            self.outbox.accepted(&lines)?;
            posted += lines.lines.len() as u64;
        }
        self.outbox.end()?;
        console::say!("round {round}: {} posted", counted(posted, "change"));
        Ok(())
    }
}
