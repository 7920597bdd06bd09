//! Read, write, check and repair WARC files; CDXJ.
//!
//! WARC is the web archives' file format: WARC 1.1 is ISO 28500:2017, published as
//! <https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/>. This crate
//! writes version 1.1 with one gzip member a record (Annex D), and reads 1.0 and 1.1, compressed
//! or plain.
//!
//! - [`Record`] describes a record, [`SegmentWriter`] appends it to a file.
//! - [`Reader`] streams the records of a file, [`read_at`] loads one of them.
//! - [`check()`] finds what is wrong in a file, [`repair()`] makes it valid again.
//! - [`index`] makes the CDXJ lines that replay tools look pages up in.
//!
//! It knows no crawler and touches nothing but the files it is given: time and record ids are
//! passed in. Times are milliseconds since the Unix epoch, UTC.
//!
//! ```
//! use warc::{Reader, Record, RecordId};
//!
//! let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
//! let id = RecordId::new([7; 16]);
//! let mut file = Vec::new();
//! Record::response(id, 0, "http://example.com/", head, b"hello").write_to(&mut file)?;
//!
//! let mut reader = Reader::new(&file[..], 0);
//! while let Some(mut record) = reader.next_record()? {
//!     assert_eq!(record.header().target_uri(), Some("http://example.com/"));
//!     assert_eq!(record.read_http_head()?.status(), Some(200));
//!     assert_eq!(std::io::read_to_string(&mut record)?, "hello");
//!     record.finish()?; // verifies the rest of the record
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asked;
mod cdxj;
mod check;
mod chunked;
mod date;
mod digest;
mod error;
mod finding;
mod head;
mod header;
mod http;
mod id;
mod member;
mod read_at;
mod reader;
mod record;
mod record_types;
mod repair;
mod replace;
mod resync;
mod segment;
mod stream;
mod surt;
mod surt_session;
mod walk;

pub use asked::Asked;
pub use cdxj::{CdxLine, IndexWriter, Indexer, index, write_index, write_sorted};
pub use check::check;
pub use chunked::{Chunked, is_chunked};
pub use date::{timestamp14, warc_date};
pub use deflate::{Compression, Encoder};
pub use digest::Digest;
pub use error::{Damage, ReadError};
pub use finding::{CheckReport, FINDINGS_MAX, Finding, Problem, Severity};
pub use header::{HEADER_BYTES_MAX, Header};
pub use http::{HTTP_HEAD_BYTES_MAX, HttpHead, archived_head, split_http};
pub use id::RecordId;
pub use read_at::{LoadedRecord, read_at, read_from};
pub use reader::{Location, Reader, StoredRecord, open_at};
pub use record::{Record, RefersTo, WARC_FIELDS, warc_fields};
pub use record_types::{RecordType, Truncated};
pub use repair::{Moved, Repair, RepairError, repair};
pub use segment::{SEGMENT_BYTES_MAX, SegmentError, SegmentFile, SegmentWriter, segment_name};
pub use surt::surt;
pub use walk::{Stretch, Walk};
