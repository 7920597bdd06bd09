//! A directory as a site: real documents to crawl.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::{Reply, Request, Site};

/// Files are read and sent in pieces of this size.
const PIECE_BYTES: usize = 64 * 1024;

/// Content types by the extension of the file's name; anything else is `application/octet-stream`.
const CONTENT_TYPES: [(&str, &str); 32] = [
    ("html", "text/html"),
    ("htm", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("json", "application/json"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("xml", "application/xml"),
    ("rss", "application/rss+xml"),
    ("atom", "application/atom+xml"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("ico", "image/x-icon"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("ps", "application/postscript"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("epub", "application/epub+zip"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("wasm", "application/wasm"),
];

/// The files under a directory. A request for a directory gets its `index.html`, and is redirected there from the
/// name without a slash. Nothing outside the directory is ever served: not by `..`, not by a symbolic link.
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// The files under this directory.
    ///
    /// # Errors
    /// If there is no such directory.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        if root.is_dir() { Ok(Files { root }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    fn find(&self, path: &str) -> Resolved {
        let Some(relative) = relative(path) else {
            return Resolved::Nothing;
        };
        let Ok(file) = self.root.join(relative).canonicalize() else {
            return Resolved::Nothing;
        };
        if !file.starts_with(&self.root) {
            return Resolved::Outside;
        }
        match (file.is_dir(), path.ends_with('/')) {
            (true, false) => Resolved::Directory,
            (true, true) => self.find(&format!("{path}index.html")),
            (false, true) => Resolved::Nothing,
            (false, false) => Resolved::File(file),
        }
    }
}

impl Site for Files {
    fn reply(&self, request: &Request) -> Reply {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Reply::error(405, &request.target).header("Allow", "GET, HEAD");
        }
        match self.find(request.path()) {
            Resolved::File(file) => send(&file).unwrap_or_else(|_| Reply::error(403, &request.target)),
            Resolved::Directory => Reply::redirect(301, location(request)),
            Resolved::Nothing => Reply::error(404, &request.target),
            Resolved::Outside => Reply::error(403, &request.target),
        }
    }
}

/// What a path leads to.
enum Resolved {
    File(PathBuf),
    /// A directory asked for without the slash at the end.
    Directory,
    Nothing,
    /// A symbolic link out of the directory.
    Outside,
}

/// The path below the root, percent-decoded segment by segment; `None` if a segment cannot name a file below it.
fn relative(path: &str) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let segment = percent_decode(segment);
        if segment == b"." || segment == b".." || segment.iter().any(|byte| matches!(byte, b'/' | 0)) {
            return None;
        }
        relative.push(OsStr::from_bytes(&segment));
    }
    Some(relative)
}

/// Decodes `%XX` (RFC 3986 section 2.1); what is not an escape stays as it is.
fn percent_decode(segment: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)),
            _ => None,
        };
        (rest, _) = match escaped {
            Some((high, low)) => (&tail[2..], decoded.push(high << 4 | low)),
            None => (tail, decoded.push(*first)),
        };
    }
    decoded
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The same target with a slash at the end of the path. Slashes at the start are one, so that no path becomes a host.
fn location(request: &Request) -> String {
    let query = request.query().map_or(String::new(), |query| format!("?{query}"));
    format!("/{}/{query}", request.path().trim_matches('/'))
}

fn send(file: &Path) -> io::Result<Reply> {
    let bytes = fs::metadata(file)?.len();
    File::open(file)?;
    let file = file.to_owned();
    Ok(Reply::new(200)
        .header("Content-Type", content_type(&file))
        .header("Content-Length", bytes.to_string())
        .stream(move || pieces(&file, bytes)))
}

/// The first `bytes` of the file; fewer if it was cut short meanwhile, and then the client sees a short body.
fn pieces(file: &Path, bytes: u64) -> impl Iterator<Item = Bytes> + use<> {
    let mut file = File::open(file).ok().map(|file| file.take(bytes));
    std::iter::from_fn(move || {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        let read = file.as_mut()?.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece).ok()?;
        (read > 0).then(|| piece.into())
    })
}

fn content_type(file: &Path) -> &'static str {
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    CONTENT_TYPES
        .iter()
        .find(|(known, _)| *known == extension)
        .map_or("application/octet-stream", |(_, content_type)| content_type)
}
