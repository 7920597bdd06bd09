//! Takes fields out of pages with a hook, and prints them with a sink: `fields URL DIR`. The dataset has them in its column `extra`.

use argiope::{Admit, Answer, Candidate, CrawlDir, Extra, Hook, Options, Plan, Recorded, Session, SinkError};

/// Reads `<meta name="price" content="…">`, and lets only pages without a query in.
struct Prices;

impl Hook for Prices {
    fn admit(&self, candidate: &Candidate) -> Admit {
        match candidate.url.as_str().contains('?') {
            true => Admit::Refuse("a sorted list".to_owned()),
            false => Admit::Accept,
        }
    }

    fn responded(&self, answer: &Answer<'_>) -> Extra {
        let page = String::from_utf8_lossy(&answer.response.body);
        let price = page.split_once("<meta name=\"price\" content=\"").and_then(|(_, rest)| rest.split('"').next());
        let Some(price) = price.and_then(|price| price.parse::<f64>().ok()) else { return Extra::default() };
        let fields = [("price".to_owned(), price.into())].into();
        Extra { fields, tags: vec!["product".to_owned()], ..Extra::default() }
    }
}

/// Prints what the hook found, once its commit is durable.
fn print(recorded: &Recorded<'_>) -> Result<(), SinkError> {
    for visited in &recorded.visited {
        if let Some(extra) = visited.details.as_ref().and_then(|details| details.extra.as_ref()) {
            println!("{} {extra}", visited.candidate.url);
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, dir] = arguments.as_slice() else { anyhow::bail!("usage: fields URL DIR") };
    let plan = Plan::new(&Options::default())?;
    let seeds = plan.seeds(std::slice::from_ref(url))?;
    Session::builder(CrawlDir::at(dir), plan).seeds(seeds).hook(Prices).sink(print).open()?.run().await?;
    Ok(())
}
