//! The Debian package. It has no maintainer scripts: its units are installed, neither enabled nor started.

use ar::{Builder, Header};

use super::archives::{Entry, gz, tar_gz};
use super::system::System;
use super::{SUMMARY, VERSION};

const MODE_OF_MEMBER: u32 = 0o100_644;

/// `debian-binary`: the version of the format (deb(5)).
const FORMAT: &str = "2.0\n";

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: argiope

Files: *
Copyright: The Argiope developers
License: MIT or Apache-2.0

License: MIT or Apache-2.0
 The texts are in the files LICENSE-MIT and LICENSE-APACHE beside this one.
 The file argiope.cdx.json lists the libraries in the program with their licenses.
";

/// The name of the file, as Debian's tools make it.
pub fn name(system: &System) -> String {
    format!("argiope_{VERSION}_{}.deb", system.debian_processor)
}

/// The package (deb(5)): an `ar` archive of three members.
///
/// # Errors
/// A path is too long.
pub fn package(entries: &[Entry], system: &System, epoch: u64) -> anyhow::Result<Vec<u8>> {
    let mut files = vec![Entry::file("usr/share/doc/argiope/copyright", COPYRIGHT.as_bytes())];
    for entry in entries {
        let path = place(&entry.path);
        files.push(if path.ends_with(".gz") { Entry::file(path, gz(&entry.bytes)?) } else { entry.at(path) });
    }
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let control = Entry::file("control", control(system, bytes).into_bytes());
    let mut deb = Builder::new(Vec::new());
    for (member, content) in [
        ("debian-binary", FORMAT.into()),
        ("control.tar.gz", tar_gz([control], epoch)?),
        ("data.tar.gz", tar_gz(files, epoch)?),
    ] {
        let mut header = Header::new(member.into(), content.len() as u64);
        header.set_mode(MODE_OF_MEMBER);
        header.set_mtime(epoch);
        deb.append(&header, &*content)?;
    }
    Ok(deb.into_inner()?)
}

/// The fields of the package (deb-control(5)).
fn control(system: &System, bytes: usize) -> String {
    let (major, minor) = system.glibc;
    format!(
        "Package: argiope\nVersion: {VERSION}\nArchitecture: {}\n\
         Maintainer: The Argiope developers <argiope@localhost>\nInstalled-Size: {}\n\
         Depends: libc6 (>= {major}.{minor}), libgcc-s1\nRecommends: ca-certificates\nSuggests: chromium\n\
         Section: web\nPriority: optional\nDescription: {SUMMARY}\n \
         It obeys robots.txt, survives being killed, records everything as WARC and\n \
         Parquet, and explains each URL: why it was fetched, or why not.\n",
        system.debian_processor,
        bytes.div_ceil(1024),
    )
}

/// Where Debian has a file of the tarball.
fn place(path: &str) -> String {
    match path.split_once('/') {
        None if path == "argiope" => "usr/bin/argiope".to_owned(),
        Some(("man", page)) => format!("usr/share/man/man1/{page}.gz"),
        Some(("systemd", unit)) => format!("usr/lib/systemd/system/{unit}"),
        Some(("completions", "argiope.bash")) => "usr/share/bash-completion/completions/argiope".to_owned(),
        Some(("completions", "argiope.fish")) => "usr/share/fish/vendor_completions.d/argiope.fish".to_owned(),
        Some(("completions", "_argiope")) => "usr/share/zsh/vendor-completions/_argiope".to_owned(),
        _ => format!("usr/share/doc/argiope/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn files_go_where_debian_looks_for_them() {
        for (path, expected) in [
            ("argiope", "usr/bin/argiope"),
            ("man/argiope-crawl.1", "usr/share/man/man1/argiope-crawl.1.gz"),
            ("systemd/argiope-crawl@.service", "usr/lib/systemd/system/argiope-crawl@.service"),
            ("completions/_argiope", "usr/share/zsh/vendor-completions/_argiope"),
            ("examples/archive.toml", "usr/share/doc/argiope/examples/archive.toml"),
            ("LICENSE-MIT", "usr/share/doc/argiope/LICENSE-MIT"),
        ] {
            assert_eq!(place(path), expected);
        }
    }
}
