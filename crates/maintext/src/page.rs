//! What the model of kinds looks at: the page as a whole.

use extract::html::dom::{Document, ROOT, Tag};
use url::Url;

use crate::blocks::Blocks;
use crate::said::is_json_ld;
use crate::scale::{log, share};
use crate::vocabulary::{LEVELS, PATH_WORDS, PATHS, ROLE_WORDS, TOPICS};

const COUNTS: usize = 22;
/// How many numbers a page has.
pub(crate) const PAGE_FEATURES: usize =
    COUNTS + LEVELS + TOPICS.len() + DECLARED.len() + OPEN_GRAPH.len() + PATHS.len() + 4;

pub(crate) type PageRow = [u8; PAGE_FEATURES];

/// Types of schema.org that pages declare, in groups.
const DECLARED: [&[&str]; 12] = [
    &["Product", "ProductGroup", "IndividualProduct"],
    &["Article", "NewsArticle", "BlogPosting", "Report", "OpinionNewsArticle", "ScholarlyArticle"],
    &["DiscussionForumPosting", "QAPage", "Question", "Answer", "Comment"],
    &["CollectionPage", "ItemList", "OfferCatalog", "SearchResultsPage"],
    &["Organization", "LocalBusiness", "Corporation", "ProfessionalService", "MedicalBusiness"],
    &["Service", "FAQPage", "ContactPage", "AboutPage"],
    &["TechArticle", "APIReference", "HowTo", "SoftwareSourceCode"],
    &["SoftwareApplication", "WebApplication", "MobileApplication"],
    &["Event", "JobPosting", "Course", "Recipe", "Movie", "Book"],
    &["Review", "AggregateRating"],
    &["Offer", "AggregateOffer"],
    &["Blog", "WebSite", "WebPage"],
];
/// What `og:type` may say.
const OPEN_GRAPH: [&str; 4] = ["article", "product", "website", "profile"];

/// What a page says of itself for programs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Declared {
    types: [bool; DECLARED.len()],
    open_graph: [bool; OPEN_GRAPH.len()],
}

impl Declared {
    /// Notes a name of schema.org.
    fn name(&mut self, name: &str) {
        let name = name.rsplit(['/', '#', ':']).next().unwrap_or_default();
        for (is, names) in self.types.iter_mut().zip(DECLARED) {
            *is |= names.contains(&name);
        }
    }

    /// Notes the types of a JSON-LD text, without reading it as JSON.
    fn json(&mut self, text: &str) {
        /// Types of a page that are looked at.
        const TYPES_MAX: usize = 256;
        for rest in text.split("\"@type\"").skip(1).take(TYPES_MAX) {
            let rest = rest.trim_start().trim_start_matches(':').trim_start();
            let end =
                if rest.starts_with('[') { rest.find(']') } else { rest.get(1..).and_then(|rest| rest.find('"')) };
            let names = rest.get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
            names.split(['"', '[', ']', ',']).for_each(|name| self.name(name.trim()));
        }
    }

    pub(crate) fn read(tree: &Document<'_>) -> Self {
        let mut declared = Declared::default();
        for id in 1..tree.len() {
            match tree.tag(id) {
                Some(Tag::Script) if tree.attribute(id, "type").is_some_and(|kind| is_json_ld(&kind)) => {
                    tree.children(id).for_each(|child| declared.json(&tree.text(child)));
                }
                Some(Tag::Meta) if tree.attribute(id, "property").is_some_and(|name| name == "og:type") => {
                    let content = tree.attribute(id, "content").unwrap_or_default();
                    for (is, name) in declared.open_graph.iter_mut().zip(OPEN_GRAPH) {
                        *is |= content.contains(name);
                    }
                }
                Some(_) => {
                    if let Some(kind) = tree.attribute(id, "itemtype") {
                        declared.name(&kind);
                    }
                }
                None => {}
            }
        }
        declared
    }
}

pub(crate) fn row(tree: &Document<'_>, page: &Blocks, url: Option<&Url>) -> PageRow {
    let mut row = [0; PAGE_FEATURES];
    let mut length = 0;
    let mut push = |value: u8| {
        row[length] = value;
        length += 1;
    };
    counts(tree, page).into_iter().for_each(&mut push);
    let words = page.holds[ROOT].words;
    let mut levels = [0; LEVELS];
    let mut topics = [0; TOPICS.len()];
    for block in &page.blocks {
        for (sum, level) in levels.iter_mut().zip(block.levels) {
            *sum += if level > 0 { block.count.words } else { 0 };
        }
        for (sum, topic) in topics.iter_mut().zip(block.topics) {
            *sum += u32::from(topic);
        }
    }
    levels.into_iter().for_each(|level| push(share(level, words)));
    topics.into_iter().for_each(|topic| push(share(topic * 4, words)));
    let declared = Declared::read(tree);
    declared.types.into_iter().chain(declared.open_graph).for_each(|is| push(u8::from(is)));
    let path = url.map(Url::path).unwrap_or_default();
    let groups =
        PATH_WORDS.groups_of_name(path) | PATH_WORDS.groups_of_name(url.and_then(Url::host_str).unwrap_or_default());
    (0..PATHS.len()).for_each(|group| push((groups >> group & 1) as u8));
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    push(parts.clone().count().min(255) as u8);
    push(parts.next_back().map_or(0, |last| last.matches(['-', '_']).count().min(255) as u8));
    push(log(path.bytes().filter(u8::is_ascii_digit).count() as u32));
    push(u8::from(url.is_some_and(|url| url.query().is_some())));
    debug_assert_eq!(length, PAGE_FEATURES, "the numbers of a page");
    row
}

fn counts(tree: &Document<'_>, page: &Blocks) -> [u8; COUNTS] {
    let holds = page.holds[ROOT];
    let sum = |is: &dyn Fn(Option<Tag>) -> bool| -> u32 {
        page.blocks.iter().filter(|block| is(tree.tag(block.element))).map(|block| block.count.words).sum()
    };
    let mut tags = [0_u32; 9];
    let mut alike = 0;
    for id in 1..tree.len() {
        let Some(tag) = tree.tag(id) else { continue };
        let place = match tag {
            Tag::H1 => 0,
            Tag::H2 => 1,
            Tag::H3 | Tag::H4 => 2,
            Tag::Article => 3,
            Tag::Form => 4,
            Tag::Img => 5,
            Tag::Pre | Tag::Code => 6,
            Tag::Time => 7,
            Tag::Table => 8,
            _ => continue,
        };
        tags[place] += 1;
        alike += u32::from(tag == Tag::Article && page.holds[id].alike > 1);
    }
    let blocks = &page.blocks;
    let prices: u32 = blocks.iter().map(|block| block.count.prices).sum();
    let digits: u32 = blocks.iter().map(|block| block.count.digits).sum();
    let chars: u32 = blocks.iter().map(|block| block.count.chars).sum();
    let marks: u32 = blocks.iter().map(|block| block.count.marks).sum();
    let prose: u32 = blocks.iter().filter(|block| block.count.words >= 20).map(|block| block.count.words).sum();
    let names = ROLE_WORDS.groups_of_name(
        &tree.find(|id| tree.tag(id) == Some(Tag::Body)).and_then(|id| tree.attribute(id, "class")).unwrap_or_default(),
    );
    let of_kind = [
        sum(&|tag| tag == Some(Tag::P)),
        sum(&|tag| tag == Some(Tag::Li)),
        sum(&|tag| matches!(tag, Some(Tag::Td | Tag::Th))),
        sum(&|tag| tag == Some(Tag::Pre)),
        holds.link_words,
        prose,
        marks,
    ];
    let mut counts = [0; COUNTS];
    let logs = [holds.words, holds.blocks, prices, alike].into_iter().chain(tags).map(log);
    let shares = of_kind.into_iter().map(|part| share(part, holds.words));
    let others = [share(digits, chars), (names >> 10 & 0xff) as u8];
    for (place, value) in counts.iter_mut().zip(logs.chain(shares).chain(others)) {
        *place = value;
    }
    counts
}
