//! Parts of a crawl that are made from its plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use against::Against;
use anyhow::{Context, bail};
use archive::{Archive, ArchiveInState, ORPHANED, Orphan};
use engine::clock::Clock;
use engine::{Browsing, RenderMode};
use fetch::Fetcher;
use render::Renderer;
use settings::plan::Plan;
use settings::usage;
use store::Store;

use crate::{CrawlDir, Notice};

/// Rendering by the browser of the crawl.
pub fn browsing(
    (mode, renderer): (RenderMode, Renderer),
    plan: &Plan,
    fetcher: Arc<Fetcher>,
    clock: Clock,
    notices: &mut Vec<Notice>,
) -> Browsing {
    if Renderer::is_sandbox_off() {
        notices.push(Notice::NoSandbox);
    }
    Browsing::new(renderer, mode, fetcher, Arc::new(plan.settings.clone()), clock)
}

/// The archive of the crawl, if it keeps one.
///
/// # Errors
/// It cannot be opened or written to, or it is not of this state.
pub fn open_archive(
    dir: &CrawlDir,
    plan: &Plan,
    store: &dyn Store,
    notices: &mut Vec<Notice>,
) -> anyhow::Result<Option<Archive>> {
    if !plan.archive {
        return Ok(None);
    }
    let settings = plan.options.to_toml("")?;
    let in_force = settings.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut info = vec![
        ("software".to_owned(), format!("argiope/{}", env!("CARGO_PKG_VERSION"))),
        ("format".to_owned(), "WARC File Format 1.1".to_owned()),
        (
            "conformsTo".to_owned(),
            "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/".to_owned(),
        ),
        ("robots".to_owned(), plan.options.robots.clone().unwrap_or_default()),
        ("http-header-user-agent".to_owned(), plan.options.user_agent.clone().unwrap_or_default()),
        ("argiope-settings".to_owned(), in_force.collect::<Vec<_>>().join("; ")),
    ];
    if plan.cookies.is_some() || !plan.fetch.keyring.is_empty() || !plan.credentials.is_empty() {
        let redacted = "the values of Cookie and Authorization in requests, and of Set-Cookie in responses; elsewhere in fields, and in \
                        the bodies of requests of rendered pages, but not in URLs and bodies of responses, the values of cookies, \
                        secret request fields, passwords and fields of logins that have 8 bytes or more"
            .to_owned();
        info.push(("argiope-redacted".to_owned(), redacted));
    }
    let known = ArchiveInState::of(store, &plan.settings.limits)?;
    let archive = Archive::open(&dir.archive(), &known, info, plan.segment_bytes_max)?.compressed(plan.compression);
    notices.extend(set_aside(archive.set_aside(), dir.root(), &dir.archive()));
    Ok(Some(archive))
}

/// Whether earlier archives can be given to a crawl: they are there, are not its own, and it has an archive that may refer to them. Nothing is
/// written.
///
/// # Errors
/// They cannot.
pub fn check_against(dir: &CrawlDir, plan: &Plan, given: &[PathBuf]) -> anyhow::Result<()> {
    if given.is_empty() {
        return Ok(());
    }
    if !plan.archive {
        bail!(usage("--against is about records of the archive, which --no-archive leaves out"));
    }
    let own = canonical(dir.root())?;
    for path in given {
        let there =
            std::fs::canonicalize(path).map_err(|error| usage(format!("--against {}: {error}", path.display())))?;
        if there.starts_with(&own) || own.starts_with(&there) {
            bail!(usage(format!("--against {}: this is where the crawl itself writes", path.display())));
        }
    }
    against::check(given).map_err(|error| usage(format!("--against {error}")))
}

/// The path without symbolic links, of a directory that may be missing.
fn canonical(dir: &Path) -> anyhow::Result<PathBuf> {
    let absolute = std::path::absolute(dir).with_context(|| dir.display().to_string())?;
    let there = absolute.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
    Ok(there.map_or(absolute.clone(), |(above, there)| match absolute.strip_prefix(above) {
        Ok(rest) if rest != Path::new("") => there.join(rest),
        _ => there,
    }))
}

/// Opens what earlier archives hold, and takes in those that are given. They may be refused, so this comes before the run begins.
///
/// # Errors
/// An archive cannot be read.
pub fn open_against(
    dir: &CrawlDir,
    plan: &Plan,
    given: &[PathBuf],
    notices: &mut Vec<Notice>,
) -> anyhow::Result<Option<Against>> {
    let place = dir.archive().join(against::DIR);
    if !given.is_empty() {
        let archive = dir.archive();
        fresh::directory(&archive).with_context(|| archive.display().to_string())?;
        let taken = against::take_in(&place, given).map_err(|error| usage(format!("--against {error}")))?;
        notices.push(Notice::TakenIn {
            payloads: taken.payloads,
            files: taken.files,
            unverifiable: taken.unverifiable,
            links: taken.links,
            cut: taken.cut,
        });
    }
    Ok(if plan.archive { Against::open(&place)? } else { None })
}

/// Reports the files that were just set aside.
fn set_aside(orphans: &[Orphan], root: &Path, archive: &Path) -> Option<Notice> {
    let bytes = orphans.iter().map(|orphan| orphan.bytes).sum();
    let (place, root) = (archive.join(ORPHANED), root.to_owned());
    (!orphans.is_empty()).then_some(Notice::SetAside { files: orphans.len() as u64, bytes, place, root })
}
