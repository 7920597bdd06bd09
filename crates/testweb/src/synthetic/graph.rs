//! The graph: which pages there are, what each links to, how far each is.

use std::collections::VecDeque;

use super::text::Random;
use super::{PageId, Settings, SettingsError};

/// Of a hundred random links this many stay inside the site.
const INSIDE_PERCENT: u64 = 80;
/// Names the stream of random numbers that makes links, so that texts draw from another.
const LINKS: u64 = 1;

/// A synthetic web: pure functions of its settings.
#[derive(Clone, Copy, Debug)]
pub struct Synthetic {
    settings: Settings,
}

impl Synthetic {
    /// The web with these settings.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        Ok(Synthetic { settings: settings.checked()? })
    }

    /// What the web is computed from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Page 0 of site 0, from which every page is reachable.
    pub fn root(&self) -> PageId {
        PageId { site: 0, page: 0 }
    }

    /// All pages, by site and number: the order of [`Synthetic::index`].
    pub fn pages(&self) -> impl Iterator<Item = PageId> + use<> {
        let web = *self;
        (0..web.settings.sites).flat_map(move |site| (0..web.pages_of(site)).map(move |page| PageId { site, page }))
    }

    /// How many pages a site has; 0 if there is no such site.
    pub fn pages_of(&self, site: u64) -> u64 {
        let Settings { sites, pages, .. } = self.settings;
        if site >= sites { 0 } else { pages / sites + u64::from(site < pages % sites) }
    }

    /// Whether there is such a page.
    pub fn contains(&self, id: PageId) -> bool {
        id.page < self.pages_of(id.site)
    }

    /// The page's place in [`Synthetic::pages`].
    pub fn index(&self, id: PageId) -> u64 {
        let Settings { sites, pages, .. } = self.settings;
        id.site * (pages / sites) + id.site.min(pages % sites) + id.page
    }

    /// The links of a page in the order they stand on it.
    pub fn links(&self, id: PageId) -> Vec<PageId> {
        let PageId { site, page } = id;
        let mut links = Vec::new();
        links.extend([2 * page + 1, 2 * page + 2].map(|page| PageId { site, page }));
        if page == 0 {
            links.extend([2 * site + 1, 2 * site + 2].map(|site| PageId { site, page }));
        }
        links.retain(|link| self.contains(*link));
        // The two trees give each page one link on average.
        let mut random = self.random(id, LINKS);
        let extra = random.below(2 * (self.settings.degree - 1) + 1);
        links.extend((0..extra).map(|_| self.random_page(site, &mut random)));
        links
    }

    /// The length of the shortest path from any of the seeds to each page, by [`Synthetic::index`]; `None` if there is no path.
    /// Takes memory for each page: a tool for tests, up to some ten million pages.
    pub fn breadth_first_depths(&self, seeds: &[PageId]) -> Vec<Option<u32>> {
        let mut depths = vec![None; self.place(self.settings.pages)];
        let mut queue = VecDeque::new();
        for &seed in seeds.iter().filter(|seed| self.contains(**seed)) {
            depths[self.place(self.index(seed))] = Some(0);
            queue.push_back((seed, 0));
        }
        while let Some((id, depth)) = queue.pop_front() {
            for link in self.links(id) {
                let known = &mut depths[self.place(self.index(link))];
                if known.is_none() {
                    *known = Some(depth + 1);
                    queue.push_back((link, depth + 1));
                }
            }
        }
        depths
    }

    /// A stream of random numbers that belongs to the page and the purpose.
    pub(super) fn random(&self, id: PageId, purpose: u64) -> Random {
        Random::new(&[self.settings.seed, purpose, id.site, id.page])
    }

    fn random_page(&self, site: u64, random: &mut Random) -> PageId {
        let inside = random.below(100) < INSIDE_PERCENT;
        let site = if inside { site } else { random.below(self.settings.sites) };
        PageId { site, page: random.below(self.pages_of(site)) }
    }

    fn place(&self, index: u64) -> usize {
        usize::try_from(index).unwrap_or(usize::MAX)
    }
}
