//! What small pages say.

use extract::html::dom::Document;
use maintext::{Kind, MainText, Page};
use url::Url;

/// Sentences that a page may have.
const TEXT: &str = "The spider sits in the middle of its web, and waits there for what the wind may bring it. \
                    In the morning, when the dew is on the threads, it mends what the night has torn.";

fn read(html: &str, url: &str) -> MainText {
    maintext::read(&Document::parse(html), Url::parse(url).ok().as_ref())
}

fn markdown(html: &str) -> String {
    let url = Url::parse("http://example.com/dir/").ok();
    Page::read(&Document::parse(html), url.as_ref()).markdown()
}

fn page(content: &str) -> String {
    let menu = "<nav class=menu><ul><li><a href=/>Home</a><li><a href=/about>About us</a><li><a href=/contact>Contact</a></ul></nav>";
    let foot = "<footer class=footer><p>Copyright 2026 Example. All rights reserved.</p><a href=/privacy>Privacy policy</a></footer>";
    format!(
        "<!DOCTYPE html><html lang=en><head><title>Spiders</title></head><body>{menu}<main><article class=content>{content}</article></main>{foot}</body></html>"
    )
}

fn check(content: &str, expect: &str) {
    let html = page(&format!("<h1>Spiders</h1><p>{TEXT}</p>{content}<p>{TEXT}</p>"));
    assert_eq!(markdown(&html), format!("# Spiders\n\n{TEXT}\n\n{expect}\n\n{TEXT}"), "{content}");
}

#[test]
fn symbols_are_text_too() {
    check(
        "<table><tr><th>Operator<th>Meaning<tr><td>+<td>adds<tr><td><code>||</code><td>or<tr><td>\u{2713}<td>\u{2014}</table>",
        "| Operator | Meaning |\n| --- | --- |\n| + | adds |\n| `\\|\\|` | or |\n| \u{2713} | \u{2014} |",
    );
    check("<p>\u{1f600}</p>", "\u{1f600}");
    check("<pre>+++</pre>", "```\n+++\n```");
    let html = page(&format!("<h1>Spiders</h1><p>{TEXT}</p><p>&nbsp;</p><p>\u{200b}</p><p>{TEXT}</p>"));
    assert_eq!(read(&html, "http://example.com/").text, format!("Spiders\n\n{TEXT}\n\n{TEXT}"));
}

#[test]
fn menus_and_footers_are_left_out() {
    let html = page(&format!("<h1>Spiders</h1><p>{TEXT}</p><p>{TEXT}</p>"));
    let said = read(&html, "http://example.com/blog/spiders");
    assert_eq!(said.text, format!("Spiders\n\n{TEXT}\n\n{TEXT}"));
    assert!(said.confidence > 0.5 && said.kind_confidence > 0.1, "{said:?}");
}

#[test]
fn long_pages_keep_their_ends() {
    let numbers = 0..400;
    let paragraphs: String = numbers.clone().map(|number| format!("<p>Web {number}: {TEXT}</p>")).collect();
    let posts: String = numbers
        .clone()
        .map(|number| {
            format!("<div class=post><div class=user><a href=/u>Ann{number}</a></div><p>Web {number}: {TEXT}</p></div>")
        })
        .collect();
    let items: String = numbers.clone().map(|number| format!("<li>Web {number}: garden spider</li>")).collect();
    for content in [paragraphs, posts, format!("<p>{TEXT}</p><ul>{items}</ul>")] {
        let text = read(&page(&format!("<h1>Spiders</h1>{content}")), "http://example.com/news/spiders").text;
        let lost = numbers.clone().filter(|number| !text.contains(&format!("Web {number}:"))).count();
        assert_eq!(lost, 0, "{}", &content[..200]);
        assert!(!text.contains("Copyright"), "{}", &content[..200]);
    }
}

#[test]
fn structure_becomes_markdown() {
    check(
        "<h2>More</h2><p>Some <b>bold</b> and <em>soft</em> words here.</p>",
        "## More\n\nSome **bold** and *soft* words here.",
    );
    check(
        "<p>See <a href=other>the other page</a> for more.</p>",
        "See [the other page](http://example.com/dir/other) for more.",
    );
    check("<ul><li>One thing to know<li>Another thing to know</ul>", "- One thing to know\n- Another thing to know");
    check("<blockquote><p>They said it would hold.</p></blockquote>", "> They said it would hold.");
    check("<pre class=language-rust>let x = 1;\n\n  let y = 2;\n</pre>", "```rust\nlet x = 1;\n\n  let y = 2;\n```");
    check(
        "<div class='highlight-python3 notranslate'><div class=highlight><pre>print(1)</pre></div></div>",
        "```python3\nprint(1)\n```",
    );
    check(
        "<p>A web <img src=web.png alt='A web'> in words.</p>",
        "A web ![A web](http://example.com/dir/web.png) in words.",
    );
}

#[test]
fn cells_that_span_leave_others_empty() {
    check(
        "<table><tr><th>Name<th colspan=2>Size in cm<tr><td rowspan=2>Garden spider<td>female<td>1.7<tr><td>male<td>0.9</table>",
        "| Name | Size in cm |  |\n| --- | --- | --- |\n| Garden spider | female | 1.7 |\n|  | male | 0.9 |",
    );
}

#[test]
fn cells_reach_to_the_end_of_their_rows_at_most() {
    check(
        "<table><tr><th>Name<th>First<th>Other<tbody><tr><td rowspan=0>all of it<td>a1<td>a2<tr><td>b1<td>b2<tbody><tr><td rowspan=9>more<td>c1<td>c2</tbody><tbody><tr><td>d<td>d1<td>d2</table>",
        "| Name | First | Other |\n| --- | --- | --- |\n| all of it | a1 | a2 |\n|  | b1 | b2 |\n| more | c1 | c2 |\n| d | d1 | d2 |",
    );
}

#[test]
fn wide_tables_keep_all_columns() {
    let row = |tag: &str| (0..70).map(|at| format!("<{tag}>cell {at}")).collect::<String>();
    let html = page(&format!(
        "<h1>Spiders</h1><p>{TEXT}</p><table><tr>{}<tr>{}<tr><td>end</table><p>{TEXT}</p>",
        row("th"),
        row("td")
    ));
    let markdown = markdown(&html);
    let lines: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 4, "{markdown}");
    assert!([0, 2].iter().all(|at| lines[*at].ends_with("| cell 69 |")), "{markdown}");
    assert_eq!(lines[1].matches("---").count(), 70);
    assert!(lines[3].starts_with("| end |"), "{markdown}");
}

#[test]
fn code_has_its_language_and_no_numbers_of_lines() {
    for (html, language) in [
        ("<pre class='sourceCode haskell'><code class='sourceCode haskell'>let x</code></pre>", "haskell"),
        ("<div class=sourceCode><pre class='sourceCode numberSource r'>let x</pre></div>", ""),
        ("<pre class='rust rust-example-rendered'><code>let x</code></pre>", "rust"),
        ("<pre class='brush: sql; gutter: false'>let x</pre>", "sql"),
        ("<pre class='src src-elisp'>let x</pre>", "elisp"),
        ("<pre class='wide text'>let x</pre>", ""),
        ("<div class=src-pages-code-module--box><pre>let x</pre></div>", ""),
    ] {
        check(html, &format!("```{language}\nlet x\n```"));
    }
    for number in ["<span class=linenos>1</span>", "<span class=ln> 1</span>", "<span class='hl lineno'>1 </span>"] {
        check(&format!("<pre>{number}let <span class=mi>1</span>\n</pre>"), "```\nlet 1\n```");
    }
}

#[test]
fn footnotes_and_formulas_are_kept() {
    check(
        "<p>It was found early.<sup id=r1><a href=#n1>1</a></sup> So they say.</p><ol><li id=n1>In a book of old. <a href=#r1>↩</a></ol>",
        "It was found early.[^1] So they say.\n\n[^1]: In a book of old.",
    );
    let formula = "<math><mi>a</mi><annotation encoding=application/x-tex>a^2</annotation></math>";
    check(&format!("<p>The size of it is {formula} in all cases.</p>"), "The size of it is $a^2$ in all cases.");
}

#[test]
fn formulas_stand_once() {
    let tex = "<math><mi>a</mi><annotation encoding=application/x-tex>a^2</annotation></math>";
    for formula in [
        format!(
            "<span class=katex><span>{tex}</span><span class=katex-html aria-hidden=true><span>a<span>2</span></span></span></span>"
        ),
        format!("<span><span style='display: none'>{tex}</span><img src=a.svg aria-hidden=true alt=a^2></span>"),
        format!(
            "<mjx-container><mjx-math aria-hidden=true>a2</mjx-math><mjx-assistive>{tex}</mjx-assistive></mjx-container>"
        ),
        "<script type=math/tex>% <![CDATA[ a^2 %]]></script>".to_owned(),
    ] {
        check(&format!("<p>The size of it is {formula}, in all cases.</p>"), "The size of it is $a^2$, in all cases.");
    }
    let formula = format!("<span><span>{tex}</span><span aria-hidden=true>a<span>2</span></span></span>");
    for formula in [formula.as_str(), "<script type=math/tex>a^2</script>"] {
        let html = page(&format!(
            "<h1>Spiders</h1><p>{TEXT}</p><p>The size of it is {formula}, in all cases.</p><p>{TEXT}</p>"
        ));
        let expect = format!("Spiders\n\n{TEXT}\n\nThe size of it is a^2, in all cases.\n\n{TEXT}");
        assert_eq!(read(&html, "http://example.com/").text, expect);
    }
    let hidden = format!("<span aria-hidden=true>{tex}</span>");
    check(&format!("<p>The sizes are {hidden} and {hidden}.</p>"), "The sizes are $a^2$ and $a^2$.");
    let html = page(&format!("<h1>Spiders</h1><p>{TEXT}</p><p>{tex} is the size in all cases.</p><p>{TEXT}</p>"));
    assert!(read(&html, "http://example.com/").text.contains("\n\na^2 is the size in all cases.\n\n"));
    check(
        "<p>So it is that:</p><p><script type='math/tex; mode=display'>a < b</script></p>",
        "So it is that:\n\n$$\na < b\n$$",
    );
}

#[test]
fn mathml_without_its_source_is_read() {
    for (formula, expect) in [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", r"\frac{1}{2}"),
        ("<mrow><msup><mn>10</mn><mn>6</mn></msup><mo>+</mo><mi>x</mi></mrow>", "{10}^{6}+x"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "{x}_{1}^{2}"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", r"\sqrt{x+1}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mi>sin</mi><mo>\u{2061}</mo><mi>x</mi><mtext>50%</mtext>", r"\text{sin}x\text{50\%}"),
        ("<munder><mi>x</mi><mi>y</mi></munder>", r"\underset{y}{x}"),
    ] {
        let expect = format!("The size of it is ${expect}$ in all cases.");
        check(&format!("<p>The size of it is <math>{formula}</math> in all cases.</p>"), &expect);
    }
    let table = "<math><mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable></math>";
    check(&format!("<p>The size of it is {table} in all cases.</p>"), "The size of it is 1 in all cases.");
}

#[test]
fn terms_stay_with_their_definitions() {
    check(
        "<dl><dt>--flag<dd>Does a thing.<dt>--other<dd>Does another thing.</dl>",
        "- --flag\n\n  Does a thing.\n\n- --other\n\n  Does another thing.",
    );
    check(
        "<dl><div><dt>--flag<dd>Does a thing.</div><div><dt>--other<dd>Does another thing.</div></dl>",
        "- --flag\n\n  Does a thing.\n\n- --other\n\n  Does another thing.",
    );
    check(
        "<dl><dt>Term<dd>Definition one<dd>Definition two<dt>Orb web<dd>Round.</dl>",
        "- Term\n\n  Definition one\n\n  Definition two\n\n- Orb web\n\n  Round.",
    );
}

#[test]
fn captions_stand_before_their_tables() {
    check(
        "<table><caption>Speeds of <b>spiders</b></caption><tr><th>Name<th>Speed<tr><td>Wolf<td>2</table>",
        "Speeds of **spiders**\n\n| Name | Speed |\n| --- | --- |\n| Wolf | 2 |",
    );
}

#[test]
fn code_beside_the_numbers_of_its_lines_is_code() {
    let code = |numbers: &str| {
        format!(
            "<table><tr><td class=linenos><div><pre>{numbers}</pre></div><td><div><pre>first\n  second\n</pre></div></table>"
        )
    };
    check(&code("<span>1</span>\n2"), "```\nfirst\n  second\n```");
    check(&code("11\n12"), "```\nfirst\n  second\n```");
    check(&code("one\n2"), "```\none\n2\n```\n\n```\nfirst\n  second\n```");
    let cells = "<table><tr><th>Code<th>Lines<tr><td><pre>one</pre><td>1<tr><td><pre>two</pre><td>2</table>";
    check(cells, "| Code | Lines |\n| --- | --- |\n| one | 1 |\n| two | 2 |");
}

#[test]
fn numbers_keep_their_exponents() {
    let sentence = "There are about 10<sup>9</sup> spiders, or x<sup>n+1</sup>, and H<sub>2</sub>O.";
    check(&format!("<p>{sentence}</p>"), sentence);
    check(
        "<p>As was told before<sup><a href=http://a.example/#n>[1]</a></sup> by others.</p>",
        "As was told before[\\[1\\]](http://a.example/#n) by others.",
    );
    let html = page(&format!("<h1>Spiders</h1><p>{TEXT}</p><p>{sentence}</p><p>{TEXT}</p>"));
    let expect = "There are about 10^9 spiders, or xn+1, and H2O.";
    assert_eq!(read(&html, "http://example.com/").text, format!("Spiders\n\n{TEXT}\n\n{expect}\n\n{TEXT}"));
}

#[test]
fn a_page_without_text_says_nothing() {
    for html in ["", "<p>", "<script>let x = 1;</script>", "<body><img src=a.png></body>"] {
        let said = read(html, "");
        assert_eq!((said.text.as_str(), said.confidence), ("", 0.0), "{html}");
        assert_eq!(markdown(html), "", "{html}");
    }
}

#[test]
fn kinds_have_names() {
    let names: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
    assert_eq!(names, ["article", "documentation", "product", "forum", "listing", "collection", "service"]);
}

#[test]
fn deep_pages_need_no_deep_stack() {
    for part in [
        "<div>",
        "<div>a ",
        "<b>",
        "<b>a ",
        "<a href=x>a",
        "<ul><li>a",
        "<blockquote>a",
        "<table><tr><td>a",
        "<h2>a<div>",
        "<dl><dd>a",
    ] {
        let html = format!("<body><p>{TEXT}</p>{}", part.repeat(50_000));
        let document = Document::parse(&html);
        let page = Page::read(&document, None);
        assert!(page.markdown().len() + page.text().len() < 5 * html.len(), "{part}");
    }
}
