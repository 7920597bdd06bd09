//! What a check finds.

use crate::error::Damage;
use crate::record_types::RecordType;
use std::collections::BTreeMap;

/// A report lists this many findings; more are only counted.
pub const FINDINGS_MAX: usize = 10_000;

/// The result of checking a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What was found, in the order of the file, except that references to other records come
    /// last; at most [`FINDINGS_MAX`].
    pub findings: Vec<Finding>,
    /// How many findings are not listed.
    pub findings_left_out: u64,
    /// Whether any finding, listed or not, is an error.
    pub has_errors: bool,
    /// The number of whole records of each type the standard knows.
    pub records_by_type: BTreeMap<RecordType, u64>,
    /// The number of whole records.
    pub records: u64,
    /// The length of the file in bytes.
    pub file_bytes: u64,
}

impl CheckReport {
    pub(crate) fn add(&mut self, finding: Finding) {
        self.has_errors |= finding.severity == Severity::Error;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.findings_left_out += 1;
        }
    }
}

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The first byte of the record, or of the damaged stretch.
    pub offset: u64,
    /// The record's WARC-Record-ID as it stands there.
    pub record_id: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The content can be relied on, but something about it could not be verified or is unusual.
    Warning,
    /// The file breaks the standard, or content is lost.
    Error,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// These bytes are no whole record.
    #[error("{bytes} bytes are no whole record: {damage}")]
    Damaged {
        /// How far the next record is.
        bytes: u64,
        /// Why.
        damage: Damage,
    },
    /// A field that records of this type must have is not there.
    #[error("{0} is missing")]
    MissingField(&'static str),
    /// A field's value is not of the form it must have.
    #[error("wrong {name}: {value:?}")]
    WrongField {
        /// The field.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// The version is neither 1.0 nor 1.1.
    #[error("unknown version WARC/{0}")]
    UnknownVersion(String),
    /// The standard does not know this WARC-Type.
    #[error("unknown record type {0:?}")]
    UnknownType(String),
    /// Another record before has the same id.
    #[error("the record id is used twice")]
    DuplicateId,
    /// The block does not have the digest the record claims.
    #[error("the block does not match {0}")]
    BlockDigest(String),
    /// The payload does not have the digest the record claims.
    #[error("the payload does not match {0}")]
    PayloadDigest(String),
    /// The digest's algorithm or form is unknown.
    #[error("cannot verify {name} {value:?}")]
    UnknownDigest {
        /// The field.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// The payload does not have the digest the record claims, but it is archived with its
    /// transfer coding, and the digest may be meant without; or its beginning was not found.
    #[error("cannot verify the payload digest {0}")]
    PayloadUnknown(String),
    /// WARC-Concurrent-To names a record that is not in this file.
    #[error("WARC-Concurrent-To {0} is not in this file")]
    ConcurrentToElsewhere(String),
}

impl Problem {
    pub(crate) fn severity(&self) -> Severity {
        match self {
            Problem::UnknownVersion(_)
            | Problem::UnknownType(_)
            | Problem::UnknownDigest { .. }
            | Problem::PayloadUnknown(_)
            | Problem::ConcurrentToElsewhere(_) => Severity::Warning,
            _ => Severity::Error,
        }
    }
}
