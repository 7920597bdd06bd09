//! What clients ask of a crawl by several workers, as `proto/argiope/v1/argiope.proto` says it: the messages, what a server
//! implements ([`crawler_server::Crawler`]), and a client ([`crawler_client::CrawlerClient`]).
//!
//! The code in `generated` is made from the contract by a test (`tests/contract.rs`), so that a build needs no generator.
//!
//! The messages are the JSON API as they stand. Nothing but messages is here, so that a client needs no crawler.

mod base64;

mod generated {
    #![expect(
        missing_docs,
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        reason = "made from the contract, which says what each is"
    )]

    include!("../generated/argiope.v1.rs");
}

pub use generated::*;

/// The contract in the form that reflection tells clients.
pub const DESCRIPTORS: &[u8] = include_bytes!("../generated/descriptors.bin");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_names_of_the_contract_and_its_defaults() {
        let request: CrawlRequest = serde_json::from_str(r#"{"url": "a.test"}"#).expect("JSON");
        assert_eq!(request, CrawlRequest { url: "a.test".to_owned(), depth: None });
        assert!(serde_json::from_str::<CrawlRequest>(r#"{"depht": 1}"#).is_err(), "a mistyped name is no default");
        let stats = StatsResponse { urls: u64::MAX, ..StatsResponse::default() };
        let json = serde_json::to_string(&stats).expect("JSON");
        assert!(json.contains(r#""urls":18446744073709551615,"#), "{json}");
        assert_eq!(serde_json::from_str::<StatsResponse>(&json).expect("JSON"), stats);
    }

    #[test]
    fn bytes_are_base64_in_json() {
        let media_type = "image/png".to_owned();
        let answer = PagePictureResponse { media_type, picture: vec![0xff, 0, 1] };
        let json = serde_json::to_string(&answer).expect("JSON");
        assert_eq!(json, r#"{"media_type":"image/png","picture":"/wAB"}"#);
        assert_eq!(serde_json::from_str::<PagePictureResponse>(&json).expect("JSON"), answer);
        assert!(serde_json::from_str::<PagePictureResponse>(r#"{"picture":"/wA"}"#).is_err());
    }
}
