//! The lines of rules without the patterns in them, each kept once: the lines of a file mostly differ in nothing else.

use foldhash::{HashMap, HashMapExt};

use crate::{normal_form, pattern};

/// How much of a deciding line is kept, in bytes; a longer line is cut and ends in `…`.
pub const LINE_TEXT_BYTES_MAX: usize = 256;

/// What stands around the pattern in each kind of line.
#[derive(Debug, Default)]
pub(crate) struct LineFrames {
    frames: Box<[Frame]>,
    text: Box<[u8]>,
}

/// A line without its pattern: the text from `start` to the next frame's, with the place of the pattern in it.
#[derive(Debug, Clone, Copy)]
struct Frame {
    start: u32,
    pattern_at: u16,
    spelling: Spelling,
}

/// How a pattern is written in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Spelling {
    /// As it is kept, with `*` and `$`.
    Normal,
    /// The same, with small letters in escapes.
    SmallEscapes,
    /// The same, without escapes of octets that need one in a URL.
    Unescaped,
    /// In another way: the frame is the line with its pattern.
    Other,
}

impl Spelling {
    fn of(written: &[u8], compiled: &[u8]) -> Self {
        if pattern::is_prefix(compiled, written) && compiled.len() == written.len() {
            return Self::Normal;
        }
        let is = |spelling: &Self| spelling.write(compiled).eq(written.iter().copied());
        [Self::SmallEscapes, Self::Unescaped].into_iter().find(is).unwrap_or(Self::Other)
    }

    fn write(self, compiled: &[u8]) -> impl Iterator<Item = u8> + use<'_> {
        let text = if self == Self::Other { &[] } else { compiled };
        let (mut rest, mut digits) = (text, 0);
        std::iter::from_fn(move || {
            if self == Self::Unescaped
                && let Some(octet) = normal_form::escaped_for_need(rest)
            {
                rest = &rest[3..];
                return Some(octet);
            }
            let (octet, after) = rest.split_first()?;
            rest = after;
            let is_digit = self == Self::SmallEscapes && digits > 0;
            digits = if *octet == b'%' { 2 } else { digits - i32::from(digits > 0) };
            Some(if is_digit { octet.to_ascii_lowercase() } else { pattern::plain(*octet) })
        })
    }
}

impl LineFrames {
    /// The line with this frame and pattern, as people may read it: trimmed, valid UTF-8, no control characters, of bounded length.
    pub(crate) fn line(&self, frame: usize, pattern: &[u8]) -> String {
        let Frame { start, pattern_at, spelling } = self.frames[frame];
        let end = self.frames.get(frame + 1).map_or(self.text.len(), |next| next.start as usize);
        let (before, behind) = self.text[start as usize..end].split_at(usize::from(pattern_at));
        let line = before.iter().copied().chain(spelling.write(pattern)).chain(behind.iter().copied());
        shown(&line.take(LINE_BYTES_READ_MAX).collect::<Vec<u8>>())
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.frames) + self.text.len()
    }
}

/// What of a line is looked at: one byte more than is shown, so that it can be seen that it goes on.
const LINE_BYTES_READ_MAX: usize = LINE_TEXT_BYTES_MAX + 1;

/// Collects the frames of a file's lines.
pub(crate) struct FrameCollector<'b> {
    known: HashMap<(&'b [u8], &'b [u8], Spelling), u16>,
    frames: Vec<Frame>,
    text: Vec<u8>,
}

impl<'b> FrameCollector<'b> {
    pub(crate) fn new() -> Self {
        Self { known: HashMap::new(), frames: Vec::new(), text: Vec::new() }
    }

    /// The frame of a line, whose pattern is `written` in it and `compiled` in the list. There are no more frames than rules.
    pub(crate) fn frame(&mut self, line: &'b [u8], written: &[u8], compiled: &[u8]) -> u16 {
        let line = line.trim_ascii();
        let spelling = Spelling::of(written, compiled);
        let (before, behind, spelling) = match around(line, written).filter(|_| spelling != Spelling::Other) {
            Some((before, behind)) => (before, behind, spelling),
            None => (&line[..line.len().min(LINE_BYTES_READ_MAX)], &[][..], Spelling::Other),
        };
        let (frames, text) = (&mut self.frames, &mut self.text);
        *self.known.entry((before, behind, spelling)).or_insert_with(|| {
            let start = u32::try_from(text.len()).unwrap_or(u32::MAX);
            text.extend_from_slice(before);
            text.extend_from_slice(behind);
            frames.push(Frame { start, pattern_at: before.len() as u16, spelling });
            (frames.len() - 1) as u16
        })
    }

    pub(crate) fn finish(self) -> LineFrames {
        LineFrames { frames: self.frames.into(), text: self.text.into() }
    }
}

/// What is before and behind the pattern of a line, as far as it can be shown.
fn around<'b>(line: &'b [u8], written: &[u8]) -> Option<(&'b [u8], &'b [u8])> {
    // A pattern that can match begins with one of these or its escape, and no name of a field contains one.
    let at = memchr::memchr2(b'/', b'*', line).filter(|at| *at < LINE_BYTES_READ_MAX)?;
    let behind = line[at..].strip_prefix(written)?;
    Some((&line[..at], &behind[..behind.len().min(LINE_BYTES_READ_MAX)]))
}

/// The line as people may read it.
pub(crate) fn shown(line: &[u8]) -> String {
    let head = &line[..line.len().min(LINE_TEXT_BYTES_MAX)];
    let mut text = String::new();
    for c in String::from_utf8_lossy(head).chars() {
        let c = if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        if text.len() + c.len_utf8() > LINE_TEXT_BYTES_MAX {
            break;
        }
        text.push(c);
    }
    if head.len() < line.len() {
        text.push('…');
    }
    text
}
