//! The `argiope` command.

use std::process::ExitCode;

/// A crawl allocates on some threads and frees on others, for days: with this allocator memory stays smaller and flatter
/// than with the system's (docs/performance.md).
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    argiope::cli::main()
}
