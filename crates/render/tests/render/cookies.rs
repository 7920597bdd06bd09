//! Cookies of the crawl that scripts of a page read.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use cookies::{Cookie, SameSite};
use model::{Headers, Timestamp};
use render::{Renderer, Served, Source, Wanted};

use crate::site::{page, settings};

/// Sites of which each tells what its scripts read: `/frame` is a page that does so, `/new` sets another value.
struct Server {
    cookies: Vec<Cookie>,
    asked: Mutex<Vec<Wanted>>,
}

impl Source for Server {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        let tells = "<script>fetch('/reads?' + encodeURIComponent(document.cookie))</script>";
        let asks = "<script>fetch('http://page.test/asked', { mode: 'no-cors', credentials: 'include' })</script>";
        let body = if wanted.url.ends_with("/frame") { format!("{tells}{asks}") } else { "x".to_owned() };
        let mut headers = vec![("Content-Type".to_owned(), "text/html".to_owned())];
        if wanted.url.ends_with("/new") {
            headers.push(("Set-Cookie".to_owned(), "own=new".to_owned()));
        }
        self.asked.lock().expect("no panic").push(wanted);
        Box::pin(async move { Served::Answer { status: 200, headers: Headers(headers), body: body.into() } })
    }

    fn cookies(&self) -> Vec<Cookie> {
        self.cookies.clone()
    }
}

fn cookie(name: &str, domain: &str, host_only: bool, path: &str) -> Cookie {
    Cookie {
        name: name.to_owned(),
        value: "1".to_owned(),
        domain: domain.to_owned(),
        host_only,
        path: path.to_owned(),
        secure: false,
        http_only: false,
        same_site: SameSite::Unset,
        expires: None,
        created: Timestamp(0),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_read_the_cookies_of_their_host_and_path() {
    let html = "<p id=o></p><iframe src=http://sub.page.test/frame></iframe><iframe src=http://evil.test/frame></iframe><script>
        const say = () => o.append(document.cookie.split('; ').sort().join() + '|');
        say(); fetch('/new').then(() => say())</script>";
    let cookies = vec![
        cookie("own", "page.test", true, "/"),
        cookie("all", "page.test", false, "/"),
        cookie("below", "sub.page.test", true, "/"),
        cookie("elsewhere", "page.test", true, "/elsewhere"),
    ];
    let refused = cookie("no\u{1}name; x", "page.test", true, "/");
    for cookies in [cookies.clone(), [vec![refused], cookies].concat()] {
        let server = Arc::new(Server { cookies, asked: Mutex::default() });
        let rendered = Renderer::new(settings()).render(&page(html), server.clone()).await.expect("a page");
        assert!(rendered.html.contains(">all=1,own=1|all=1,own=new|</p>"), "{}", rendered.html);
        let asked = server.asked.lock().expect("no panic");
        let read = |host: &str| {
            let begin = format!("http://{host}/reads?");
            asked.iter().filter_map(|wanted| wanted.url.strip_prefix(&begin)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((read("sub.page.test").as_str(), read("evil.test").as_str()), ("all%3D1%3B%20below%3D1", ""));
        let for_others = asked.iter().filter(|wanted| wanted.url == "http://page.test/asked");
        let mut bears: Vec<(bool, bool)> =
            for_others.map(|wanted| (wanted.has_credentials, wanted.headers.get("Cookie").is_some())).collect();
        bears.sort_unstable();
        assert_eq!(bears, [(false, false), (true, true)], "the frame of the other site, the frame of the page's own");
    }
}
