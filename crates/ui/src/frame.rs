//! What all pages have: head, navigation, style, script, and the policy by which a browser treats them.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{Html, Response};
use maud::{DOCTYPE, Markup, html};

use crate::assets::{ICON, SCRIPT, STYLE};
use crate::base::{base, to};
use printable::Printable;

/// Nothing from elsewhere, no inline script or style, and no frame around it (Content Security Policy Level 3).
pub(crate) const POLICY: &str =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Pages of a navigation: paths and names.
pub(crate) type Pages = &'static [(&'static str, &'static str)];

tokio::task_local! {
    /// The navigation of what a request is about, where it is no crawl in a directory.
    static OTHER_PAGES: Pages;
}

/// The pages of the navigation of a crawl in a directory.
const PAGES: Pages = &[
    ("/", "Overview"),
    ("/sites", "Sites"),
    ("/urls", "URLs"),
    ("/url", "Explain"),
    ("/changes", "Changes"),
    ("/search", "Search"),
    ("/graph", "Graph"),
    ("/report", "Report"),
    ("/steer", "Steer"),
];

/// The navigation of what is about no single crawl, where there are several.
const ALL_CRAWLS: Pages = &[("/", "All crawls")];

/// Answers a request about several crawls. The screens of each have their own navigation.
pub(crate) async fn with_all_crawls(request: Request, next: Next) -> Response {
    with_pages(ALL_CRAWLS, request, next).await
}

/// Answers a request with another navigation.
pub(crate) async fn with_pages(pages: Pages, request: Request, next: Next) -> Response {
    OTHER_PAGES.scope(pages, next.run(request)).await
}

/// A page with a title, below the navigation in which `active` is marked.
pub(crate) fn page(title: &str, active: &str, body: &Markup) -> Html<String> {
    let is_one_of_several = base().is_some();
    let listed = OTHER_PAGES.try_with(|pages| *pages).ok().filter(|_| !is_one_of_several).unwrap_or(PAGES);
    let pages = html! {
        @if is_one_of_several { a href="/" { "All crawls" } }
        @for (path, name) in listed {
            a href=(to(path)) aria-current=[(*path == active).then_some("page")] { (name) }
        }
    };
    framed(title, &pages, body)
}

/// A page about all crawls.
pub(crate) fn of_all(title: &str, body: &Markup) -> Html<String> {
    framed(title, &html! { a href="/" aria-current="page" { "All crawls" } }, body)
}

fn framed(title: &str, pages: &Markup, body: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (Printable(title)) " · Argiope" }
                link rel="icon" type="image/svg+xml" href=(ICON.link());
                link rel="stylesheet" href=(STYLE.link());
                script src=(SCRIPT.link()) defer {}
            }
            body {
                a.skip href="#main" { "To the content" }
                header {
                    nav aria-label="Pages" { (pages) }
                }
                main #main tabindex="-1" {
                    h1 { (Printable(title)) }
                    (body)
                }
            }
        }
    };
    Html(page.into_string())
}

/// Adds what protects an answer. The report has a stricter policy in itself.
pub(crate) fn protected(mut response: Response) -> Response {
    let fields: [(HeaderName, &'static str); 4] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fields {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
