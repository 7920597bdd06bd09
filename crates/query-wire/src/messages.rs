//! What a server says to the workers, and they to it.

use serde::{Deserialize, Serialize};
use weburl::CanonicalUrl;

/// Members that a query has, at most.
pub const MEMBERS_MAX: usize = 256;
/// Bytes of the name of a segment: that of a file.
const SEGMENT_BYTES_MAX: usize = 255;
/// Bytes that are asked of a segment at once.
pub const PIECE_BYTES_MAX: u64 = 4 << 20;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum QueryError {
    /// The question cannot be answered by anyone; what is wrong with it.
    #[error("{0}")]
    Refused(String),
    /// A URL that the crawl does not know.
    #[error("{0}: the crawl knows no such URL, and no page links to it")]
    Unknown(String),
    /// A URL that is no vertex of the graph of visited pages.
    #[error("{0}: the crawl has not visited it")]
    NotVisited(String),
    /// No links lead from one URL to the other.
    #[error("no links lead from {0} to {1}, as far as the crawl has seen")]
    NoPath(String, String),
    /// Another member of the query was lost, which is all that this one can say.
    #[error("{0}")]
    Lost(String),
    /// It might be answered another time.
    #[error("{0}")]
    Failed(String),
}

/// How a member's part of a query ended: with the answer, or without, since that is another's to give.
pub type PartResult = Result<Option<serde_json::Value>, QueryError>;

/// A question that the workers answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Query {
    /// The rank of a page, or the pages with the highest.
    PageRank {
        /// The page.
        url: Option<Named>,
        /// How many pages.
        top: usize,
        /// By the definition whose ranks sum to 1.
        is_normalized: bool,
        /// What is ranked.
        by: Vertices,
    },
    /// The links between two domains.
    Overlap {
        /// A page of each.
        urls: [Named; 2],
        /// Names the links too.
        is_listed: bool,
    },
    /// The pages that have a text.
    Search {
        /// The text, or a regular expression.
        text: String,
        /// Does not tell capitals from small letters.
        ignore_case: bool,
        /// It is a regular expression.
        is_regex: bool,
        /// Only in the main text of the pages.
        in_main_text: bool,
        /// Only in pages of these sites, by the numbers of their keys; in all if empty.
        sites: Vec<u64>,
        /// Only in pages that were fetched since this time, in microseconds since 1970.
        since: Option<u64>,
        /// How many pages are returned.
        limit: usize,
    },
    /// The shortest way from page to page.
    Path {
        /// Where it begins, and where it ends.
        ends: [Named; 2],
    },
    /// The graph as a picture.
    Picture {
        /// What its vertices are.
        of: Vertices,
        /// How many of them, at most.
        max: usize,
    },
    /// What the datasets tell for a report.
    Contents {
        /// The sites that seeds lie on, by the numbers of their keys.
        seed_sites: Vec<u64>,
    },
    /// The links from a page and those to it.
    Links {
        /// The page.
        url: Named,
    },
    /// How many links lead to URLs, and some of the pages that have them.
    Linking {
        /// The keys of the URLs.
        keys: Vec<(u64, u64)>,
        /// Pages of each, at most.
        pages_max: usize,
    },
    /// The rows of a page in the dataset.
    Row {
        /// The page.
        url: Named,
    },
    /// Bytes of a segment that one worker is writing, who is the only member.
    Piece {
        /// The name of its file.
        segment: String,
        /// Where they begin.
        offset: u64,
        /// How many, at most [`PIECE_BYTES_MAX`].
        bytes: u64,
    },
}

/// Bytes of a segment, in Base64. `None` if the worker does not have the segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece(pub Option<String>);

impl Piece {
    /// These bytes.
    #[must_use]
    pub fn of(bytes: Option<&[u8]>) -> Self {
        Piece(bytes.map(|bytes| data_encoding::BASE64.encode(bytes)))
    }

    /// The bytes.
    ///
    /// # Errors
    /// They are no Base64, or more than were asked for.
    pub fn bytes(&self, bytes_max: u64) -> Result<Option<Vec<u8>>, String> {
        let Some(text) = &self.0 else { return Ok(None) };
        let bytes = data_encoding::BASE64.decode(text.as_bytes()).map_err(|error| error.to_string())?;
        match bytes.len() as u64 {
            length if length > bytes_max => Err(format!("a piece of {length} bytes, more than {bytes_max}")),
            _ => Ok(Some(bytes)),
        }
    }
}

impl Query {
    /// Whether it is answered from the graph of visited pages.
    #[must_use]
    pub fn is_of_graph(&self) -> bool {
        match self {
            Query::PageRank { .. } | Query::Overlap { .. } | Query::Picture { .. } => true,
            Query::Search { .. }
            | Query::Path { .. }
            | Query::Contents { .. }
            | Query::Links { .. }
            | Query::Linking { .. }
            | Query::Row { .. }
            | Query::Piece { .. } => false,
        }
    }
}

/// What the vertices of a picture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Vertices {
    /// Sites: scheme, host and port.
    Sites,
    /// Registrable domains.
    Domains,
    /// Pages.
    Pages,
}

/// A URL as somebody gave it: what may be meant, in canonical form, what is more likely first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named(pub Vec<String>);

impl Named {
    /// What may be meant. What is not in canonical form is not.
    #[must_use]
    pub fn candidates(&self) -> Vec<CanonicalUrl> {
        self.0.iter().filter_map(|url| CanonicalUrl::from_canonical(url)).collect()
    }
}

/// The secret of a query, by which its processes know each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret(pub [u8; 16]);

/// What a member is asked to take part in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Names the query, and is its secret: 128 random bits, in hexadecimal.
    pub id: String,
    /// The place of the member among all.
    pub index: usize,
    /// How many they are.
    pub members: usize,
    /// What is asked.
    pub query: Query,
    /// Segments of workers that are gone which this member reads.
    pub segments: Vec<String>,
}

impl Start {
    /// Checks what it says, and gives the secret.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn secret(&self) -> Result<Secret, String> {
        let Start { id, index, members, segments, query } = self;
        if index >= members || *members > MEMBERS_MAX {
            return Err(format!("member {index} of {members}: there may be {MEMBERS_MAX}"));
        }
        if let Some(segment) = segments.iter().find(|segment| !is_segment(segment)) {
            return Err(format!("{segment}: no name of a segment"));
        }
        if let Query::Piece { segment, bytes, .. } = query {
            if !is_segment(segment) {
                return Err(format!("{segment}: no name of a segment"));
            }
            if *bytes > PIECE_BYTES_MAX {
                return Err(format!("{bytes} bytes of a segment: at most {PIECE_BYTES_MAX} are asked for at once"));
            }
        }
        let bytes = data_encoding::HEXLOWER.decode(id.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Secret).ok_or_else(|| "the id of a query has 32 hexadecimal digits".to_owned())
    }
}

/// Whether it names a file in a directory, and none elsewhere.
fn is_segment(name: &str) -> bool {
    (1..=SEGMENT_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && !name.contains(['/', '\0'])
}

/// Where a member's process waits for the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// As host:port.
    pub address: String,
    /// Threads that it would compute with.
    pub threads: usize,
}

/// What a member needs to begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Of all members, in their order.
    pub addresses: Vec<String>,
    /// With how many threads each computes.
    pub threads: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_member_is_asked_is_checked() {
        let good = Start {
            id: "00112233445566778899aabbccddeeff".to_owned(),
            index: 1,
            members: 2,
            query: Query::Links { url: Named(vec!["http://a.test/".to_owned()]) },
            segments: vec!["a-00000.warc.gz".to_owned()],
        };
        assert_eq!(good.secret().map(|secret| secret.0[15]), Ok(0xff));
        let wrong = |start: Start| start.secret().expect_err("wrong");
        assert_eq!(wrong(Start { index: 2, ..good.clone() }), "member 2 of 2: there may be 256");
        assert_eq!(wrong(Start { members: 257, ..good.clone() }), "member 1 of 257: there may be 256");
        assert!(wrong(Start { id: "00".to_owned(), ..good.clone() }).contains("32 hexadecimal digits"));
        for segment in ["", "..", ".hidden", "a/b", "/etc/passwd", "a\0b", &"x".repeat(256)] {
            let start = Start { segments: vec![segment.to_owned()], ..good.clone() };
            assert_eq!(wrong(start), format!("{segment}: no name of a segment"));
            let query = Query::Piece { segment: segment.to_owned(), offset: 0, bytes: 1 };
            assert_eq!(wrong(Start { query, ..good.clone() }), format!("{segment}: no name of a segment"));
        }
        let piece = |bytes| Query::Piece { segment: "a-00000.warc.gz".to_owned(), offset: 0, bytes };
        let start = |bytes| Start { query: piece(bytes), ..good.clone() };
        assert!(start(PIECE_BYTES_MAX).secret().is_ok());
        assert!(wrong(start(PIECE_BYTES_MAX + 1)).contains("at most 4194304 are asked for at once"));
    }

    #[test]
    fn a_piece_reads_back_and_is_no_longer_than_was_asked_for() {
        let piece = Piece::of(Some(&[0xff, 0, 1]));
        assert_eq!(piece.bytes(3), Ok(Some(vec![0xff, 0, 1])));
        assert_eq!(piece.bytes(2), Err("a piece of 3 bytes, more than 2".to_owned()));
        assert_eq!(Piece::of(None).bytes(2), Ok(None));
        assert!(Piece(Some("!".to_owned())).bytes(2).is_err());
    }
}
