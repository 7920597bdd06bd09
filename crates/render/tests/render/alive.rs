//! What goes on beside a page's timers: storage, workers, animations, what is seen of it. The same page gives the same, every time.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use model::{Headers, Refusal};
use render::{PAGE_CLOCK, Page, Renderer, Served, Settings, Source, Wait, Wanted};
use weburl::{CanonicalRules, CanonicalUrl};

use crate::site::{Site, page, settings};

/// How often each page is shown.
const TIMES: usize = 20;
/// Service workers need it.
const HTTPS: &str = "https://page.test/";

fn site() -> Arc<Site> {
    let asks = "fetch('/data').then(answer => answer.text())";
    let site = Site::new().at("https://page.test").file("/data", "text/plain", "data");
    let site = site
        .script("/worker.js", format!("onmessage = event => {asks}.then(text => postMessage(text + event.data))"))
        .script("/timer.js", "setTimeout(() => postMessage('after 2.5 s'), 2500)")
        .script("/interval.js", "let n = 0; setInterval(() => { n += 1; if (n === 10) postMessage('ten times') }, 200)")
        .script("/answers.js", "onmessage = event => setTimeout(() => event.source.postMessage('later'), 1500)")
        .script("/shared.js", format!("onconnect = event => {asks}.then(text => event.ports[0].postMessage(text))"))
        .script(
            "/service.js",
            format!(
                "addEventListener('install', () => skipWaiting()); addEventListener('activate', event => event.waitUntil(clients.claim()));\
                 addEventListener('fetch', event => {{ if (event.request.url.endsWith('/made')) \
                 event.respondWith({asks}.then(text => new Response('made of ' + text))) }})"
            ),
        );
    Arc::new(site)
}

/// What a page does, and what it shows then. `say` appends to what it shows.
const PAGES: &[(&str, &str, &str)] = &[
    (
        "storage: a chain of transactions",
        "const open = indexedDB.open('a', 1); open.onupgradeneeded = () => open.result.createObjectStore('s'); open.onsuccess = () => { \
         let n = 0; const next = () => { if (n === 20) return say('20 written'); \
         const t = open.result.transaction('s', 'readwrite'); t.objectStore('s').put(n++, 'k'); t.oncomplete = next }; next() }",
        "20 written",
    ),
    (
        "storage, begun by a timer",
        "setTimeout(() => { const open = indexedDB.open('b', 1); open.onupgradeneeded = () => open.result.createObjectStore('s').put('late', 'k'); \
         open.onsuccess = () => { const get = open.result.transaction('s').objectStore('s').get('k'); get.onsuccess = () => say(get.result) } }, 2000)",
        "late",
    ),
    (
        "caches and digests",
        "caches.open('c').then(async c => { await c.put('/x', new Response('cached')); say(await (await c.match('/x')).text()); \
         say(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(3))).length) })",
        "cached32",
    ),
    (
        "a dedicated worker",
        "const w = new Worker('/worker.js'); w.onmessage = event => say(event.data); w.postMessage('!')",
        "data!",
    ),
    (
        "a worker of a blob",
        "const w = new Worker(URL.createObjectURL(new Blob([\"fetch('https://page.test/data').then(a => a.text()).then(postMessage)\"]))); \
         w.onmessage = event => say(event.data)",
        "data",
    ),
    ("a shared worker", "new SharedWorker('/shared.js').port.onmessage = event => say(event.data)", "data"),
    (
        "a service worker",
        "navigator.serviceWorker.oncontrollerchange = () => fetch('/made').then(answer => answer.text()).then(say); \
         navigator.serviceWorker.register('/service.js')",
        "made of data",
    ),
    (
        "animations one after the other",
        "(async () => { for (const n of [1, 2, 3]) { await o.animate([{opacity: 0}, {opacity: 1}], 700).finished; say(n) } })()",
        "123",
    ),
    (
        "a transition",
        "o.style.transition = 'opacity 1s'; o.addEventListener('transitionend', () => say('over')); \
         requestAnimationFrame(() => requestAnimationFrame(() => { o.style.opacity = 0 }))",
        "over",
    ),
    (
        "what is in sight",
        "new IntersectionObserver(([entry]) => { if (entry.isIntersecting) fetch('/data').then(a => a.text()).then(say) }).observe(o)",
        "data",
    ),
];

/// Loads ten more whenever its end is in sight, up to fifty.
const ENDLESS: &str = "<div id=l></div><div id=end style='height:10px'></div><script>let n = 0; const add = () => { for (let i = 0; i < 10 && n < 50; i++) \
    l.insertAdjacentHTML('beforeend', `<p style='height:300px'><a href=/p${++n}>${n}</a></p>`) }; add(); \
    new IntersectionObserver(async entries => { if (entries.some(entry => entry.isIntersecting) && n < 50) { await fetch('/data'); add() } }).observe(end)</script>";

fn at(url: &str, html: &str) -> Page {
    Page { url: CanonicalUrl::parse(url, &CanonicalRules::default()).expect("a URL"), ..page(html) }
}

async fn shows(renderer: &Renderer, does: &str) -> String {
    let html = format!("<body><p id=o></p><script>const say = text => o.append(text); {does}</script>");
    let rendered = renderer.render(&at(HTTPS, &html), site()).await.expect(does);
    let text = rendered.html.split("<p id=\"o\"").nth(1).and_then(|rest| rest.split('>').nth(1));
    text.and_then(|text| text.split('<').next()).unwrap_or_default().to_owned()
}

/// What another process or thread answers: a promise of it.
const ANSWERED: &[(&str, &str)] = &[
    (
        "a file of the origin, and a list of them",
        "(async () => { const root = await navigator.storage.getDirectory(); const file = await root.getFileHandle('f', {create: true}); \
         const to = await file.createWritable(); await to.write('text'); await to.close(); let names = ''; for await (const [name] of root) names += name; \
         if (names + await (await file.getFile()).text() !== 'ftext') say('wrong ') })()",
    ),
    (
        "caches",
        "caches.open('c').then(c => c.put('/x', new Response('x')).then(() => c.match('/x'))).then(x => x.text())",
    ),
    (
        "IndexedDB",
        "new Promise(done => { const open = indexedDB.open('a', 1); open.onupgradeneeded = () => open.result.createObjectStore('s'); \
         open.onsuccess = () => { const t = open.result.transaction('s', 'readwrite'); t.objectStore('s').put(1, 'k'); t.oncomplete = done } })",
    ),
    ("locks", "navigator.locks.request('l', () => navigator.locks.query())"),
    (
        "channels",
        "new Promise(done => { const [a, b] = [new BroadcastChannel('c'), new BroadcastChannel('c')]; b.onmessage = done; a.postMessage(1) })",
    ),
    (
        "ports",
        "new Promise(done => { const { port1, port2 } = new MessageChannel(); port2.onmessage = done; port1.postMessage(1) })",
    ),
    ("permissions", "navigator.permissions.query({ name: 'notifications' })"),
    ("what the browser is", "navigator.userAgentData.getHighEntropyValues(['platformVersion'])"),
    ("devices", "navigator.mediaDevices.enumerateDevices()"),
    ("room for storage", "navigator.storage.estimate()"),
    ("cookies", "cookieStore.set('a', '1').then(() => cookieStore.get('a'))"),
    ("a service worker that is not there", "navigator.serviceWorker.getRegistrations()"),
    ("pictures", "createImageBitmap(new ImageData(9, 9))"),
    (
        "a picture that is encoded, and decoded",
        "new Promise(done => { const c = document.createElement('canvas'); c.toBlob(blob => { const i = new Image(); \
         i.src = URL.createObjectURL(blob); i.decode().then(done) }) })",
    ),
    (
        "cryptography",
        "crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']).then(key => crypto.subtle.exportKey('raw', key))",
    ),
    ("a blob", "new Blob(['x'.repeat(1e5)]).text()"),
    ("a response made of a blob", "new Response(new Blob(['x'.repeat(1e5)])).text()"),
    (
        "a reader",
        "new Promise(done => { const r = new FileReader(); r.onload = done; r.readAsBinaryString(new Blob(['x'])) })",
    ),
    ("the address of a blob", "fetch(URL.createObjectURL(new Blob(['x']))).then(x => x.text())"),
    ("the address of data", "fetch('data:text/plain,x').then(x => x.text())"),
    (
        "what is compressed",
        "new Response(new Blob(['x']).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()",
    ),
    ("sound", "new OfflineAudioContext(1, 4410, 44100).startRendering()"),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_other_processes_answer_comes_before_later_timers() {
    let renderer = Renderer::new(settings());
    // Once after the time of the machine, often enough that the clock would run ahead; and once at the end of the clock.
    let often = |of: &str| {
        format!(
            "setTimeout(async () => {{ let isOver = false; setTimeout(() => {{ isOver = true }}, 1000); \
             for (let n = 0; n < 20; n++) {{ await {of}; if (isOver) return say('late at ' + n) }} say('in time') }}, 2500)"
        )
    };
    let last = |of: &str| format!("setTimeout(() => {of}.then(() => say('in time')), {})", PAGE_CLOCK.as_millis() - 5);
    for (name, of) in ANSWERED {
        for does in [often(of), last(of)] {
            assert_eq!(shows(&renderer, &does).await, "in time", "{name}: {does}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_workers_and_animations_are_waited_for() {
    let renderer = Renderer::new(settings());
    for (name, does, expect) in PAGES {
        assert_eq!(shows(&renderer, does).await, *expect, "{name}");
    }
}

/// The timers of workers have the time of the machine, and no clock of a page that runs ahead.
#[tokio::test(flavor = "multi_thread")]
async fn timers_of_workers_are_waited_for() {
    // More than a busy machine needs: what has come is not waited for.
    let renderer = Renderer::new(Settings { wait: Wait::Clock(Duration::from_secs(60)), ..settings() });
    for (does, expect) in [
        ("new Worker('/timer.js').onmessage = event => say(event.data)", "after 2.5 s"),
        ("new Worker('/interval.js').onmessage = event => say(event.data)", "ten times"),
        (
            "navigator.serviceWorker.onmessage = event => say(event.data); navigator.serviceWorker.register('/answers.js'); \
             navigator.serviceWorker.ready.then(registration => registration.active.postMessage(1))",
            "later",
        ),
    ] {
        assert_eq!(shows(&renderer, does).await, expect, "{does}");
    }
}

/// Answers late or at once, as the name says.
struct Uneven;

impl Source for Uneven {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let name = wanted.url.rsplit('/').next().unwrap_or_default().to_owned();
        Box::pin(async move {
            if name.starts_with("late") {
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            Served::Answer { status: 200, headers: Headers::default(), body: name.into() }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_scripts_request_comes_in_the_order_of_the_requests() {
    let renderer = Renderer::new(settings());
    let does = "<body><p id=o></p><script>for (const name of ['late1', 'now1', 'late2', 'now2', 'now3']) \
                fetch('/' + name).then(answer => answer.text()).then(text => o.append(text + ' '))</script>";
    for time in 0..TIMES {
        let rendered = renderer.render(&at(HTTPS, does), Arc::new(Uneven)).await.expect("a page");
        assert!(rendered.html.contains(">late1 now1 late2 now2 now3 <"), "time {time}: {}", rendered.html);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hangs_on_frames_and_storage_is_the_same_every_time() {
    let renderer = Renderer::new(settings());
    let scrolling = Renderer::new(Settings { scroll: true, ..settings() });
    for time in 0..TIMES {
        let (_, chain, expect) = PAGES[0];
        let endless = at(HTTPS, &format!("<body>{ENDLESS}"));
        let (shown, scrolled) = tokio::join!(shows(&renderer, chain), scrolling.render(&endless, site()));
        assert_eq!(shown, expect, "time {time}");
        assert_eq!(scrolled.expect("a page").html.matches("<a href=\"/p").count(), 50, "time {time}");
    }
}

/// Never answers, which takes a while.
struct Silent;

impl Source for Silent {
    fn get(&self, _: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Served::Refused(Refusal::NoAnswer)
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_gives_a_request_up_before_it_fails() {
    // Later than what is done by the clock of the machine.
    let does = "<body><p id=o></p><script>setTimeout(() => { const giver = new AbortController(); setTimeout(() => giver.abort(), 300);\
                for (const signal of [giver.signal, undefined]) fetch('/never', { signal }).catch(error => o.append(error.name + ' ')) }, 3000)</script>";
    let rendered = Renderer::new(settings()).render(&at(HTTPS, does), Arc::new(Silent)).await.expect("a page");
    assert!(rendered.html.contains(">AbortError TypeError <"), "{}", rendered.html);
}
