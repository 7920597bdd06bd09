//! What nobody can guess.

use std::fs::File;
use std::io::Read;

use anyhow::Context;

/// 128 random bits, in hexadecimal digits.
pub(crate) fn random_id() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes)).context("/dev/urandom")?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}
