//! `argiope ui` as a process: what the pictures and the benchmark of the interface ask.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

/// The interface to a crawl on a free port of loopback; ends when it is dropped.
pub struct Interface {
    process: Child,
    /// Its address: `http://…`, without a path.
    pub origin: String,
}

impl Interface {
    /// Shows the crawl in a directory.
    ///
    /// # Errors
    /// It does not start, or does not say where it listens.
    pub fn start(binary: &Path, dir: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.arg("ui").arg(dir).args(["--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut process = command.spawn().with_context(|| binary.display().to_string())?;
        let said = process.stderr.take();
        let mut interface = Self { process, origin: String::new() };
        let mut line = String::new();
        BufReader::new(said.context("the interface says nothing")?).read_line(&mut line)?;
        match line.split_whitespace().find(|word| word.starts_with("http://")) {
            Some(origin) => origin.clone_into(&mut interface.origin),
            None => bail!("the interface did not say where it listens: {line}"),
        }
        Ok(interface)
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
