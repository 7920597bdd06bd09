//! The kinds of pages.

use std::sync::LazyLock;

use crate::columns::Columns;
use crate::model::Model;
use crate::page::PageRow;

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A text to be read: news, a blog post, an essay, an encyclopedia's entry.
    Article,
    /// A manual, a reference, a tutorial.
    Documentation,
    /// One thing that is for sale.
    Product,
    /// A discussion, or questions with answers.
    Forum,
    /// A list of things that are no goods: posts, events, places, people.
    Listing,
    /// A list of goods.
    Collection,
    /// What someone offers to do, or tells of themselves.
    Service,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] = [
        Kind::Article,
        Kind::Documentation,
        Kind::Product,
        Kind::Forum,
        Kind::Listing,
        Kind::Collection,
        Kind::Service,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Article => "article",
            Kind::Documentation => "documentation",
            Kind::Product => "product",
            Kind::Forum => "forum",
            Kind::Listing => "listing",
            Kind::Collection => "collection",
            Kind::Service => "service",
        }
    }
}

/// How likely each kind is, in the order of [`Kind::ALL`]; the sum is 1.
pub(crate) fn shares(row: &PageRow) -> [f32; Kind::ALL.len()] {
    static MODEL: LazyLock<Model<{ Kind::ALL.len() }>> = LazyLock::new(|| Model::parse(include_str!("kind.model")));
    let scores = MODEL.of(&Columns::of_row(row)).pop().unwrap_or_default();
    let most = scores.into_iter().fold(f32::MIN, f32::max);
    let weights = scores.map(|score| (score - most).exp());
    let sum: f32 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// The most likely kind, and how likely it is.
pub(crate) fn likeliest(shares: [f32; Kind::ALL.len()]) -> (Kind, f32) {
    let kinds = Kind::ALL.into_iter().zip(shares);
    kinds.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((Kind::Article, 0.0))
}
