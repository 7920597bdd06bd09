//! A process for each document.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use extract::media_type::Kind;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use crate::{MEMORY_BYTES_MAX, TEXT_BYTES_MAX, Text, Unread, is_read, read};

/// The argument with which a program calls [`serve`]; the kind of document follows it.
pub const ARGUMENT: &str = "document-text";
/// The processor time that a document may take, in seconds.
pub const CPU_SECONDS_MAX: u64 = 20;
/// A document, in bytes. What is longer is cut, and so mostly cannot be read.
const DOCUMENT_BYTES_MAX: u64 = 1 << 30;
/// What JSON makes of one byte of text, at most: `\u0000`.
const JSON_BYTES_PER_BYTE: u64 = 6;
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

    /// The text of a document. Waits for the process: at most as long as it takes it to use [`CPU_SECONDS_MAX`].
    ///
    /// # Errors
    /// It is damaged, of a kind that is not read, or its process ended.
    pub fn read(&self, kind: Kind, bytes: &[u8]) -> Result<Text, Unread> {
        if !is_read(kind) {
            return Err(Unread::Kind);
        }
        // It shares nothing: neither the environment nor the signals of a terminal.
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(kind.as_str()).env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|_| Unread::Ended)?;
        // It reads everything before it answers. If it ends early, nothing takes the rest.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(bytes);
        }
        let mut answer = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            let max = (TEXT_BYTES_MAX as u64 + (64 << 10)) * JSON_BYTES_PER_BYTE;
            let _ = stdout.take(max).read_to_end(&mut answer);
        }
        let _ = child.wait();
        match serde_json::from_slice::<Result<Text, String>>(&answer) {
            Ok(answer) => answer.map_err(Unread::Damaged),
            Err(_) => Err(Unread::Ended),
        }
    }
}

/// Reads the document on standard input under limits, and writes its text as JSON to standard output. This is the whole life of a
/// process.
#[must_use]
pub fn serve(kind: &str) -> ExitCode {
    let is_bounded = set_parent_process_death_signal(Some(Signal::KILL)).is_ok()
        && [
            (Resource::Cpu, CPU_SECONDS_MAX),
            (Resource::As, MEMORY_BYTES_MAX),
            (Resource::Core, 0),
            (Resource::Nofile, 16),
        ]
        .into_iter()
        .all(|(resource, max)| setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) }).is_ok());
    let kinds = [Kind::Pdf, Kind::Docx, Kind::Pptx, Kind::OpenDocument, Kind::Epub];
    let kind = kinds.into_iter().find(|known| known.as_str() == kind);
    let (true, Some(kind)) = (is_bounded, kind) else { return ExitCode::FAILURE };
    // A panic of a parser is an outcome.
    std::panic::set_hook(Box::new(|_| ()));
    let mut bytes = Vec::new();
    if std::io::stdin().lock().take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = read(kind, &bytes).map_err(|unread| match unread {
        Unread::Damaged(why) => why,
        other => other.to_string(),
    });
    let written = serde_json::to_vec(&answer).map(|answer| std::io::stdout().lock().write_all(&answer));
    if matches!(written, Ok(Ok(()))) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
