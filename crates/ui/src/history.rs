//! How the crawl went since its beginning, for the chart: as JSON for the script. The chart shows so many moments of a long crawl as it has
//! room for; the script asks for the others around the one that somebody chooses.

use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use crawl::CrawlDir;
use crawl::history::Moment;
use crawl::standing::Standing;
use serde::Serialize;

use crate::Ui;
use crate::failure::Failure;
use crate::query::{Fields, number};

/// Moments of an answer, at most. The chart is 720 pixels wide.
pub(crate) const MOMENTS_MAX: usize = 480;

/// Moments as columns, in the order of time: their names are there once.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Columns {
    /// Seconds since 1970.
    at: Vec<u64>,
    /// Moments that were left out since the one before.
    left_out: Vec<usize>,
    /// URLs fetched with success.
    pages: Vec<u64>,
    bytes: Vec<u64>,
    /// Fetches under way. Of a server this is not known, as what follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    in_flight: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sites_waiting: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sites_aside: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    workers: Vec<usize>,
    /// 1 where the run was paused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paused: Vec<u8>,
}

impl Columns {
    pub(crate) fn of(moments: &[Moment], asked: &Asked) -> Self {
        let chosen = asked.chosen(moments, |moment| moment.at);
        // A column is there if all of them have its number.
        let column = |of: fn(&Moment) -> Option<usize>| -> Vec<usize> {
            chosen.iter().map(|(_, moment)| of(moment)).collect::<Option<_>>().unwrap_or_default()
        };
        let mut columns = Columns {
            in_flight: column(|moment| moment.in_flight),
            sites_waiting: column(|moment| moment.sites_waiting),
            sites_aside: column(|moment| Some(moment.sites_aside)),
            workers: column(|moment| moment.workers),
            paused: chosen.iter().map(|(_, moment)| u8::from(moment.paused)).collect(),
            ..Columns::default()
        };
        chosen
            .into_iter()
            .for_each(|(left_out, moment)| columns.add(left_out, [moment.at, moment.pages, moment.bytes]));
        columns
    }

    /// Of moments, pages and bytes alone.
    pub(crate) fn of_pages(moments: &[[u64; 3]], asked: &Asked) -> Self {
        let mut columns = Columns::default();
        asked.chosen(moments, |[at, ..]| *at).into_iter().for_each(|(left_out, moment)| columns.add(left_out, *moment));
        columns
    }

    fn add(&mut self, left_out: usize, [at, pages, bytes]: [u64; 3]) {
        self.at.push(at);
        self.left_out.push(left_out);
        self.pages.push(pages);
        self.bytes.push(bytes);
    }

    /// As the script gets it.
    ///
    /// # Errors
    /// There is no JSON of it.
    pub(crate) fn answer(&self) -> anyhow::Result<Response> {
        let json = serde_json::to_vec(self)?;
        Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
    }
}

/// The time that a request is about, in seconds since 1970, both ends included. Without an end there is no bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    from: u64,
    to: u64,
}

impl Asked {
    /// # Errors
    /// A bound is no number.
    pub(crate) fn of(query: Option<String>) -> anyhow::Result<Self> {
        let fields = Fields::parse(&query.unwrap_or_default());
        let bound = |name| number::<u64>(name, fields.get(name));
        Ok(Asked { from: bound("from")?.unwrap_or_default(), to: bound("to")?.unwrap_or(u64::MAX) })
    }

    /// The moments of that time: the first, and the last of each of as many parts of the time as an answer has room for. Each with how many
    /// are left out before it.
    fn chosen<'m, M>(&self, moments: &'m [M], at: impl Fn(&M) -> u64) -> Vec<(usize, &'m M)> {
        let mut moments: Vec<&M> =
            moments.iter().filter(|moment| (self.from..=self.to).contains(&at(moment))).collect();
        // The clock may have been set back.
        moments.sort_by_key(|moment| at(moment));
        let [Some(first), Some(last)] = [moments.first(), moments.last()].map(|moment| moment.map(|moment| at(moment)))
        else {
            return Vec::new();
        };
        let parts = if moments.len() <= MOMENTS_MAX { None } else { Some(MOMENTS_MAX as u128 - 1) };
        let part = |moment: &M| {
            let (of, all) = (u128::from(at(moment) - first), u128::from(last - first) + 1);
            parts.map(|parts| of * parts / all)
        };
        let mut chosen = Vec::new();
        let mut left_out = 0;
        for (place, moment) in moments.iter().enumerate() {
            let is_last_of_part = moments.get(place + 1).is_none_or(|next| part(next) != part(moment));
            if parts.is_none() || place == 0 || is_last_of_part {
                chosen.push((std::mem::take(&mut left_out), *moment));
            } else {
                left_out += 1;
            }
        }
        chosen
    }
}

/// Answers with the moments of the crawl, a minute from one to the next where none is left out.
pub(crate) async fn data(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let asked = Asked::of(query)?;
    let read = move |crawl: &Standing| {
        let moments = Moment::all_of(&CrawlDir::existing(crawl.root())?)?;
        Columns::of(&moments, &asked).answer()
    };
    ui.ask(read).await
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Asked = Asked { from: 0, to: u64::MAX };

    fn moments(at: impl Iterator<Item = u64>) -> Vec<[u64; 3]> {
        at.map(|at| [at, 10 * at, 100 * at]).collect()
    }

    #[test]
    fn a_long_history_is_thinned_and_each_part_of_it_is_there_when_asked_for() {
        let week = moments((0..10_080).map(|minute| 60 * minute));
        let whole = Columns::of_pages(&week, &ALL);
        assert!((MOMENTS_MAX / 2..=MOMENTS_MAX).contains(&whole.at.len()), "{}", whole.at.len());
        assert_eq!([whole.at.first(), whole.at.last()], [Some(&0), Some(&(60 * 10_079))]);
        assert_eq!(whole.at.len() + whole.left_out.iter().sum::<usize>(), week.len());
        for (between, left_out) in whole.at.windows(2).zip(&whole.left_out[1..]) {
            let part = Columns::of_pages(&week, &Asked { from: between[0], to: between[1] });
            assert_eq!(part.at.len(), left_out + 2, "{between:?}");
            assert!(part.left_out.iter().all(|left_out| *left_out == 0));
        }
    }

    #[test]
    fn a_short_history_is_whole_and_any_date_has_its_place() {
        assert_eq!(Columns::of_pages(&[], &ALL), Columns::default());
        let short = Columns::of_pages(&moments([60, 0, 120].into_iter()), &ALL);
        assert_eq!((short.at, short.left_out), (vec![0, 60, 120], vec![0; 3]));
        let odd: Vec<[u64; 3]> = (0..1_000).map(|n| [if n == 7 { u64::MAX } else { n }, n, n]).collect();
        let odd = Columns::of_pages(&odd, &ALL);
        assert_eq!((odd.at.len(), odd.at.last()), (3, Some(&u64::MAX)), "{odd:?}");
        let same = Columns::of_pages(&moments(std::iter::repeat_n(5, 1_000)), &ALL);
        assert_eq!((same.at, same.left_out), (vec![5, 5], vec![0, 998]));
    }

    #[test]
    fn a_bound_that_is_no_number_is_refused() {
        assert!(Asked::of(Some("from=x".to_owned())).is_err());
        let asked = Asked::of(Some("to=7".to_owned())).expect("a bound");
        assert_eq!((asked.from, asked.to), (0, 7));
    }
}
