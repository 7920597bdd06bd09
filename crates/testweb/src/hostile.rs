//! stub
use crate::Web;
pub use crate::authority::{BROKEN_HOST, EXPIRED_HOST, UNTRUSTED_HOST, WRONG_NAME_HOST};
/// stub
pub fn sites(web: Web) -> Web {
    web
}
