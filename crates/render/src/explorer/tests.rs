//! Pages as words: what is seen of each state, and where each click leads.

use super::*;

/// A page. A state is the words that are seen; `+word` can be clicked, `/word` is a link. With `!` in it, no text is new.
struct Page {
    first: &'static str,
    /// From a state, by a click on a word, to another one.
    clicks: &'static [(&'static str, &'static str, &'static str)],
    /// From a state to another, by the element that was chosen before, and by the escape key.
    undoes: &'static [(&'static str, Undo, &'static str)],
}

fn look(state: &str) -> Look {
    let words: Vec<&str> = state.split(' ').collect();
    let mut pieces: Vec<u32> = words.iter().map(|word| hash(word)).collect();
    pieces.sort_unstable();
    let clickable = |word: &&str| {
        word.strip_prefix('+').map(|name| {
            let group = hash(name.trim_end_matches(|c: char| c.is_ascii_digit()));
            Clickable { name: name.to_owned(), group, is_known: false, own: vec![hash(word)] }
        })
    };
    let links = words.iter().filter(|word| word.starts_with('/')).map(|word| (*word).to_owned()).collect();
    Look {
        state: state.to_owned(),
        pieces,
        has_new_text: !state.contains('!'),
        links,
        clickables: words.iter().filter_map(clickable).collect(),
    }
}

fn hash(word: &str) -> u32 {
    word.bytes().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)))
}

/// All moves on a page, the links that were found, and what was left out.
fn explore(page: &Page, clicks_max: u32) -> (Vec<String>, String, String) {
    let mut explorer = Explorer::new(clicks_max);
    let (mut state, mut clicked) = (page.first.to_owned(), Vec::<String>::new());
    let by_click = |state: &str, name: &str| {
        let found = page.clicks.iter().find(|(from, on, _)| *from == state && *on == name);
        found.map_or(state.to_owned(), |(_, _, to)| (*to).to_owned())
    };
    let (mut moves, mut links) = (Vec::new(), Vec::new());
    let mut seen = Some(look(&state));
    loop {
        let next = explorer.next(seen);
        links.extend(explorer.take_links());
        let before = state.clone();
        match next {
            Move::End => break,
            Move::Keep => moves.push("keep".to_owned()),
            Move::Click { depth, name } => {
                clicked.truncate(depth);
                state = by_click(&state, &name);
                moves.push(name.clone());
                clicked.push(name);
            }
            Move::Undo { depth, how } => {
                state = match how {
                    Undo::Again => by_click(&state, &clicked[depth]),
                    how => {
                        let found = page.undoes.iter().find(|(from, by, _)| *from == state && *by == how);
                        found.map_or(state, |(_, _, to)| (*to).to_owned())
                    }
                };
                if state != before {
                    moves.push(how.as_str().to_owned());
                }
            }
            Move::Reload { then } => {
                state = then.iter().fold(page.first.to_owned(), |state, name| by_click(&state, name));
                moves.push(format!("reload{}", then.iter().map(|name| format!(" {name}")).collect::<String>()));
            }
        }
        assert!(moves.len() < 1_000, "it comes to an end");
        seen = (state != before).then(|| look(&state));
    }
    let left_out = explorer.left_out();
    (moves, links.join(" "), if left_out.total() == 0 { String::new() } else { left_out.to_string() })
}

#[test]
fn every_element_is_tried_from_the_same_state() {
    let table = [
        ("nothing to click", Page { first: "a", clicks: &[], undoes: &[] }, "", ""),
        ("a click without effect", Page { first: "+a +b", clicks: &[], undoes: &[] }, "a b", ""),
        (
            "a menu closes by itself",
            Page { first: "+m", clicks: &[("+m", "m", "+m /x +i"), ("+m /x +i", "m", "+m")], undoes: &[] },
            "m i again",
            "/x",
        ),
        (
            "a button behind a button behind a button",
            Page {
                first: "+a",
                clicks: &[("+a", "a", "x +b"), ("x +b", "a", "+a"), ("x +b", "b", "y +c"), ("y +c", "c", "/z")],
                undoes: &[("/z", Undo::Escape, "y +c"), ("y +c", Undo::Escape, "x +b")],
            },
            "a b c escape escape again",
            "/z",
        ),
        (
            "tabs: the one before is chosen again",
            Page {
                first: "+t1 +t2 +t3 one",
                clicks: &[
                    ("+t1 +t2 +t3 one", "t2", "+t1 +t2 +t3 /two"),
                    ("+t1 +t2 +t3 one", "t3", "+t1 +t2 +t3 /three"),
                ],
                undoes: &[
                    ("+t1 +t2 +t3 /two", Undo::Before, "+t1 +t2 +t3 one"),
                    ("+t1 +t2 +t3 /three", Undo::Before, "+t1 +t2 +t3 one"),
                ],
            },
            "t1 t2 before t3 before",
            "/two /three",
        ),
        (
            "a route: back in the history",
            Page { first: "+a +b", clicks: &[("+a +b", "a", "/x")], undoes: &[("/x", Undo::Back, "+a +b")] },
            "a back b",
            "/x",
        ),
        (
            "more and more, until there is none",
            Page {
                first: "p +more",
                clicks: &[("p +more", "more", "p p2 +more"), ("p p2 +more", "more", "p p2 /p3 +more")],
                undoes: &[],
            },
            "more again keep",
            "/p3",
        ),
        (
            "more, and the button is gone",
            Page { first: "p +more", clicks: &[("p +more", "more", "p p2 /p3")], undoes: &[] },
            "more keep",
            "/p3",
        ),
        (
            "what cannot be undone",
            Page { first: "+a +b", clicks: &[("+a +b", "a", "gone /x"), ("+a +b", "b", "/y")], undoes: &[] },
            "a reload b reload",
            "/x /y",
        ),
        (
            "what cannot be undone, behind something",
            Page {
                first: "+a",
                clicks: &[("+a", "a", "+b +c"), ("+b +c", "b", "/x"), ("+b +c", "c", "/y"), ("+b +c", "a", "+a")],
                undoes: &[],
            },
            "a b reload a c reload a again",
            "/x /y",
        ),
    ];
    for (name, page, moves, links) in table {
        let (moved, found, left_out) = explore(&page, 100);
        assert_eq!((moved.join(" ").as_str(), found.as_str(), left_out.as_str()), (moves, links, ""), "{name}");
    }
}

#[test]
fn what_has_no_end_is_left_out_and_counted() {
    let deeper = Page {
        first: "+a1",
        clicks: &[
            ("+a1", "a1", "b +a2"),
            ("b +a2", "a2", "c +a3"),
            ("c +a3", "a3", "d +a4"),
            ("d +a4", "a4", "e +a5"),
            ("e +a5", "a5", "f +a6"),
            ("f +a6", "a6", "g +a7"),
        ],
        undoes: &[],
    };
    let wizard = Page {
        first: "+n",
        clicks: &[
            ("+n", "n", "+n a"),
            ("+n a", "n", "+n b"),
            ("+n b", "n", "+n c"),
            ("+n c", "n", "+n d"),
            ("+n d", "n", "+n e"),
            ("+n e", "n", "+n f"),
            ("+n f", "n", "+n g"),
        ],
        undoes: &[],
    };
    let table = [
        ("one level deeper for ever", deeper, 100, 5, "1 actions left out (depth)"),
        ("a next step for ever", wizard, 100, 5, "1 actions left out (depth)"),
    ];
    for (name, page, clicks_max, clicks, left_out) in table {
        let (moves, _, told) = explore(&page, clicks_max);
        let clicked = moves.iter().filter(|by| *by == "again" || by.len() <= 2).count();
        assert_eq!((clicked.min(clicks), told.as_str()), (clicks, left_out), "{name}: {moves:?}");
    }
    let two = Page { first: "+a +b +c", clicks: &[], undoes: &[] };
    assert_eq!(
        explore(&two, 2),
        (vec!["a".to_owned(), "b".to_owned()], String::new(), "1 actions left out (render_clicks)".to_owned())
    );
}

#[test]
fn what_looks_like_what_brought_nothing_is_clicked_last() {
    let page = Page {
        first: "+t1 +t2 +t3 +t4 +t5 +t6 +t7 +other",
        clicks: &[("+t1 +t2 +t3 +t4 +t5 +t6 +t7 +other", "t7", "+t1 +t2 +t3 +t4 +t5 +t6 +t7 +other /seven")],
        undoes: &[],
    };
    let (moves, links, left_out) = explore(&page, 100);
    assert_eq!(
        (moves.join(" ").as_str(), links.as_str(), left_out.as_str()),
        ("t1 t2 t3 t4 t5 other t6 t7 keep", "/seven", "")
    );
}

#[test]
fn text_that_was_there_before_is_no_more_of_it() {
    let page = Page {
        first: "+copy +tab",
        clicks: &[
            ("+copy +tab", "copy", "!copied +copy +tab"),
            ("!copied +copy +tab", "copy", "!copied !copied +copy +tab"),
            ("!copied !copied +copy +tab", "copy", "!copied !copied !copied +copy +tab"),
            ("!copied !copied +copy +tab", "tab", "/two"),
        ],
        undoes: &[],
    };
    let (moves, links, left_out) = explore(&page, 100);
    assert_eq!((moves.join(" ").as_str(), links.as_str()), ("copy again keep tab reload copy", "/two"));
    assert_eq!(left_out, "");
}

#[test]
fn no_element_takes_the_clicks_of_others() {
    // Each click brings a new link, for ever.
    let mut explorer = Explorer::new(20);
    let state = |links: usize| {
        let links: String = (0..links).map(|n| format!(" /{n}")).collect();
        Some(look(&format!("+more +a +b +c{links}")))
    };
    let (mut next, mut links, mut clicked) = (explorer.next(state(0)), 0, Vec::new());
    while next != Move::End {
        let brings_more = match &next {
            Move::Click { name, .. } => {
                clicked.push(name.clone());
                name == "more"
            }
            Move::Undo { how, .. } => *how == Undo::Again && clicked.last().is_some_and(|name| name == "more"),
            Move::Keep | Move::Reload { .. } | Move::End => false,
        };
        links += usize::from(brings_more);
        next = explorer.next(if brings_more { state(links) } else { None });
    }
    assert_eq!(clicked, ["more", "a", "b", "c"]);
    assert_eq!((links, explorer.left_out().to_string().as_str()), (18, "1 actions left out (render_clicks)"));
}

#[test]
fn what_is_stopped_is_counted() {
    let mut explorer = Explorer::new(100);
    assert_eq!(explorer.next(Some(look("+a +b +c"))), Move::Click { depth: 0, name: "a".to_owned() });
    explorer.stop(LeftOut::Time);
    assert_eq!(explorer.left_out().to_string(), "3 actions left out (render_time)");
}
