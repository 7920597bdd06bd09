//! Each way in which scripts make links.

use std::sync::Arc;

use render::{FoundBy, Renderer};
use testweb::scripted::{PAGES, RESOURCES};

use crate::site::{Site, leads_to, render, settings};

fn site() -> Arc<Site> {
    let add =
        |site: Site, (path, media_type, content): (&str, &'static str, &str)| site.file(path, media_type, content);
    Arc::new(RESOURCES.into_iter().fold(Site::new(), add))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_is_found_that_a_person_would_find() {
    let renderer = Renderer::new(settings());
    for (_, body, expect) in PAGES {
        let rendered = render(&renderer, &format!("<!DOCTYPE html><body>{body}"), &site()).await.expect(body);
        let found = leads_to(&rendered);
        for path in expect {
            assert!(found.iter().any(|found| found == path), "{path} is not in {found:?}: {body}\n{rendered:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn how_a_link_was_found_is_told() {
    let renderer = Renderer::new(settings());
    let body = "<title>t</title><p onclick=\"location = '/a'\">go</p><script>history.pushState({}, '', '/b')</script>\
                <button onclick=\"window.open('/c')\">open</button><p onclick=\"location = 'mailto:x@y.test'\">mail</p>";
    let rendered = render(&renderer, body, &site()).await.expect("a page");
    let mut found: Vec<(FoundBy, &str)> = rendered.found.iter().map(|found| (found.by, found.url.as_str())).collect();
    found.sort_unstable_by_key(|(_, url)| *url);
    let expect = [(FoundBy::Click, "a"), (FoundBy::History, "b"), (FoundBy::Window, "c")];
    let expect = expect.map(|(by, name)| (by, format!("http://page.test/{name}")));
    assert_eq!(found, expect.each_ref().map(|(by, url)| (*by, url.as_str())));
    assert_eq!(rendered.redirect, None);
}
