//! What pages request besides plain GET: what the source is asked, and what the page makes of the answer.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use model::{Headers, Method, Refusal, Refusals};
use render::{Page, Renderer, Served, Settings, Source, Wanted};

use crate::site::{Site, page, render, settings};

/// Answers with what it was asked, and allows what a browser may allow to `http://page.test`.
#[derive(Default)]
struct Echo {
    asked: Mutex<Vec<Wanted>>,
}

fn line(wanted: &Wanted) -> String {
    let field = |name: &str| wanted.headers.get(name).map(|value| format!(" {name}={value}")).unwrap_or_default();
    let fields =
        ["X-Requested-With", "Authorization", "Content-Type", "Cookie", "Origin", "Access-Control-Request-Headers"];
    let fields: String = fields.into_iter().map(field).collect();
    let body = String::from_utf8_lossy(&wanted.body);
    format!("{} {}{fields} {}", wanted.method.as_str(), wanted.url.replace("http://", ""), body).trim_end().to_owned()
}

impl Source for Echo {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let body = match wanted.headers.get("Accept") {
            Some("text/event-stream") => "data: one\n\ndata: two\n\n".to_owned(),
            accept => format!("[{} {}]", accept.unwrap_or_default(), line(&wanted)),
        };
        let is_head = wanted.method == Method::Head;
        let body = if is_head { String::new() } else { body };
        let is_open = !wanted.url.contains("closed.test");
        let events = wanted.headers.get("Accept").filter(|accept| accept.starts_with("text/event"));
        let mut fields = vec![("Content-Type", events.unwrap_or("text/plain")), ("Set-Cookie", "of=answer")];
        if is_head {
            fields.push(("Content-Length", "7000"));
        }
        if is_open {
            fields.extend([
                ("Access-Control-Allow-Origin", "http://page.test"),
                ("Access-Control-Allow-Credentials", "true"),
                ("Access-Control-Allow-Headers", "content-type,x-requested-with,authorization"),
            ]);
        }
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        self.asked.lock().expect("no panic").push(wanted);
        Box::pin(async move { Served::Answer { status: 200, headers: Headers(fields), body: body.into() } })
    }
}

/// Shows a page that does something and says what came of it: its text, what was asked, what was refused.
async fn shown(renderer: &Renderer, does: &str) -> (String, BTreeSet<String>, Refusals) {
    let html = format!(
        "<body><p id=o></p><script>const say = t => o.append(t); (async () => {{ {does} }})().catch(e => say(`(${{e.name}})`))</script>"
    );
    let mut page: Page = page(&html);
    page.headers.0.push(("Set-Cookie".to_owned(), "of=page; HttpOnly".to_owned()));
    let echo = Arc::new(Echo::default());
    let rendered = renderer.render(&page, echo.clone() as Arc<dyn Source>).await.expect(does);
    let text = rendered.html.split("<p id=\"o\">").nth(1).and_then(|rest| rest.split("</p>").next());
    let asked = echo.asked.lock().expect("no panic").iter().map(line).collect();
    (text.expect("a paragraph").to_owned(), asked, rendered.refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_requests_what_it_requests_in_any_browser() {
    let renderer = Renderer::new(settings());
    let text = ".then(answer => answer.text()).then(say)";
    let cases: &[(String, &str, &[&str])] = &[
        (
            format!("await fetch('/a', {{headers: {{Accept: 'application/json', 'X-Requested-With': 'XMLHttpRequest', Authorization: 'Bearer t'}}}}){text}"),
            "[application/json GET page.test/a X-Requested-With=XMLHttpRequest Authorization=Bearer t Cookie=of=page]",
            &["GET page.test/a X-Requested-With=XMLHttpRequest Authorization=Bearer t Cookie=of=page"],
        ),
        (
            format!("await fetch('/a', {{method: 'POST', body: new URLSearchParams({{q: 'a b'}})}}){text}"),
            "[*/* POST page.test/a Content-Type=application/x-www-form-urlencoded;charset=UTF-8 Cookie=of=page Origin=http://page.test q=a+b]",
            &["POST page.test/a Content-Type=application/x-www-form-urlencoded;charset=UTF-8 Cookie=of=page Origin=http://page.test q=a+b"],
        ),
        (
            format!("await fetch('http://api.test/b', {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}}){text}"),
            "[*/* POST api.test/b Content-Type=application/json Origin=http://page.test {}]",
            &[
                "OPTIONS api.test/b Origin=http://page.test Access-Control-Request-Headers=content-type",
                "POST api.test/b Content-Type=application/json Origin=http://page.test {}",
            ],
        ),
        (
            format!("await fetch('http://closed.test/c'){text}"),
            "(TypeError)",
            &["GET closed.test/c Origin=http://page.test"],
        ),
        (
            format!("document.cookie = 'by=script'; await fetch('/a'); await fetch('/b'){text}; say(document.cookie)"),
            "[*/* GET page.test/b Cookie=by=script; of=answer]by=script; of=answer",
            &["GET page.test/a Cookie=of=page; by=script", "GET page.test/b Cookie=by=script; of=answer"],
        ),
        (
            "await new Promise(done => { const x = new XMLHttpRequest(); x.open('POST', '/x'); x.onload = () => { say(x.responseText); done() }; x.send('body') })".to_owned(),
            "[*/* POST page.test/x Content-Type=text/plain;charset=UTF-8 Cookie=of=page Origin=http://page.test body]",
            &["POST page.test/x Content-Type=text/plain;charset=UTF-8 Cookie=of=page Origin=http://page.test body"],
        ),
        (
            "await fetch('/a', {method: 'HEAD'}).then(answer => say(answer.headers.get('Content-Length')))".to_owned(),
            "7000",
            &["HEAD page.test/a Cookie=of=page"],
        ),
        (
            "const events = new EventSource('/events'); events.onmessage = event => say(event.data + ' ')".to_owned(),
            "one two ",
            &["GET page.test/events Cookie=of=page"],
        ),
    ];
    for (does, expect_text, expect_asked) in cases {
        let (text, asked, refused) = shown(&renderer, does).await;
        let expect: BTreeSet<String> = expect_asked.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!((text.as_str(), &asked, refused.total()), (*expect_text, &expect, 0), "{does}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_of_json_and_workers_of_workers_are_loaded() {
    let site = Site::new()
        .file("/data.json", "application/json", "{\"word\": \"imported\"}")
        .script(
            "/outer.js",
            "const inner = new Worker('/inner.js'); inner.onmessage = event => postMessage(event.data)",
        )
        .script("/inner.js", "fetch('/word').then(answer => answer.text()).then(postMessage)")
        .file("/word", "text/plain", "worked");
    let site = Arc::new(site);
    let page = "<body><p id=p></p><script>import('/data.json', {with: {type: 'json'}}).then(module => p.append(module.default.word)); \
                new Worker('/outer.js').onmessage = event => p.append(event.data)</script>";
    let html = render(&Renderer::new(settings()), page, &site).await.expect("a page").html;
    assert!(html.contains("imported") && html.contains("worked"), "{html} {:?}", site.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_requests_in_vain_is_known() {
    let page = "<body><script>new Image().src = '/object.png'; const style = document.createElement('style'); document.head.append(style); \
                style.sheet.insertRule('body { background: url(/rule.png) }'); document.body.append(Object.assign(new Image(), {src: '/object.png'}))</script>";
    let site = Arc::new(Site::new());
    let unloaded = render(&Renderer::new(settings()), page, &site).await.expect("a page").unloaded;
    assert_eq!(Vec::from_iter(unloaded), ["http://page.test/object.png", "http://page.test/rule.png"]);
    let shown = Renderer::new(Settings { media: true, ..settings() });
    assert!(render(&shown, page, &site).await.expect("a page").unloaded.is_empty());
    let long = "<script>for (let n = 0; n < 3; n++) new Image().src = `/${n}?${'x'.repeat(500000)}`</script>";
    let rendered = render(&Renderer::new(settings()), long, &site).await.expect("a page");
    let mut refused = Refusals::default();
    refused.count(Refusal::TooMany);
    assert_eq!((rendered.unloaded.len(), rendered.refused), (2, refused));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_counted() {
    let renderer = Renderer::new(Settings { requests_max: 3, ..settings() });
    for (does, refusal, count) in [
        ("await fetch('/a', {method: 'DELETE'})", Refusal::Method, 1),
        ("await fetch('/a', {method: 'POST', body: 'x'.repeat(2 << 20)})", Refusal::Request, 1),
        ("for (const n of [1, 2, 3, 4, 5]) await fetch('/' + n)", Refusal::TooMany, 1),
        ("new WebSocket('ws://page.test/')", Refusal::WebSocket, 1),
    ] {
        let mut expect = Refusals::default();
        (0..count).for_each(|_| expect.count(refusal));
        let (_, asked, refused) = shown(&renderer, does).await;
        assert_eq!(refused, expect, "{does}");
        assert!(asked.len() <= 3, "{asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_several_parts_is_whole() {
    let renderer = Renderer::new(settings());
    let does = "const form = new FormData(); form.append('name', 'value'); form.append('file', new Blob(['content']), 'f.txt'); \
                await fetch('/a', {method: 'POST', body: form})";
    let (_, asked, refused) = shown(&renderer, does).await;
    // A browser that does not tell what is in the file has the request refused; one that does has it sent whole.
    let has_all = asked.iter().any(|line| line.contains("value") && line.contains("content") && line.contains("f.txt"));
    assert!(has_all != (refused.total() == 1), "{asked:?} {refused}");
}

#[test]
fn refusals_are_told_with_their_reasons() {
    let mut refusals = Refusals::default();
    refusals.count(Refusal::Rate);
    assert_eq!(refusals.to_string(), "1 requests refused (render_rate)");
    refusals.count(Refusal::Method);
    refusals.count(Refusal::Rate);
    assert_eq!(refusals.to_string(), "3 requests refused (1 method, 2 render_rate)");
    assert_eq!(Method::of("POST /x HTTP/1.1"), Some(Method::Post));
}

/// What each kind of request bears, by the Fetch standard (2.2.5, 4.5) and HTML (2.5.4).
#[tokio::test(flavor = "multi_thread")]
async fn requests_bear_credentials_as_the_fetch_standard_says() {
    let fetches = "for (const mode of ['omit', 'same-origin', 'include']) for (const to of ['/', 'http://api.page.test/']) \
         await fetch(`${to}fetch-${mode}`, {credentials: mode}).catch(() => 0);";
    let defaults = "for (const to of ['/', 'http://api.page.test/']) { await fetch(`${to}fetch`).catch(() => 0); \
         await fetch(`${to}no-cors`, {mode: 'no-cors'}); \
         for (const is of [false, true]) await new Promise(done => { const x = new XMLHttpRequest(); x.open('GET', `${to}xhr-${is}`); \
         x.withCredentials = is; x.onloadend = done; x.send() }) }";
    let elements = "for (const to of ['/', 'http://api.page.test/']) for (const cors of ['none', 'anonymous', 'use-credentials']) \
         await new Promise(done => { const script = document.createElement('script'); script.src = `${to}script-${cors}`; \
         if (cors !== 'none') script.crossOrigin = cors; script.onload = script.onerror = done; document.head.append(script) });";
    let worker = "await new Promise(done => { const worker = new Worker(URL.createObjectURL(new Blob([`(async () => { \
         for (const mode of ['omit', 'include']) for (const to of ['http://page.test/', 'http://api.page.test/']) \
         await fetch(to + 'worker-' + mode, {credentials: mode}).catch(() => 0); postMessage(1) })()`]))); worker.onmessage = done })";
    let page: Page =
        page(&format!("<body><script>(async () => {{ {fetches} {defaults} {elements} {worker} }})()</script>"));
    let echo = Arc::new(Echo::default());
    Renderer::new(settings()).render(&page, echo.clone() as Arc<dyn Source>).await.expect("a page");
    let asked = echo.asked.lock().expect("no panic");
    let mut found = std::collections::BTreeMap::new();
    for wanted in asked.iter().filter(|wanted| wanted.method == Method::Get) {
        assert!(!format!("{wanted:?}").contains("argiope"), "no server gets the mark: {wanted:?}");
        let (host, name) = wanted.url.trim_start_matches("http://").split_once('/').expect("a path");
        found.entry(name.to_owned()).or_insert_with(Vec::new).push((host.len(), wanted.has_credentials));
    }
    // For the page's own origin, and for another one of its site. Chromium has requests of `no-cors` bear them, unless they omit them.
    let expect = [
        ("fetch", true, false),
        ("fetch-include", true, true),
        ("fetch-omit", false, false),
        ("fetch-same-origin", true, false),
        ("no-cors", true, true),
        ("script-anonymous", true, false),
        ("script-none", true, true),
        ("script-use-credentials", true, true),
        ("worker-include", true, true),
        ("worker-omit", false, false),
        ("xhr-false", true, false),
        ("xhr-true", true, true),
    ];
    let (own, other) = ("page.test".len(), "api.page.test".len());
    let expect = expect.map(|(name, of_own, of_other)| (name.to_owned(), vec![(own, of_own), (other, of_other)]));
    assert_eq!(found, expect.into());
}
