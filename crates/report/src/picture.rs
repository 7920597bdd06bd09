//! The picture of the links between the most linked pages: who is linked to whom, and where each page is drawn.
//!
//! The places come from a force-directed layout (Fruchterman and Reingold, 1991): pages repel each other, linked ones attract each
//! other. It starts from fixed places and takes a fixed number of steps, so that the same crawl gives the same picture.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

/// Pages in the picture.
pub const PICTURE_PAGES_MAX: usize = 100;

/// Steps of the layout: enough for 100 pages to come to rest, a few milliseconds of work.
const STEPS: u32 = 400;

/// How strongly pages are drawn to the middle, so that what nothing holds does not drift away.
const GRAVITY: f64 = 1.0;

/// The pages and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The pages, the most linked first.
    pub pages: Vec<PageNode>,
    /// The links, one for each two pages.
    pub lines: Vec<Line>,
}

/// A page of the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageNode {
    /// The URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Scheme, host and port.
    pub site: String,
    /// Pages of the whole crawl that link to it.
    pub links: u64,
    /// Where it is drawn, from 0 (left) to 1.
    pub x: f64,
    /// Where it is drawn, from 0 (top) to 1.
    pub y: f64,
}

/// Two pages with a link between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// The page that links: its place in the list of pages.
    pub from: usize,
    /// The page linked to.
    pub to: usize,
    /// True if there is a link back.
    pub both_ways: bool,
}

/// Lays the pages out.
pub(crate) fn draw(mut pages: Vec<PageNode>, pairs: &HashSet<(usize, usize)>) -> Picture {
    let mut lines = BTreeMap::new();
    for &(from, to) in pairs {
        let both_ways = pairs.contains(&(to, from));
        let (from, to) = if both_ways { (from.min(to), from.max(to)) } else { (from, to) };
        lines.insert((from, to), Line { from, to, both_ways });
    }
    let lines: Vec<Line> = lines.into_values().collect();
    let places = layout(pages.len(), &lines);
    for (page, (x, y)) in pages.iter_mut().zip(places) {
        (page.x, page.y) = (x, y);
    }
    Picture { pages, lines }
}

type Point = (f64, f64);

#[expect(clippy::cast_precision_loss, reason = "there are 100 at most")]
fn layout(count: usize, lines: &[Line]) -> Vec<Point> {
    // A sunflower's spiral: even, and no two in the same place.
    let spiral = |at: usize| {
        let (angle, radius) = (at as f64 * 2.399_963, ((at as f64 + 0.5) / count as f64).sqrt());
        (angle.cos() * radius, angle.sin() * radius)
    };
    let mut points: Vec<Point> = (0..count).map(spiral).collect();
    let spacing = 1.6 / (count.max(1) as f64).sqrt();
    // What is linked with everything would pull everything into one heap: a page shares its pull among its lines.
    let mut degrees = vec![0.0_f64; count];
    for line in lines {
        degrees[line.from] += 1.0;
        degrees[line.to] += 1.0;
    }
    for step in 0..STEPS {
        let reach = 0.12 * (1.0 - f64::from(step) / f64::from(STEPS)) + 0.001;
        let mut moves: Vec<Point> = points.iter().map(|(x, y)| (-x * GRAVITY, -y * GRAVITY)).collect();
        for a in 0..count {
            for b in a + 1..count {
                let ((dx, dy), distance) = between(points[a], points[b]);
                push(&mut moves, a, b, (dx, dy), spacing * spacing / distance);
            }
        }
        for line in lines {
            let ((dx, dy), distance) = between(points[line.from], points[line.to]);
            let pull = distance * distance / spacing / degrees[line.from].max(degrees[line.to]).sqrt();
            push(&mut moves, line.from, line.to, (dx, dy), -pull);
        }
        for (point, (dx, dy)) in points.iter_mut().zip(moves) {
            let length = dx.hypot(dy).max(1e-9);
            let far = length.min(reach);
            *point = (point.0 + dx / length * far, point.1 + dy / length * far);
        }
    }
    fit(&points)
}

/// The direction from `b` to `a`, and how far it is.
fn between(a: Point, b: Point) -> (Point, f64) {
    let (dx, dy) = (a.0 - b.0, a.1 - b.1);
    let distance = dx.hypot(dy).max(1e-4);
    ((dx / distance, dy / distance), distance)
}

fn push(moves: &mut [Point], a: usize, b: usize, (dx, dy): Point, force: f64) {
    moves[a] = (moves[a].0 + dx * force, moves[a].1 + dy * force);
    moves[b] = (moves[b].0 - dx * force, moves[b].1 - dy * force);
}

/// Fits the points into the unit square, each direction for itself, since screens are wide or tall; three decimals are enough for any.
fn fit(points: &[Point]) -> Vec<Point> {
    let place = |of: fn(&Point) -> f64| {
        let low = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        move |point: &Point| {
            let share = if high - low > 1e-6 { (of(point) - low) / (high - low) } else { 0.5 };
            (share * 1000.0).round() / 1000.0
        }
    };
    let (x, y) = (place(|point| point.0), place(|point| point.1));
    points.iter().map(|point| (x(point), y(point))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(count: usize) -> Vec<PageNode> {
        let page = |at: usize| PageNode {
            url: format!("http://a.test/{at}"),
            title: None,
            site: "http://a.test".to_owned(),
            links: 1,
            x: 0.0,
            y: 0.0,
        };
        (0..count).map(page).collect()
    }

    fn distance(picture: &Picture, a: usize, b: usize) -> f64 {
        let [a, b] = [a, b].map(|at| &picture.pages[at]);
        (a.x - b.x).hypot(a.y - b.y)
    }

    #[test]
    fn any_number_of_pages_has_its_places_apart_and_inside() {
        for count in [0, 1, 2, 3, 100] {
            let everything = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
            for pairs in [HashSet::new(), everything] {
                let picture = draw(pages(count), &pairs);
                assert_eq!(picture, draw(pages(count), &pairs), "the same again");
                for at in 0..count {
                    let page = &picture.pages[at];
                    assert!((0.0..=1.0).contains(&page.x) && (0.0..=1.0).contains(&page.y), "{count} {page:?}");
                    assert!((0..at).all(|other| distance(&picture, at, other) > 0.01), "{count}: {at} lies on another");
                }
            }
        }
    }

    #[test]
    fn a_link_and_the_one_back_are_one_line() {
        let picture = draw(pages(3), &HashSet::from([(1, 0), (0, 1), (2, 1)]));
        let lines = [Line { from: 0, to: 1, both_ways: true }, Line { from: 2, to: 1, both_ways: false }];
        assert_eq!(picture.lines, lines);
    }

    #[test]
    fn what_is_linked_lies_closer() {
        let ring = |from: usize| (0..10).map(move |at| (from + at, from + (at + 1) % 10));
        let picture = draw(pages(20), &ring(0).chain(ring(10)).collect());
        let mean = |pairs: Vec<(usize, usize)>| {
            let sum: f64 = pairs.iter().map(|(a, b)| distance(&picture, *a, *b)).sum();
            sum / f64::from(u32::try_from(pairs.len()).expect("few"))
        };
        let across = (0..10).flat_map(|a| (10..20).map(move |b| (a, b))).collect();
        assert!(mean(ring(0).chain(ring(10)).collect()) * 2.0 < mean(across));
    }
}
