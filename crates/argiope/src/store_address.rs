//! The database that a crawl's state is in, as given: its password is used and never shown.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use database::{Address, DatabaseError};
use serde::{Deserialize, Serialize, Serializer};

/// What is given to `--store`. It is checked when the plan is made, so that no message shows what was given.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct StoreAddress {
    given: String,
}

impl StoreAddress {
    /// The address.
    ///
    /// # Errors
    /// It is no URL of a PostgreSQL database.
    pub fn address(&self) -> Result<Address, DatabaseError> {
        if !self.given.contains("://") {
            return Err(DatabaseError::Address { reason: "it is no URL".to_owned() });
        }
        Address::parse(&self.given)
    }

    #[cfg(test)]
    pub(crate) fn given(&self) -> &str {
        &self.given
    }
}

impl From<String> for StoreAddress {
    fn from(given: String) -> Self {
        StoreAddress { given }
    }
}

impl FromStr for StoreAddress {
    type Err = Infallible;

    fn from_str(given: &str) -> Result<Self, Infallible> {
        Ok(given.to_owned().into())
    }
}

/// Without the password.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            Ok(address) => address.fmt(f),
            Err(_) => f.write_str("(no address)"),
        }
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Of the same database and user, whatever the password.
impl PartialEq for StoreAddress {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Serialize for StoreAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
