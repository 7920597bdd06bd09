//! The choice between members that cost little time and members that are short.

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::GzipEncoder;
use crate::small::SmallEncoder;

/// How members are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// In the least time: [`GzipEncoder`].
    #[default]
    Fast,
    /// To the bytes that `gzip -6` makes, or fewer, in less than twice the time.
    Small,
}

impl Compression {
    /// All, the fastest first.
    pub const ALL: [Compression; 2] = [Compression::Fast, Compression::Small];

    fn name(self) -> &'static str {
        match self {
            Compression::Fast => "fast",
            Compression::Small => "small",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Compression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Compression::ALL.into_iter().find(|compression| compression.name() == text);
        named.ok_or_else(|| "is neither fast nor small".to_owned())
    }
}

/// Makes gzip members as a [`Compression`] says.
pub struct Encoder(Kind);

enum Kind {
    Fast(Box<GzipEncoder>),
    Small(Box<SmallEncoder>),
}

impl Encoder {
    /// An encoder without members before.
    #[must_use]
    pub fn new(compression: Compression) -> Encoder {
        Encoder(match compression {
            Compression::Fast => Kind::Fast(Box::default()),
            Compression::Small => Kind::Small(Box::new(SmallEncoder::new())),
        })
    }

    /// Writes the parts, one after the other, as one member.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn member(&mut self, parts: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
        match &mut self.0 {
            Kind::Fast(encoder) => encoder.member(parts, out),
            Kind::Small(encoder) => encoder.member(parts, out),
        }
    }

    /// The same for what is compressed already for the most part: compressed again only if the size matters more than the time.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn packed_member(&mut self, parts: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
        match &mut self.0 {
            Kind::Fast(encoder) => encoder.stored_member(parts, out),
            Kind::Small(encoder) => encoder.member(parts, out),
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compression = match self.0 {
            Kind::Fast(_) => Compression::Fast,
            Kind::Small(_) => Compression::Small,
        };
        f.debug_tuple("Encoder").field(&compression).finish()
    }
}
