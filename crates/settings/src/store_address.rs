//! The database of a crawl's state, as given: its password is used and never shown.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use database::{Address, DatabaseError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The argument of `--store`. It is checked when the plan is made, so no message shows it.
#[derive(Clone)]
pub struct StoreAddress {
    given: String,
    /// Whether it was given on the command line, not by a file.
    is_users: bool,
}

impl StoreAddress {
    /// The address. If it comes from a file, which may be another person's, it gets no password of the user's.
    ///
    /// # Errors
    /// It is no URL of a PostgreSQL database.
    pub fn address(&self) -> Result<Address, DatabaseError> {
        if !self.given.contains("://") {
            return Err(DatabaseError::Address { reason: "it is no URL".to_owned() });
        }
        let address = Address::parse(&self.given)?;
        Ok(if self.is_users { address } else { address.told_by_directory() })
    }

    #[cfg(test)]
    /// The address as it was given, with its password.
    pub fn given(&self) -> &str {
        &self.given
    }
}

/// As a file has it.
impl<'de> Deserialize<'de> for StoreAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(StoreAddress { given: String::deserialize(deserializer)?, is_users: false })
    }
}

/// As the command line has it.
impl FromStr for StoreAddress {
    type Err = Infallible;

    fn from_str(given: &str) -> Result<Self, Infallible> {
        Ok(StoreAddress { given: given.to_owned(), is_users: true })
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

/// Equal for the same database and user, with any password.
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
