//! The frame of the sandbox's pages.

/// A page with that title and body.
pub(super) fn page(title: &str, body: &str) -> String {
    format!("<!doctype html>\n<html lang=en>\n<title>{title}</title>\n<h1>{title}</h1>\n{body}\n")
}

/// A page with a list of links.
pub(super) fn list<S: AsRef<str>>(title: &str, links: &[S]) -> String {
    let items: String =
        links.iter().map(AsRef::as_ref).map(|link| format!("<li><a href=\"{link}\">{link}</a>\n")).collect();
    page(title, &format!("<ul>\n{items}</ul>"))
}

/// A page with a list of links, and a text below.
pub(super) fn list_and_text<S: AsRef<str>>(title: &str, links: &[S], text: &str) -> String {
    format!("{}<p>{text}\n", list(title, links))
}

/// A page that leads nowhere but says which it is.
pub(super) fn leaf(target: &str) -> String {
    page(target, &format!("<p>You have found {target}."))
}
