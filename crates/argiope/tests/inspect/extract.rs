//! `inspect extract`.

use super::run::Dir;

const RULES: &[u8] = b"[extract.a]
url = 'http://other.test/*'
fields.x = 'p'
[extract.b]
fields.x = 'p'
fields.y = 'i'
";

#[test]
fn text_says_what_a_limit_left_out_and_what_is_about_other_pages() {
    let long = format!("<p>{}</p>", "x".repeat((64 << 10) + 1));
    let dir = Dir::new(&[("short.html", b"<p>1</p>"), ("long.html", long.as_bytes()), ("rules.toml", RULES)]);
    dir.check(
        &["extract", "short.html", "--url", "http://a.test/", "--rules", "rules.toml"],
        "\
url          http://a.test/
a            is about other pages: its `url` does not match this one
b            1 row, 0 without a required field
  {\"x\":\"1\"}
empty        y
",
    );
    let value = "x".repeat(64 << 10);
    dir.check(
        &["extract", "long.html", "--url", "http://other.test/", "--rules", "rules.toml"],
        &format!(
            "\
url          http://other.test/
a            1 row, 0 without a required field
  {{\"x\":\"{value}\"}}
limit        rows or values were left out: docs/extract.md, Limits
b            1 row, 0 without a required field
  {{\"x\":\"{value}\"}}
empty        y
limit        rows or values were left out: docs/extract.md, Limits
"
        ),
    );
}
