//! A farm of a million host names on twenty addresses beside ten thousand honest sites: do the others come to their end, and in how much memory?
//!
//! `cargo bench -p sim --bench farm [-- HOSTS SITES]`. The engine is the real one, with the limits that the product has. Web, network and store are
//! computed from names and numbers, so that what memory there is beside theirs is the engine's. Time is virtual.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]
#![expect(clippy::cast_precision_loss, reason = "shares and rates are shown")]

mod crawl;
mod memory;
mod queues;
mod waiting;
mod web;

use crawl::{Crawl, Measured};
use engine::clock::Clock;
use memory::{peak_bytes, resident_bytes};
use web::{Names, Web};

// As the product has it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const FARM_HOSTS: u32 = 1_000_000;
const HONEST_SITES: u32 = 10_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
    let (farm, honest) = (number(0).unwrap_or(FARM_HOSTS), number(1).unwrap_or(HONEST_SITES));
    let names = [Names::OneDomain, Names::ManyDomains];
    match words.get(2).and_then(|word| names.into_iter().find(|names| format!("{names:?}") == *word)) {
        Some(names) => measure(Web { farm, honest, names }),
        // Each in a process of its own: what one has freed would hide what the next takes.
        None => names.into_iter().for_each(|names| {
            let this = std::env::current_exe().expect("this program");
            let words = [farm.to_string(), honest.to_string(), format!("{names:?}")];
            assert!(std::process::Command::new(this).args(words).status().expect("a process").success());
        }),
    }
}

fn measure(web: Web) {
    println!("{} farm hosts ({:?}), {} honest sites of {} pages each", web.farm, web.names, web.honest, web::PAGES);
    let (crawl, clock) = (Crawl::new(web), Clock::start());
    let (before, began) = (resident_bytes(), clock.now());
    memory::forget_peak();
    let Measured { honest_done, took, all, passing, steps, .. } = with_memory(crawl.run(), before);
    let wall = clock.now().since(began).as_secs_f64();
    println!(
        "  honest sites finished: {honest_done} of {}, after {:.0} s of virtual time",
        web.honest,
        took.as_secs_f64()
    );
    println!("  visits: {} honest, {} of the farm: {:.2} %", all.honest, all.farm, all.share_of_farm());
    println!(
        "  while an honest site might have been asked: {} honest, {} of the farm: {:.2} %",
        passing.honest,
        passing.farm,
        passing.share_of_farm()
    );
    println!("  {steps} steps in {wall:.1} s: {:.0} a second", steps as f64 / wall);
}

/// Prints what memory there is beside what there was before.
fn with_memory(measured: Measured, before: u64) -> Measured {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!("  farm hosts known: {}", measured.farm_known);
    println!("  an honest site waited for its first visit: {:.1} s at most", measured.longest.as_secs_f64());
    println!(
        "  resident beside web and store: {:.0} MB at most, {:.0} MB at the end",
        megabytes(peak_bytes().saturating_sub(before)),
        megabytes(measured.resident.saturating_sub(before))
    );
    println!(
        "  the front, as it counts itself: {:.0} MB at most, {:.0} MB at the end",
        megabytes(measured.front_peak),
        megabytes(measured.front_bytes)
    );
    measured
}
