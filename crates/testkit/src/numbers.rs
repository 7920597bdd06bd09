//! The numbers of the report in the interface, each with the list that it leads to.

use std::time::Duration;

use crate::ui::Ui;

/// The pause before the report is asked for again, while it is counted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

const SUM: &str = "sums are kept, and not what they count";
const MEASURE: &str = "shares, means, sizes and times count nothing";
const KINDS: &str = "the dataset has the kinds of documents, and the state has not";
const NEAR: &str = "near duplicates are counted, and not kept";
const VISITS: &str = "visits of a site are counted, and not its URLs";

/// The numbers that lead nowhere: the table, the label of the row or column, or nothing for the whole table, and the reason that stands above
/// the table.
const UNLISTED: [(&str, &str, &str); 20] = [
    ("overview", "sites", "the table of sites marks those of seeds"),
    ("overview", "images", SUM),
    ("overview", "links", SUM),
    ("overview", "images a page, on average", MEASURE),
    ("overview", "links a page, on average", MEASURE),
    ("overview", "payload bytes received", MEASURE),
    ("overview", "near duplicates", NEAR),
    ("overview", "pdf documents", KINDS),
    ("errors-by-site", "share", MEASURE),
    ("in-trouble", "fetched", VISITS),
    ("binary-by-type", "", KINDS),
    ("images", "", SUM),
    ("links", "", SUM),
    ("near-duplicates", "", NEAR),
    ("slowest-sites", "last answer took", MEASURE),
    ("slowest-sites", "fetched", VISITS),
    ("freshness", "", MEASURE),
    ("largest", "size", MEASURE),
    ("items", "", "the dataset has the rows of items"),
    ("rendering", "", "the dataset has the pages shown in a browser"),
];

/// Checks that each number of the report leads to a list of so many, or is one of [`UNLISTED`]. Gives the tables with numbers that lead to a
/// list, and their links.
#[must_use]
pub fn assert_all_lead(ui: &Ui) -> Vec<(String, String)> {
    let report = counted(ui);
    let mut followed = Vec::new();
    for section in report.split("<section id=\"").skip(1) {
        let table = section.split('"').next().expect("a name");
        let section = section.split("</section>").next().expect("an end");
        let labels: Vec<String> = between(section, "<th scope=", "</th>").map(text).collect();
        for row in between(section, "<tr><td", "</tr>") {
            for (at, cell) in row.split("<td").enumerate() {
                let number = text(cell);
                if !cell.contains("class=\"number\"") || !number.contains(|digit| ('1'..='9').contains(&digit)) {
                    continue;
                }
                let names = [text(row.split("</td>").next().expect("a cell")), labels[at].clone()];
                match cell.split_once("<a href=\"") {
                    Some((_, link)) => {
                        let link = link.split('"').next().expect("an address").replace("&amp;", "&");
                        let length = length(ui, &report, &link);
                        assert_eq!(Some(length), number.parse().ok(), "{table}: {names:?}: {link}");
                        followed.push((table.to_owned(), link));
                    }
                    None => {
                        let is_this = |(of, name, why): &(&str, &str, &str)| {
                            let is_named = name.is_empty() || names.iter().any(|own| own == name);
                            *of == table && is_named && section.contains(why)
                        };
                        assert!(UNLISTED.iter().any(is_this), "{table}: {names:?}: {number} has no list");
                    }
                }
            }
        }
    }
    followed
}

/// The page of the report.
fn counted(ui: &Ui) -> String {
    loop {
        let report = ui.page("/report");
        if !report.contains("id=\"awaited\"") {
            return report;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// How many a list has.
fn length(ui: &Ui, report: &str, link: &str) -> u64 {
    if let Some(query) = link.strip_prefix("/urls?") {
        // The first page of the list is there, and its file has all of them.
        let _ = ui.page(link);
        return ui.page(&format!("/urls.jsonl?{query}")).lines().count() as u64;
    }
    if let Some(table) = link.strip_prefix('#') {
        let section = report.split_once(&format!("<section id=\"{table}\"")).expect("the table").1;
        return section.split("</section>").next().expect("an end").matches("<tr><td").count() as u64;
    }
    let page = ui.page(link.split('#').next().expect("an address"));
    let first_number = |text: &str| {
        let digits = text.chars().skip_while(|char| !char.is_ascii_digit()).take_while(char::is_ascii_digit);
        digits.collect::<String>().parse().expect("a number")
    };
    match link.split_once('#') {
        Some((_, place)) => {
            let section = page.split_once(&format!("id=\"{place}\"")).expect("the list").1;
            let section = section.split("<ul").next().expect("a heading");
            // Where repeats, redirects and links of the page to itself are in the list, the others are counted beside it.
            first_number(section.rsplit("class=\"count\">").find(|part| !part.contains(" to ")).expect("a count"))
        }
        None => first_number(page.split_once("</a>, then at ").expect("the copies").1),
    }
}

/// The parts of a text between two others.
fn between<'t>(text: &'t str, begin: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(begin).skip(1).map(move |rest| rest.split(end).next().unwrap_or_default())
}

/// The text of a piece of markup that begins within a tag.
fn text(markup: &str) -> String {
    let text = between(markup, ">", "<").collect::<String>();
    text.replace("&lt;", "<").replace("&quot;", "\"").replace("&amp;", "&").trim().to_owned()
}
