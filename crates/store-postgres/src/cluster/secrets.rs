//! Secrets of a crawl by several workers: kept by its servers, learnt by its workers.

use std::collections::BTreeMap;

use coordination::SeedSite;
use store::StoreError;

use super::control::Control;
use crate::rows::Columns;
use crate::session::{Parameters, Session};

// Numbers are given out under the lock of the row, and so in the order of commits: who has read up to one misses none before it.
const KEEP: &str = "WITH next AS (UPDATE crawl SET secrets = secrets + 1 RETURNING secrets)
    INSERT INTO secret AS s (name, number, value)
        SELECT k.name, n.secrets, k.value FROM next n CROSS JOIN unnest($1::text[], $2::text[]) AS k(name, value)
        ON CONFLICT (name) DO UPDATE SET number = excluded.number, value = excluded.value
            WHERE excluded.value IS NOT NULL AND excluded.value IS DISTINCT FROM s.value";
const BEHIND: &str = "SELECT name, number, value FROM secret WHERE number > $1 AND name <> '' ORDER BY number";
const OF_SETTINGS: &str = "SELECT value FROM secret WHERE name = ''";
const REPLACE_SETTINGS: &str = "UPDATE crawl SET settings = $1";

impl Control {
    /// Names sites of seeds, with users and passwords where the seeds have them. Known ones keep what they have where nothing else is
    /// said. To be done before the seeds are added ([`Control::add`]): who learns of a seed finds its site here.
    ///
    /// # Errors
    /// The store failed.
    pub fn keep_seed_sites(&self, sites: &[SeedSite]) -> Result<(), StoreError> {
        // A statement cannot change a row twice.
        let mut users: BTreeMap<String, Option<String>> = BTreeMap::new();
        for SeedSite { site, user } in sites {
            let kept = users.entry(site.clone()).or_default();
            *kept = user.clone().or(kept.take());
        }
        let (names, values): (Vec<String>, Vec<Option<String>>) = users.into_iter().unzip();
        let parameters: Parameters = vec![Box::new(names), Box::new(values)];
        self.session().query("keeping the sites of seeds", KEEP, parameters)?;
        Ok(())
    }

    /// Keeps the secrets of the settings.
    ///
    /// # Errors
    /// The store failed.
    pub fn keep_secrets(&self, secrets: &str) -> Result<(), StoreError> {
        let parameters: Parameters = vec![Box::new(vec![String::new()]), Box::new(vec![Some(secrets.to_owned())])];
        self.session().query("keeping the secrets of the crawl", KEEP, parameters)?;
        Ok(())
    }

    /// The secrets of the settings, if there are any.
    ///
    /// # Errors
    /// The store failed.
    pub fn secrets(&self) -> Result<Option<String>, StoreError> {
        of_settings(self.session())
    }

    /// Writes the settings down in another form.
    ///
    /// # Errors
    /// The store failed.
    pub fn replace_settings(&self, settings: &str) -> Result<(), StoreError> {
        self.session().query("writing the settings", REPLACE_SETTINGS, vec![Box::new(settings.to_owned())])?;
        Ok(())
    }
}

/// The sites of seeds behind the `last` number that is known, and the number of the last one.
pub(super) fn seed_sites_behind(session: &Session, last: i64) -> Result<(Vec<SeedSite>, i64), StoreError> {
    let rows = session.query("reading the sites of seeds", BEHIND, vec![Box::new(last)])?;
    let mut number = last;
    let sites = rows.iter().map(|row| {
        let mut columns = Columns::of("secret", row);
        let site = columns.text()?;
        number = columns.next()?;
        Ok(SeedSite { site, user: columns.next()? })
    });
    Ok((sites.collect::<Result<_, StoreError>>()?, number))
}

/// The secrets of the settings, if there are any.
pub(super) fn of_settings(session: &Session) -> Result<Option<String>, StoreError> {
    let rows = session.query("reading the secrets of the crawl", OF_SETTINGS, Vec::new())?;
    rows.first().map_or(Ok(None), |row| Columns::of("secret", row).next())
}
