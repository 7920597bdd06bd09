//! The names of orders.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::clock::Clock;
use serde::{Deserialize, Serialize};

/// The longest name that is taken from others, in bytes.
const BYTES_MAX: usize = 64;

/// Tells an order to change a crawl from all others. Who gets no answer gives the same order again, and it is carried out once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderId(String);

impl OrderId {
    /// One that no other order has: of this process, at this time.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        static ORDERS: AtomicU64 = AtomicU64::new(0);
        let (at, number) = (Clock::start().date().0, ORDERS.fetch_add(1, Ordering::Relaxed));
        OrderId(format!("{at:x}-{:x}-{number:x}", process::id()))
    }

    /// One that another process sends; `None` if it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let is_one = (1..=BYTES_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_one.then(|| OrderId(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_orders_have_the_same_name() {
        let [one, other] = [OrderId::new(), OrderId::new()];
        assert_ne!(one, other);
        assert_eq!(OrderId::read(one.as_str()), Some(one));
        for text in ["", "a b", "{}", &"a".repeat(BYTES_MAX + 1)] {
            assert_eq!(OrderId::read(text), None, "{text}");
        }
    }
}
