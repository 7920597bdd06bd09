//! The browser has no network: what a page wants is asked of the source, or not had.

use std::net::TcpListener;
use std::sync::Arc;

use render::{Renderer, Settings};

use crate::site::{Site, render, settings};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_the_browser() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let at = listener.local_addr().expect("an address");
    let body = format!(
        "<link rel=preconnect href=http://{at}><link rel=dns-prefetch href=//{at}><link rel=prefetch href=http://{at}/prefetch>\
         <link rel=preload as=script href=http://{at}/preload><link rel=icon href=http://{at}/icon><link rel=manifest href=http://{at}/m>\
         <img src=http://{at}/img><video src=http://{at}/video></video><a ping=http://{at}/ping href=#x id=a>x</a><script>\
         const quietly = f => {{ try {{ f() }} catch {{}} }};\
         quietly(() => new WebSocket('ws://{at}/socket'));\
         quietly(() => new EventSource('http://{at}/events'));\
         quietly(() => navigator.sendBeacon('http://{at}/beacon', 'x'));\
         quietly(() => fetch('http://{at}/post', {{method: 'POST', body: 'x'}}));\
         quietly(() => fetch('file:///etc/passwd').then(r => r.text()).then(t => document.body.append(t)));\
         quietly(() => navigator.serviceWorker.register('/worker.js'));\
         quietly(() => new Worker('data:text/javascript,fetch(\"http://{at}/worker\")'));\
         quietly(() => new SharedWorker('data:text/javascript,fetch(\"http://{at}/shared\")'));\
         quietly(() => {{ const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{at}'}}]}}); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }});\
         quietly(() => new WebTransport('https://{at}/transport'));\
         quietly(() => a.click());\
         </script><p>end</p>"
    );
    let renderer = Renderer::new(settings());
    let site = Arc::new(Site::new());
    let rendered = render(&renderer, &body, &site).await.expect("a page");
    assert!(rendered.html.contains("<p>end</p>") && !rendered.html.contains("root:"), "{}", rendered.html);
    drop(renderer);
    assert!(listener.accept().is_err(), "someone connected");
    // What is asked of the source is up to the source.
    let asked = site.asked();
    assert!(
        asked
            .iter()
            .all(|url| ["preload", "worker", "shared", "events", "post"].iter().any(|name| url.ends_with(name))),
        "{asked:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_gets_what_the_source_has() {
    let body = "<link rel=stylesheet href=/style.css><script src=/a.js></script><script src=/missing.js></script><img src=/dot.png>";
    let files = || {
        let site = Site::new().file("/style.css", "text/css", "p { color: red }").file("/dot.png", "image/png", "");
        Arc::new(site.script("/a.js", "fetch('/a.json')").file("/a.json", "application/json", "{}"))
    };
    let url = |path: &&str| format!("http://page.test/{path}");
    let (site, renderer) = (files(), Renderer::new(settings()));
    let rendered = render(&renderer, body, &site).await.expect("a page");
    assert_eq!(site.asked(), ["a.js", "a.json", "missing.js", "style.css"].each_ref().map(url));
    assert_eq!((rendered.served, rendered.refused.total()), (4, 1), "with the page itself; the image is not asked for");
    let (site, renderer) = (files(), Renderer::new(Settings { media: true, ..settings() }));
    render(&renderer, body, &site).await.expect("a page");
    assert_eq!(site.asked(), ["a.js", "a.json", "dot.png", "missing.js", "style.css"].each_ref().map(url));
    let (site, renderer) = (files(), Renderer::new(Settings { requests_max: 1, ..settings() }));
    render(&renderer, body, &site).await.expect("a page");
    assert_eq!(site.asked().len(), 1);
}
