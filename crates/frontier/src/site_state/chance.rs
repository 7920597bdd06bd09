//! A site that fails at random: its URLs have more attempts.

/// The largest probability of losing a good URL of a site that fails at random.
const LOST_CHANCE: f64 = 1e-7;
/// Assumed earlier answers of a site: a few failures of few URLs prove nothing.
const ANSWERS_BEFORE: f64 = 128.0;
/// The largest factor for the attempts of a URL of such a site.
const ATTEMPTS_TIMES_MAX: u8 = 6;

/// How often a site fails by chance: failures of URLs that it answered later.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chance {
    failures: u32,
    answers: u32,
}

impl Chance {
    /// Notes the answer to a URL that failed this often before.
    pub(super) fn answered(&mut self, failures: u8) {
        self.failures = self.failures.saturating_add(failures.into());
        self.answers = self.answers.saturating_add(1);
    }

    /// The number of requests of a URL before a failure counts as its own, from the setting for a site that does not fail by chance.
    pub(super) fn attempts_max(self, setting: u8) -> u8 {
        let failures = f64::from(self.failures);
        let share = failures / (failures + f64::from(self.answers) + ANSWERS_BEFORE);
        let wanted = (LOST_CHANCE.ln() / share.ln()).ceil();
        let max = setting.saturating_mul(ATTEMPTS_TIMES_MAX);
        (setting..max).find(|attempts| f64::from(*attempts) >= wanted).unwrap_or(max)
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_url_of_a_site_that_fails_by_chance_has_more_attempts() {
        for (failures, answers, setting, expect) in [
            (0, 0, 4, 4),
            (0, 1_000, 4, 4),
            (10, 1_000, 4, 4),
            (2, 3, 4, 4),
            (11, 49, 4, 6),
            (220, 1_000, 4, 9),
            (2_200, 10_000, 4, 10),
            (1_000, 1_000, 4, 22),
            (5_000, 1_000, 4, 24),
            (220, 1_000, 1, 6),
            (220, 1_000, 12, 12),
            (220, 1_000, 255, 255),
        ] {
            assert_eq!(Chance { failures, answers }.attempts_max(setting), expect, "{failures} {answers} {setting}");
        }
    }
}
