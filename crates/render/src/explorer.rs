//! Which element of a page is clicked next, and how the page comes back to where it was. A pure machine: it is given what the page
//! shows after each move, and gives the next one.
//!
//! ```text
//!   first state ── click ──▶ state ── click what is new in it ──▶ state …
//!        ▲                     │
//!        └─ back, again, before, escape, or load the page again ─┘
//! ```
//!
//! A state that shows all that the one before showed, and more, is no other place: the page has grown, and its further clicks begin
//! there.

use std::collections::{HashMap, HashSet, VecDeque};

use model::{LeftOut, Tally};
use serde::Deserialize;

/// Clicks in a row that lead deeper: a menu, its part, what is behind that.
const LEVELS_MAX: usize = 5;
/// How often something that brings more is clicked again.
const GROWTHS_MAX: u32 = 50;
/// Elements that look alike and brought nothing new. The others like them are clicked after all else.
const LOOK_ALIKES_MAX: u32 = 5;
/// An element may have one of so many of all clicks before each of the others has had one.
const SHARE: u32 = 10;
/// How often a page is loaded again to come back. Then its clicks begin where the last one ended.
const RELOADS_MAX: u32 = 20;

/// What is seen of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Look {
    /// Two pages with the same one look the same.
    pub(crate) state: String,
    /// Hashes of what is seen, in order.
    pub(crate) pieces: Vec<u32>,
    /// It has text that was not seen before. Other numbers in a text make it another one here.
    pub(crate) has_new_text: bool,
    /// Where its links lead.
    pub(crate) links: Vec<String>,
    /// What can be clicked.
    pub(crate) clickables: Vec<Clickable>,
}

/// Something that can be clicked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Clickable {
    /// Its name on the page, the same every time the page is loaded.
    pub(crate) name: String,
    /// What looks like it has the same.
    pub(crate) group: u32,
    /// It was there before.
    pub(crate) is_known: bool,
    /// What of [`Look::pieces`] is gone when it is gone.
    pub(crate) own: Vec<u32>,
}

/// What is done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// To click on something, after so many clicks that are not undone.
    Click { depth: usize, name: String },
    /// To try to undo the click at this depth.
    Undo { depth: usize, how: Undo },
    /// To load the page again, and to click on these.
    Reload { then: Vec<String> },
    /// To take the page as it is now: it shows all that it showed, and more.
    Keep,
    /// Nothing.
    End,
}

/// Ways to undo a click, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    /// To go back in the history of the page.
    Back,
    /// To click on the same again.
    Again,
    /// To click on what was chosen before.
    Before,
    /// To press the key.
    Escape,
}

impl Undo {
    /// Its name in `behaviours.js`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Undo::Back => "back",
            Undo::Again => "again",
            Undo::Before => "before",
            Undo::Escape => "escape",
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Undo::Back => Some(Undo::Again),
            Undo::Again => Some(Undo::Before),
            Undo::Before => Some(Undo::Escape),
            Undo::Escape => None,
        }
    }
}

/// A state of the page, from which its clickable elements are tried.
struct Place {
    look: Look,
    pending: VecDeque<Clickable>,
    /// The clicks that lead here from the place before.
    clicks: Vec<String>,
    /// What may be gone here: that of what was clicked.
    gone: Vec<u32>,
}

/// What the last move was.
enum Last {
    Nothing,
    Click(Clickable),
    Undo(Undo),
    Keep,
    Reload,
}

/// Explores a page.
pub(crate) struct Explorer {
    clicks_max: u32,
    clicks: u32,
    reloads: u32,
    places: Vec<Place>,
    last: Last,
    current: Look,
    /// Pieces, links and clickable elements that were seen.
    pieces: HashSet<u32>,
    fresh_pieces: Vec<u32>,
    links: HashSet<String>,
    names: HashSet<String>,
    fruitless: HashMap<u32, u32>,
    news: Vec<String>,
    left_out: Tally<LeftOut>,
}

impl Explorer {
    /// Explores a page with so many clicks.
    pub(crate) fn new(clicks_max: u32) -> Self {
        Explorer {
            clicks_max,
            clicks: 0,
            reloads: 0,
            places: Vec::new(),
            last: Last::Nothing,
            current: Look::default(),
            pieces: HashSet::new(),
            fresh_pieces: Vec::new(),
            links: HashSet::new(),
            names: HashSet::new(),
            fruitless: HashMap::new(),
            news: Vec::new(),
            left_out: Tally::default(),
        }
    }

    /// The state that was seen last.
    pub(crate) fn state(&self) -> &str {
        &self.current.state
    }

    /// Links that were not seen before, since they were last taken. Those of the page as it was first are none.
    pub(crate) fn take_links(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    /// What is seen for the first time, since this was last taken. What the page showed first is none.
    pub(crate) fn take_fresh_pieces(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.fresh_pieces)
    }

    /// What is seen now, in order.
    pub(crate) fn pieces(&self) -> &[u32] {
        &self.current.pieces
    }

    /// What was left out.
    pub(crate) fn left_out(&self) -> &Tally<LeftOut> {
        &self.left_out
    }

    /// Ends it before its time: all that was not clicked is left out.
    pub(crate) fn stop(&mut self, why: LeftOut) {
        let pending: usize = self.places.drain(..).map(|place| place.pending.len()).sum();
        // The move that was under way is not done to its end either.
        let is_under_way = u32::from(!matches!(self.last, Last::Nothing));
        self.left_out.add(why, u32::try_from(pending).unwrap_or(u32::MAX).saturating_add(is_under_way));
    }

    /// The next move. `look` is what is seen after the last one, `None` if it changed nothing.
    pub(crate) fn next(&mut self, look: Option<Look>) -> Move {
        let has_changed = look.is_some();
        if let Some(look) = look {
            self.current = look;
        }
        match std::mem::replace(&mut self.last, Last::Nothing) {
            Last::Nothing => self.begin(),
            Last::Click(on) => self.clicked(on, has_changed),
            Last::Undo(how) => self.undone(how, has_changed),
            Last::Keep => self.advance(),
            Last::Reload => self.reloaded(),
        }
    }

    fn begin(&mut self) -> Move {
        self.learn();
        self.news.clear();
        self.fresh_pieces.clear();
        let pending = self.fresh(true);
        self.places.push(Place { look: self.current.clone(), pending, clicks: Vec::new(), gone: Vec::new() });
        self.advance()
    }

    /// Clicks on the next element of this place, or leaves the place.
    fn advance(&mut self) -> Move {
        let depth = self.places.len() - 1;
        while let Some(next) = self.take_pending(depth) {
            if self.clicks >= self.clicks_max {
                self.left_out.count(LeftOut::Clicks);
            } else {
                self.clicks += 1;
                let name = next.name.clone();
                self.last = Last::Click(next);
                return Move::Click { depth, name };
            }
        }
        if depth == 0 {
            return Move::End;
        }
        self.undo(Undo::Back)
    }

    /// What is clicked next at a place: the first that does not look like what brought nothing new, else the first.
    fn take_pending(&mut self, depth: usize) -> Option<Clickable> {
        let is_fruitless =
            |on: &Clickable| self.fruitless.get(&on.group).is_some_and(|count| *count >= LOOK_ALIKES_MAX);
        let pending = &mut self.places[depth].pending;
        let at = pending.iter().position(|on| !is_fruitless(on)).unwrap_or(0);
        pending.remove(at)
    }

    fn clicked(&mut self, on: Clickable, has_changed: bool) -> Move {
        let is_new = has_changed && self.learn();
        let fresh = if has_changed { self.fresh(false) } else { VecDeque::new() };
        let fruitless = self.fruitless.entry(on.group).or_default();
        *fruitless = if is_new || !fresh.is_empty() { 0 } else { *fruitless + 1 };
        if has_changed {
            let pending = self.within_levels(fresh);
            let (look, clicks) = (self.current.clone(), vec![on.name]);
            self.places.push(Place { look, pending, clicks, gone: on.own });
        }
        self.advance()
    }

    /// What a further place may try, which is behind all that there are.
    fn within_levels(&mut self, fresh: VecDeque<Clickable>) -> VecDeque<Clickable> {
        if self.places.len() < LEVELS_MAX {
            return fresh;
        }
        self.left_out.add(LeftOut::Depth, u32::try_from(fresh.len()).unwrap_or(u32::MAX));
        VecDeque::new()
    }

    fn undo(&mut self, how: Undo) -> Move {
        self.last = Last::Undo(how);
        Move::Undo { depth: self.places.len() - 2, how }
    }

    fn undone(&mut self, how: Undo, has_changed: bool) -> Move {
        let before = self.places.len() - 2;
        if self.current.state == self.places[before].look.state {
            self.places.pop();
            return self.advance();
        }
        if how == Undo::Again && has_changed && self.brings_more() {
            return self.advance();
        }
        match how.next() {
            Some(next) => self.undo(next),
            None => self.stay_or_reload(),
        }
    }

    /// Whether the same click brought more once again. Then it leads to the state that is seen now.
    fn brings_more(&mut self) -> bool {
        let is_new = self.learn();
        let fresh = self.fresh(false);
        let Some(place) = self.places.last() else { return false };
        let grows =
            self.current.pieces.len() > place.look.pieces.len() && self.current.shows_all_of(&place.look, &place.gone);
        let is_more = is_new || (grows && self.current.has_new_text);
        if !is_more {
            return false;
        }
        let (times_max, why) =
            if grows { (GROWTHS_MAX as usize, LeftOut::Growth) } else { (LEVELS_MAX, LeftOut::Depth) };
        let had = place.clicks.len();
        if had >= times_max {
            self.left_out.count(why);
            return false;
        }
        let waiting = fresh.len() + self.places.iter().map(|place| place.pending.len()).sum::<usize>();
        let reserved = u32::try_from(waiting).unwrap_or(u32::MAX).saturating_add(self.clicks);
        let has_share = u32::try_from(had).is_ok_and(|had| had >= self.clicks_max / SHARE);
        if self.clicks >= self.clicks_max || (has_share && reserved >= self.clicks_max) {
            self.left_out.count(LeftOut::Clicks);
            return false;
        }
        self.clicks += 1;
        let look = self.current.clone();
        if let Some(place) = self.places.last_mut() {
            place.clicks.extend(place.clicks.first().cloned());
            (place.look, place.pending) = (look, fresh);
        }
        true
    }

    /// The click cannot be undone on the page.
    fn stay_or_reload(&mut self) -> Move {
        let Some(left) = self.places.pop() else { return Move::End };
        let depth = self.places.len() - 1;
        let place = &mut self.places[depth];
        if self.current.shows_all_of(&place.look, &left.gone) {
            place.look = self.current.clone();
            place.clicks.extend(left.clicks);
            if depth > 0 {
                return self.advance();
            }
            self.last = Last::Keep;
            return Move::Keep;
        }
        if self.reloads >= RELOADS_MAX {
            place.look = self.current.clone();
            return self.advance();
        }
        self.reloads += 1;
        self.last = Last::Reload;
        Move::Reload { then: self.places.iter().flat_map(|place| place.clicks.clone()).collect() }
    }

    /// A page that is not the same every time goes on as it is.
    fn reloaded(&mut self) -> Move {
        if let Some(place) = self.places.last_mut() {
            place.look = self.current.clone();
        }
        self.advance()
    }

    /// Takes note of what is seen. Gives whether anything of it is new.
    fn learn(&mut self) -> bool {
        let known = self.pieces.len();
        self.fresh_pieces.extend(self.current.pieces.iter().filter(|piece| self.pieces.insert(**piece)));
        let links = self.news.len();
        for link in &self.current.links {
            if self.links.insert(link.clone()) {
                self.news.push(link.clone());
            }
        }
        self.pieces.len() > known || self.news.len() > links
    }

    /// What can be clicked here and could not be before.
    fn fresh(&mut self, is_first: bool) -> VecDeque<Clickable> {
        let names = &mut self.names;
        let is_fresh = |on: &&Clickable| names.insert(on.name.clone()) && (is_first || !on.is_known);
        self.current.clickables.iter().filter(is_fresh).cloned().collect()
    }
}

impl Look {
    /// Whether everything is seen that is seen in the other, but for these.
    fn shows_all_of(&self, other: &Look, gone: &[u32]) -> bool {
        let mut gone = gone.to_vec();
        let mut pieces = self.pieces.iter().peekable();
        other.pieces.iter().all(|piece| {
            while pieces.next_if(|ours| *ours < piece).is_some() {}
            let mut is_gone = || gone.iter().position(|gone| gone == piece).map(|at| gone.swap_remove(at)).is_some();
            pieces.next_if_eq(&piece).is_some() || is_gone()
        })
    }
}

#[cfg(test)]
mod tests;
