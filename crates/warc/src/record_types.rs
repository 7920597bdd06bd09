//! The closed vocabularies of the format: record types and reasons of truncation.

/// The type of a record (WARC 1.1 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RecordType {
    /// Describes the records after it: software, settings (§6.2).
    Warcinfo,
    /// A complete answer, with the protocol's head (§6.3).
    Response,
    /// A resource without the protocol's head (§6.4).
    Resource,
    /// A complete question (§6.5).
    Request,
    /// Describes another record (§6.6).
    Metadata,
    /// The content was archived before, by another record (§6.7).
    Revisit,
    /// Another form of an archived content (§6.8).
    Conversion,
    /// The next part of a record that was cut into segments (§6.9).
    Continuation,
}

impl RecordType {
    /// All types, in the order of the standard.
    pub const ALL: [RecordType; 8] = [
        RecordType::Warcinfo,
        RecordType::Response,
        RecordType::Resource,
        RecordType::Request,
        RecordType::Metadata,
        RecordType::Revisit,
        RecordType::Conversion,
        RecordType::Continuation,
    ];

    /// The word in WARC-Type.
    pub fn as_str(self) -> &'static str {
        match self {
            RecordType::Warcinfo => "warcinfo",
            RecordType::Response => "response",
            RecordType::Resource => "resource",
            RecordType::Request => "request",
            RecordType::Metadata => "metadata",
            RecordType::Revisit => "revisit",
            RecordType::Conversion => "conversion",
            RecordType::Continuation => "continuation",
        }
    }

    /// The type of this word; nothing for a word the standard does not know (§6.1: such records
    /// are to be skipped).
    pub fn parse(word: &str) -> Option<RecordType> {
        RecordType::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(word.trim()))
    }
}

/// Why a record's content ends before its time (WARC-Truncated, WARC 1.1 §5.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truncated {
    /// It was longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
    /// The connection broke.
    Disconnect,
    /// Another reason, or none known.
    Unspecified,
}

impl Truncated {
    const ALL: [Truncated; 4] = [Truncated::Length, Truncated::Time, Truncated::Disconnect, Truncated::Unspecified];

    /// Reads the word of WARC-Truncated.
    pub fn parse(word: &str) -> Option<Truncated> {
        Truncated::ALL.into_iter().find(|reason| reason.as_str().eq_ignore_ascii_case(word.trim()))
    }

    /// The word in WARC-Truncated.
    pub fn as_str(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
            Truncated::Unspecified => "unspecified",
        }
    }
}
