//! Answers in words.

use service::client::Text;

/// An answer as `argiope client` prints it.
pub(super) fn text(answer: &impl Text) -> String {
    let mut text = Vec::new();
    // Writing to a vector cannot fail.
    let _ = answer.write_text(&mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}
