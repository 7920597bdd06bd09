//! Times of the API, which are seconds since 1970.

use ask::since::time;
use engine::clock::Clock;
use model::Timestamp;

/// A date to the second, as people read it; nothing for 0, which stands for no time.
pub(super) fn date(seconds: f64) -> String {
    if seconds <= 0.0 {
        return String::new();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0, and a cast saturates")]
    let date = Timestamp((seconds * 1e6).round() as u64).to_rfc3339();
    date.split('.').next().unwrap_or(&date).trim_end_matches('Z').replace('T', " ")
}

/// A time as people give it; 0 if nothing is given.
///
/// # Errors
/// It is none.
pub(super) fn since(given: &str) -> anyhow::Result<f64> {
    Ok(if given.is_empty() { 0.0 } else { time(given, Clock::start().date())?.0 as f64 / 1e6 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() -> anyhow::Result<()> {
        assert_eq!((date(0.0), date(-1.0)), (String::new(), String::new()));
        assert_eq!(date(since("2026-11-21T08:30:00.25Z")?), "2026-11-21 08:30:00");
        assert_eq!(since("")?, 0.0);
        assert!(since("yesterday").is_err());
        Ok(())
    }
}
