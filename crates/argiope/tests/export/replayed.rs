//! `wacz`: a plain site that was archived with what its pages need looks in ReplayWeb.page as it does live.

use serde_json::{Value, json};
use testkit::browser::Browser;
use testkit::crawled::Crawled;
use testkit::replaywebpage::ReplayWebPage;
use testweb::{Pages, Reply, Web};

/// The width of the window.
const WIDTH: u32 = 800;

/// What is compared of a document: what people read, and what its style sheets make of it.
const SHOWN: &str = "(page) => { const style = page.defaultView.getComputedStyle(page.body); \
    return [page.title, page.body.innerText, style.backgroundColor, style.fontSize, page.images.length && page.images[0].naturalWidth] }";

/// An image of bars.
fn png() -> Vec<u8> {
    let (width, height) = (120_u32, 80_u32);
    let pixels: Vec<u8> =
        (0..width * height).flat_map(|n| [(n % width * 2) as u8, 40, (n / width * 3) as u8]).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels)).expect("a PNG");
    file
}

fn site() -> Web {
    let of = |media_type: &'static str, body: Vec<u8>| Reply::new(200).header("Content-Type", media_type).body(body);
    let head = "<!DOCTYPE html><link rel=icon href=data:,><link rel=stylesheet href=http://cdn.test/s.css>";
    let words = "<p>Besedilo č š ž, in še &amp; več. </p>".repeat(6);
    let pages = Pages::new()
        .html("/", format!("{head}<title>Home</title><h1>A site</h1>{words}<img src=/i.png><p><a href=/more>more</a>"))
        .html("/more", format!("{head}<title>More</title><body class=wide>{words}<script src=/x.js></script>"))
        .reply("/i.png", of("image/png", png()))
        .reply("/x.js", of("text/javascript", b"document.body.append('written by a script')".to_vec()));
    let styles = "@import 'more.css'; body { background: #def; font: 20px sans-serif } h1 { color: #c00 }";
    let more =
        "body.wide { background: #efd url(http://plain.test/i.png) no-repeat right bottom; letter-spacing: 2px }";
    let cdn =
        Pages::new().reply("/s.css", of("text/css", styles.into())).reply("/more.css", of("text/css", more.into()));
    Web::new().site("plain.test", pages).site("cdn.test", cdn)
}

#[test]
fn replayweb_page_shows_a_plain_site_as_it_was() {
    let crawled = Crawled::of(site(), "http://plain.test/", &["--requisites"]);
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("site.wacz");
    let ran = crawled.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");

    // The live site is reached by its names, the replay has none of them.
    let mut live = Browser::with(&[&format!("--host-resolver-rules=MAP *.test {}", crawled.address())]);
    let mut replaying = Browser::with(&["--host-resolver-rules=MAP *.test ~NOTFOUND"]);
    let viewer = ReplayWebPage::serve(&wacz);
    for (path, title, background) in [("/", "Home", "rgb(221, 238, 255)"), ("/more", "More", "rgb(238, 255, 221)")] {
        let url = format!("http://plain.test{path}");
        live.open("http://plain.test", path, WIDTH, false);
        let expect = live.value(&format!("({SHOWN})(document)"));
        assert_eq!((&expect[0], &expect[2], &expect[3]), (&json!(title), &json!(background), &json!("20px")));
        let shown = viewer.show(&mut replaying, &url, WIDTH, SHOWN);
        assert_ne!(shown, Value::Null, "{url} does not come up");
        assert_eq!(shown, expect, "{url}");
        let likeness = replaying.shot(&format!("{title}-replayed")).likeness(&live.shot(&format!("{title}-live")));
        assert!(likeness >= 0.99, "{url}: {likeness}");
    }
}
