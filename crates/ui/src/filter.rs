//! What is chosen of the table of URLs, and how links and forms say it.

use ask::order::Order;
use ask::sites;
use ask::urls::{GivenChoice, KeyPart, Selection, State, VisitChoice};
use engine::clock::Clock;
use settings::plan;
use settings::site_name::SiteName;
use settings::usage;
use store::CrawlView;
use weburl::Pattern;

use crate::query::{Fields, number, with_fields};

/// What is chosen, as it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) site: String,
    /// Not empty: only of sites that a seed lies on.
    pub(crate) seeds: String,
    /// In any of these states.
    pub(crate) states: Vec<String>,
    /// By any of these patterns.
    pub(crate) patterns: Vec<String>,
    pub(crate) status: String,
    pub(crate) depth: String,
    /// A key of the dataset, or of the table `crawl` of a key-value store, or its beginning.
    pub(crate) key: String,
    /// The beginning of a media type.
    pub(crate) content_type: String,
    /// A part of the title or reason.
    pub(crate) title: String,
    /// The least and the most bytes.
    pub(crate) bytes: [String; 2],
    /// The first and the last time of the last visit.
    pub(crate) visited: [String; 2],
    /// A limit that the last visit reached.
    pub(crate) reached: String,
    /// Not empty: the pages that link to each URL are shown.
    pub(crate) linked: String,
    /// Not empty: URLs are chosen as the report counts them.
    pub(crate) reported: String,
    /// The order in which they are; by site and key if it is empty.
    pub(crate) sort: String,
}

/// Where the next page of the table begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Next {
    /// There is none.
    #[default]
    None,
    /// Behind this URL.
    After(String),
    /// Behind so many URLs of those that are sorted.
    Behind(usize),
}

impl Next {
    /// Behind a URL, if there is one.
    pub(crate) fn after(url: Option<String>) -> Self {
        url.filter(|url| !url.is_empty()).map_or(Next::None, Next::After)
    }

    /// Behind so many URLs of those that are sorted, of which `kept` can be seen, and those of a page.
    pub(crate) fn behind(behind: usize, on_page: usize, kept: u64) -> Self {
        let end = behind.saturating_add(on_page);
        if on_page == 0 || end as u64 >= kept { Next::None } else { Next::Behind(end) }
    }
}

impl Filter {
    pub(crate) fn of(fields: &Fields) -> Self {
        let get = |name| fields.get(name).to_owned();
        Filter {
            site: get("site"),
            seeds: get("seeds"),
            states: fields.all("state"),
            patterns: fields.all("match"),
            status: get("status"),
            depth: get("depth"),
            key: get("key"),
            content_type: get("type"),
            title: get("title"),
            bytes: ["size_min", "size_max"].map(get),
            visited: ["since", "until"].map(get),
            reached: get("reached"),
            linked: get("linked"),
            reported: get("reported"),
            sort: get("sort"),
        }
    }

    /// The URLs that are chosen.
    ///
    /// # Errors
    /// A part of it cannot be used.
    pub(crate) fn selection(&self) -> anyhow::Result<Selection> {
        let mut selection =
            Selection { only_counted: true, as_reported: !self.reported.is_empty(), ..Selection::default() };
        self.order()?;
        if !self.site.is_empty() {
            selection.sites = self.site.parse::<SiteName>().map_err(usage)?.keys().collect();
        }
        for state in &self.states {
            selection.states.extend(State::named(state).map_err(usage)?);
        }
        for pattern in &self.patterns {
            // The refusal of one that is too long does not repeat it.
            Pattern::new(pattern).map_err(|error| usage(format!("the pattern: {error}")))?;
            selection.patterns.push(plan::pattern("patterns", pattern)?);
        }
        if !self.key.is_empty() {
            selection.key = Some(self.key.parse::<KeyPart>().map_err(|error| usage(format!("the key: {error}")))?);
        }
        selection.status = self.status()?;
        selection.depth = self.depth()?;
        selection.visit = VisitChoice::of(self.given(), Clock::start().date())?;
        Ok(selection)
    }

    /// What is chosen by the last visits.
    pub(crate) fn given(&self) -> GivenChoice<'_> {
        let Filter { content_type, title, bytes: [bytes_min, bytes_max], visited: [since, until], reached, .. } = self;
        GivenChoice { content_type, title, bytes_min, bytes_max, since, until, reached }
    }

    /// # Errors
    /// The crawl does not know the site, or cannot be read.
    pub(crate) fn check_site(&self, view: &dyn CrawlView, selection: &Selection) -> anyhow::Result<()> {
        if self.site.is_empty() {
            return Ok(());
        }
        let unknown = sites::unknown(view, &self.site, selection.sites.iter().copied())?;
        unknown.map_or(Ok(()), |unknown| Err(unknown.into()))
    }

    /// The status that is chosen.
    ///
    /// # Errors
    /// It is no number.
    pub(crate) fn status(&self) -> anyhow::Result<Option<u16>> {
        number("status", &self.status)
    }

    /// The depth that is chosen.
    ///
    /// # Errors
    /// It is no number.
    pub(crate) fn depth(&self) -> anyhow::Result<Option<u32>> {
        number("depth", &self.depth)
    }

    /// The order that is asked for; `None` is that of sites.
    ///
    /// # Errors
    /// There is no such order.
    pub(crate) fn order(&self) -> anyhow::Result<Option<Order>> {
        if self.sort.is_empty() {
            return Ok(None);
        }
        self.sort.parse::<Order>().map(Some).map_err(|error| usage(format!("the order: {error}")))
    }

    /// The same URLs in another order.
    pub(crate) fn in_order(&self, sort: String) -> Self {
        Filter { sort, ..self.clone() }
    }

    /// What is chosen, as fields of a request.
    pub(crate) fn fields(&self) -> Vec<(&'static str, &str)> {
        let Filter { site, states, patterns, status, depth, key, content_type, title, bytes, visited, .. } = self;
        let Filter { seeds, reached, linked, reported, sort, .. } = self;
        let others = [
            ("status", status),
            ("depth", depth),
            ("key", key),
            ("type", content_type),
            ("title", title),
            ("size_min", &bytes[0]),
            ("size_max", &bytes[1]),
            ("since", &visited[0]),
            ("until", &visited[1]),
            ("reached", reached),
            ("linked", linked),
            ("reported", reported),
            ("sort", sort),
        ];
        let mut fields = vec![("site", site.as_str()), ("seeds", seeds.as_str())];
        fields.extend(states.iter().map(|state| ("state", state.as_str())));
        fields.extend(patterns.iter().map(|pattern| ("match", pattern.as_str())));
        fields.extend(others.map(|(name, value)| (name, value.as_str())));
        fields
    }

    /// A link to what is chosen, or to its next page.
    pub(crate) fn link(&self, path: &str, next: &Next) -> String {
        let behind = if let Next::Behind(urls) = next { urls.to_string() } else { String::new() };
        let after = if let Next::After(url) = next { url } else { "" };
        let next = [("after", after), ("behind", &behind)];
        let fields: Vec<(&str, &str)> = self.fields().into_iter().chain(next).collect();
        with_fields(path, &fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_is_none_is_refused() {
        let chosen = |sort: &str| Filter { sort: sort.to_owned(), ..Filter::default() }.selection();
        for sort in ["", "state", "-size", "title"] {
            chosen(sort).expect(sort);
        }
        let error = chosen("weight").expect_err("no order").to_string();
        assert!(error.starts_with("the order: `weight` is no order of URLs; possible are url, state, "), "{error}");
    }

    #[test]
    fn what_cannot_be_chosen_is_named() {
        let long = "*".repeat(100_000);
        for (site, state, pattern, why) in [
            ("a.test/x", "", "", "`a.test/x` is no site"),
            ("", "fetched", "", "`fetched` is no state"),
            ("", "", long.as_str(), "the pattern"),
            ("", "", "/x/", "--patterns `/x/` matches no URL"),
        ] {
            let [states, patterns] =
                [state, pattern].map(|text| if text.is_empty() { vec![] } else { vec![text.to_owned()] });
            let error = Filter { site: site.to_owned(), states, patterns, ..Filter::default() }
                .selection()
                .expect_err(why)
                .to_string();
            assert!(error.starts_with(why) && error.len() < 1_000, "{error}");
        }
    }

    #[test]
    fn every_choice_is_a_field_of_a_link_that_is_read_again() {
        let query = "site=a.test&seeds=yes&state=html&match=*x*&status=200&depth=1&key=ab12&type=text%2F&title=T\
                     &size_min=1&size_max=9&since=7d&until=1d&reached=links&linked=yes&reported=yes&sort=size";
        let filter = Filter::of(&Fields::parse(query));
        assert_eq!(filter.link("/urls", &Next::None), format!("/urls?{query}"));
        filter.selection().expect("all of it can be chosen");
    }

    #[test]
    fn numbers_are_numbers() {
        for (status, depth, why) in
            [("4o4", "", "the status: `4o4`"), ("70000", "", "the status"), ("", "-1", "the depth")]
        {
            let [status, depth] = [status, depth].map(str::to_owned);
            let filter = Filter { status, depth, ..Filter::default() };
            let error = filter.status().map(drop).and(filter.depth().map(drop)).expect_err(why).to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
