//! The links in a page of Markdown: found, and given other targets.

use anyhow::Context;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// The text with another target for each of its inline links and images. Code is left alone.
///
/// # Errors
/// Those of `target`, or a target that is written in another way than it reads.
pub fn rewritten(text: &str, mut target: impl FnMut(&str) -> anyhow::Result<String>) -> anyhow::Result<String> {
    let mut places = Vec::new();
    for (event, place) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if let Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) = event
            && link_type == LinkType::Inline
        {
            let source = &text[place.clone()];
            let at = source.rfind(&*dest_url).with_context(|| format!("{source}: written in another way"))?;
            places.push((place.start + at, dest_url));
        }
    }
    // A picture inside a link begins after it, and its target comes first.
    places.sort_by_key(|(at, _)| *at);
    let (mut made, mut done) = (String::with_capacity(text.len()), 0);
    for (at, old) in places {
        made.push_str(&text[done..at]);
        made.push_str(&target(&old)?);
        done = at + old.len();
    }
    made.push_str(&text[done..]);
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn links_and_images_have_new_targets_and_code_has_not() -> anyhow::Result<()> {
        let shout = |text| rewritten(text, |target| Ok(target.to_uppercase()));
        for (text, expect) in [
            ("a [b](c.md#d), ![e](f.svg).\n", "a [b](C.MD#D), ![e](F.SVG).\n"),
            ("`[b](c)` [`d`](e) [f](f)\n", "`[b](c)` [`d`](E) [f](F)\n"),
            ("[![a](b.png)](c.md) [d](e)\n", "[![a](B.PNG)](C.MD) [d](E)\n"),
            (
                "```sh\n[a](b)\n```\n| [a](b) |\n|---|\n| [c](d) |\n",
                "```sh\n[a](b)\n```\n| [a](B) |\n|---|\n| [c](D) |\n",
            ),
            (
                "[not a link] (c), a lone ` and ], <https://d.test>",
                "[not a link] (c), a lone ` and ], <https://d.test>",
            ),
        ] {
            assert_eq!(shout(text)?, expect);
        }
        Ok(())
    }

    #[test]
    fn a_target_that_is_refused_is_an_error() {
        assert!(rewritten("[a](b)", |_| anyhow::bail!("nowhere")).is_err());
    }
}
