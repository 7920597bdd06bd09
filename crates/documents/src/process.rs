//! A process for each document.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use extract::media_type::Kind;
use rustix::process::{Resource, Rlimit, Signal, nice, set_parent_process_death_signal, setrlimit};
use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{MEMORY_BYTES_MAX, PAGES_MAX, TEXT_BYTES_MAX, Text, Unread, is_read, read};

/// The argument with which a program calls [`serve`]; the kind of document follows it.
pub const ARGUMENT: &str = "document-text";
/// The processor time that a document may take, in seconds.
pub const CPU_SECONDS_MAX: u64 = 20;
/// The time that a document may take on a machine with other work, where a crawl waits for it.
pub const TIME_MAX: Duration = Duration::from_secs(10 * CPU_SECONDS_MAX);
/// By how much others go first (nice value).
const NICENESS: i32 = 10;
/// In place of a kind: whether a process can be started and bounded.
const PROBE: &str = "probe";
/// An answer, in bytes of JSON.
const ANSWER_BYTES_MAX: u64 =
    (TEXT_BYTES_MAX as u64 + (64 << 10)) * JSON_BYTES_PER_BYTE + PAGES_MAX as u64 * JSON_BYTES_PER_PAGE;
/// A document, in bytes. What is longer is cut, and so mostly cannot be read.
const DOCUMENT_BYTES_MAX: u64 = 1 << 30;
/// What JSON makes of one byte of text, at most: `\u0000`.
const JSON_BYTES_PER_BYTE: u64 = 6;
/// And of where a page begins: a number below 100 million, and a comma.
const JSON_BYTES_PER_PAGE: u64 = 9;
/// The program that runs.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Reads documents, each in a process of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Reader {
    /// By the program that runs now. It must call [`serve`] where its first argument is [`ARGUMENT`].
    #[must_use]
    pub fn of_this_program() -> Self {
        Reader::of(THIS_PROGRAM, [ARGUMENT])
    }

    /// By another program, which calls [`serve`] with the last of its arguments.
    #[must_use]
    pub fn of<A: AsRef<OsStr>>(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        Reader { program: program.into(), arguments }
    }

    /// Tries a process without a document.
    ///
    /// # Errors
    /// Why no process can read here, whatever the document.
    pub fn probe(&self) -> Result<(), Unusable> {
        let output = self.command(PROBE).stdin(Stdio::null()).output();
        let output = output.map_err(|error| Unusable(format!("{}: {error}", self.program.display())))?;
        match serde_json::from_slice::<Result<(), String>>(&output.stdout) {
            Ok(probed) => probed.map_err(Unusable),
            Err(_) => Err(Unusable(format!("it ends without an answer: {}", output.status))),
        }
    }

    /// The text of a document. Waits for the process: at most as long as it takes it to use [`CPU_SECONDS_MAX`].
    ///
    /// # Errors
    /// It is damaged, of a kind that is not read, or its process ended.
    pub fn read(&self, kind: Kind, bytes: &[u8]) -> Result<Text, Unread> {
        if !is_read(kind) {
            return Err(Unread::Kind);
        }
        let mut child = self.command(kind.as_str()).spawn().map_err(|_| Unread::Ended)?;
        // It reads everything before it answers. If it ends early, nothing takes the rest.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(bytes);
        }
        let mut answer = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let _ = stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
        }
        let _ = child.wait();
        text_of(&answer)
    }

    /// The text of a document, for at most [`TIME_MAX`]. Occupies no thread while the process works. If this is dropped, the process ends.
    ///
    /// # Errors
    /// As [`read`](Reader::read).
    pub async fn read_beside(&self, kind: Kind, bytes: &[u8]) -> Result<Text, Unread> {
        if !is_read(kind) {
            return Err(Unread::Kind);
        }
        let mut command = tokio::process::Command::from(self.command(kind.as_str()));
        let mut child = command.kill_on_drop(true).spawn().map_err(|_| Unread::Ended)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let answered = async {
            // As above.
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(bytes).await;
            }
            let mut answer = Vec::new();
            if let Some(stdout) = stdout {
                let _ = stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await;
            }
            let _ = child.wait().await;
            answer
        };
        let answer = tokio::time::timeout(TIME_MAX, answered).await.map_err(|_| Unread::Ended)?;
        text_of(&answer)
    }

    /// What starts a process. It shares nothing: neither the environment nor the signals of a terminal.
    fn command(&self, argument: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(argument).env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }
}

/// What a process answered.
fn text_of(answer: &[u8]) -> Result<Text, Unread> {
    match serde_json::from_slice::<Result<Text, String>>(answer) {
        Ok(answer) => answer.map_err(Unread::Damaged),
        Err(_) => Err(Unread::Ended),
    }
}

/// Why no process can read documents here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no process can read documents here: {0}")]
pub struct Unusable(String);

/// Reads the document on standard input under limits, and writes its text as JSON to standard output. This is the whole life of a
/// process.
#[must_use]
pub fn serve(kind: &str) -> ExitCode {
    let bounded = bound();
    if kind == PROBE {
        return answer(&bounded);
    }
    let kinds = [Kind::Pdf, Kind::Docx, Kind::Pptx, Kind::OpenDocument, Kind::Epub];
    let kind = kinds.into_iter().find(|known| known.as_str() == kind);
    let (Ok(()), Some(kind)) = (bounded, kind) else { return ExitCode::FAILURE };
    // A panic of a parser is an outcome.
    std::panic::set_hook(Box::new(|_| ()));
    let mut bytes = Vec::new();
    if std::io::stdin().lock().take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    answer(&read(kind, &bytes).map_err(|unread| match unread {
        Unread::Damaged(why) => why,
        other => other.to_string(),
    }))
}

/// Bounds this process.
fn bound() -> Result<(), String> {
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| failed("end with the crawl", error.into()))?;
    nice(NICENESS).map_err(|error| failed("nice value", error.into()))?;
    for (what, resource, max) in [
        ("limit of processor time", Resource::Cpu, CPU_SECONDS_MAX),
        ("limit of memory (ulimit -v must allow it)", Resource::As, MEMORY_BYTES_MAX),
        ("limit of core files", Resource::Core, 0),
        ("limit of open files", Resource::Nofile, 16),
    ] {
        let limit = Rlimit { current: Some(max), maximum: Some(max) };
        setrlimit(resource, limit).map_err(|error| failed(what, error.into()))?;
    }
    Ok(())
}

/// Writes an answer.
fn answer<T: Serialize>(answer: &Result<T, String>) -> ExitCode {
    let written = serde_json::to_vec(answer).map(|answer| std::io::stdout().lock().write_all(&answer));
    if matches!(written, Ok(Ok(()))) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program in place of ours, as a script; its document follows on standard input.
    fn script(lines: &str) -> Reader {
        Reader::of("/bin/sh", ["-c", lines])
    }

    /// Waits until it is so.
    async fn until(is_so: impl Fn() -> bool) {
        let waiting = async {
            while !is_so() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(TIME_MAX, waiting).await.expect("it comes to be so");
    }

    #[test]
    fn where_no_process_can_read_the_probe_says_why() {
        for (reader, why) in [
            (Reader::of("/nowhere/argiope", [ARGUMENT]), "/nowhere/argiope: No such file or directory"),
            (script("exit 3"), "it ends without an answer: exit status: 3"),
            (script(r#"echo '{"Err":"limit of memory: not permitted"}'"#), "limit of memory: not permitted"),
        ] {
            let unusable = reader.probe().expect_err("no reader").to_string();
            assert!(unusable.starts_with("no process can read documents here: "), "{unusable}");
            assert!(unusable.contains(why), "{unusable}");
        }
        assert_eq!(script(r#"echo '{"Ok":null}'"#).probe(), Ok(()));
    }

    #[tokio::test]
    async fn both_ways_of_reading_answer_the_same() {
        for (lines, expect) in [
            (r#"read -r line; echo "{\"Ok\":{\"text\":\"$line\",\"is_cut\":false}}""#, Some("some text")),
            (r#"echo '{"Err":"why"}'"#, None),
            ("exit 0", None),
        ] {
            let reader = script(lines);
            let read = reader.read_beside(Kind::Pdf, b"some text\n").await;
            assert_eq!(read, reader.read(Kind::Pdf, b"some text\n"));
            assert_eq!(read.ok().map(|text| text.text).as_deref(), expect);
        }
    }

    #[tokio::test]
    async fn a_process_ends_with_its_reading() {
        let dir = std::env::temp_dir().join(format!("argiope-documents-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let named = dir.join("process");
        let reader = script(&format!("echo $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 1000", named.display()));
        let began = tokio::spawn(async move { reader.read_beside(Kind::Pdf, b"").await });
        until(|| named.exists()).await;
        let process = std::fs::read_to_string(&named).expect("it runs");
        began.abort();
        // A process that has ended and is not waited for yet has no command line.
        let line = format!("/proc/{}/cmdline", process.trim());
        until(|| std::fs::read(&line).map_or(true, |line| line.is_empty())).await;
        std::fs::remove_dir_all(&dir).expect("it is ours");
    }
}
