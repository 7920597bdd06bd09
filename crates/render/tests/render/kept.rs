//! What a page shows is kept, whatever it does besides: it loads itself again, waits for what never comes, saves a file.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use model::{Headers, Method, Refusal};
use render::{FoundBy, Page, Rendered, Renderer, Served, Settings, Source, Wanted};

use crate::site::{page, settings};

/// Knows `/file`, which is to be saved, `/nothing`, which leaves a browser where it is, and `/page`; of the page itself what it says to those who have a cookie. Names with
/// `never` are never answered, nobody is at those with `dead`, and `/no-head` knows no HEAD.
struct Server;

impl Source for Server {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        Box::pin(async move {
            let path = wanted.url.trim_start_matches("http://page.test").to_owned();
            if path.contains("never") {
                std::future::pending::<()>().await;
            }
            if path.contains("dead") || (path == "/no-head" && wanted.method == Method::Head) {
                return Served::Refused(Refusal::NoAnswer);
            }
            let has_cookie = wanted.headers.get("Cookie").is_some_and(|cookie| cookie.contains("wall=open"));
            let (media_type, saved, body) = match path.as_str() {
                "/file" => ("text/html", "attachment; filename=x.html", "file"),
                "/archive" => ("application/zip", "", "PK"),
                "/" if has_cookie => ("text/html", "", "<p>here</p><p>behind the wall</p><a href=/inner>x</a>"),
                _ => ("text/html", "", "<p>here</p>"),
            };
            let headers = [("Content-Type", media_type), ("Content-Disposition", saved)];
            let headers = headers.into_iter().filter(|(_, value)| !value.is_empty());
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let status = if path == "/nothing" { 204 } else { 200 };
            Served::Answer { status, headers: Headers(headers), body: body.into() }
        })
    }
}

async fn shown(renderer: &Renderer, page: &Page) -> Rendered {
    renderer.render(page, Arc::new(Server)).await.unwrap_or_else(|error| panic!("{error}: {:?}", page.body))
}

async fn check(renderer: &Renderer, does: &str, expect: &[&str]) -> Rendered {
    let rendered = shown(renderer, &page(&format!("<body><p>here</p>{does}"))).await;
    for text in [&["<p>here</p>"], expect].concat() {
        assert!(rendered.html.contains(text), "{text} is not there: {does}: {}", rendered.html);
    }
    rendered
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_loads_itself_again_is_shown() {
    let renderer = Renderer::new(settings());
    let wall = "<script>if (!document.cookie) { document.cookie = 'wall=open'; location.reload() }</script>";
    let behind = ["behind the wall", "href=\"/inner\""];
    for (does, expect) in [
        (wall, &behind[..]),
        (&wall.replace("location.reload()", "setTimeout(() => location.reload(), 2000)"), &behind),
        (&wall.replace("location.reload()", "location = location.href"), &behind),
        ("<script>location.reload()</script>", &[]),
        ("<script>setInterval(() => location.reload(), 100)</script>", &[]),
        ("<meta http-equiv=refresh content=1>", &[]),
        ("<form method=post></form><script>document.forms[0].submit()</script>", &[]),
    ] {
        let rendered = check(&renderer, does, expect).await;
        assert_eq!(rendered.redirect, None, "{does}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_sends_a_form_is_shown() {
    let renderer = Renderer::new(settings());
    let form = |field: &str| format!("<form method=post action=/save><input name=a value=1>{field}</form>");
    for (does, refused) in [
        (format!("{}<script>document.forms[0].submit()</script>", form("")), 1),
        (format!("{}<script>setTimeout(() => document.forms[0].requestSubmit(), 1000)</script>", form("")), 1),
        (
            format!("{}<button id=b>x</button><script>b.onclick = () => document.forms[0].submit()</script>", form("")),
            1,
        ),
        (form("<button>send</button>"), 0),
    ] {
        let rendered = check(&renderer, &does, &["name=\"a\""]).await;
        assert_eq!((rendered.redirect, rendered.found.as_slice()), (None, &[][..]), "{does}");
        assert_eq!(rendered.refused.total(), refused, "{does}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_comes_is_not_waited_for() {
    let quick = Settings { page_time_max: Duration::from_secs(20), ..settings() };
    let renderer = Renderer::new(quick);
    for (does, expect, refused) in [
        ("<script src=/never.js></script><a href=/after>x</a>", &["/after"][..], 1),
        ("<p id=o></p><script>fetch('/never').catch(() => o.append('given up'))</script>", &["given up"], 1),
        ("<iframe src=/never></iframe><a href=/after>x</a>", &["/after"], 1),
        (
            "<script>(async () => { for (let n = 0; ; n++) await fetch('/never?' + n).catch(() => 0) })()</script>",
            &[],
            1,
        ),
    ] {
        let rendered = check(&renderer, does, expect).await;
        assert!(rendered.refused.total() >= refused, "{does}: {}", rendered.refused);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_saves_a_file_or_goes_nowhere_is_shown() {
    let renderer = Renderer::new(settings());
    for (does, url) in [
        ("<script>location = '/file'</script>", "file"),
        ("<script>setTimeout(() => location.assign('/archive'), 1000)</script>", "archive"),
        ("<meta http-equiv=refresh content='2; url=/archive'>", "archive"),
        ("<a id=a href=/any download>x</a><script>a.click()</script>", "any"),
        ("<iframe src=/file></iframe><a href=/file>x</a>", ""),
        ("<script>location = '/nothing'</script>", ""),
    ] {
        let rendered = check(&renderer, does, &[]).await;
        assert_eq!(rendered.redirect, None, "{does}");
        let saved = rendered.found.iter().filter(|found| found.by == FoundBy::Download).map(|found| found.url.as_str());
        let expect: Vec<String> =
            [url].iter().filter(|url| !url.is_empty()).map(|url| format!("http://page.test/{url}")).collect();
        assert_eq!(saved.collect::<Vec<_>>(), expect, "{does}");
    }
    for path in ["page", "no-head"] {
        let rendered = check(&renderer, &format!("<script>location = '/{path}'</script>"), &[]).await;
        let url = format!("http://page.test/{path}");
        assert_eq!(rendered.redirect.as_deref(), Some(url.as_str()), "a page is no file");
    }
    let mut saved = page("<p>here</p>");
    saved.headers.0.push(("Content-Disposition".to_owned(), "attachment".to_owned()));
    assert!(shown(&renderer, &saved).await.html.contains("<p>here</p>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_goes_where_nobody_is_is_shown() {
    let renderer = Renderer::new(settings());
    for does in [
        "<script>setTimeout(() => { location = 'http://dead.test/' }, 500)</script>",
        "<meta http-equiv=refresh content='1; url=http://dead.test/'>",
    ] {
        let rendered = check(&renderer, &format!("<a href=/leaf>x</a>{does}"), &["/leaf"]).await;
        assert_eq!(rendered.redirect, None, "{does}");
        let found = rendered.found.iter().map(|found| (found.by, found.url.as_str()));
        assert_eq!(found.collect::<Vec<_>>(), [(FoundBy::Unanswered, "http://dead.test/")], "{does}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_replaces_what_the_language_gives_is_shown() {
    let renderer = Renderer::new(settings());
    let fails = "function () { throw 2 }";
    for broken in [
        "Array.prototype.push",
        "Array.prototype.map = Array.prototype.join",
        "Array.prototype[Symbol.iterator]",
        "Set.prototype.add = Map.prototype.set",
        "Map.prototype.get = Map.prototype.values = Set.prototype.has",
        "String.prototype.replace = String.prototype.split",
        "RegExp.prototype.test = RegExp.prototype[Symbol.replace]",
        "Object.getPrototypeOf(new Set().values()).next",
        "Function.prototype.call = Function.prototype.apply",
        "Reflect.apply = Object.assign",
    ] {
        let later = "setTimeout(() => document.body.append('later'), 1000)";
        let does = format!("<a href=/leaf>x</a><script>{broken} = {fails}; {later}; const kept = {broken}</script>");
        let again =
            "<script>setTimeout(() => { try { kept() } catch { document.body.append('its own') } }, 2000)</script>";
        check(&renderer, &format!("{does}{again}"), &["href=\"/leaf\"", "later", "its own"]).await;
    }
}
