//! The crawler's test web as a process: what the site and the pictures are crawled from.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

/// A test web on a free port of loopback; ends when it is dropped.
pub struct TestWeb {
    process: Child,
    /// The value of `--connect-to` that leads a crawl there.
    pub connect_to: String,
}

impl TestWeb {
    /// Serves it with more arguments of `argiope testweb`.
    ///
    /// # Errors
    /// It does not start, or does not say where it listens.
    pub fn start(binary: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut process = Command::new(binary)
            .args(["testweb", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| binary.display().to_string())?;
        let lines = process.stdout.take().map(|output| BufReader::new(output).lines());
        let mut web = Self { process, connect_to: String::new() };
        for line in lines.context("the test web says nothing")? {
            if let Some((_, connect_to)) = line?.split_once("--connect-to ") {
                connect_to.clone_into(&mut web.connect_to);
                return Ok(web);
            }
        }
        bail!("the test web did not say where it listens")
    }
}

impl Drop for TestWeb {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
