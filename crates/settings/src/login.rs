//! `--login`: a file of descriptions on the command line, and tables `[login.NAME]` in `crawl.toml`.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use fetch::REDACTED;
use login::LoginSet;
use serde::{Deserialize, Serialize, Serializer};
use toml::{Table, Value};

use crate::text_file::read_secret;

/// Logins by name, as they are written. References to files and variables are replaced when they are given. The values of fields are secrets:
/// what is shown and written has `***` in their place.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct LoginOption(Table);

impl LoginOption {
    /// The descriptions, with their secrets.
    #[must_use]
    pub fn given(&self) -> &Table {
        &self.0
    }

    /// Whether it has values that must not be shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        !self.is_redacted() && self.redacted() != self.0
    }

    /// Whether it stands for one that is stored elsewhere.
    #[must_use]
    pub fn is_redacted(&self) -> bool {
        let mut found = false;
        each_secret(&mut self.0.clone(), &mut |value| {
            found |= value == REDACTED;
            Ok(())
        })
        .is_ok_and(|()| found)
    }

    /// Whether one of them is by a form, and so needs a jar for its cookies.
    #[must_use]
    pub fn needs_jar(&self) -> bool {
        self.0.values().any(|login| login.get("url").is_some())
    }

    /// The descriptions without secrets.
    #[must_use]
    pub fn redacted(&self) -> Table {
        let mut table = self.0.clone();
        // The replacement never fails.
        let _ = each_secret(&mut table, &mut |value| {
            REDACTED.clone_into(value);
            Ok(())
        });
        table
    }

    /// The same with what references stand for: `env:NAME` for the value of a variable, `file:PATH` for the content of a file without the end of
    /// its last line.
    ///
    /// # Errors
    /// There is no such variable or file, or others can read the file.
    pub fn resolved(mut self) -> Result<Self, String> {
        each_secret(&mut self.0, &mut |value| {
            if let Some(name) = value.strip_prefix("env:") {
                *value = std::env::var(name).map_err(|_| format!("env:{name}: there is no such variable"))?;
            } else if let Some(path) = value.strip_prefix("file:") {
                let text = read_secret(Path::new(path)).map_err(|error| format!("file:{path}: {error}"))?;
                let line = text.strip_suffix('\n').unwrap_or(&text);
                *value = line.strip_suffix('\r').unwrap_or(line).to_owned();
            }
            Ok(())
        })?;
        Ok(self)
    }
}

/// Each value that is a secret: of the tables `fields` and `basic`, and of `bearer`.
fn each_secret(logins: &mut Table, each: &mut dyn FnMut(&mut String) -> Result<(), String>) -> Result<(), String> {
    for login in logins.iter_mut().filter_map(|(_, login)| login.as_table_mut()) {
        for (key, value) in login.iter_mut() {
            match value {
                Value::Table(table) if key == "fields" || key == "basic" => {
                    for (_, value) in table.iter_mut() {
                        if let Value::String(text) = value {
                            each(text)?;
                        }
                    }
                }
                Value::String(text) if key == "bearer" => each(text)?,
                _ => {}
            }
        }
    }
    Ok(())
}

impl From<Table> for LoginOption {
    fn from(given: Table) -> Self {
        LoginOption(given)
    }
}

impl FromStr for LoginOption {
    type Err = String;

    /// Reads the file of this name, which only its owner may read.
    fn from_str(path: &str) -> Result<Self, String> {
        let text = read_secret(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            format!("{path}, line {}: is no TOML", error.span().map_or(1, |span| line(span.start)))
        })?;
        if let Some(key) = table.keys().find(|key| *key != "login") {
            return Err(format!("{path}: `{key}`: a file of logins has only tables [login.NAME]"));
        }
        let Some(Value::Table(logins)) = table.get("login") else {
            return Err(format!("{path}: there are no logins: write a table [login.NAME] with `url` and `fields`"));
        };
        let given = LoginOption(logins.clone()).resolved().map_err(|error| format!("{path}: {error}"))?;
        LoginSet::of(&given.0).map_err(|error| format!("{path}: {error}"))?;
        Ok(given)
    }
}

impl Serialize for LoginOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.redacted().serialize(serializer)
    }
}

/// Without secrets.
impl fmt::Debug for LoginOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.redacted(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(text: &str) -> LoginOption {
        LoginOption(text.parse().expect(text))
    }

    #[test]
    fn what_is_shown_has_no_secret() {
        let text = "a = { url = \"https://a.test/\", fields = { user = \"S3CRET\", pass = \"S3CRET\" } }\n\
            b = { for = [\"*\"], basic = { user = \"S3CRET\", password = \"S3CRET\" } }\n\
            c = { for = [\"*\"], bearer = \"S3CRET\" }";
        let given = option(text);
        let written = toml::to_string(&given).expect("written");
        assert!(!format!("{given:?}{written}").contains("S3CRET"), "{written}");
        assert!(written.contains("user = \"***\"") && written.contains("https://a.test/"), "{written}");
        assert!(given.is_secret() && !given.is_redacted() && given.needs_jar());
        let read: LoginOption = toml::from_str(&written).expect("read");
        assert!(!read.is_secret() && read.is_redacted() && read.redacted() == given.redacted());
        assert!(!option("c = { for = [\"*\"], bearer = \"S3CRET\" }").needs_jar());
    }

    #[test]
    fn references_stand_for_variables_and_files() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("password");
        std::fs::write(&path, "S3CRET \n").expect("written");
        let resolved = |value: &str| option(&format!("a = {{ bearer = \"{value}\" }}")).resolved();
        let file = format!("file:{}", path.display());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("set");
        assert!(resolved(&file).is_err_and(|error| error.contains("others of this machine can read it")));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
        assert_eq!(resolved(&file), Ok(option("a = { bearer = \"S3CRET \" }")));
        let home = std::env::var("PATH").expect("a variable of every process");
        assert_eq!(resolved("env:PATH").expect("resolved").0["a"]["bearer"].as_str(), Some(home.as_str()));
        assert_eq!(resolved("env:NO_SUCH_VARIABLE"), Err("env:NO_SUCH_VARIABLE: there is no such variable".to_owned()));
        assert_eq!(resolved("plain"), Ok(option("a = { bearer = \"plain\" }")));
    }
}
