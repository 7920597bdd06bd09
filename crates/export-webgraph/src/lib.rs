//! The graph of a crawl, compressed as the WebGraph framework reads it (`docs/exports.md`).
//!
//! ```text
//! state, links ──sort──▶ nodes: (key, URL)      BASENAME.urls; the place of a key is the node's number
//! links ──sort by source──▶ (number, target key) ──sort by target──▶ (number, number) ──sort──▶ BASENAME.graph …
//! ```
//!
//! It is a crate of its own because WebGraph brings 110 crates along, for which those who work on other exports should not wait.
//!
//! Invariant: memory does not grow with the crawl, except for the graph's offsets (`.ef`, some 2 bytes a node).

mod arcs;
mod nodes;

use std::path::{Path, PathBuf};

use dsi_bitstream::traits::BE;
use dsi_progress_logger::no_logging;
use export::{Crawl, ExportError, Filter, Progress};
use webgraph::graphs::arc_list_graph::NodeLabels;
use webgraph::graphs::bvgraph::{BvComp, store_ef_with_data};

use nodes::Nodes;

/// The files of a graph, the one last without which no reader begins.
const ENDINGS: [&str; 5] = ["urls", "graph", "offsets", "ef", "properties"];

/// Writes `BASENAME.graph`, `.offsets`, `.ef`, `.properties` and `.urls`. Its nodes are the URLs that the filter admits; without
/// a filter also those that are only linked to. Its arcs are the links and redirects between them, each once.
///
/// # Errors
/// The crawl or its dataset cannot be read, or the files cannot be written.
pub fn write(crawl: &Crawl<'_>, filter: &Filter, basename: &Path, progress: Progress<'_>) -> Result<(), ExportError> {
    let parent = basename.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // WebGraph puts its endings in the place of one that is there.
    let Some(name) = basename.file_name().filter(|_| basename.extension().is_none()) else {
        let basename = basename.display();
        return Err(ExportError::Other(format!("{basename}: the files of a graph need a name without a dot")));
    };
    let dir = tempfile::Builder::new().prefix(name).suffix(".tmp").tempdir_in(parent);
    let dir = dir.map_err(|error| ExportError::io(parent, error))?;
    let unfinished = dir.path().join("web");
    let file = |ending: &str| unfinished.with_extension(ending);

    let nodes = Nodes::write(crawl, filter, &file("urls"), progress)?;
    let mut arcs = arcs::sorted(crawl, &nodes, &unfinished)?;
    let count = nodes.count();
    let mut failed = None;
    let pairs = std::iter::from_fn(|| match arcs.next()? {
        Ok(pair) => Some((pair, ())),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    let compressed = BvComp::with_basename(&unfinished)
        .comp_labeled_lender::<BE, _, _>(NodeLabels::new(count, pairs), (), Some(count))
        .and_then(|_| store_ef_with_data(count, file("graph"), file("offsets"), file("ef"), no_logging![]));
    if let Some(error) = failed {
        return Err(error);
    }
    compressed.map_err(|error| ExportError::Other(format!("{}: {error:#}", basename.display())))?;
    publish(&unfinished, basename)
}

/// Gives the files their names. While they get them there is no `.properties`, so that nobody reads half of an old graph.
fn publish(unfinished: &Path, basename: &Path) -> Result<(), ExportError> {
    let place = |ending: &str| {
        let mut name = basename.as_os_str().to_owned();
        name.push(format!(".{ending}"));
        PathBuf::from(name)
    };
    let properties = place("properties");
    match std::fs::remove_file(&properties) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(ExportError::io(&properties, error)),
        _ => {}
    }
    for ending in ENDINGS {
        let from = unfinished.with_extension(ending);
        let synced = std::fs::File::open(&from).and_then(|file| file.sync_all());
        let renamed = synced.and_then(|()| std::fs::rename(&from, place(ending)));
        renamed.map_err(|error| ExportError::io(&place(ending), error))?;
    }
    Ok(())
}
