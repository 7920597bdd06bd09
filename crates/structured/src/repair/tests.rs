//! What breaks JSON in pages, and what is read of it.

use serde_json::json;

use super::*;

fn check(text: &str, expect: Value, flaws: &str) {
    let repaired = read(text);
    assert_eq!(Value::Array(repaired.values.clone()), json!([expect]), "{text}");
    assert_eq!(repaired.flaws.names().unwrap_or_default(), flaws, "{text}");
}

#[test]
fn what_templates_break_is_mended() {
    check(r#"{"a": 1}"#, json!({"a": 1}), "");
    check("{\"a\": \"x\ny\"}", json!({"a": "x\ny"}), "control");
    check(r#"{"a": [1, 2,], }"#, json!({"a": [1, 2]}), "comma");
    check("{\"a\": 1 // one\n, /* two */ \"b\": \"http://x/y\"}", json!({"a": 1, "b": "http://x/y"}), "comment");
    check("<!-- {\"a\": 1} -->", json!({"a": 1}), "comment");
    check("//<![CDATA[\n{\"a\": 1}\n//]]>", json!({"a": 1}), "comment");
    check("/*<![CDATA[*/{\"a\": 1}/*]]>*/", json!({"a": 1}), "comment");
    check("{&quot;a&quot;: &quot;b &amp; &quot;}", json!({"a": "b & "}), "reference");
    check("{'a': 'b', c: 2}", json!({"a": "b", "c": 2}), "quote");
    check(r#"{"size": "12" wide", "b": 1}"#, json!({"size": "12\" wide", "b": 1}), "quote");
    check(r#"{"a": "it\'s \d"}"#, json!({"a": "it's \\d"}), "escape");
    check(r#"{"a": 1};"#, json!({"a": 1}), "around");
    check(r#"{"a": , "b": undefined}"#, json!({"a": null, "b": null}), "value");
    check(r#"{"a": [1, {"b": "c"#, json!({"a": [1, {"b": "c"}]}), "end");
    check("{\"a\": \"b\"\n\"c\": 1}", json!({"a": "b", "c": 1}), "comma");
    check(
        r#"{"a": "b" "c": 1 "d": true "e" : {"f": 1} "g": [1] "h": "i"}"#,
        json!({"a": "b", "c": 1, "d": true, "e": {"f": 1}, "g": [1], "h": "i"}),
        "comma",
    );
    check(r#"{"a": "say "b" twice", "c": 1}"#, json!({"a": "say \"b\" twice", "c": 1}), "quote");
    check(r#"{"a": "\ud83d\ude00 \ud83d", }"#, json!({"a": "\u{1f600} \u{fffd}"}), "comma");
}

#[test]
fn numbers_of_people_are_whole_texts() {
    check(r#"{"price":1,299.00,"currency":"USD"}"#, json!({"price": "1,299.00", "currency": "USD"}), "value");
    check(r#"{"price":12,50}"#, json!({"price": "12,50"}), "value");
    check(
        r#"{"price":1,234,567 "b":$1,5, "c":12,50 "d":1}"#,
        json!({"price": "1,234,567", "b": "$1,5", "c": "12,50", "d": 1}),
        "comma, value",
    );
    check("{\"a\":1,2:3,\nb:4}", json!({"a": 1, "2": 3, "b": 4}), "quote");
    check(r#"{"a":[1,299.00,],}"#, json!({"a": [1, 299.0]}), "comma");
}

#[test]
fn quotes_in_a_text_lose_nothing_of_it() {
    check(
        r#"{"a":"He said "hello", and "bye".","z":1}"#,
        json!({"a": "He said \"hello\", and \"bye\".", "z": 1}),
        "quote",
    );
    check(r#"{"a":"The "Best", really","z":1}"#, json!({"a": "The \"Best\", really", "z": 1}), "quote");
    check(
        r#"{"a":"The "A", "B" and {"C"} - "D" - all","z":1}"#,
        json!({"a": "The \"A\", \"B\" and {\"C\"} - \"D\" - all", "z": 1}),
        "quote",
    );
    check(
        r#"{"a":"Note "this": and "that"; so","z":1}"#,
        json!({"a": "Note \"this\": and \"that\"; so", "z": 1}),
        "quote",
    );
    check(
        r#"["He said "a", and "b"", "c", "12" wide", 5, "d"]"#,
        json!(["He said \"a\", and \"b\"", "c", "12\" wide", 5, "d"]),
        "quote",
    );
    check(
        "{'a':'it's', b:['it's', 'b', undefined, 'c'],}",
        json!({"a": "it's", "b": ["it's", "b", null, "c"]}),
        "comma, quote, value",
    );
    check(r#"{"a":"b", "c", "d":"e",/* f */}"#, json!({"a": "b", "d": "e"}), "comment, comma, value");
}

#[test]
fn brackets_too_many_and_missing_lose_no_members() {
    check(r#"{"a":{"x":1}},"name":"n"}"#, json!({"a": {"x": 1}, "name": "n"}), "around");
    check(r#"{"l":[1,2},"name":"n"}"#, json!({"l": [1, 2], "name": "n"}), "around");
    check(r#"[{"a":{"x":1}},"name":"n"},{"b":2}]"#, json!([{"a": {"x": 1}, "name": "n"}, {"b": 2}]), "around");
    check(r#"{"l":[{"x":1},{"y":2},"name":"n"}"#, json!({"l": [{"x": 1}, {"y": 2}], "name": "n"}), "end");
    check(r#"{"o":{"l":["a","b"},"name":"n"}"#, json!({"o": {"l": ["a", "b"]}, "name": "n"}), "end");
    check(r#"{"l":[1,,"name":"n"}"#, json!({"l": [1], "name": "n"}), "comma, end");
    check(r#"{"o":{"a":"b"]},"name":"n"}"#, json!({"o": {"a": "b"}, "name": "n"}), "around, end");
}

#[test]
fn whole_numbers_keep_their_digits() {
    check(r#"{"a": 12345678901234567890123}"#, json!({"a": "12345678901234567890123"}), "digits");
    check(r#"[-9999999999999999999]"#, json!(["-9999999999999999999"]), "digits");
    check("[18446744073709551615, -9223372036854775808]", json!([u64::MAX, i64::MIN]), "");
    check(
        r#"["12345678901234567890123", 0.12345678901234567890123, 1e400]"#,
        json!(["12345678901234567890123", 0.123_456_789_012_345_68, "1e400"]),
        "value",
    );
    check(r#"["12345678901234567890123"]"#, json!(["12345678901234567890123"]), "");
}

#[test]
fn several_values_are_all_read() {
    let repaired = read(r#"{"a": 1} {"b": 2}"#);
    assert_eq!(repaired.values, [json!({"a": 1}), json!({"b": 2})]);
    assert_eq!(read("no JSON at all").values, [] as [Value; 0]);
}

#[test]
fn nasty_texts_take_steps_by_their_length() {
    let nasty = [
        "[".repeat(100_000),
        "{\"a\":".repeat(50_000),
        "\"".repeat(100_000),
        format!("[{}", "\"  ".repeat(50_000)),
        "[//".repeat(50_000),
        "[/*".repeat(50_000),
        "{:".repeat(50_000),
        "{&quot;".repeat(20_000),
        "[,".repeat(50_000),
        "[a".repeat(50_000),
        "[{\"\\u".repeat(30_000),
        "]]>".repeat(50_000),
        format!("[\"{}", "a\" \"".repeat(50_000)),
        format!("[{}", "1\" ".repeat(50_000)),
        format!("{{\"{}", "a\", \u{201c}".repeat(30_000)),
        format!("{{\"a\":\"{}", "\", \"b".repeat(30_000)),
        format!("[\"{}", "\", 'b, ".repeat(30_000)),
        format!("[\"{}", "\"}".repeat(50_000)),
        "{\"a\":{}},\"b\"".repeat(20_000),
        format!("{{\"a\":{}", "1,".repeat(50_000)),
        format!("{{\"a\":[{}", "\"b\",".repeat(50_000)),
        format!("[\"{}", "\"}   ".repeat(50_000)),
        format!("{{\"a\":[{}", ",".repeat(100_000)),
        format!("[{}", "1\"a\"/**/".repeat(20_000)),
        format!("[{}", "1 /**/".repeat(30_000)),
        format!("[{}", "1x\"".repeat(50_000)),
    ];
    for text in nasty {
        let steps = read(&text).steps;
        assert!(steps <= 12 * text.len(), "{steps} steps for {} of {:?}", text.len(), &text[..12]);
    }
}
