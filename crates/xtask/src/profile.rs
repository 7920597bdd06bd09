//! `cargo xtask profile`: where the processor's time of a crawl goes, as a flame graph.
//!
//! The crawl is the one of `cargo xtask bench site`, everything recorded. Stacks are found by `perf` with the unwinding tables that every build has, so the
//! binary is the one that is shipped. The graph is drawn here, since the crate that draws such graphs has a licence that `deny.toml` does not list.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::bench::{Options, argiope, documentation};
use crate::needs;
use crate::svg::Svg;

/// Samples a second of each thread that runs; a prime, so that it does not keep in step with something.
const SAMPLES_A_SECOND: &str = "499";

/// How stacks are found, and how many bytes of each are kept for that.
const CALL_GRAPH: &str = "dwarf,16384";

/// Functions listed, those that had the most themselves.
const LISTED: usize = 30;

const WIDTH: f64 = 1600.0;
const ROW: f64 = 16.0;
/// Narrower boxes are left out.
const BOX_MIN: f64 = 0.6;
/// Of a letter, on average.
const LETTER: f64 = 6.6;

/// Crawls under `perf`, lists the functions with the most time, and draws the graph.
///
/// # Errors
/// Something is missing, or the crawl fails.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let options = Options::read(arguments)?;
    needs::packages("a profile", &[("linux-perf", "/usr/bin/perf")])?;
    let binary = argiope::binary(options.binary.as_deref())?;
    let served = documentation::one()?;
    let dir = TempDir::with_prefix("argiope-profile-")?;
    let samples = dir.path().join("samples");
    let mut command = Command::new("perf");
    // The event is the kernel's clock: virtual machines often have no other.
    command.args(["record", "--quiet", "--event", "cpu-clock", "--freq", SAMPLES_A_SECOND]);
    command.args(["--call-graph", CALL_GRAPH, "--output"]).arg(&samples).arg("--");
    let crawl = argiope::crawl(&binary, &dir.path().join("crawl"));
    command.arg(crawl.get_program()).args(crawl.get_args());
    command.args(["--connections-per-site", argiope::CONNECTIONS_OF_ONE]).args(&served.seeds);
    let crawled = command.output().context("perf cannot be started")?;
    let summary = argiope::Summary::read(&String::from_utf8_lossy(&crawled.stdout))
        .with_context(|| String::from_utf8_lossy(&crawled.stderr).into_owned())?;
    let stacks = Node::read(&samples)?;
    if stacks.samples == 0 {
        bail!("perf took no samples: is kernel.perf_event_paranoid too high?");
    }
    println!(
        "{} pages and images, {} samples. Functions by the time they took themselves:\n",
        summary.fetched(),
        stacks.samples
    );
    stacks.list();
    let target = argiope::target().join("profile.svg");
    std::fs::write(&target, stacks.draw())?;
    println!("\nflame graph: {}", target.display());
    Ok(())
}

/// A function as it was called from somewhere.
#[derive(Default)]
struct Node {
    /// Samples in it and in what it called.
    samples: u64,
    called: BTreeMap<String, Node>,
}

impl Node {
    /// Reads what `perf script` makes of a file: for each sample a line with the thread's name, its stack from the innermost function outwards, and
    /// an empty line.
    fn read(samples: &Path) -> anyhow::Result<Self> {
        let mut script = Command::new("perf")
            // Inlined functions would be looked up one by one, which takes hours.
            .args(["script", "--no-inline", "--fields", "comm,ip,sym", "--input"])
            .arg(samples)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut root = Self::default();
        let (mut thread, mut stack) = (String::new(), Vec::new());
        for line in BufReader::new(script.stdout.take().context("no output")?).lines() {
            let line = line?;
            if line.is_empty() {
                root.add(&thread, &stack);
                (thread, stack) = (String::new(), Vec::new());
            } else if thread.is_empty() {
                line.trim().clone_into(&mut thread);
            } else if let Some((_address, function)) = line.trim_start().split_once(' ') {
                stack.push(short(function).to_owned());
            }
        }
        script.wait()?;
        Ok(root)
    }

    fn add(&mut self, thread: &str, stack: &[String]) {
        self.samples += 1;
        let mut node = self;
        for function in std::iter::once(thread).chain(stack.iter().rev().map(String::as_str)) {
            node = node.called.entry(function.to_owned()).or_default();
            node.samples += 1;
        }
    }

    /// Samples in itself.
    fn own(&self) -> u64 {
        self.samples - self.called.values().map(|node| node.samples).sum::<u64>()
    }

    fn list(&self) {
        let mut own = BTreeMap::new();
        self.count_own(&mut own);
        let mut own: Vec<(&str, u64)> = own.into_iter().collect();
        own.sort_unstable_by_key(|(_, samples)| std::cmp::Reverse(*samples));
        for (function, samples) in own.iter().take(LISTED) {
            println!("{:5.1} %  {function}", self.percent(*samples));
        }
    }

    fn count_own<'a>(&'a self, own: &mut BTreeMap<&'a str, u64>) {
        for (function, node) in &self.called {
            *own.entry(function).or_default() += node.own();
            node.count_own(own);
        }
    }

    fn percent(&self, samples: u64) -> f64 {
        samples as f64 * 100.0 / self.samples as f64
    }

    fn depth(&self) -> usize {
        self.called.values().map(|node| node.depth() + 1).max().unwrap_or_default()
    }

    fn draw(&self) -> String {
        let mut svg = Svg::new(WIDTH, (self.depth() + 1) as f64 * ROW);
        self.draw_called(&mut svg, (0.0, 0.0), self);
        svg.finish()
    }

    /// Draws what it called from a point on to the right, what calls above what is called.
    fn draw_called(&self, svg: &mut Svg, (mut x, y): (f64, f64), root: &Self) {
        for (function, node) in &self.called {
            let width = node.samples as f64 / root.samples as f64 * WIDTH;
            if width >= BOX_MIN {
                let title = format!("{function}: {:.2} %", root.percent(node.samples));
                svg.rectangle((x, y), (width - 0.3, ROW - 1.0), &colour(function), &title);
                let letters = (width / LETTER) as usize;
                if letters > 3 {
                    let name: String = last_part(function).chars().take(letters).collect();
                    svg.words((x + 2.0, y + ROW - 4.0), "start", &name);
                }
                node.draw_called(svg, (x, y + ROW), root);
            }
            x += width;
        }
    }
}

/// Without the hash that the compiler puts after the names of functions.
fn short(function: &str) -> &str {
    let function = function.trim();
    match function.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => function,
    }
}

/// What of a path tells the most where there is little room: its last two parts.
fn last_part(function: &str) -> &str {
    let mut colons = function.rmatch_indices("::").map(|(at, _)| at + 2);
    colons.nth(1).map_or(function, |at| &function[at..])
}

/// The same for all functions of a crate.
fn colour(function: &str) -> String {
    let name = function.trim_start_matches(['<', '&', '_']).split("::").next().unwrap_or_default();
    let hue = name.bytes().fold(0_u32, |hue, byte| (hue * 31 + u32::from(byte)) % 360);
    format!("hsl({hue},60%,75%)")
}

#[cfg(test)]
mod tests {
    use super::{Node, last_part, short};

    #[test]
    fn names_are_shortened() {
        assert_eq!(short("extract::html::read::h0123456789abcdef"), "extract::html::read");
        assert_eq!(short("std::hash"), "std::hash");
        assert_eq!(last_part("engine::recorder::Recorder::write"), "Recorder::write");
        assert_eq!(last_part("main"), "main");
    }

    #[test]
    fn a_function_has_what_it_and_those_it_called_took() {
        let mut root = Node::default();
        let stack = |functions: &[&str]| functions.iter().map(ToString::to_string).collect::<Vec<_>>();
        root.add("main", &stack(&["inner", "outer"]));
        root.add("main", &stack(&["outer"]));
        let outer = &root.called["main"].called["outer"];
        assert_eq!((outer.samples, outer.own(), outer.called["inner"].own()), (2, 1, 1));
        assert_eq!(root.depth(), 3);
    }
}
