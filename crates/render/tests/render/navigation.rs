//! Pages that take over where a browser goes (`navigation`, `intercept`): their document stays.

use std::sync::Arc;

use render::{FoundBy, Rendered, Renderer};

use crate::site::{Site, leads_to, render, settings};

/// Shows a view of where it is to go, after it has asked for data.
const ROUTER: &str = "const go = async to => { await fetch('/data'); v.innerHTML = `<p>view of ${to}</p><a href=${to}/deep>deep</a>` };\
    const takes = event => { if (!event.canIntercept || event.hashChange || event.downloadRequest !== null) return;\
    const to = new URL(event.destination.url).pathname; event.intercept({ handler: () => go(to) }) };";

async fn shown(renderer: &Renderer, does: &str) -> Rendered {
    let site = Arc::new(Site::new().file("/data", "application/json", "[]").file("/away", "text/html", "away"));
    let html = format!("<body><a href=/two>two</a><div id=v>home</div>{}", does.replace("ROUTER", ROUTER));
    let rendered = render(renderer, &html, &site).await.expect(does);
    assert!(rendered.left_out.total() == 0, "{does}: {}", rendered.left_out);
    rendered
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_click_leads_to_is_seen_and_the_page_comes_back() {
    let renderer = Renderer::new(settings());
    for listens in [
        "navigation.addEventListener('navigate', takes)",
        "navigation.onnavigate = takes",
        // Not those that come after.
        "navigation.addEventListener('navigate', event => { takes(event); event.stopImmediatePropagation() })",
        // As before there was `intercept`.
        "navigation.addEventListener('navigate', event => { if (event.cancelable && !event.destination.sameDocument) \
         { event.preventDefault(); const to = new URL(event.destination.url).pathname; history.pushState(null, '', to); go(to) } })",
    ] {
        let page = format!(
            "<button id=b>Three</button><button id=c>Four</button><script>ROUTER {listens}; \
             b.onclick = () => navigation.navigate('/three'); c.onclick = () => {{ location = '/four' }}</script>"
        );
        let rendered = shown(&renderer, &page).await;
        assert_eq!(rendered.redirect, None, "{listens}");
        assert_eq!(leads_to(&rendered), ["/four", "/four/deep", "/three", "/three/deep", "/two"], "{listens}");
        for text in ["home", "view of /three", "view of /four"] {
            assert_eq!(rendered.html.matches(text).count(), 1, "{listens}: {text} in {}", rendered.html);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_page_goes_by_itself_in_its_document_is_no_redirect() {
    let renderer = Renderer::new(settings());
    let page = "<script>ROUTER navigation.addEventListener('navigate', takes); navigation.navigate('/start')</script>";
    let rendered = shown(&renderer, page).await;
    assert!(rendered.html.contains("view of /start"), "{}", rendered.html);
    let found: Vec<(&str, FoundBy)> = rendered.found.iter().map(|found| (found.url.as_str(), found.by)).collect();
    assert_eq!((rendered.redirect, &found[..]), (None, &[("http://page.test/start", FoundBy::History)][..]));
    // One that takes nothing over.
    let page = "<script>navigation.addEventListener('navigate', () => {}); location = '/away'</script>";
    assert_eq!(shown(&renderer, page).await.redirect.as_deref(), Some("http://page.test/away"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_takes_over_its_own_reload_is_loaded_again() {
    // Only a page that is loaded again has its buttons back.
    let page = "<script>navigation.addEventListener('navigate', event => { if (event.canIntercept) event.intercept({ handler: async () => {} }) })\
        </script><div id=w><button id=a>A</button><button id=b>B</button></div><script>\
        for (const name of ['a', 'b']) document.getElementById(name).onclick = () => { w.innerHTML = `<a href=/${name}>gone to ${name}</a>` }</script>";
    assert_eq!(leads_to(&shown(&Renderer::new(settings()), page).await), ["/a", "/b", "/two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_router_of_fragments_may_listen_to_navigations() {
    let renderer = Renderer::new(settings());
    for listens in ["navigation.addEventListener('navigate', () => {})", "navigation.onnavigate = () => {}"] {
        let rendered = shown(&renderer, &format!("<a href='#/route'>route</a><script>{listens}</script>")).await;
        assert!(rendered.has_router, "{listens}");
    }
    assert!(!shown(&renderer, "<a href='#/route'>route</a>").await.has_router);
}
