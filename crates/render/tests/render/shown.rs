//! What a page looks like after its scripts ran, and where it wants to go.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use render::{RenderFailure, Renderer, Settings, Wait};

use crate::site::{Site, leads_to, page, render, settings};

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
async fn words_that_a_style_sets_apart_are_not_joined() {
    let renderer = Renderer::new(settings());
    let site = Arc::new(Site::new());
    let body = "<style>.bar { display: flex } .line { display: block } .box { display: inline-block }</style>\
                <p class=bar><a href=/x>Boats</a><a href=/y>Tides</a></p><p>Next<span class=line>page</span>of</p>\
                <p>sem<i>i</i>col<span class=box>on</span></p><p><app-box class=line>apart</app-box>from<app-box>that</app-box></p>";
    let html = render(&renderer, body, &site).await.expect("a page").html;
    for expect in [
        "\n<a href=\"/x\">Boats</a>\n\n<a href=\"/y\">Tides</a>\n",
        "Next\n<span class=\"line\">page</span>\nof",
        "sem<i>i</i>col<span class=\"box\">on</span>",
        "\n<app-box class=\"line\">apart</app-box>\nfrom<app-box>that</app-box>",
    ] {
        assert!(html.contains(expect), "{expect:?} in {html}");
    }
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
        let there = Site::new().file("/there", "text/html", "there").file("/there?", "text/html", "there");
        let rendered = render(&renderer, &format!("<p>here</p>{body}"), &Arc::new(there)).await.expect(body);
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
async fn where_a_frame_goes_is_no_redirect_of_the_page() {
    let renderer = Renderer::new(settings());
    for frame in [
        "<script>location = '/there'</script>",
        "<script>setTimeout(() => location.replace('/there'), 1000)</script>",
        "<meta http-equiv=refresh content='0; url=/there'>",
        "<form action=/there></form><script>document.forms[0].submit()</script>",
        // It says of itself that it is the page.
        "<script>JSON.stringify = () => '[\"navigation\",\"http://page.test/there\"]'; open('/there')</script><script>location = '/there'</script>",
    ] {
        let there = "<script>parent.document.title += ' there'</script>";
        let site = Site::new().file("/frame", "text/html", frame);
        let site = Arc::new(site.file("/there", "text/html", there).file("/there?", "text/html", there));
        let rendered = render(&renderer, "<p>here</p><iframe src=/frame></iframe>", &site).await.expect(frame);
        assert_eq!(rendered.redirect, None, "{frame}");
        assert!(rendered.html.contains("<p>here</p>"), "{}", rendered.html);
        assert!(rendered.html.contains(" there</title>"), "the frame shows where it went: {frame}: {}", rendered.html);
    }
    // What moves a frame from outside, and a frame that moves the page.
    let site = Arc::new(Site::new().file("/frame", "text/html", "<p>framed"));
    let moved = "<iframe name=inner></iframe><script>inner.location = '/frame'; document.write('<a target=inner href=/frame>')</script>";
    assert_eq!(render(&renderer, moved, &site).await.expect("a page").redirect, None);
    let site = Site::new().file("/frame", "text/html", "<script>top.location = '/there'</script>");
    let site = Arc::new(site.file("/there", "text/html", "there"));
    let rendered = render(&renderer, "<iframe src=/frame></iframe>", &site).await.expect("a page");
    assert_eq!(rendered.redirect.as_deref(), Some("http://page.test/there"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_late_can_be_waited_for() {
    let late = "<p>here</p><script>setTimeout(() => document.body.innerHTML += '<b id=late>late</b>', 20000)</script>";
    let site = Arc::new(Site::new());
    let without = render(&Renderer::new(settings()), late, &site).await.expect("a page");
    assert!(!without.html.contains("<b id=\"late\">"), "{}", without.html);
    let wait = |selector: &str| Settings { wait: Wait::Selector(selector.to_owned()), ..settings() };
    let with = render(&Renderer::new(wait("#late")), late, &site).await.expect("a page");
    assert!(with.html.contains("<b id=\"late\">late</b>"), "{}", with.html);
    let never = Settings { page_time_max: Duration::from_secs(2), ..wait("#never") };
    let failure = render(&Renderer::new(never), late, &site).await;
    assert_eq!(failure, Err(RenderFailure::Timeout(Duration::from_secs(2))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_goes_on_asking_can_be_waited_for() {
    let asks = |steps: u32| {
        format!(
            "<p>here</p><script>let n = 0; const next = () => fetch('/data').finally(() => {{ document.body.innerHTML += \
             `<b id=n${{++n}}></b>`; if (n < {steps}) setTimeout(next, 300) }}); next()</script>"
        )
    };
    let site = Arc::new(Site::new().file("/data", "text/plain", "x"));
    let rendered = render(&Renderer::new(settings()), &asks(30), &site).await.expect("a page");
    assert!(!rendered.html.contains("<b id=\"n30\">"), "five seconds are not enough: {}", rendered.html);
    let idle = Renderer::new(Settings { wait: Wait::Idle, ..settings() });
    let rendered = render(&idle, &asks(30), &site).await.expect("a page");
    assert!(rendered.html.contains("<b id=\"n30\">"), "{}", rendered.html);
    let rendered = render(&idle, &asks(u32::MAX), &site).await.expect("it is looked at in the end");
    assert!(rendered.html.contains("<b id=\"n100\">"), "{}", rendered.html);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_by_scrolling_is_seen() {
    let endless = "<body><div style='height:3000px'>0</div><script>let n = 0; addEventListener('scroll', () => {\
                   if (n < 5 && scrollY + innerHeight > document.body.scrollHeight - 100) document.body.insertAdjacentHTML(\
                   'beforeend', `<a href=/${++n} style='display:block;height:3000px'>x</a>`) })</script>";
    let site = Arc::new(Site::new());
    for (scroll, expect) in [(false, 0), (true, 5)] {
        let renderer = Renderer::new(Settings { scroll, ..settings() });
        let rendered = render(&renderer, endless, &site).await.expect("a page");
        assert_eq!(rendered.html.matches("<a href=\"/").count(), expect, "{}", rendered.html);
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

#[tokio::test(flavor = "multi_thread")]
async fn links_lead_where_they_lead_in_the_browser() {
    let renderer = Renderer::new(settings());
    for (does, expect) in [
        (
            "<script>history.pushState({}, '', '/dir/page')</script><a href=x>x</a>",
            "<base href=\"http://page.test/dir/page\">",
        ),
        ("<script>document.head.innerHTML = '<base href=/dir/>'</script><a href=x>x</a>", "<base href=\"/dir/\">"),
        ("<iframe srcdoc='<base href=/other/><a href=x>x</a>'></iframe>", "<a href=\"http://page.test/other/x\">"),
        ("<noscript><a href=/without>x</a></noscript>", "<noscript><a href=/without>x</a></noscript>"),
    ] {
        let rendered = render(&renderer, does, &Arc::new(Site::new())).await.expect(does);
        assert!(rendered.html.contains(expect), "{does}: {}", rendered.html);
    }
    let plain = render(&renderer, "<a href=x>x</a><script>location = '#a'</script>", &Arc::new(Site::new())).await;
    assert!(!plain.expect("a page").html.contains("<base"));
}

/// Names in a page hide what documents and forms have, and what scripts call so hides what all scripts have.
#[tokio::test(flavor = "multi_thread")]
async fn names_in_a_page_hide_nothing_of_it() {
    let renderer = Renderer::new(settings());
    let names: String =
        ["querySelectorAll", "querySelector", "getAnimations", "readyState", "head", "body", "URL", "baseURI"]
            .map(|name| format!("<img name={name}>"))
            .concat();
    let fields: String =
        ["attributes", "lastChild", "localName", "nodeType", "shadowRoot", "hasAttribute", "parentNode"]
            .map(|name| format!("<input name={name}>"))
            .concat();
    for hiding in [
        names.as_str(),
        &format!("<form>{fields}<p>in the form</p></form>"),
        "<script>const URL = '/api', history = [], Set = 1, Map = 2, Node = 3, String = 4, performance = 5</script>",
        "<script>function NodeFilter() {} function KeyboardEvent() {}</script>",
        "<script>Array.prototype.toJSON = String.prototype.toJSON = function () { return 'x' }</script>",
        "<script>Document.prototype.querySelectorAll = Element.prototype.hasAttribute = () => { throw 1 }</script>",
    ] {
        let body = format!(
            "<head><title>t</title></head><body>{hiding}<p>words</p><a href=/link>link</a>
            <button onclick=\"document.getElementById('more').innerHTML = '<a href=/more>more</a>'\">b</button><p id=more></p>
            <script>window.open('/opened')</script>"
        );
        let rendered = render(&renderer, &body, &Arc::new(Site::new())).await.expect(hiding);
        assert!(rendered.html.contains("<p>words</p><a href=\"/link\">link</a>"), "{hiding}: {}", rendered.html);
        let leads_to = leads_to(&rendered);
        for link in ["/opened", "/more"] {
            assert!(leads_to.iter().any(|url| url == link), "{hiding}: {leads_to:?} {:?}", rendered.left_out);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_many_nodes_is_shown() {
    let renderer = Renderer::new(settings());
    let many = "<body><p id=p></p><script>p.insertAdjacentHTML('beforeend', '<b>x</b>'.repeat(500000)); \
                document.body.insertAdjacentHTML('beforeend', '<a href=/last>x</a>')</script>";
    let rendered = render(&renderer, many, &Arc::new(Site::new())).await.expect("a page");
    // With their texts these are a million nodes.
    assert_eq!(rendered.html.matches("<b>x</b>").count(), 1 + 500_000, "the first is in the script");
    assert!(rendered.left_out.to_string().contains("nodes"), "{}", rendered.left_out);
    assert!(rendered.html.contains("<a href=\"/last\">"));
    let deep = "<body><script>let at = document.body; for (let n = 0; n < 1000; n++) { const next = document.createElement('i'); \
                at.append(next); at = next } at.append('deep')</script>";
    let rendered = render(&renderer, deep, &Arc::new(Site::new())).await.expect("a page");
    assert!(rendered.html.contains("<i>deep</i>"));
}

/// The clock of a page stands while a script runs, unless the script waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_waits_for_the_clock_comes_to_its_end() {
    let renderer = Renderer::new(settings());
    let site = Arc::new(Site::new());
    for now in ["Date.now()", "+new Date()", "performance.now()"] {
        let waits = format!("const began = {now}; while ({now} - began < 300); p.textContent = 'waited'");
        for page in [
            format!("<p id=p></p><script>setTimeout(() => {{ {waits} }}, 100)</script>"),
            format!("<p id=p></p><button id=b>Wait</button><script>b.onclick = () => {{ {waits} }}</script>"),
        ] {
            let rendered = render(&renderer, &page, &site).await.expect(&page);
            assert!(rendered.html.contains("<p id=\"p\">waited</p>"), "{page}: {}", rendered.html);
            assert_eq!(rendered.left_out.total(), 0, "{page}");
        }
    }
    let dates = "<p id=p></p><script>class Day extends Date {} const is = [new Date() instanceof Date, new Day() instanceof Day, \
                 new Date(0).getTime() === 0, new Date(2020, 1).getMonth() === 1, typeof Date() === 'string', Date.UTC(1970, 0) === 0, \
                 new Date().constructor === Date, Math.abs(Date.now() - new Date()) < 1000]; p.append(is.join(' '))</script>";
    let rendered = render(&renderer, dates, &site).await.expect("a page");
    assert!(rendered.html.contains(&["true"; 8].join(" ")), "{}", rendered.html);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_broken_xml_is_read_as_html() {
    let renderer = Renderer::new(settings());
    let text = |end: &str| {
        format!(
            "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>é</title></head><body><p>a<b><i>b</i>{end}<a href='/there'>x</a>\
             <script>document.body.append('generated')</script></body></html>"
        )
    };
    let latin = |text: &str| Bytes::from_iter(text.chars().map(|char| u8::try_from(u32::from(char)).expect("Latin 1")));
    let (broken, sound) = (text("</p>"), text("</b></p>"));
    let declared = format!("<?xml version='1.0' encoding='iso-8859-1'?>{broken}");
    for (parameters, body) in [
        ("", Bytes::from(broken.clone())),
        ("", Bytes::from(sound)),
        ("; profile=x", Bytes::from(broken.clone())),
        ("; profile=x; charset=iso-8859-1", latin(&broken)),
        ("", latin(&declared)),
    ] {
        let mut page = page("");
        page.headers.0[0].1 = format!("application/xhtml+xml{parameters}");
        page.body = body;
        let rendered = renderer.render(&page, Arc::new(Site::new())).await.expect("a page");
        let has_all =
            ["<title>é</title>", "href=\"/there\"", "generated"].iter().all(|part| rendered.html.contains(part));
        assert!(has_all && !rendered.html.contains("error"), "{parameters} {:?}: {}", page.body, rendered.html);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_a_root_is_empty() {
    let page = "text<script>document.documentElement.remove()</script>";
    let rendered = render(&Renderer::new(settings()), page, &Arc::new(Site::new())).await.expect("a page");
    assert_eq!(rendered.html, "<html></html>");
}

/// An emoji that is cut in two is half a character: a lone surrogate, which no Unicode text has.
#[tokio::test(flavor = "multi_thread")]
async fn half_a_character_costs_itself_alone() {
    let renderer = Renderer::new(settings());
    for does in [
        "document.body.append('Great news \\ud83d\\ude00 for all'.slice(0, 12))",
        "document.title = 'T\\ud83d'",
        "document.body.setAttribute('data-x', '\\ud83d')",
        "document.body.style = '--x:\\ud83d'",
        "document.body.insertAdjacentHTML('beforeend', '<input value=\"\\ud83d\"><textarea>\\ude00</textarea>')",
        "document.head.append(Object.assign(document.createElement('style'), { textContent: 'p::before{content:\"\\ud83d\"}' }))",
        "document.body.append(Object.assign(document.createElement('iframe'), { name: 'n\\ud83d', src: '/frame' }))",
        "console.log('\\ud83d'); alert('\\ud83d'); setTimeout(() => { throw new Error('\\ud83d') })",
    ] {
        let body = format!(
            "<title>t</title><body><p>before<script>try {{ {does} }} catch {{}}</script><a href=/there>after</a>"
        );
        let site = Arc::new(Site::new().file("/frame", "text/html", "<p>framed"));
        let rendered = render(&renderer, &body, &site).await.expect(does);
        assert_eq!(leads_to(&rendered), ["/there"], "{does}");
    }
    let cut = "<body><p>begin<script>document.body.append('Great news \\ud83d\\ude00 for all'.slice(0, 12) + '.', '\\ud83d\\ude00')</script>";
    let html = render(&renderer, cut, &Arc::new(Site::new())).await.expect("a page").html;
    assert!(html.contains("Great news \u{fffd}.\u{1f600}"), "{html}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_in_the_page_has_a_base_of_its_own() {
    let body = "<p>a<iframe srcdoc=\"<a href=x>x</a><img src=y.png><p><base href='/in/'>\"></iframe><a href=z>z</a>\
                <div><template shadowrootmode=open><base href=/no/></template></div>";
    let html = render(&Renderer::new(settings()), body, &Arc::new(Site::new())).await.expect("a page").html;
    for expect in ["<a href=\"http://page.test/in/x\">", "<img src=\"http://page.test/in/y.png\">", "<a href=\"z\">"] {
        assert!(html.contains(expect), "{expect} is not in {html}");
    }
    let written = html.split_once("</iframe>").expect("a frame").1;
    assert!(!written.contains("<base"), "it is not that of the page: {html}");
}
