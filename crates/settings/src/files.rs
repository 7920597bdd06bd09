//! Open files: to the system each connection is one, and so is each part of the state and the archive.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// One of so many files may be a connection that is kept for a request to come.
const PER_IDLE_CONNECTION: usize = 4;

/// One of so many may be a connection to a port of ours.
const PER_PORT_CONNECTION: usize = 4;

/// One of so many may be a fetch. The rest is for the state, the archive, the dataset and browsers.
const PER_FETCH: usize = 2;

/// Has as many files allowed as the system allows to whoever asks: often a million, where it allows 1,024 to who does not. Where it
/// refuses, it stays as it was.
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
