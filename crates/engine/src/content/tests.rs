//! What identifies a content.

use std::time::Duration;

use model::{Exchange, Headers, TaskId, Timestamp};
use weburl::CanonicalRules;

use super::*;
use crate::step::tests::settings;

/// A page of which this came.
fn page(body: &'static str, truncated: Option<Truncation>) -> FetchOutcome {
    let url = CanonicalUrl::parse("http://a.test/", &CanonicalRules::default()).expect("a URL");
    let exchange = Exchange {
        url: url.clone(),
        method: Method::Get,
        address: None,
        started_at: Timestamp(1),
        request_head: Default::default(),
        request_body: Default::default(),
        response_head: Default::default(),
        payload: body.into(),
        truncated,
        redacted: Default::default(),
    };
    let response = Response {
        status: 200,
        headers: Headers(vec![("Content-Type".to_owned(), "text/html".to_owned())]),
        body: body.into(),
        truncated,
        is_undecoded: false,
        note: None,
    };
    FetchOutcome {
        id: TaskId(0),
        url,
        exchanges: vec![exchange],
        fetched: Fetched::Response(response),
        rendering: None,
        started_at: Timestamp(1),
        finished_at: Timestamp(1),
        response_time: Duration::ZERO,
    }
}

#[test]
fn a_part_of_a_page_has_neither_identity_nor_words_and_what_a_limit_cut_has_its_words() {
    let settings = |changes_in_text| Settings { changes_in_text, ..settings() };
    let numbers = |truncated, changes_in_text| {
        let page = page("<title>Spiders</title><p>They wait.", truncated);
        let content = look_into_answer(&page, Purpose::Page, &settings(changes_in_text));
        (content.identity, content.wording)
    };
    let (identity, words) = numbers(None, true);
    assert!(identity.is_some() && words.is_some() && identity != words);
    assert_eq!(numbers(None, false), (identity, None));
    for broke_off in [Truncation::Disconnect, Truncation::Time] {
        assert_eq!([numbers(Some(broke_off), false), numbers(Some(broke_off), true)], [(None, None); 2]);
    }
    let cut = Some(Truncation::Length);
    assert_eq!([numbers(cut, false), numbers(cut, true)], [(None, None), (None, words)]);
}

#[test]
fn the_memory_of_a_content_is_that_of_its_texts_and_links() {
    const LINKS: usize = 1_000;
    let words = "word ".repeat(20);
    let body: String = (0..LINKS).map(|n| format!("<a href=/a-page-with-a-name/{n}>{words}</a> ")).collect();
    let body: &'static str = body.leak();
    let bytes = |details| {
        let settings = Settings { details, ..settings() };
        look_into_answer(&page(body, None), Purpose::Page, &settings).bytes / LINKS
    };
    let url = "http://a.test/a-page-with-a-name/".len();
    let (followed, all) = (bytes(false), bytes(true));
    assert!((url..=url + 100).contains(&followed), "{followed}");
    let texts = 2 * words.len();
    assert!((url + texts..=url + texts + 200).contains(&all), "{all}");
}

#[test]
fn the_entries_of_a_feed_are_links() {
    const RSS: &str = "<rss><channel><link>/</link><item><link>/1</link></item>\
        <item><link>http://b.test/2</link><pubDate>Sat, 21 Nov 2026 08:30:10 GMT</pubDate></item>\
        <item><link>/3</link><pubDate>Sat, 21 Nov 2026 08:30:10 GMT</pubDate></item></channel></rss>";
    const ATOM: &str = "<feed><link href='/'/><entry><link href='/4'/></entry></feed>";
    const SITEMAP: &str = "<urlset><url><loc>http://a.test/5</loc></url></urlset>";
    let here = |path: &str| format!("http://a.test/{path}");
    for (body, content_type, more, expect) in [
        (
            RSS,
            "application/rss+xml",
            &[][..],
            Some((vec![here("1"), "http://b.test/2".to_owned(), here("3")], 1, false)),
        ),
        (ATOM, "application/atom+xml; charset=utf-8", &[], Some((vec![here("4")], 0, false))),
        (ATOM, "text/xml", &[("X-Robots-Tag", "nofollow")], Some((vec![here("4")], 0, true))),
        (ATOM, "text/plain", &[], None),
        // It is a sitemap only where the site says so.
        (SITEMAP, "application/xml", &[], None),
        ("<feed><entry>", "application/xml", &[], Some((Vec::new(), 0, false))),
    ] {
        let mut feed = page(body, None);
        if let Fetched::Response(response) = &mut feed.fetched {
            let fields = [("Content-Type", content_type)].into_iter().chain(more.iter().copied());
            response.headers = Headers(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
        }
        let found = match look_into_answer(&feed, Purpose::Page, &settings()).finding {
            Finding::Feed { pages, nofollow, announced } => {
                Some((pages.iter().map(ToString::to_string).collect::<Vec<_>>(), announced.len(), nofollow))
            }
            _ => None,
        };
        assert_eq!(found, expect, "{content_type}: {body}");
    }
}
