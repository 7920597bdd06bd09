//! Open files: each connection is one for the system, and so is each part of the state and the archive.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// One in this many files may be an idle connection.
const PER_IDLE_CONNECTION: usize = 4;

/// One in this many may be a connection to one of our ports.
const PER_PORT_CONNECTION: usize = 4;

/// One in this many may be a fetch. The rest is for the state, the archive, the dataset and browsers.
const PER_FETCH: usize = 2;

/// Raises the limit of open files as far as the system allows: often to a million, from a default of 1,024. If the system
/// refuses, the limit stays.
pub fn allow_many() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// How many fetches there may be at once.
#[must_use]
pub fn fetches_max() -> usize {
    allowed() / PER_FETCH
}

/// How many connections may be kept between requests.
#[must_use]
pub fn idle_connections_max() -> usize {
    allowed() / PER_IDLE_CONNECTION
}

/// How many connections there may be to a port of ours.
#[must_use]
pub fn connections_max() -> usize {
    allowed() / PER_PORT_CONNECTION
}

fn allowed() -> usize {
    getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX)
}
