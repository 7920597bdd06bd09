//! What protects all screens: which page may ask, and the policy of each answer.

use axum::middleware::{from_fn, map_response};
use axum::routing::Router;

use crate::failure::Failure;
use crate::{frame, origin};

/// The screens, with a page for paths that none of them has.
pub(crate) fn guarded(screens: Router) -> Router {
    screens
        .fallback(missing)
        .layer(map_response(async |response| frame::protected(response)))
        .layer(from_fn(origin::check))
}

/// The page for a path that no screen has.
pub(crate) async fn missing() -> Failure {
    Failure::NotFound("there is no such page".to_owned())
}
