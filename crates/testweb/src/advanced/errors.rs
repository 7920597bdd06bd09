//! Errors: those that stay, and those that pass when asked again.

use std::iter;

use super::html;
use crate::{Faults, Pages, Reply};

/// Statuses that stay.
const STATUSES: [u16; 9] = [400, 401, 403, 404, 405, 410, 500, 502, 503];

pub(super) fn add(pages: Pages) -> Pages {
    let mut links: Vec<String> = STATUSES.iter().map(|status| format!("/errors/{status}.html")).collect();
    links.extend(
        ["/errors/missing.html", "/errors/429-once.html", "/errors/503-twice.html", "/errors/no-answer.html"]
            .map(str::to_owned),
    );
    let pages = pages
        .html("/errors/", html::list("Errors", &links))
        .html("/errors/429-once.html", html::leaf("/errors/429-once.html"))
        .html("/errors/503-twice.html", html::leaf("/errors/503-twice.html"))
        .reply("/errors/no-answer.html", Reply::raw(iter::empty));
    STATUSES.iter().fold(pages, |pages, status| {
        let target = format!("/errors/{status}.html");
        let reply = Reply::error(*status, &target);
        let reply = match status {
            401 => reply.header("WWW-Authenticate", "Basic realm=\"sandbox\""),
            405 => reply.header("Allow", "POST"),
            _ => reply,
        };
        pages.reply(target, reply)
    })
}

/// The pages with errors that pass laid over them.
pub(super) fn passing(pages: Pages) -> Faults<Pages> {
    let (once, twice) = ("/errors/429-once.html", "/errors/503-twice.html");
    Faults::new(pages).fail_first(once, 1, Reply::error(429, once).header("Retry-After", "1")).fail_first(
        twice,
        2,
        Reply::error(503, twice),
    )
}
