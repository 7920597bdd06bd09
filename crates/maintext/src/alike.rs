//! Blocks of one place share what the model says of the first of them: long pages have places that no page of the training has.

use foldhash::HashMap;

use crate::blocks::{Block, Blocks};

/// The blocks of a place that the model judges; it has seen few pages with more.
const JUDGED: u32 = 48;

/// The first blocks of a place.
#[derive(Default)]
struct First {
    blocks: u32,
    words: f32,
    /// The words that are expected to be main text.
    main: f32,
}

/// Raises the likelihood of each block to the mean of the first ones that stand in elements of the same names. Lists of links are left out:
/// the long ones lead to other pages.
pub(crate) fn share(page: &Blocks, likely: &mut [f32]) {
    if page.blocks.len() < JUDGED as usize {
        return;
    }
    let is_text = |block: &Block| block.count.link_words * 2 <= block.count.words;
    let mut places: HashMap<u64, First> = HashMap::default();
    for (block, likely) in page.blocks.iter().zip(likely.iter()).filter(|(block, _)| is_text(block)) {
        let first = places.entry(block.place).or_default();
        if first.blocks < JUDGED {
            first.blocks += 1;
            first.words += block.count.words as f32;
            first.main += block.count.words as f32 * likely;
        }
    }
    places.retain(|_, first| first.blocks == JUDGED);
    if places.is_empty() {
        return;
    }
    for (block, likely) in page.blocks.iter().zip(likely).filter(|(block, _)| is_text(block)) {
        if let Some(first) = places.get(&block.place) {
            *likely = likely.max(first.main / first.words);
        }
    }
}

#[cfg(test)]
mod tests {
    use extract::html::dom::Document;

    use super::*;
    use crate::blocks;
    use crate::said::Said;

    #[test]
    fn many_blocks_of_a_place_are_as_likely_as_the_first_and_others_are_not() {
        let check = |part: &str, blocks: usize, expect: f32| {
            let html = format!("<body><div class=a>{}</div><div class=b><p>other words</p></div>", part.repeat(blocks));
            let tree = Document::parse(&html);
            let page = blocks::read(&tree, &Said::default());
            let judged = blocks.min(JUDGED as usize);
            let mut likely = vec![0.1; page.blocks.len()];
            likely[..judged].fill(0.9);
            share(&page, &mut likely);
            let (other, last) = (likely[blocks], likely[blocks - 1]);
            assert!((last - expect).abs() < 0.01 && (other - 0.1).abs() < 0.01, "{part}: {last}, {other}");
        };
        check("<p>words", 400, 0.9);
        check("<p><a href=/>words</a>", 400, 0.1);
        check("<div><b>Name</b></div>", 400, 0.9);
        check("<p>words", 1 + JUDGED as usize, 0.9);
    }
}
