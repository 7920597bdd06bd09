//! The system that a binary runs on, in the words of each package format.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::output_of;

/// Names of processors: Rust's, Debian's, npm's.
const PROCESSORS: [(&str, &str, &str); 2] = [("x86_64", "amd64", "x64"), ("aarch64", "arm64", "arm64")];

/// A Linux system with the GNU C library.
pub struct System {
    /// The target that Rust builds for.
    pub target: String,
    /// The processor as Rust and Python name it.
    pub processor: &'static str,
    pub debian_processor: &'static str,
    pub npm_processor: &'static str,
    /// The oldest version of the GNU C library that has all symbols which the binary uses.
    pub glibc: (u32, u32),
}

impl System {
    /// The system of this machine, on which the binary was built.
    ///
    /// # Errors
    /// The binary is not for Linux with the GNU C library, or the processor is not listed.
    pub fn of(binary: &Path) -> anyhow::Result<Self> {
        let target = output_of(Command::new("rustc").args(["--print", "host-tuple"]))?.trim().to_owned();
        let (processor, debian_processor, npm_processor) = PROCESSORS
            .into_iter()
            .find(|(name, ..)| target.split('-').next() == Some(name))
            .with_context(|| format!("no package format has a name for {target} here: add it to PROCESSORS"))?;
        let headers = output_of(Command::new("objdump").arg("--private-headers").arg(binary))?;
        let glibc =
            newest_glibc(&headers).with_context(|| format!("{} does not use the GNU C library", binary.display()))?;
        Ok(Self { target, processor, debian_processor, npm_processor, glibc })
    }
}

/// The newest version of glibc in the version references that `objdump --private-headers` prints.
fn newest_glibc(headers: &str) -> Option<(u32, u32)> {
    let versions = headers.split_whitespace().filter_map(|word| word.strip_prefix("GLIBC_")?.split_once('.'));
    // The third number of a version such as 2.2.5 never decides.
    versions.filter_map(|(major, rest)| Some((major.parse().ok()?, rest.split('.').next()?.parse().ok()?))).max()
}

#[cfg(test)]
mod tests {
    use super::newest_glibc;

    #[test]
    fn versions_compare_as_numbers() {
        for (headers, expected) in [
            ("", None),
            ("  NEEDED  libc.so.6\n  required from ld.so:\n    0x01 0x00 05 GLIBC_PRIVATE\n", None),
            ("    0x0 0x00 03 GLIBC_2.9\n    0x0 0x00 02 GLIBC_2.34\n    0x0 0x00 04 GLIBC_2.2.5\n", Some((2, 34))),
            ("    0x0 0x00 03 GLIBC_2.3.4\n    0x0 0x00 03 GCC_4.2.0\n", Some((2, 3))),
        ] {
            assert_eq!(newest_glibc(headers), expected, "{headers}");
        }
    }
}
