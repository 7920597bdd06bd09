//! stub
use crate::{Pages, Site};
/// stub
pub const HOST: &str = "advanced.test";
/// stub
pub const OTHER_HOST: &str = "other.test";
/// stub
pub const CRAWL_DELAY_S: f32 = 0.1;
/// stub
pub fn site(_: f32) -> impl Site {
    Pages::new()
}
/// stub
pub fn other_site() -> impl Site {
    Pages::new()
}
