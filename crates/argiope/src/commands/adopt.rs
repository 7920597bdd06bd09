//! `argiope adopt`: what was set aside of an archive comes back into its crawl.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use archive::ORPHANED;
use clap::Args;
use printable::{Printable, write_json_line};

use crawl::CrawlDir;
use crawl::adopt::{Adopted, adopt};
use printable::counted;

use crate::exit;

/// The arguments of `argiope adopt`.
#[derive(Args, Debug)]
pub struct AdoptArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The seeds of the crawl, if its state was lost and no dataset names them
    #[arg(value_name = "SEED")]
    pub seed: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. It fails, after its report, where a file is damaged.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, no seed is known, or the disk fails.
pub fn run(args: AdoptArgs) -> anyhow::Result<ExitCode> {
    let dir = CrawlDir::existing(&args.dir)?;
    let plan = dir.plan_to_read()?;
    if !plan.archive {
        bail!("{}: the crawl keeps no archive (--no-archive), so there is nothing to adopt", args.dir.display());
    }
    let seeds = plan.seeds(&args.seed)?;
    let store = dir.open_store_to_adopt(&plan.options)?;
    let adopted = adopt(&dir, store, &plan, seeds)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &adopted)?;
    } else {
        out.write_all(to_text(&adopted, &dir).as_bytes())?;
    }
    Ok(ExitCode::from(if adopted.damaged_records == 0 { exit::DONE } else { exit::FAILED }))
}

fn to_text(adopted: &Adopted, dir: &CrawlDir) -> String {
    let Adopted { files, done, pages, unlinked, left, damaged, .. } = adopted;
    let aside = dir.archive().join(ORPHANED);
    let aside = aside.display();
    if *files == 0 {
        return format!("{aside}: nothing is set aside\n");
    }
    let mut text = format!("{} adopted from {}", counted(*pages, "page"), counted(*files as u64, "file"));
    if *unlinked > 0 {
        text += &format!("; nothing leads to {unlinked} of them: they came in at the depth limit");
    }
    text += "\n";
    for line in damaged {
        text += &format!("damaged: {}\n", Printable(line));
    }
    let told = damaged.len() as u64;
    if adopted.damaged_records > told {
        text += &format!("… and {} more\n", adopted.damaged_records - told);
    }
    if adopted.damaged_records > 0 {
        text += &format!(
            "{} in {}: passed over, and what only they held is lost; all whole records were read\n\
             next: `argiope crawl -o {}` fetches the URLs that links lead to and that have no answer\n",
            counted(adopted.damaged_records, "damaged record"),
            counted(adopted.damaged_files as u64, "file"),
            dir.root().display()
        );
    }
    if adopted.without_original > 0 {
        text += &format!(
            "not adopted: {} in {aside}, since what they repeat is lost\n",
            counted(adopted.without_original, "answer")
        );
    }
    if let Some(refused @ 1..) = left.checked_sub(adopted.without_original) {
        text += &format!("not adopted: {} in {aside}, which the crawl's filters refuse\n", counted(refused, "answer"));
    }
    if adopted.files_to_keep > 0 {
        text += &format!(
            "to keep: {} in {aside}, with the only copy of {} of {}\n",
            counted(adopted.files_to_keep as u64, "file"),
            counted(adopted.versions_only_there, "version"),
            counted(adopted.urls_only_there, "URL"),
        );
        text += &format!(
            "next: adopting them again changes nothing; `argiope crawl -o {} --again` gets the present version of each page\n",
            dir.root().display()
        );
    }
    if *done > 0 {
        text += &format!(
            "every version in {} is in the crawl: {aside}/adopted can be removed\n",
            counted(*done as u64, "file")
        );
    }
    text
}
