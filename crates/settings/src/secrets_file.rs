//! The secrets of a crawl in its directory: a file that only its owner reads. Only a resumed crawl needs it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use weburl::{Site, UserInfo};

use crate::login::LoginOption;
use crate::options::Options;
use crate::secret::{HeaderText, ProxyText};

/// Its name in a crawl's directory.
pub const SECRETS: &str = "secrets.toml";

/// The largest size that is read, in bytes: there may be credentials for many sites.
const BYTES_MAX: u64 = 64 << 20;

const HEADER: &str =
    "# The secrets of this crawl, which goes on with them: request fields, the proxy's password, passwords of seeds, logins.
# Publish everything of the crawl but this file. No other file of the crawl has these values.

";

/// Values that must not be shown.
#[derive(Clone, Default, PartialEq)]
pub struct Secrets {
    /// `--header`, whole.
    pub header: Vec<HeaderText>,
    /// `--header-for`, whole.
    pub header_for: Vec<(String, HeaderText)>,
    /// `--proxy`, if there is a password in it.
    pub proxy: Option<ProxyText>,
    /// User names and passwords of seeds.
    pub credentials: BTreeMap<Site, UserInfo>,
    /// `--login`, whole.
    pub login: Option<LoginOption>,
}

impl Options {
    /// Reads a configuration file, with the secrets in the file beside it.
    ///
    /// # Errors
    /// As [`Options::read`], and [`Secrets::read`] where there are some that are wanted.
    pub fn read_with_secrets(path: &Path) -> anyhow::Result<Self> {
        let options = Options::read(path)?;
        if options.without_secrets() == options {
            return Ok(options);
        }
        Ok(Secrets::read(&path.with_file_name(SECRETS))?.put_into(options))
    }
}

/// As it is written.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Written {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    header: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    header_for: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<String>,
    /// URLs of sites with user names and passwords: `http://user:password@host`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    credentials: Vec<String>,
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    login: toml::Table,
}

impl Secrets {
    /// Those in options.
    #[must_use]
    pub fn of(options: &Options) -> Self {
        let header = options.header.0.iter().filter(|text| text.is_secret());
        let header_for = options.header_for.0.iter().filter(|(_, text)| text.is_secret());
        Secrets {
            header: header.cloned().collect(),
            header_for: header_for.cloned().collect(),
            proxy: options.proxy.clone().filter(ProxyText::is_secret),
            credentials: BTreeMap::new(),
            login: options.login.clone().filter(LoginOption::is_secret),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Secrets::default()
    }

    /// The names of the options whose secrets these are.
    #[must_use]
    pub fn options(&self) -> Vec<&'static str> {
        let named = [
            ("header", !self.header.is_empty()),
            ("header-for", !self.header_for.is_empty()),
            ("proxy", self.proxy.is_some()),
            ("login", self.login.is_some()),
        ];
        named.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
    }

    /// Puts these secrets into options that have placeholders for them. Other options stay as they are.
    #[must_use]
    pub fn put_into(&self, mut options: Options) -> Options {
        let mut headers = self.header.clone();
        for text in options.header.0.iter_mut().filter(|text| text.is_redacted()) {
            if let Some(at) = headers.iter().position(|secret| secret.to_string() == text.to_string()) {
                *text = headers.remove(at);
            }
        }
        let mut headers = self.header_for.clone();
        for (pattern, text) in options.header_for.0.iter_mut().filter(|(_, text)| text.is_redacted()) {
            let is_it = |(of, secret): &(String, HeaderText)| of == pattern && secret.to_string() == text.to_string();
            if let Some(at) = headers.iter().position(is_it) {
                *text = headers.remove(at).1;
            }
        }
        if let (Some(proxy), Some(secret)) = (&options.proxy, &self.proxy)
            && proxy.is_redacted()
            && proxy.to_string() == secret.to_string()
        {
            options.proxy = Some(secret.clone());
        }
        if let (Some(login), Some(secret)) = (&options.login, &self.login)
            && login.is_redacted()
            && login.redacted() == secret.redacted()
        {
            options.login = Some(secret.clone());
        }
        options
    }

    /// Reads what [`Secrets::to_text`] wrote.
    ///
    /// # Errors
    /// It has another form. The content is not shown.
    pub fn from_text(text: &str) -> anyhow::Result<Self> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            anyhow::anyhow!("line {}: is not as this program writes it", line.unwrap_or(1))
        })?;
        let credentials = written.credentials.iter().map(|text| {
            let user = UserInfo::of(text).context("credentials: no user name")?;
            let (scheme, rest) = text.split_once("://").context("credentials: no URL")?;
            let authority = rest.rsplit_once('@').map_or(rest, |(_, authority)| authority);
            let site = Site::from_text(&format!("{scheme}://{authority}")).context("credentials: no site")?;
            Ok::<_, anyhow::Error>((site, user))
        });
        Ok(Secrets {
            header: written.header.into_iter().map(HeaderText::from).collect(),
            header_for: written.header_for.into_iter().map(|(pattern, text)| (pattern, text.into())).collect(),
            proxy: written.proxy.map(ProxyText::from),
            credentials: credentials.collect::<Result<_, _>>()?,
            login: (!written.login.is_empty()).then(|| LoginOption::from(written.login)),
        })
    }

    /// All of them as a text, which is a secret.
    ///
    /// # Errors
    /// Never in practice: they always have a form as a table.
    pub fn to_text(&self) -> anyhow::Result<String> {
        let credential = |(site, user): (&Site, &UserInfo)| {
            let (scheme, authority) = site.as_str().split_once("://").unwrap_or_default();
            format!("{scheme}://{}@{authority}", user.as_str())
        };
        let pair = |(pattern, text): &(String, HeaderText)| (pattern.clone(), text.given().to_owned());
        let written = Written {
            header: self.header.iter().map(|text| text.given().to_owned()).collect(),
            header_for: self.header_for.iter().map(pair).collect(),
            proxy: self.proxy.as_ref().map(|proxy| proxy.given().to_owned()),
            credentials: self.credentials.iter().map(credential).collect(),
            login: self.login.as_ref().map(|login| login.given().clone()).unwrap_or_default(),
        };
        Ok(toml::to_string(&written)?)
    }

    /// Reads those in a file; none without a file.
    ///
    /// # Errors
    /// It cannot be read, is a symbolic link or no regular file, or others can read it.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file = match fresh::open_secret(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Secrets::default()),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let mut text = String::new();
        (&file).take(BYTES_MAX).read_to_string(&mut text).with_context(|| path.display().to_string())?;
        Secrets::from_text(&text).with_context(|| path.display().to_string())
    }

    /// Writes them atomically to a file that only its owner can read. Without secrets, no file is made.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        if self.is_empty() && !path.exists() {
            return Ok(());
        }
        let text = format!("{HEADER}{}", self.to_text()?);
        let temporary = temporary(path);
        let write = || -> std::io::Result<()> {
            let mut file = fresh::create_secret(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, path)?;
            File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
        };
        fresh::renamed(&temporary, write).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Its path while it is written.
#[must_use]
pub fn temporary(path: &Path) -> PathBuf {
    path.with_extension("toml.tmp")
}
