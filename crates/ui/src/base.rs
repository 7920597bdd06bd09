//! Below which path the screens of a crawl are: at the root, or each crawl of several below its number.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::Router;

tokio::task_local! {
    /// The path of the crawl that a request is about.
    static BASE: Arc<str>;
}

/// The screens, so that their links begin with this path.
pub(crate) fn below(base: &str, screens: Router) -> Router {
    let base: Arc<str> = base.into();
    screens.layer(from_fn(move |request: Request, next: Next| BASE.scope(base.clone(), next.run(request))))
}

/// A link to a screen of the same crawl, by its path at the root. Only a task that answers a request knows its crawl: a thread for what
/// blocks must make no links.
pub(crate) fn to(path: &str) -> String {
    match (base(), path) {
        (Some(base), "/") => base.to_string(),
        (Some(base), _) => format!("{base}{path}"),
        (None, _) => path.to_owned(),
    }
}

/// The path of the crawl, if it is one of several.
pub(crate) fn base() -> Option<Arc<str>> {
    BASE.try_with(Arc::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn links_stay_within_their_crawl() {
        assert_eq!((to("/"), to("/urls")), ("/".to_owned(), "/urls".to_owned()));
        let links = BASE.scope("/2".into(), async { (to("/"), to("/urls")) }).await;
        assert_eq!(links, ("/2".to_owned(), "/2/urls".to_owned()));
    }
}
