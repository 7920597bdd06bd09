//! What a page looks like after its scripts ran, and where it wants to go.

use std::sync::Arc;

use render::Renderer;

use crate::site::{Site, render, settings};

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_as_it_is_seen() {
    let renderer = Renderer::new(settings());
    let site = Arc::new(Site::new());
    let body = "<!DOCTYPE html><html lang=sl><head><title>a &amp; b</title><style>p > b {}</style></head><body>\
                <p title='\"&lt;'>1 &lt; 2<br>č</p><script>if (1 < 2 && true) document.title += ' < c'</script>";
    let rendered = render(&renderer, body, &site).await.expect("a page");
    let expect = "<!DOCTYPE html><html lang=\"sl\"><head><title>a &amp; b &lt; c</title><style>p > b {}</style></head><body>\
                  <p title=\"&quot;<\">1 &lt; 2<br>č</p><script>if (1 < 2 && true) document.title += ' < c'</script></body></html>";
    assert_eq!(rendered.html, expect);
    let slots = "<x-box>light <b slot=b>bold</b></x-box><script>document.querySelector('x-box').attachShadow({mode: 'closed'})\
                 .innerHTML = '<slot name=b></slot>: <slot></slot><slot name=none>nothing</slot>'</script>";
    let rendered = render(&renderer, slots, &site).await.expect("a page");
    assert!(rendered.html.contains("<x-box><b slot=\"b\">bold</b>: light nothing</x-box>"), "{}", rendered.html);
}

#[tokio::test(flavor = "multi_thread")]
async fn going_away_by_itself_is_a_redirect() {
    let renderer = Renderer::new(settings());
    for body in [
        "<script>location = '/there'</script>",
        "<script>location.replace('/there')</script>",
        "<script>setTimeout(() => location.assign('/there'), 1000)</script>",
        "<meta http-equiv=refresh content='0; url=/there'>",
        "<meta http-equiv=refresh content='2; url=/there'>",
        "<form action=/there></form><script>document.forms[0].submit()</script>",
    ] {
        let rendered = render(&renderer, &format!("<p>here</p>{body}"), &Arc::new(Site::new())).await.expect(body);
        let redirect = rendered.redirect.as_deref().map(|url| url.trim_end_matches('?'));
        assert_eq!(redirect, Some("http://page.test/there"), "{body}");
        assert!(rendered.html.contains("<p>here</p>"), "the page is still there: {}", rendered.html);
    }
    for body in
        ["<script>location = '#part'</script>", "<script>location.reload()</script>", "<a href=/there>there</a>"]
    {
        let rendered = render(&renderer, body, &Arc::new(Site::new())).await.expect(body);
        assert_eq!(rendered.redirect, None, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_share_nothing() {
    let renderer = Renderer::new(settings());
    let body = "<body><script>document.body.append(`${document.cookie}|${localStorage.a}`); document.cookie = 'a=1'; localStorage.a = 1</script>";
    for _ in 0..2 {
        let rendered = render(&renderer, body, &Arc::new(Site::new())).await.expect("a page");
        assert!(rendered.html.contains("|undefined"), "{}", rendered.html);
    }
}
