//! What text and values of attributes mean: character references (HTML Standard, 13.2.5.72 to 13.2.5.80), and the characters
//! that do not stand for themselves.

use crate::{blocks, swar};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Whether references count here, and by which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    None,
    InText,
    /// A name without its semicolon is none before `=`, a letter or a digit: `?a=1&copy=2`.
    InAttribute,
}

/// The first byte of a word that may not stand for itself, and perhaps later ones.
#[inline]
pub(super) fn special(word: u64) -> u64 {
    swar::first(word, b'&') | swar::first(word, b'\r') | swar::first(word, 0)
}

/// Where the next byte is that may not stand for itself.
#[inline]
fn next_special(text: &[u8]) -> Option<usize> {
    blocks::position(text, |block| blocks::are(block, b'&') | blocks::are(block, b'\r') | blocks::are(block, b'\0'))
}

/// The pieces of what a text means: references decoded, line breaks as `\n`, and each NUL character as `nul`.
#[inline]
pub(super) fn pieces(raw: &str, references: References, nul: &str, mut each: impl FnMut(&str)) {
    let mut rest = raw;
    while let Some(at) = next_special(rest.as_bytes()) {
        let (plain, special) = rest.split_at(at);
        if !plain.is_empty() {
            each(plain);
        }
        let length = match special.as_bytes()[0] {
            b'&' => reference(special, references, &mut each),
            b'\0' => one(nul, &mut each),
            // Of a pair, the line feed counts.
            _ if special.as_bytes().get(1) == Some(&b'\n') => 1,
            _ => one("\n", &mut each),
        };
        rest = &special[length..];
    }
    if !rest.is_empty() {
        each(rest);
    }
}

/// The pieces in one, which is the text itself if every character stands for itself.
#[inline]
pub(super) fn whole<'t>(raw: &'t str, references: References, nul: &str) -> Cow<'t, str> {
    if next_special(raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut whole = String::with_capacity(raw.len());
    pieces(raw, references, nul, |piece| whole.push_str(piece));
    Cow::Owned(whole)
}

fn one(character: &str, each: &mut impl FnMut(&str)) -> usize {
    each(character);
    1
}

/// Decodes the reference that a text begins with, or gives its `&`; how many bytes that was.
fn reference(text: &str, references: References, each: &mut impl FnMut(&str)) -> usize {
    let name = &text[1..];
    let found = match references {
        References::None => None,
        _ if name.starts_with('#') => numeric(&name[1..]).map(|(character, length)| {
            each(character.encode_utf8(&mut [0; 4]));
            length + 2
        }),
        References::InText => named(name).map(|(characters, length)| one(characters, each) + length),
        References::InAttribute => named(name)
            .filter(|&(_, length)| !continues(name, length))
            .map(|(characters, length)| one(characters, each) + length),
    };
    found.unwrap_or_else(|| one("&", each))
}

/// Whether what looks like a name without its semicolon, of this length, goes on.
fn continues(name: &str, length: usize) -> bool {
    let name = name.as_bytes();
    name[length - 1] != b';' && name.get(length).is_some_and(|&next| next == b'=' || next.is_ascii_alphanumeric())
}

/// The longest name, with its semicolon, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// The longest name that also counts without a semicolon, in bytes.
const BARE_NAME_BYTES_MAX: usize = 6;

/// The characters of the longest name that a text begins with, and its length.
fn named(text: &str) -> Option<(&'static str, usize)> {
    let letters = text.bytes().take(NAME_BYTES_MAX).take_while(u8::is_ascii_alphanumeric).count();
    let whole = text.get(..=letters).filter(|name| name.ends_with(';'));
    if let Some((name, characters)) = whole.and_then(|name| Some((name, look_up(name)?))) {
        return Some((characters, name.len()));
    }
    let bare = |length| Some((look_up(&text[..length])?, length));
    (1..=letters.min(BARE_NAME_BYTES_MAX)).rev().find_map(bare)
}

fn look_up(name: &str) -> Option<&'static str> {
    /// The names of the standard (13.5, "Named character references"), sorted, each with a tab and its characters.
    static NAMES: LazyLock<Vec<(&str, &str)>> =
        LazyLock::new(|| include_str!("references.tsv").lines().filter_map(|line| line.split_once('\t')).collect());
    Some(match name {
        // Most of all.
        "amp;" => "&",
        "lt;" => "<",
        "gt;" => ">",
        "quot;" => "\"",
        "nbsp;" => "\u{a0}",
        // These two cannot be in the table.
        "NewLine;" => "\n",
        "Tab;" => "\t",
        _ => NAMES[NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?].1,
    })
}

/// The character of a number behind `&#`, and the length of that number, with its semicolon.
fn numeric(text: &str) -> Option<(char, usize)> {
    let (radix, prefix) = if text.starts_with(['x', 'X']) { (16, 1) } else { (10, 0) };
    let digits = text[prefix..].bytes().take_while(|&byte| char::from(byte).is_digit(radix)).count();
    if digits == 0 {
        return None;
    }
    let end = prefix + digits;
    // Only too large a number fails, and such a one is none of a character either.
    let number = u32::from_str_radix(&text[prefix..end], radix).unwrap_or(u32::MAX);
    Some((character(number), end + usize::from(text[end..].starts_with(';'))))
}

/// The character of a number ("numeric character reference end state").
fn character(number: u32) -> char {
    match number {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => WINDOWS_1252[number as usize - 0x80],
        _ => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// What the numbers from 0x80 to 0x9f mean, where people wrote bytes of windows-1252 as numbers.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];
