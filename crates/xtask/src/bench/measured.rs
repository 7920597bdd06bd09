//! What a process took, as the kernel counted it.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use wait4::Wait4;

/// What a process and those it waited for took.
pub struct Measured {
    /// How it ended.
    pub succeeded: bool,
    /// Seconds from its start to its end.
    pub wall_seconds: f64,
    /// Seconds of a processor, user and system.
    pub cpu_seconds: f64,
    /// The most memory resident of any one process, in millions of bytes. A process that needs less than `xtask` itself shows what
    /// `xtask` has, since it starts as its copy.
    pub peak_mb: f64,
    /// What it wrote to standard output.
    pub output: String,
}

/// Runs a process to its end. Its standard output and error go to files in `dir`.
///
/// # Errors
/// It cannot be started, or what it says not be read.
pub fn run(command: &mut Command, dir: &Path) -> anyhow::Result<Measured> {
    let (output, errors) = (dir.join("stdout"), dir.join("stderr"));
    command.stdin(Stdio::null()).stdout(File::create(&output)?).stderr(File::create(errors)?);
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let began = Instant::now();
    let program = command.get_program().to_owned();
    let ended = command.spawn().with_context(|| format!("{} cannot be started", program.display()))?.wait4()?;
    let wall_seconds = began.elapsed().as_secs_f64();
    let peak_mb = ended.rusage.maxrss as f64 / 1e6;
    Ok(Measured {
        succeeded: ended.status.success(),
        wall_seconds,
        cpu_seconds: (ended.rusage.utime + ended.rusage.stime).as_secs_f64(),
        peak_mb,
        output: std::fs::read_to_string(output)?,
    })
}

/// The middle of some values: of an even number the upper of the two in the middle. Zero of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The value below or at which so many of a hundred values lie (the nearest rank). Zero of none.
pub fn percentile(values: &[f64], of_hundred: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() * of_hundred).div_ceil(100).max(1);
    values.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        let of = |of_hundred| percentile(&values, of_hundred);
        assert_eq!([of(0), of(50), of(60), of(95), of(100)], [1.0, 3.0, 3.0, 5.0, 5.0]);
        assert_eq!((percentile(&[7.0], 95), percentile(&[], 95)), (7.0, 0.0));
    }
}
