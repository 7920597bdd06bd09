//! The robots.txt files that pages need, by their URLs. Each is requested once, for all pages and for all sites that redirect to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use model::{Refusal, Timestamp};
use robots::RobotsTxt;
use tokio::sync::OnceCell;
use weburl::{CanonicalUrl, UrlKey};

use super::locked;

/// Files that are remembered; where there are more, all that nobody waits for are forgotten.
const FILES_MAX: usize = 10_000;
/// Bytes of what they say, the same.
const BYTES_MAX: usize = 64 << 20;

/// What a file says.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// These are the rules.
    Rules(RobotsTxt),
    /// It is at another URL.
    At(CanonicalUrl),
}

/// The answer to a request for a file.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) said: Said,
    /// When it is requested again.
    pub(super) until: Timestamp,
    /// Requests that have failed in a row.
    pub(super) failed_tries: u32,
}

impl Answer {
    fn bytes(&self) -> usize {
        match &self.said {
            Said::Rules(rules) => rules.heap_bytes(),
            Said::At(url) => url.as_str().len(),
        }
    }
}

/// The files, shared by all pages.
#[derive(Default)]
pub(super) struct RobotsFiles(Mutex<Files>);

#[derive(Default)]
struct Files {
    files: HashMap<UrlKey, File>,
    bytes: usize,
}

#[derive(Clone, Default)]
struct File {
    /// Empty while it is requested.
    answer: Arc<OnceCell<Answer>>,
    /// Requests that had failed in a row before.
    failed_tries: u32,
}

impl RobotsFiles {
    /// What a file says. If it is not known, one caller asks, from how many requests have failed in a row, and all others wait. What is refused
    /// is asked by the next one.
    pub(super) async fn get<F>(&self, url: UrlKey, now: Timestamp, ask: impl FnOnce(u32) -> F) -> Result<Said, Refusal>
    where
        F: Future<Output = Result<Answer, Refusal>>,
    {
        let File { answer, failed_tries } = locked(&self.0).file(url, now);
        let asked = || async {
            let answer = ask(failed_tries).await?;
            locked(&self.0).hold(answer.bytes());
            Ok(answer)
        };
        answer.get_or_try_init(asked).await.map(|answer| answer.said.clone())
    }

    /// Takes an answer from elsewhere in place of an earlier one.
    pub(super) fn put(&self, url: UrlKey, answer: Answer) {
        let mut files = locked(&self.0);
        files.forget(url);
        let bytes = answer.bytes();
        // It stays while there is made room for it.
        let _file = files.add(url, File { answer: Arc::new(OnceCell::new_with(Some(answer))), failed_tries: 0 });
        files.hold(bytes);
    }

    /// Forgets what these URLs gave.
    pub(super) fn forget(&self, urls: impl Iterator<Item = UrlKey>) {
        let mut files = locked(&self.0);
        urls.for_each(|url| files.forget(url));
    }
}

impl Files {
    fn file(&mut self, url: UrlKey, now: Timestamp) -> File {
        let known = self.files.get(&url).and_then(|file| file.answer.get());
        let failed_tries = known.map_or(0, |answer| answer.failed_tries);
        if known.is_some_and(|answer| answer.until <= now) {
            self.forget(url);
        }
        match self.files.get(&url) {
            Some(file) => file.clone(),
            None => self.add(url, File { failed_tries, ..File::default() }),
        }
    }

    fn add(&mut self, url: UrlKey, file: File) -> File {
        if self.files.len() >= FILES_MAX {
            self.make_room();
        }
        self.files.insert(url, file.clone());
        file
    }

    /// Counts the bytes of an answer, and makes room for them.
    fn hold(&mut self, bytes: usize) {
        if self.bytes + bytes > BYTES_MAX {
            self.make_room();
        }
        self.bytes += bytes;
    }

    /// Those that somebody waits for have no answer yet.
    fn make_room(&mut self) {
        self.files.retain(|_, file| Arc::strong_count(&file.answer) > 1);
        self.bytes = 0;
    }

    fn forget(&mut self, url: UrlKey) {
        let forgotten = self.files.remove(&url);
        let bytes = forgotten.and_then(|file| file.answer.get().map(Answer::bytes)).unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use weburl::CanonicalRules;

    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);
    const LATER: Timestamp = Timestamp(2_000_000_000);

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    fn answer(body: &str, until: Timestamp, failed_tries: u32) -> Answer {
        Answer { said: Said::Rules(RobotsTxt::parse(body.as_bytes(), "argiope")), until, failed_tries }
    }

    #[tokio::test]
    async fn one_asks_and_all_have_the_answer_until_it_is_out_of_date() {
        let (files, file) = (RobotsFiles::default(), url("http://a.test/robots.txt").key());
        let asked = Mutex::new(Vec::new());
        let ask = |now: Timestamp, holds: u64, tries: u32| {
            let (files, asked) = (&files, &asked);
            async move {
                let ask = |failed_tries| async move {
                    locked(asked).push(failed_tries);
                    tokio::task::yield_now().await;
                    Ok(answer("", now + Duration::from_secs(holds), tries))
                };
                files.get(file, now, ask).await.map(drop)
            }
        };
        let (one, other) = tokio::join!(ask(NOW, 1, 3), ask(NOW, 1, 3));
        assert_eq!((one, other, locked(&asked).as_slice()), (Ok(()), Ok(()), &[0][..]));
        assert_eq!(ask(NOW + Duration::from_secs(1), 9, 0).await, Ok(()));
        assert_eq!(ask(NOW + Duration::from_secs(9), 9, 0).await, Ok(()));
        assert_eq!(*locked(&asked), [0, 3], "it failed three times, and is asked for again");
        files.forget([file].into_iter());
        assert_eq!(ask(NOW, 9, 0).await, Ok(()));
        assert_eq!((locked(&asked).len(), locked(&files.0).files.len()), (3, 1));
    }

    #[tokio::test]
    async fn what_one_may_not_ask_the_next_one_asks() {
        let (files, file) = (RobotsFiles::default(), url("http://a.test/robots.txt").key());
        let refused = files.get(file, NOW, async |_| Err(Refusal::Rate)).await.map(drop);
        assert_eq!(refused, Err(Refusal::Rate));
        assert!(files.get(file, NOW, async |_| Ok(answer("", LATER, 0))).await.is_ok());
    }

    #[tokio::test]
    async fn files_have_a_bound_in_number_and_bytes() {
        let files = RobotsFiles::default();
        for n in 0..=FILES_MAX {
            files.put(url(&format!("http://a.test/{n}")).key(), answer("", LATER, 0));
            let known = url(&format!("http://b.test/{n}")).key();
            assert!(files.get(known, NOW, async |_| Ok(answer("", LATER, 0))).await.is_ok());
            assert!(locked(&files.0).files.len() <= FILES_MAX);
        }
        let rules: String = (0..20_000).map(|n| format!("Disallow: /{n}\n")).collect();
        let large = answer(&format!("User-agent: *\n{rules}"), LATER, 0);
        let bytes = large.bytes();
        for n in 0..2 * BYTES_MAX / bytes {
            files.put(url(&format!("http://large.test/{n}")).key(), large.clone());
            let files = locked(&files.0);
            let held: usize = files.files.values().filter_map(|file| file.answer.get().map(Answer::bytes)).sum();
            assert!(held <= BYTES_MAX && held <= files.bytes, "{held} of {}", files.bytes);
        }
    }
}
