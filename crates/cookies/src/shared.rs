//! The cookies of a crawl, for all its requests.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Timestamp;
use weburl::CanonicalUrl;

use crate::cookie::Cookie;
use crate::file::CookieFile;
use crate::jar::{Jar, Tally};
use crate::refused::Refused;
use crate::stored::Stored;

/// A jar and its file. A clone is the same jar.
#[derive(Clone, Default)]
pub struct Cookies(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    jar: Jar,
    file: Option<CookieFile>,
    /// Why the file has not all cookies.
    failed: Option<String>,
}

impl Cookies {
    /// Takes the cookies of a file, which may be missing. Nothing is written.
    ///
    /// # Errors
    /// As [`CookieFile::read`].
    pub fn take_from(&self, path: &Path, now: Timestamp) -> io::Result<()> {
        CookieFile::read(path, &mut self.lock().jar, now)
    }

    /// Writes all cookies into a file, in place of those that are there, and keeps all further ones there.
    ///
    /// # Errors
    /// As [`CookieFile::of`].
    pub fn keep_at(&self, path: &Path, now: Timestamp) -> io::Result<()> {
        let mut kept = self.lock();
        let file = CookieFile::of(path, &kept.jar, now)?;
        kept.file = Some(file);
        Ok(())
    }

    /// Puts a cookie into the jar that did not come from a server. One that has ended takes the place of the one before, and goes.
    ///
    /// # Errors
    /// It is refused.
    pub fn put(&self, cookie: Cookie, now: Timestamp) -> Result<(), Refused> {
        let mut kept = self.lock();
        let changed = kept.jar.put(cookie, now)?;
        kept.note(changed, now);
        Ok(())
    }

    /// Takes an entry of the storage of an origin.
    ///
    /// # Errors
    /// It is refused.
    pub fn store(&self, entry: Stored) -> Result<(), Refused> {
        self.lock().jar.store(entry)
    }

    /// The entries of storage for a page: those of all origins of its registrable domain.
    #[must_use]
    pub fn stored_for(&self, page: &CanonicalUrl) -> Vec<Stored> {
        self.lock().jar.stored_for(page).cloned().collect()
    }

    /// Takes what an answer from `url` sets: the values of its fields `Set-Cookie`.
    pub fn receive<'t>(&self, url: &CanonicalUrl, set: impl IntoIterator<Item = &'t str>, now: Timestamp) {
        let mut kept = self.lock();
        for text in set {
            // What is refused is counted.
            let changed = kept.jar.receive(url, text, now).unwrap_or_default();
            kept.note(changed, now);
        }
    }

    /// The value of the field `Cookie` of a request for `url`. `None` without cookies for it.
    #[must_use]
    pub fn field(&self, url: &CanonicalUrl, now: Timestamp) -> Option<String> {
        self.lock().jar.field(url, now)
    }

    /// Whether a request for `url` bears a cookie of this name.
    #[must_use]
    pub fn has(&self, url: &CanonicalUrl, name: &str, now: Timestamp) -> bool {
        self.lock().jar.has(url, name, now)
    }

    /// The values of all cookies, and of the last that others have replaced; and the secrets in storage.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        self.lock().jar.values().map(str::to_owned).collect()
    }

    /// The same of one registrable domain.
    #[must_use]
    pub fn values_of(&self, domain: &str) -> Vec<String> {
        self.lock().jar.values_of(domain).map(str::to_owned).collect()
    }

    /// The cookies that scripts of a page may read, for all hosts of its registrable domain.
    #[must_use]
    pub fn for_scripts(&self, page: &CanonicalUrl, now: Timestamp) -> Vec<Cookie> {
        self.lock().jar.for_scripts(page, now).cloned().collect()
    }

    /// What came to nothing since the jar was made.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.lock().jar.tally()
    }

    /// Why the file has not all cookies, if it has not: a crawl that goes on lacks them.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.lock().failed.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // The jar and its file may differ in the cookie of a request that panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Writes a change to the file. A request does not fail because of it.
    fn note(&mut self, changed: Option<Cookie>, now: Timestamp) {
        let Kept { jar, file, failed } = self;
        if let (Some(cookie), Some(file)) = (changed, file)
            && let Err(error) = file.add(&cookie, jar, now)
        {
            failed.get_or_insert(error.to_string());
        }
    }
}

impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cookies").finish_non_exhaustive()
    }
}
