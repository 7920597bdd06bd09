//! Sets of outcomes in SQL, made from [`Outcome`], which alone says what belongs to them.

use model::Outcome;

/// Whether an outcome belongs to a set.
type Has = fn(Outcome) -> bool;

/// What stands for a set in a statement, and what is in it.
const SETS: [(&str, Has); 4] = [
    ("<fetched>", Outcome::is_fetched),
    ("<page>", Outcome::is_page),
    ("<refused>", Outcome::is_refused),
    ("<of its own URL>", |outcome| outcome.is_fetched() && outcome != Outcome::Duplicate),
];

/// A statement with the words of each set, in the order of [`Outcome::ALL`].
pub(crate) fn spelled_out(statement: &str) -> String {
    SETS.iter().fold(statement.to_owned(), |statement, (name, has)| {
        let words = Outcome::ALL.iter().filter(|outcome| has(**outcome)).map(|outcome| format!("'{outcome}'"));
        statement.replace(name, &words.collect::<Vec<_>>().join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_becomes_the_words_of_its_outcomes() {
        assert_eq!(
            spelled_out("v.outcome IN (<page>) OR v.outcome NOT IN (<refused>)"),
            "v.outcome IN ('html', 'binary', 'duplicate') OR v.outcome NOT IN ('disallowed', 'excluded', 'trap')"
        );
    }

    /// The functions of a schema are made again only with a new version, so one of this version has these words.
    #[test]
    fn the_functions_of_the_schema_have_the_sets_that_this_version_began_with() {
        assert_eq!(spelled_out("<fetched>"), "'html', 'binary', 'duplicate', 'not_modified'");
        assert_eq!(spelled_out("<page>"), "'html', 'binary', 'duplicate'");
        assert_eq!(spelled_out("<of its own URL>"), "'html', 'binary', 'not_modified'");
    }
}
