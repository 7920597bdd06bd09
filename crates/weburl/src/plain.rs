//! References that need no URL parser: on the same site, a path or a query or both, of characters that stand for themselves. On
//! most pages nearly all are of this kind, and the parser takes many times as long for them.

/// A base URL, canonical, with the offsets of its parts.
#[derive(Clone, Copy)]
pub(crate) struct Base<'b> {
    pub(crate) text: &'b str,
    pub(crate) path_start: usize,
    pub(crate) path_end: usize,
}

impl<'b> Base<'b> {
    /// The two parts of what `reference` leads to, a beginning of the base and the end of the reference, if that end is plain
    /// ([`Parts::is_plain`]), or if both together are a canonical URL. `None` if it takes the URL parser to tell.
    pub(crate) fn split<'r>(self, reference: &'r str) -> Option<Parts<'b, 'r>> {
        let path_end = find(reference, |byte| matches!(byte, b'?' | b'#'));
        let end = path_end + find(&reference[path_end..], |byte| byte == b'#');
        let without_fragment = &reference[..end];
        let site = &self.text[..self.path_start];
        // Also where it is written in full.
        let rest = without_fragment.strip_prefix(site).filter(|rest| rest.starts_with('/'));
        let rest = rest.unwrap_or(without_fragment);
        if rest.is_empty() {
            return Some(Parts { kept: self.text, rest, rest_path_length: 0 });
        }
        let path_length = path_end - (end - rest.len());
        let (kept, rest, path_length) = match rest.as_bytes() {
            [b'/', b'/', ..] => return None,
            [b'/', ..] => (site, rest, path_length),
            [b'?', ..] => (&self.text[..self.path_end], rest, 0),
            _ => {
                let path = &self.text[self.path_start..self.path_end];
                let (directory, behind) = resolve(path, rest);
                let path_length = path_length.checked_sub(rest.len() - behind.len())?;
                (&self.text[..self.path_start + directory.len()], behind, path_length)
            }
        };
        // Before a colon there may be a scheme.
        let path = &rest[..path_length];
        let has_scheme = path.as_bytes().get(find(path, |byte| matches!(byte, b':' | b'/'))) == Some(&b':');
        (!has_scheme).then_some(Parts { kept, rest, rest_path_length: path_length })
    }
}

/// What a reference leads to, in two parts.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'b, 'r> {
    pub(crate) kept: &'b str,
    pub(crate) rest: &'r str,
    /// How much of the rest belongs to the path, in bytes.
    pub(crate) rest_path_length: usize,
}

impl Parts<'_, '_> {
    /// Whether the rest stands for itself. A canonical URL need not be asked: it has nothing that stands for something else.
    pub(crate) fn is_plain(self) -> bool {
        let (path, query) = self.rest.split_at(self.rest_path_length);
        is_path(path) && is_query(query)
    }
}

/// The beginning of `path` that stays when a relative path is resolved against it, and the part of that behind its leading `./`
/// and `../`.
fn resolve<'p, 'r>(path: &'p str, reference: &'r str) -> (&'p str, &'r str) {
    let mut directory = parent(path);
    let mut rest = reference;
    loop {
        if let Some(behind) = rest.strip_prefix("../") {
            directory = if directory == "/" { directory } else { parent(&directory[..directory.len() - 1]) };
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("./") {
            rest = behind;
        } else {
            return (directory, rest);
        }
    }
}

/// Where the first byte of that kind is, or else the end. References are short: to look at one byte after the other is the fastest.
fn find(text: &str, is_wanted: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(is_wanted).unwrap_or(text.len())
}

/// Up to the last slash. Paths are short: to look at one byte after the other is the fastest.
fn parent(path: &str) -> &str {
    &path[..path.bytes().rposition(|byte| byte == b'/').map_or(0, |slash| slash + 1)]
}

/// Whether a path, or the rest of one, stands for itself: no dot segments (a segment that begins with a dot may be one),
/// nothing encoded or to be encoded.
fn is_path(path: &str) -> bool {
    let mut before = b'/';
    path.bytes().all(|byte| {
        let is_plain = is(byte, IN_PATH) && !(byte == b'.' && before == b'/');
        before = byte;
        is_plain
    })
}

/// Whether a query, with its `?`, stands for itself.
fn is_query(query: &str) -> bool {
    query != "?" && query.bytes().all(|byte| is(byte, IN_QUERY))
}

/// Kinds of bytes, as bits.
const IN_PATH: u8 = 1;
const IN_QUERY: u8 = 2;

/// All but white space, controls, what is beyond ASCII, and what the URL standard encodes, decodes or gives a meaning.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let both = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&()*+,;=:@/";
    let mut at = 0;
    while at < both.len() {
        kinds[both[at] as usize] = IN_PATH | IN_QUERY;
        at += 1;
    }
    kinds[b'?' as usize] = IN_QUERY;
    kinds
};

fn is(byte: u8, kind: u8) -> bool {
    KINDS[usize::from(byte)] & kind != 0
}
