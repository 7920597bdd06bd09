//! Words that say what a part of a page is for, in the names that its elements have and in its text.
//!
//! Words are compared by their first eight letters, in lower case, as one number.

use std::sync::LazyLock;

use extract::html::dom::Tag;

/// What a part of a page may be for, by the classes, ids and roles of the elements around it.
pub(crate) const ROLES: [&str; 24] = [
    "nav navigation menu menubar navbar topbar toolbar submenu megamenu dropdown offcanvas drawer hamburger skip navi links menus",
    "footer foot bottom copyright colophon legal contentinfo",
    "sidebar aside side rail widget widgets secondary complementary",
    "comment comments disqus respond discussion commentlist",
    "share sharing social follow facebook twitter linkedin pinterest socials sns",
    "related recommended recommend recommendation similar more also popular trending recent latest upsell cross carousel slider swiper slick",
    "ad ads advert advertisement adsense promo promotion banner sponsor sponsored cta dfp outbrain taboola",
    "cookie cookies consent gdpr modal popup overlay dialog lightbox toast alert notice announcement privacy ccpa",
    "breadcrumb breadcrumbs crumb crumbs pagination pager paging pages paginate",
    "meta byline author authors date time published timestamp posted bio avatar profile user username tags tag category categories cat",
    "content article post entry body main story text copy richtext prose markdown rte wysiwyg paragraph articlebody",
    "product description desc details detail specs spec specification specifications features overview pdp tab tabs accordion",
    "price prices cart basket checkout buy quantity qty stock shipping variant variants swatch wishlist sku atc delivery option options",
    "review reviews testimonial testimonials feedback rating ratings stars",
    "message messages thread topic forum answer answers question postbody reply replies signature bbs",
    "title headline heading header head hero subtitle lead intro excerpt deck summary",
    "search filter filters facet facets sort refine searchbox",
    "login signin signup register account newsletter subscribe subscription email form mailchimp",
    "item items card cards tile tiles grid list teaser listing feed",
    "toc contents outline index tableofcontents",
    "image images img gallery video photo caption figure thumb thumbnail media icon icons logo",
    "hidden hide invisible collapsed sr screen visually offscreen none mobile print",
    "code highlight example syntax snippet pre sourcecode",
    "docs doc documentation api reference section",
];

/// What short texts are about.
pub(crate) const TOPICS: [&str; 9] = [
    "copyright rights reserved privacy terms cookies cookie policy trademark trademarks disclaimer conditions",
    "login log sign signup register subscribe newsletter account password email mail username",
    "share tweet facebook twitter instagram linkedin pinterest whatsapp follow youtube tiktok telegram",
    "cart checkout wishlist buy price shipping sale stock add quantity sold save off basket compare order usd",
    "home about contact search menu skip back next previous top close help faq more read view show all learn click here see load",
    "reply quote posted joined member members posts report permalink likes thread topic views votes comments comment answered asked replies reviews review",
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec ago hours days minutes updated published",
    "related recommended similar popular trending latest also recent featured recommendations customers bought viewed",
    "the of and to a in is that for with you it on are this be as was by an or from at have not can your der die und das ist nicht mit den von le la les et des en un une que de el los por para con il di che het een van do da em",
];

/// What the path of a URL says.
pub(crate) const PATHS: [&str; 7] = [
    "blog blogs news article articles post posts story stories magazine press opinion",
    "docs doc documentation api reference guide guides manual help learn tutorial tutorials wiki developer support kb",
    "product products p item items dp shop store buy prd sku",
    "forum forums thread threads topic topics questions question viewtopic showthread discussion discussions community t r comments",
    "list lists archive archives tag tags events event directory search jobs page",
    "collection collections category categories c catalog browse department",
    "service services solution solutions about pricing company contact features platform program programs",
];

/// What an element around a text may be, beside what it is called.
pub(crate) const AROUND: usize = 23;

/// What is known of a block by the elements around it: [`ROLES`], then [`AROUND`].
pub(crate) const LEVELS: usize = ROLES.len() + AROUND;

/// Where an attribute or text that hides an element stands among the levels.
pub(crate) const HIDDEN: usize = ROLES.len() + AROUND - 1;

/// The level of an element of this kind.
pub(crate) fn level_of(tag: Tag) -> Option<usize> {
    let level = match tag {
        Tag::Nav | Tag::Menu => 0,
        Tag::Header => 1,
        Tag::Footer => 2,
        Tag::Aside => 3,
        Tag::Main => 4,
        Tag::Article => 5,
        Tag::Section => 6,
        Tag::Form | Tag::Fieldset => 7,
        Tag::Table => 8,
        Tag::Ul | Tag::Ol => 9,
        Tag::Dl => 10,
        Tag::Pre | Tag::Code => 11,
        Tag::BlockQuote => 12,
        Tag::Figure | Tag::Figcaption => 13,
        Tag::A => 14,
        Tag::Button | Tag::Label | Tag::Option => 15,
        Tag::Details | Tag::Summary => 16,
        Tag::P => 17,
        Tag::Li => 18,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => 19,
        Tag::Dialog => 20,
        Tag::NoScript => 21,
        _ => return None,
    };
    Some(ROLES.len() + level)
}

/// A word as a number: its first eight letters in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    pub(crate) letters: u64,
    length: u32,
}

impl Word {
    /// Adds a letter.
    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        if self.length < 8 {
            self.letters |= u64::from(byte | 0x20) << (8 * self.length);
        }
        self.length += 1;
    }

    /// The first letters of bytes, so many of which are a word.
    #[inline]
    pub(crate) fn beginning(bytes: &[u8], length: usize) -> Self {
        let mut word = Word::default();
        match bytes.first_chunk::<8>() {
            Some(eight) => {
                let kept = u64::MAX >> (64 - 8 * length.clamp(1, 8));
                word.letters = (u64::from_le_bytes(*eight) | u64::from_le_bytes([0x20; 8])) & kept;
                word.length = length as u32;
            }
            None => bytes[..length].iter().for_each(|byte| word.push(*byte)),
        }
        word
    }

    pub(crate) fn is_empty(self) -> bool {
        self.length == 0
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        let mut word = Word::default();
        text.bytes().for_each(|byte| word.push(byte));
        word
    }
}

/// Groups that words belong to, a bit each.
pub(crate) struct Vocabulary {
    slots: Box<[(u64, u32)]>,
}

const SLOTS: usize = 1024;

impl Vocabulary {
    fn of(groups: &[&str]) -> Self {
        let mut vocabulary = Vocabulary { slots: vec![(0, 0); SLOTS].into() };
        for (group, words) in groups.iter().enumerate() {
            for text in words.split_ascii_whitespace() {
                let mut word = Word::default();
                text.bytes().for_each(|byte| word.push(byte));
                let slot = vocabulary.slot(word.letters);
                vocabulary.slots[slot].0 = word.letters;
                vocabulary.slots[slot].1 |= 1 << group;
            }
        }
        vocabulary
    }

    /// Where a word is or would be. There are many more slots than words.
    #[inline]
    fn slot(&self, letters: u64) -> usize {
        let mut slot = (letters.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        while self.slots[slot].0 != letters && self.slots[slot].0 != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    /// The groups of a word.
    #[inline]
    pub(crate) fn groups(&self, word: Word) -> u32 {
        self.slots[self.slot(word.letters)].1
    }

    /// The groups of all words of a name as programmers write it: `related-posts__item`, `relatedPosts`.
    pub(crate) fn groups_of_name(&self, name: &str) -> u32 {
        let (mut groups, mut word, mut is_lower) = (0, Word::default(), false);
        for byte in name.bytes() {
            let is_letter = byte.is_ascii_alphabetic();
            if !is_letter || (is_lower && byte.is_ascii_uppercase()) {
                if !word.is_empty() {
                    groups |= self.groups(word);
                }
                word = Word::default();
            }
            if is_letter {
                word.push(byte);
            }
            is_lower = byte.is_ascii_lowercase();
        }
        if word.is_empty() { groups } else { groups | self.groups(word) }
    }
}

pub(crate) static ROLE_WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(&ROLES));
pub(crate) static TOPIC_WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(&TOPICS));
pub(crate) static PATH_WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(&PATHS));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names() {
        let groups = |name| ROLE_WORDS.groups_of_name(name);
        assert_eq!(groups("nav"), 1);
        assert_eq!(groups("site-navigation"), 1);
        assert_eq!(groups("siteFooter main_nav"), 0b11 | 1 << 10);
        assert_eq!(groups("NAV2"), 1);
        assert_eq!(groups("xyz navx"), 0);
        assert_eq!(groups(""), 0);
    }

    #[test]
    fn a_word_is_read_at_once_or_letter_by_letter() {
        for text in ["a", "Seven_7", "eight888", "more than eight", "\u{e9}t\u{e9}"] {
            for length in 1..=text.len() {
                let mut expect = Word::default();
                text.bytes().take(length).for_each(|byte| expect.push(byte));
                assert_eq!(Word::beginning(text.as_bytes(), length), expect, "{length} of {text}");
                assert_eq!(Word::beginning(&text.as_bytes()[..length], length), expect, "{length} of {text}");
            }
        }
    }

    #[test]
    fn a_word_has_the_groups_of_its_first_letters() {
        assert_eq!(TOPIC_WORDS.groups(Word::of("recommended")), 1 << 7);
        assert_eq!(TOPIC_WORDS.groups(Word::of("THE")), 1 << 8);
        assert_eq!(TOPIC_WORDS.groups(Word::of("spider")), 0);
    }
}
