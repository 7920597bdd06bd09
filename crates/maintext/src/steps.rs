//! Counts the steps of loops whose number is not plainly that of the nodes, for the tests.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes steps. Outside of tests it does nothing.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|count| count.set(count.get() + steps as u64));
    #[cfg(not(test))]
    let _ = steps;
}

/// The steps of this thread since the last time.
#[cfg(test)]
pub(crate) fn taken() -> u64 {
    STEPS.with(|count| count.replace(0))
}

#[cfg(test)]
mod tests {
    use extract::html::dom::Document;

    use super::*;
    use crate::Page;

    /// Steps of reading and writing a page.
    fn steps(html: &str) -> u64 {
        taken();
        let document = Document::parse(html);
        let page = Page::read(&document, None);
        let written = page.markdown().len() + page.text().len();
        count(written);
        taken()
    }

    /// Pages made to be slow: what is repeated, and how often at first.
    const NASTY: [(&str, &str, usize); 28] = [
        ("", "<div>", 700),
        ("", "<div>a few words, and more ", 700),
        ("", "<b>bold ", 700),
        ("", "<a href=x>link ", 700),
        ("", "<b><i>", 700),
        ("", "<ul><li>item ", 700),
        ("", "<blockquote>words ", 700),
        ("", "<table><tr><td>cell<td>", 500),
        ("<table>", "<tr><td>cell<td><div>layout<hr></div>", 700),
        ("<table>", "<tr><td rowspan=99 colspan=99>cell<td>two", 700),
        ("", "<pre>code", 700),
        ("<pre>", "<div>code\n", 700),
        ("", "<span itemprop=author>name ", 700),
        ("", "<h1>heading</h1>", 700),
        ("", "<p>same words in all of these blocks</p>", 700),
        ("", "<sup><a href=#n>1</a></sup><p id=n>note</p>", 700),
        ("", "<dl><dt>term<dd>meaning", 700),
        ("", "<dl><dt><dd>", 700),
        ("<dl>", "<dt>term<dd>meaning of it", 700),
        ("<table><tr>", "<td><pre>1\n2</pre>", 700),
        ("", "<p class='nav-footer sidebar related comment'>words</p>", 700),
        ("<script type=application/ld+json>", "{\"@type\":\"A\",\"description\":\"words and ", 700),
        ("", "&amp;&lt;<br>", 700),
        ("<svg>", "<g><title>x</title>", 700),
        ("", "<img src=a alt=b><hr>", 700),
        ("", "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math><span aria-hidden=true>c</span>", 700),
        ("", "<math><msqrt><mi>a</mi><span aria-hidden=true>", 700),
        ("", "<math><annotation>words of it </annotation>", 120),
    ];

    #[test]
    fn time_is_linear_in_the_page() {
        for (begin, part, times) in NASTY {
            let of = |times: usize| {
                steps(&format!("<body><main><p>Some words, to begin with.</p>{begin}{}", part.repeat(times)))
            };
            let (one, four) = (of(times), of(4 * times));
            // What grows with the square takes sixteen times as many.
            assert!(four <= 6 * one.max(5_000), "{begin}{part}: {one} steps, of four times as much {four}");
        }
    }
}
