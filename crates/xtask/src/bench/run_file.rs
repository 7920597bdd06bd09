//! The file a benchmark's result is kept in: `bench/runs/DATE-NAME.md`, with the machine, the programs and the command.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::workspace::workspace;

/// What is written; every line is shown at once as well.
pub struct RunFile {
    name: &'static str,
    text: String,
}

impl RunFile {
    /// Begins with what a reader has to know to repeat and to judge the run.
    ///
    /// # Errors
    /// The machine does not say what it is.
    pub fn begin(name: &'static str, what: &str, programs: &[String]) -> anyhow::Result<Self> {
        let mut file = Self { name, text: String::new() };
        let mut command: Vec<String> = std::env::args().skip(1).collect();
        // The path of the binary means nothing on another machine.
        if let Some(at) = command.iter().position(|argument| argument == "--binary") {
            command.drain(at..(at + 2).min(command.len()));
        }
        file.say(&format!("# {what}\n"));
        file.say(&format!("- command: `cargo xtask {}`", command.join(" ")));
        file.say(&format!("- date: {}", said("date", &["-u", "+%F %H:%M UTC"])?));
        file.say(&format!("- commit: {}", said("git", &["describe", "--always", "--dirty"])?));
        file.say(&format!("- machine: {}", machine()?));
        file.say(&format!("- load when it began: {}", std::fs::read_to_string("/proc/loadavg")?.trim()));
        file.say(&format!("- programs: {}\n", programs.join("; ")));
        Ok(file)
    }

    /// Adds text.
    pub fn say(&mut self, text: &str) {
        println!("{text}");
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes the file; one of the same day and name is replaced.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(self) -> anyhow::Result<()> {
        let dir = workspace().join("bench/runs");
        std::fs::create_dir_all(&dir)?;
        let path = dir.join(format!("{}-{}.md", said("date", &["-u", "+%F"])?, self.name));
        std::fs::write(&path, self.text)?;
        eprintln!("xtask: kept in {}", path.display());
        Ok(())
    }
}

/// The first line that a program says.
///
/// # Errors
/// It cannot be started.
pub fn said(program: impl AsRef<Path>, arguments: &[&str]) -> anyhow::Result<String> {
    let program = program.as_ref();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(workspace())
        .output()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned())
}

fn machine() -> anyhow::Result<String> {
    let after = |file: &str, label: &str| -> anyhow::Result<String> {
        let text = std::fs::read_to_string(file)?;
        let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
        Ok(line.trim_start_matches(label).trim_matches([' ', '\t', ':', '=', '"']).to_owned())
    };
    let mut text = String::new();
    write!(text, "{}, {} cores", after("/proc/cpuinfo", "model name")?, std::thread::available_parallelism()?)?;
    write!(text, ", {} of memory", after("/proc/meminfo", "MemTotal")?)?;
    write!(text, ", Linux {}", std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim())?;
    write!(text, ", {}", after("/etc/os-release", "PRETTY_NAME")?)?;
    Ok(text)
}
