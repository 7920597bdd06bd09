//! Views of the table of URLs that somebody saved in the crawl's directory: a filter and an order under a name.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use crawl::CrawlDir;
use crawl::standing::Standing;
use crawl::views::{self, NAME_CHARS_MAX, SavedView};
use maud::{Markup, html};
use printable::Printable;

use crate::base::to;
use crate::failure::Failure;
use crate::filter::{Filter, Next};
use crate::query::{Fields, written};
use crate::{Ui, links};

/// The saved views, or why they cannot be read.
pub(crate) type Views = Result<Vec<SavedView>, String>;

/// The views of a crawl.
///
/// # Errors
/// The directory holds no crawl.
pub(crate) fn all(crawl: &Standing) -> anyhow::Result<Views> {
    let dir = CrawlDir::existing(crawl.root())?;
    Ok(views::all_of(&dir).map_err(|error| format!("{error:#}")))
}

/// Saves what a form chooses.
pub(crate) async fn save(State(ui): State<Ui>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let filter = Filter::of(&fields);
    let chosen = filter.clone();
    let view = SavedView { name: fields.needed("name", "Name of the view")?, query: written(&filter.fields()) };
    let save = move |crawl: &Standing| {
        // What cannot be shown is not kept.
        chosen.of_crawl(crawl.now()?.view())?;
        views::save(&CrawlDir::existing(crawl.root())?, view.clone())
    };
    let ((), under_way) = ui.change(save).await?;
    Ok(under_way.until_written(Redirect::to(&filter.link("/urls", &Next::None)).into_response()))
}

/// Deletes the view that a form names, and shows the table as it was.
pub(crate) async fn delete(State(ui): State<Ui>, form: String) -> Result<Response, Failure> {
    let fields = Fields::parse(&form);
    let name = fields.needed("name", "Name of the view")?;
    let asked = name.clone();
    let (is_deleted, under_way) =
        ui.change(move |crawl| views::delete(&CrawlDir::existing(crawl.root())?, &asked)).await?;
    let table = Redirect::to(&Filter::of(&fields).link("/urls", &Next::None));
    match is_deleted {
        true => Ok(under_way.until_written(table.into_response())),
        false => Err(Failure::NotFound(format!("there is no view `{name}` (any more)"))),
    }
}

/// The views as links, each with a button that deletes it, and the form that saves the table as it is.
pub(crate) fn list(views: &Views, filter: &Filter) -> Markup {
    let views = match views {
        Ok(views) => views,
        Err(why) => return html! { p.failure { (Printable(why)) } },
    };
    html! {
        @if !views.is_empty() {
            section.views aria-label="Saved views" {
                ul { @for view in views { li { (line(view, filter)) } } }
            }
        }
        details.views {
            summary { "Save this view" }
            form.save method="post" action=(to("/urls/views")) {
                (as_hidden(filter))
                label { "Name of the view" input type="text" name="name" maxlength=(NAME_CHARS_MAX) required autocomplete="off"; }
                button { "Save" }
            }
        }
    }
}

/// A view. Its file may come from somebody else, so its link is made of the fields that a filter has.
fn line(SavedView { name, query }: &SavedView, shown: &Filter) -> Markup {
    let saved = Filter::of(&Fields::parse(query));
    html! {
        a href=(saved.link("/urls", &Next::None)) aria-current=[(saved == *shown).then_some("true")] { (Printable(name)) }
        " "
        form.undo method="post" action=(to("/urls/views/delete")) {
            (as_hidden(shown)) (links::hidden("name", name))
            button aria-label=(format!("Delete the view {}", Printable(name))) { "Delete" }
        }
    }
}

fn as_hidden(filter: &Filter) -> Markup {
    html! { @for (name, value) in filter.fields().iter().filter(|(_, value)| !value.is_empty()) { (links::hidden(name, value)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_somebody_else_leads_to_the_table_and_nowhere_else() {
        let query = "site=a.test&after=x&javascript:alert(1)=\"><script>&sort=<b>";
        let view = SavedView { name: "<script>\"".to_owned(), query: query.to_owned() };
        let shown = list(&Ok(vec![view]), &Filter::default()).into_string();
        assert!(shown.contains("href=\"/urls?site=a.test&amp;sort=%3Cb%3E\">&lt;script&gt;"), "{shown}");
        assert!(!shown.contains("<script>") && !shown.contains("javascript"), "{shown}");
    }

    #[test]
    fn views_that_cannot_be_read_are_not_offered_to_be_changed() {
        let shown = list(&Err("views.json: <b>".to_owned()), &Filter::default()).into_string();
        assert_eq!(shown, "<p class=\"failure\">views.json: &lt;b&gt;</p>");
    }
}
