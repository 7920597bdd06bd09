//! Options with the content of the files that they name ([`OfFile`]).

use std::path::PathBuf;

use crate::of_file::{OfFile, read_absolute, read_given, read_named};
use crate::options::Options;
use crate::usage;

/// The keys of the settings that are kept so.
const EXCLUDE_FILE: &str = "exclude-file";
const CA_CERT: &str = "ca-cert";

impl Options {
    /// With the content of the files that the user has named. Each is read once: it may be a pipe.
    ///
    /// # Errors
    /// One cannot be read, or has no such content.
    pub fn with_files(mut self) -> anyhow::Result<Self> {
        self.exclude_file = self.exclude_file.map(|file| read_given(file, EXCLUDE_FILE)).transpose()?;
        self.ca_cert = self.ca_cert.into_iter().map(|file| read_given(file, CA_CERT)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// With the content of the files that a text of the user names, which are relative to the working directory.
    pub(crate) fn with_own_files(mut self) -> anyhow::Result<Self> {
        self.exclude_file = self.exclude_file.map(|file| read_named(file, EXCLUDE_FILE)).transpose()?;
        self.ca_cert = self.ca_cert.into_iter().map(|file| read_named(file, CA_CERT)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// With the content of the files that the settings of an earlier version name, for a crawl that goes on. Only regular files are opened, and
    /// only by absolute paths.
    ///
    /// # Errors
    /// One cannot be read, or may be another one by now: the message says how to give it again.
    pub fn with_files_of_earlier(mut self) -> anyhow::Result<Self> {
        let again = |key: &str, error: anyhow::Error| {
            usage(format!("{error}: give it again with --{key} FILE, or go on without it by --unset {key}"))
        };
        let read = self.exclude_file.map(|file| read_absolute(file, EXCLUDE_FILE)).transpose();
        self.exclude_file = read.map_err(|error| again(EXCLUDE_FILE, error))?;
        let read = self.ca_cert.into_iter().map(|file| read_absolute(file, CA_CERT)).collect::<Result<_, _>>();
        self.ca_cert = read.map_err(|error| again(CA_CERT, error))?;
        Ok(self)
    }

    /// The files that the settings name and whose content they do not have, with their keys.
    #[must_use]
    pub fn unread_files(&self) -> Vec<(&'static str, PathBuf)> {
        let patterns = self.exclude_file.iter().filter_map(OfFile::unread).map(|path| (EXCLUDE_FILE, path));
        let certificates = self.ca_cert.iter().filter_map(OfFile::unread).map(|path| (CA_CERT, path));
        patterns.chain(certificates).map(|(key, path)| (key, path.to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::{Args, Command, FromArgMatches};

    use super::*;
    use crate::of_file::{Content as _, PATTERNS_BYTES_MAX, Patterns};
    use crate::plan::Plan;
    use crate::table::rows;
    use crate::text_file;

    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n\
MIIBcDCCARWgAwIBAgIUfmyEW01Z08BHXbzRApZtTkG1I/4wCgYIKoZIzj0EAwIw\n\
DDEKMAgGA1UEAwwBdDAgFw0yNjExMjgwNTQ4MTdaGA8yMTI2MTEwNDA1NDgxN1ow\n\
DDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIDY99HVlYZ1\n\
HRLiwYe0KvazRoB1IeYEpmt1VDZ9glvTiapm7PIquFhe+bZXvxV8RKA7SiJNmGum\n\
56S7PHUXfR6jUzBRMB0GA1UdDgQWBBT9AYI00wvIfTaAmIpHn7bdfEOnyzAfBgNV\n\
HSMEGDAWgBT9AYI00wvIfTaAmIpHn7bdfEOnyzAPBgNVHRMBAf8EBTADAQH/MAoG\n\
CCqGSM49BAMCA0kAMEYCIQCVICBZXvnfSa/QJhl+dXA2jwMEq5pneKovOHHUikwp\n\
CwIhAL1p1R38vtGeYl4O9XInZRqUM0MaSW/5dBXO5XPh/49d\n\
-----END CERTIFICATE-----\n";

    /// Options of flags, as a command line has them.
    fn given(flags: &[&str]) -> Options {
        let flags = ["argiope"].iter().chain(flags);
        let matches = Options::augment_args(Command::new("argiope")).try_get_matches_from(flags).expect("flags");
        Options::from_arg_matches(&matches).expect("options")
    }

    /// What is written of options, as a later run reads it.
    fn stored(options: &Options) -> (String, Options) {
        let text = Plan::new(options).expect("a plan").options.to_toml("").expect("written");
        let (read, _) = Options::of_others(&text).expect("read");
        (text, read)
    }

    #[test]
    fn no_setting_that_names_a_file_has_it_read_in_a_later_run() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = |name: &str, content: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = dir.path().join(name);
            std::fs::write(&path, content).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
            path.to_str().expect("UTF-8").to_owned()
        };
        // How each is kept: whether `crawl.toml` has its key.
        let kept: BTreeMap<&str, (String, bool)> = [
            ("exclude-file", file("patterns", "*.pdf\n"), true),
            ("ca-cert", file("ca.pem", CERTIFICATE), true),
            ("extract", file("rules.toml", "[extract.x]\nfields.title = \"title\"\n"), true),
            ("behaviour", file("open.js", "await open();"), true),
            ("login", file("login.toml", "[login.a]\nfor = [\"https://a.test/*\"]\nbearer = \"S3CRET\"\n"), true),
            // The jar has the cookies; the browser is given to each run.
            ("cookies", file("cookies.txt", "a.test\tFALSE\t/\tFALSE\t0\tname\tvalue\n"), false),
            ("browser", file("browser", ""), false),
        ]
        .into_iter()
        .map(|(key, path, is_kept)| (key, (path, is_kept)))
        .collect();
        let of_files = ["FILE", "PATH", "RULES", "DIR"];
        let settings: Vec<_> = rows().into_iter().filter(|row| of_files.contains(&row.form.as_str())).collect();
        assert_eq!(
            settings.iter().map(|row| row.key.as_str()).collect::<std::collections::BTreeSet<_>>(),
            kept.keys().copied().collect()
        );
        for (key, (path, is_kept)) in kept {
            let mut flags = vec![format!("--{key}"), path.clone()];
            if key == "behaviour" {
                flags.push("--render=always".to_owned());
            }
            let (text, read) = stored(&given(&flags.iter().map(String::as_str).collect::<Vec<_>>()));
            assert!(!text.contains(dir.path().to_str().expect("UTF-8")), "{key}: no path is kept: {text}");
            assert_eq!(text.lines().any(|line| line.starts_with(&format!("{key} = "))), is_kept, "{key}: {text}");
            std::fs::remove_file(&path).expect("removed");
            assert_eq!(read.unread_files(), []);
            Plan::new(&read.without_secrets()).map(drop).expect("the file is not needed");
        }
    }

    #[test]
    fn what_counts_of_a_file_is_kept_and_a_private_key_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
        std::fs::write(at("ex.txt"), "# ours\n\n  *.pdf \nhttp://a.test/\n").expect("written");
        let key = "-----BEGIN PRIVATE KEY-----\nS3CRETkeyABC\n-----END PRIVATE KEY-----\n";
        std::fs::write(at("ca.pem"), format!("a note\n{key}{CERTIFICATE}{CERTIFICATE}")).expect("written");
        let (text, read) = stored(&given(&["--exclude-file", &at("ex.txt"), "--ca-cert", &at("ca.pem")]));
        assert!(!text.contains("S3CRET") && !text.contains("a note"), "{text}");
        let patterns = vec!["*.pdf".to_owned(), "http://a.test/".to_owned()];
        assert_eq!(read.exclude_file, Some(OfFile::Kept(Patterns { name: "ex.txt".to_owned(), patterns })));
        let [OfFile::Kept(certificates)] = read.ca_cert.as_slice() else { panic!("{:?}", read.ca_cert) };
        assert_eq!(certificates.pem, CERTIFICATE.repeat(2));
        let plan = Plan::new(&read).expect("a plan");
        assert_eq!((plan.settings.filter.exclude.len(), plan.fetch.ca_certs.len()), (2, 1));
        // Over others and without others, what is kept and what is given stay what they are.
        let flags = given(&["--exclude-file", &at("ex.txt")]);
        let over = flags.over(&read).expect("layered").without(&["depth".to_owned()]).expect("layered");
        assert_eq!((over.exclude_file, over.ca_cert), (flags.exclude_file, read.ca_cert.clone()));
    }

    #[test]
    fn a_file_that_settings_name_is_opened_only_if_it_is_a_regular_one_named_absolutely() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
        std::fs::write(at("patterns"), "*.pdf\n").expect("written");
        std::fs::write(at("other"), "*.pdf\nroot:S3CRET:0\n").expect("written");
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).expect("a pipe");
        let named = |path: &str| Options::of_others(&format!("exclude-file = \"{path}\"")).expect("read").0;
        for (path, expect) in [
            (at("patterns"), None),
            ("patterns".to_owned(), Some("relative to the directory")),
            (at("missing"), Some("No such file")),
            (at("pipe"), Some("it is not a regular file")),
            ("/dev/null".to_owned(), Some("it is not a regular file")),
            (at("other"), Some("line 2: matches no URL")),
        ] {
            let options = named(&path);
            assert_eq!(options.unread_files(), [("exclude-file", PathBuf::from(&path))]);
            let plan = Plan::new(&options).expect("no file is read");
            assert!(plan.settings.filter.exclude.is_empty());
            assert_eq!(Options::default().over(&plan.options).expect("layered").unread_files(), options.unread_files());
            let read = options.with_files_of_earlier();
            let error = read.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(error.contains("--exclude-file FILE"), expect.is_some(), "{error}");
            assert!(error.contains(expect.unwrap_or_default()) && !error.contains("S3CRET"), "{error}");
        }
        // The user may give a pipe.
        let long = vec![b'*'; PATTERNS_BYTES_MAX + 1];
        assert!(Patterns::of(String::new(), long).is_err_and(|error| error.contains("is longer than")));
        assert!(text_file::read_regular(std::path::Path::new(&at("pipe"))).is_err());
    }
}
