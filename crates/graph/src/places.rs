//! Where the vertices of a picture are drawn: linked ones near each other, others apart.
//!
//! A force-directed layout (Fruchterman and Reingold, 1991) in which a far group of vertices pushes like one vertex in its middle (Barnes and
//! Hut, 1986). Communities begin side by side. Start and number of steps are fixed, so the same graph gives the same picture.

use std::ops::{Add, AddAssign, Mul, Sub};

/// Steps for a small graph; a large one takes fewer.
const STEPS_MAX: usize = 400;
/// Steps for the largest graph, unless their work is too much.
const STEPS_MIN: usize = 80;
/// Moves of a vertex that a layout makes, about.
const MOVES: usize = 2_000_000;
/// Looks at a square or a link that a layout takes, at most. Where the steps take more, there are fewer steps.
const LOOKS_MAX: u64 = 200_000_000;
/// A square of vertices that is wider than this share of its distance is looked into.
const NEAR: f64 = 0.9;
/// Squares inside squares. Vertices in one place stay together at the last.
const DEPTH_MAX: usize = 32;
/// How strongly vertices are drawn to the middle, so that what nothing holds does not drift away.
const GRAVITY: f64 = 0.6;
/// The angle between two neighbours of a sunflower's seeds.
const GOLDEN_ANGLE: f64 = 2.399_963;

/// A point, or a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl Add for Point {
    type Output = Point;

    fn add(self, other: Point) -> Point {
        Point { x: self.x + other.x, y: self.y + other.y }
    }
}

impl Sub for Point {
    type Output = Point;

    fn sub(self, other: Point) -> Point {
        Point { x: self.x - other.x, y: self.y - other.y }
    }
}

impl Mul<f64> for Point {
    type Output = Point;

    fn mul(self, factor: f64) -> Point {
        Point { x: self.x * factor, y: self.y * factor }
    }
}

impl AddAssign for Point {
    fn add_assign(&mut self, other: Point) {
        *self = *self + other;
    }
}

impl Point {
    fn length(self) -> f64 {
        self.x.hypot(self.y).max(1e-6)
    }
}

/// The places of vertices, from 0 to 1 each way, given the community of each and the edges between them.
#[must_use]
pub fn places(communities: &[u32], edges: &[(u32, u32)]) -> Vec<Point> {
    places_within(LOOKS_MAX, communities, edges)
}

fn places_within(looks_max: u64, communities: &[u32], edges: &[(u32, u32)]) -> Vec<Point> {
    let count = communities.len();
    let mut points = start(communities);
    let spacing = 1.6 / (count.max(1) as f64).sqrt();
    // What is linked with everything would pull everything into one heap: a vertex shares its pull among its links.
    let mut degrees = vec![0.0_f64; count];
    for (from, to) in edges {
        degrees[*from as usize] += 1.0;
        degrees[*to as usize] += 1.0;
    }
    let steps = (MOVES / count.max(1)).clamp(STEPS_MIN, STEPS_MAX);
    let mut looks = 0;
    for step in 0..steps {
        // The part of the work that is done, by steps or by looks.
        let done = (step as f64 / steps as f64).max(looks as f64 / looks_max as f64);
        if done >= 1.0 {
            break;
        }
        let reach = 0.12 * (1.0 - done) + 0.001;
        let tree = Tree::of(&points);
        let mut push = |point: &Point| *point * -GRAVITY + tree.push(*point, &mut looks) * (spacing * spacing);
        let mut moves: Vec<Point> = points.iter().map(&mut push).collect();
        looks += edges.len() as u64;
        for (from, to) in edges.iter().map(|(from, to)| (*from as usize, *to as usize)).filter(|(from, to)| from != to)
        {
            let apart = points[from] - points[to];
            let pull = apart * (apart.length() / spacing / degrees[from].max(degrees[to]).sqrt());
            moves[from] += pull * -1.0;
            moves[to] += pull;
        }
        for (point, way) in points.iter_mut().zip(moves) {
            *point += way * (way.length().min(reach) / way.length());
        }
    }
    fitted(&points)
}

/// Communities side by side, each as a sunflower's seeds: even, and no two vertices in the same place.
fn start(communities: &[u32]) -> Vec<Point> {
    let groups = communities.iter().max().map_or(0, |last| *last as usize + 1);
    let mut sizes = vec![0_usize; groups];
    for community in communities {
        sizes[*community as usize] += 1;
    }
    let seed = |at: usize, radius: f64| {
        let angle = at as f64 * GOLDEN_ANGLE;
        Point { x: angle.cos() * radius, y: angle.sin() * radius }
    };
    let whole = communities.len().max(1) as f64;
    let mut before = 0.0;
    let middles: Vec<Point> = sizes
        .iter()
        .enumerate()
        .map(|(at, size)| {
            // As far out as the communities before it take room.
            let middle = seed(at, if at == 0 { 0.0 } else { ((before + *size as f64 / 2.0) / whole).sqrt() });
            before += *size as f64;
            middle
        })
        .collect();
    let mut placed = vec![0_usize; groups];
    communities
        .iter()
        .map(|community| {
            let at = placed[*community as usize];
            placed[*community as usize] += 1;
            middles[*community as usize] + seed(at, ((at as f64 + 0.5) / whole).sqrt() * 0.7)
        })
        .collect()
}

/// Moved and scaled so that all are from 0 to 1.
fn fitted(points: &[Point]) -> Vec<Point> {
    let least = |of: fn(&Point) -> f64| points.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Point) -> f64| points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let (left, top) = (least(|point| point.x), least(|point| point.y));
    let (width, height) = (most(|point| point.x) - left, most(|point| point.y) - top);
    let scale = |value: f64, size: f64| if size > 0.0 { value / size } else { 0.5 };
    points.iter().map(|point| Point { x: scale(point.x - left, width), y: scale(point.y - top, height) }).collect()
}

/// A square of the plane, and what is in it.
struct Square {
    middle: Point,
    width: f64,
    /// How many vertices it has.
    mass: f64,
    /// The sum of their places.
    sum: Point,
    /// Its quarters, if it has more than one vertex. The first square is nobody's quarter, so 0 stands for none.
    quarters: [u32; 4],
}

/// All vertices in squares.
struct Tree(Vec<Square>);

impl Tree {
    fn of(points: &[Point]) -> Self {
        let width = points.iter().fold(1.0_f64, |width, point| width.max(2.0 * point.x.abs()).max(2.0 * point.y.abs()));
        let mut tree = Tree(vec![Square::empty(Point::default(), width)]);
        for point in points {
            tree.put(*point);
        }
        tree
    }

    fn put(&mut self, point: Point) {
        let mut at = 0;
        for _ in 0..DEPTH_MAX {
            let square = &mut self.0[at];
            let (mass, sum) = (square.mass, square.sum);
            square.mass += 1.0;
            square.sum += point;
            if mass == 0.0 {
                return;
            }
            // The vertex that was alone goes into a quarter, too.
            if square.quarters == [0; 4] {
                let quarter = self.quarter(at, sum * (1.0 / mass));
                let alone = &mut self.0[quarter];
                (alone.mass, alone.sum) = (mass, sum);
            }
            at = self.quarter(at, point);
        }
        let last = &mut self.0[at];
        last.mass += 1.0;
        last.sum += point;
    }

    /// The quarter of a square that a point is in, made if it is not there.
    fn quarter(&mut self, of: usize, point: Point) -> usize {
        let Square { middle, width, quarters, .. } = &self.0[of];
        let (right, below) = (point.x > middle.x, point.y > middle.y);
        let which = usize::from(right) + 2 * usize::from(below);
        if quarters[which] != 0 {
            return quarters[which] as usize;
        }
        let quarter = width / 4.0;
        let side = |is_greater: bool| if is_greater { quarter } else { -quarter };
        let made = Square::empty(*middle + Point { x: side(right), y: side(below) }, width / 2.0);
        let next = self.0.len();
        self.0.push(made);
        self.0[of].quarters[which] = u32::try_from(next).unwrap_or(0);
        next
    }

    /// How all vertices push a point away. The squares that were looked at are added to `looks`.
    fn push(&self, point: Point, looks: &mut u64) -> Point {
        let (mut push, mut open) = (Point::default(), vec![0_usize]);
        while let Some(at) = open.pop() {
            let square = &self.0[at];
            *looks += 1;
            if square.mass == 0.0 {
                continue;
            }
            let apart = point - square.sum * (1.0 / square.mass);
            let distance = apart.length();
            if square.quarters == [0; 4] || square.width < NEAR * distance {
                push += apart * (square.mass / (distance * distance));
            } else {
                open.extend(square.quarters.iter().filter(|quarter| **quarter != 0).map(|quarter| *quarter as usize));
            }
        }
        push
    }
}

impl Square {
    fn empty(middle: Point, width: f64) -> Self {
        Square { middle, width, mass: 0.0, sum: Point::default(), quarters: [0; 4] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(one: Point, other: Point) -> f64 {
        (one - other).length()
    }

    #[test]
    fn a_tree_pushes_nearly_as_all_vertices_do() {
        let points: Vec<Point> = start(&[0; 500]);
        let tree = Tree::of(&points);
        for point in [points[3], points[250], Point { x: 2.0, y: -1.0 }] {
            let all = points.iter().fold(Point::default(), |all, other| {
                let apart = point - *other;
                all + apart * (1.0 / (apart.length() * apart.length()))
            });
            let off = (tree.push(point, &mut 0) - all).length();
            assert!(off < 0.15 * all.length().max(50.0), "{off} {all:?}");
        }
    }

    #[test]
    fn a_layout_ends_when_it_has_looked_enough() {
        let communities = [0; 500];
        let edges: Vec<_> = (1..500).map(|to| (0, to)).collect();
        // Less than one step takes: the places are those of the first.
        let short = places_within(1, &communities, &edges);
        assert_eq!(short, places_within(100, &communities, &edges));
        assert_ne!(short, places(&communities, &edges));
        assert!(short.iter().all(|point| (0.0..=1.0).contains(&point.x) && (0.0..=1.0).contains(&point.y)));
    }

    #[test]
    fn vertices_in_one_place_end_the_tree() {
        let tree = Tree::of(&[Point { x: 0.3, y: 0.3 }; 100]);
        assert!(tree.0.len() <= DEPTH_MAX + 1);
        let push = tree.push(Point { x: 0.9, y: 0.3 }, &mut 0);
        assert!(push.x > 0.0 && push.y.abs() < 1e-6, "{push:?}");
    }

    #[test]
    fn what_is_linked_lies_together() {
        // Two rings of 20.
        let ring = |first: u32| (0..20).map(move |at| (first + at, first + (at + 1) % 20));
        let edges: Vec<(u32, u32)> = ring(0).chain(ring(20)).collect();
        let communities: Vec<u32> = (0..40).map(|at| at / 20).collect();
        let points = places(&communities, &edges);
        assert!(points.iter().all(|point| (0.0..=1.0).contains(&point.x) && (0.0..=1.0).contains(&point.y)));
        let near: f64 =
            edges.iter().map(|(a, b)| distance(points[*a as usize], points[*b as usize])).sum::<f64>() / 40.0;
        let far: f64 = (0..20).map(|at| distance(points[at], points[at + 20])).sum::<f64>() / 20.0;
        assert!(near * 2.0 < far, "{near} {far}");
        assert_eq!(points, places(&communities, &edges), "the same every time");
        assert!(places(&[], &[]).is_empty());
        assert_eq!(places(&[0], &[(0, 0)]), [Point { x: 0.5, y: 0.5 }]);
    }
}
