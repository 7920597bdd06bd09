//! Segments of the dataset whose rows lack content: their payloads are in an earlier archive (`--against`), which could not be read when
//! the rows were derived. They are derived again when it can be read.
//!
//! `DIR/dataset/lacking/SEGMENT` has the number of such rows, and the digest of one of the payloads.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use against::Against;
use anyhow::Context;
use dataset::Layout;
use model::PayloadDigest;
use warc::Digest;

/// The longest mark, in bytes.
const MARK_BYTES_MAX: u64 = 1 << 10;

/// What the rows of a segment lack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lacking {
    /// Rows without content.
    pub(super) rows: u64,
    /// The digest of one of the payloads, as its record has it.
    pub(super) digest: Option<String>,
}

impl Lacking {
    /// Counts a row whose payload has this digest.
    pub(super) fn count(&mut self, digest: Option<String>) {
        self.rows += 1;
        self.digest = self.digest.take().or(digest);
    }

    /// What the rows of a segment lack, by its mark; nothing if there is none.
    ///
    /// # Errors
    /// The mark cannot be read.
    pub(super) fn of(layout: &Layout, segment: &str) -> anyhow::Result<Self> {
        let path = path(layout, segment);
        let file = match fresh::open_to_read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Lacking::default()),
            file => file.with_context(|| shown(&path))?,
        };
        let mut text = String::new();
        file.take(MARK_BYTES_MAX).read_to_string(&mut text).with_context(|| shown(&path))?;
        let (rows, digest) = text.trim_end().split_once(' ').unwrap_or((text.trim_end(), ""));
        let digest = Some(digest.to_owned()).filter(|digest| !digest.is_empty());
        Ok(Lacking { rows: rows.parse().unwrap_or(1), digest })
    }

    /// Writes the mark of a segment, or removes it if the rows lack nothing.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn mark(&self, layout: &Layout, segment: &str) -> anyhow::Result<()> {
        let path = path(layout, segment);
        let marked = match &self.digest {
            Some(digest) => std::fs::create_dir_all(path.parent().unwrap_or(&path))
                .and_then(|()| fresh::write(&path, format!("{} {digest}\n", self.rows).as_bytes())),
            None => match std::fs::remove_file(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                removed => removed,
            },
        };
        marked.with_context(|| shown(&path))
    }

    /// Whether the payload that the mark names can be read now, of at most so many bytes.
    ///
    /// # Errors
    /// What earlier archives hold cannot be looked up.
    pub(super) fn is_readable(&self, archive: &Path, bytes_max: u64) -> anyhow::Result<bool> {
        let Some(digest) = self.digest.as_deref().and_then(Digest::parse) else { return Ok(false) };
        let Some(against) = Against::open(&archive.join(against::DIR))? else { return Ok(false) };
        Ok(against.payload(PayloadDigest(*digest.as_bytes()), bytes_max)?.is_some())
    }
}

fn path(layout: &Layout, segment: &str) -> PathBuf {
    layout.root().join("lacking").join(segment)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_written_and_goes() {
        let root = tempfile::tempdir().expect("a directory");
        let layout = Layout::at(root.path());
        let nothing = Lacking::default();
        assert_eq!(Lacking::of(&layout, "one.warc.gz").expect("read"), nothing);
        let mut lacking = Lacking::default();
        lacking.count(Some("sha1:A".to_owned()));
        lacking.count(Some("sha1:B".to_owned()));
        lacking.mark(&layout, "one.warc.gz").expect("marked");
        let expect = Lacking { rows: 2, digest: Some("sha1:A".to_owned()) };
        assert_eq!(Lacking::of(&layout, "one.warc.gz").expect("read"), expect);
        assert_eq!(Lacking::of(&layout, "two.warc.gz").expect("read"), nothing);
        nothing.mark(&layout, "one.warc.gz").expect("removed");
        nothing.mark(&layout, "one.warc.gz").expect("removed already");
        assert_eq!(Lacking::of(&layout, "one.warc.gz").expect("read"), nothing);
    }
}
