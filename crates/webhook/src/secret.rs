//! The secret with which posts are signed.

use std::fmt;
use std::io::Read;
use std::path::Path;

use data_encoding::HEXLOWER;
use ring::hmac;

use crate::WebhookError;

/// Bytes of a secret, at most.
const BYTES_MAX: u64 = 4_096;

/// A key for HMAC-SHA256 (RFC 2104). Nothing prints or writes it.
#[derive(Clone)]
pub struct Secret(hmac::Key);

impl Secret {
    /// The secret that a text is, without white space around it.
    ///
    /// # Errors
    /// It is empty.
    pub fn new(text: &str) -> Result<Self, WebhookError> {
        match text.trim() {
            "" => Err(WebhookError::Secret("it is empty".to_owned())),
            text => Ok(Secret(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes()))),
        }
    }

    /// Reads the secret from a file that only its owner can read.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it holds no text or too long a one.
    pub fn read(path: &Path) -> Result<Self, WebhookError> {
        let failed = |source| WebhookError::File { path: path.to_owned(), source };
        let file = fresh::open_secret(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > BYTES_MAX {
            return Err(WebhookError::Secret(format!("{}: it has more than {BYTES_MAX} bytes", path.display())));
        }
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        Secret::new(&text)
    }

    /// The signature of a body, as receivers compare it: `sha256=` and 64 hexadecimal digits.
    #[must_use]
    pub fn sign(&self, body: &[u8]) -> String {
        format!("sha256={}", HEXLOWER.encode(hmac::sign(&self.0, body).as_ref()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_body_is_signed_as_rfc_4231_says() {
        let secret = Secret::new("Jefe\n").expect("a secret");
        assert_eq!(
            secret.sign(b"what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(format!("{secret:?}"), "Secret(***)");
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("secret");
        for (content, mode, expect) in [
            ("Jefe", 0o600, None),
            ("Jefe", 0o640, Some("others of this machine can read it")),
            (" \n", 0o600, Some("it is empty")),
            (&*"x".repeat(5_000), 0o600, Some("more than 4096 bytes")),
        ] {
            std::fs::write(&path, content).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            let read = Secret::read(&path).map(drop).map_err(|error| error.to_string());
            match expect {
                None => assert_eq!(read, Ok(())),
                Some(expect) => assert!(read.as_ref().is_err_and(|error| error.contains(expect)), "{read:?}"),
            }
        }
    }
}
