//! Nothing a page does takes more than linear time or more than the limits allow.

use extract::html::extract;
use extract::{HtmlPage, Limits};
use proptest::prelude::*;

fn page(html: &str, limits: &Limits) -> HtmlPage {
    extract(html.as_bytes(), None, limits)
}

fn small() -> Limits {
    Limits {
        links_max: 2,
        images_max: 2,
        text_bytes_max: 4,
        title_bytes_max: 4,
        link_text_bytes_max: 4,
        href_bytes_max: 8,
        data_image_bytes_max: 4,
        data_images_bytes_max: 6,
    }
}

#[test]
fn links_past_the_limit_are_dropped_and_told() {
    let page = page("<a href=1>x</a><a href=2>x</a><a href=3>x</a>", &small());
    assert_eq!(page.links.len(), 2);
    assert!(page.truncated.links && !page.truncated.link_text);
}

#[test]
fn repeats_of_a_target_leave_room_for_others() {
    let repeats: String = (0..50).map(|n| format!("<a href={}#{n}>x</a>", n % 2)).collect();
    let limits = Limits { links_max: 4, ..Limits::default() };
    let hrefs = |html: &str| {
        let page = page(html, &limits);
        let hrefs: Vec<String> = page.links.iter().map(|link| link.href.to_string()).collect();
        (hrefs, page.truncated.links, page.truncated.link_repeats)
    };
    let expect = ["0#0", "1#1", "0#2", "1#3", "a", "b"].map(str::to_owned).to_vec();
    assert_eq!(
        hrefs(&format!("{repeats}<a href=a>x</a><a href=b>x</a><a href=b>x</a>")),
        (expect.clone(), false, true)
    );
    assert_eq!(hrefs(&format!("{repeats}<a href=a>x</a><a href=b>x</a><a href=c>x</a>")), (expect, true, true));
    assert!(!hrefs("<a href=a>x</a><a href=#>x</a><a href=a>x</a><a href=a>x</a>").1, "two targets");
}

#[test]
fn images_past_the_limit_are_dropped_and_told() {
    let page = page("<img src=1 srcset='2, 3, 4'>", &small());
    assert_eq!(page.images.len(), 2);
    assert!(page.truncated.images);
}

#[test]
fn texts_past_their_limits_are_cut_and_told() {
    let page = page("<title>abcdef</title><a href=1>uvwxyz</a>", &small());
    assert_eq!(page.title.as_deref(), Some("abcd"));
    assert_eq!(page.links[0].text, "uvwx");
    assert_eq!(page.text, "uvwx");
    let t = page.truncated;
    assert!(t.title && t.link_text && t.text);
}

#[test]
fn without_room_for_texts_all_else_is_found_and_what_was_left_out_is_told() {
    let limits = Limits { text_bytes_max: 0, link_text_bytes_max: 0, ..Limits::default() };
    let html = "<div id=root></div> <a href=1><img alt=x></a> <a href=2>y</a> z <noscript><a href=3>q</a></noscript><title>t</title>";
    let whole = page(html, &Limits::default());
    let without = page(html, &limits);
    let hrefs = |page: &HtmlPage| page.links.iter().map(|link| link.href.to_string()).collect::<Vec<_>>();
    assert_eq!((hrefs(&without), &without.title), (hrefs(&whole), &whole.title));
    assert_eq!(without.scripting, whole.scripting);
    assert!(without.text.is_empty() && without.links.iter().all(|link| link.text.is_empty()));
    assert!(without.truncated.text && without.truncated.link_text);
    let blank = page("<a href=1> </a> <p>\n", &limits);
    assert!(!blank.truncated.text && !blank.truncated.link_text);
    assert!(page("<a href=1>y</a>", &limits).truncated.link_text);
}

#[test]
fn a_long_href_is_counted_and_never_cut() {
    let page = page("<a href=12345678>x</a><a href=123456789>x</a>", &small());
    assert_eq!(page.links.len(), 1);
    assert_eq!(page.ignored.too_long, 1);
    assert!(page.truncated.href);
}

/// Found by fuzzing: these were kept at any length.
#[test]
fn a_long_base_refresh_or_language_is_left_out() {
    let long = "x".repeat(200);
    let page = page(
        &format!(
            "<html lang={long}><base href={long}><base href=/b><meta http-equiv=refresh content='0; url={long}'>\
             <meta http-equiv=refresh content='0; url=/r'>"
        ),
        &small(),
    );
    assert_eq!((page.lang, page.base_href.as_deref()), (None, Some("/b")));
    assert_eq!(page.refresh.and_then(|refresh| refresh.url).as_deref(), Some("/r"));
    assert!(page.truncated.href);
}

#[test]
fn large_data_images_are_left_out_and_told() {
    let image = |content: &str| format!("<img src=data:image/x,{content}>");
    let fits = page(&(image("1234") + &image("12")), &small());
    assert_eq!((fits.images.len(), fits.truncated.data_images), (2, false));
    let too_large = page(&image("12345"), &small());
    assert_eq!((too_large.images.len(), too_large.truncated.data_images), (0, true));
    let too_many = page(&(image("1234") + &image("123")), &small());
    assert_eq!((too_many.images.len(), too_many.truncated.data_images), (1, true));
}

/// Far more time than linear work takes, far less than quadratic work would: the test runner's limit.
fn check_ends(start: &str, piece: &str, repeats: usize, end: &str) {
    let html = format!("{start}{}{end}", piece.repeat(repeats));
    let page = page(&html, &Limits::default());
    assert!(page.text.len() <= html.len());
    let parts = extract::parts::of_page(&html);
    assert!(parts.marks.len() <= html.len());
}

#[test]
fn depth_costs_no_stack_and_linear_time() {
    for piece in
        ["<div>", "<b><p>", "<svg>", "<svg><foreignObject>", "<math><mi>", "<template>", "<i>x</b>", "<table><td>"]
    {
        check_ends("", piece, 100_000, "");
    }
}

#[test]
fn repeated_markup_takes_linear_time() {
    for piece in [
        "<a href=x>",
        "</x>",
        "</p>",
        "<svg></p>",
        "<",
        "&",
        "&#",
        "&notit",
        "<!--",
        "<![CDATA[",
        "<a ",
        "a=b ",
        "\"",
        "<title>",
        "<script>",
        "<script><!--",
        "<noscript>",
        "<select><option>",
        "é",
        "\0",
        "<p onclick=\"location='\\u{\">",
        "<img srcset='a, (b'>",
        "<img src=data:,%>",
        "<base href=x>",
    ] {
        check_ends("", piece, 30_000, "");
    }
}

#[test]
fn long_attributes_and_raw_text_take_linear_time() {
    for (start, piece) in [
        ("<p onclick=\"", "location='\\u{"),
        ("<p onclick='", "window.location."),
        ("<a title='", "&amp"),
        ("<img srcset='", "(, "),
        ("<img srcset='", ","),
        ("<meta name=robots content='", "none,"),
        ("<a ", "href=x "),
        ("<a href='", "\n"),
        ("<script>", "</scrip"),
        ("<title>", "</titl"),
    ] {
        check_ends(start, piece, 100_000, "'\">");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_a_page_within_the_limits(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let limits = small();
        let page = extract(&bytes, None, &limits);
        prop_assert!(page.text.len() <= limits.text_bytes_max);
    }

    #[test]
    fn any_markup_gives_a_page_within_the_limits(html in "(<[a-z/!]{1,8}( (href|src|srcset|onclick|content)=.{0,9})?>|.{0,6}){0,20}") {
        let limits = small();
        for content_type in ["text/html", "application/xhtml+xml"] {
            let page = extract(html.as_bytes(), Some(content_type), &limits);
            let targets: std::collections::HashSet<&str> =
                page.links.iter().map(|link| link.href.split('#').next().unwrap_or_default()).collect();
            prop_assert!(targets.len() <= limits.links_max && page.links.len() <= 2 * limits.links_max);
            prop_assert!(page.images.len() <= limits.images_max);
        }
    }
}

#[test]
fn what_is_no_text_makes_no_room_for_text() {
    let page = page(&format!("<a href=/a>a</a><script>{}</script>", "x".repeat(4_000_000)), &Limits::default());
    assert_eq!((page.text.as_str(), page.links.len()), ("a", 1));
    assert!(page.text.capacity() < 100, "{}", page.text.capacity());
    assert!(page.links.capacity() < 100, "{}", page.links.capacity());
}
