//! Why a cookie is not kept.

/// Bytes of the name and the value of a cookie; longer ones are refused (§5.6, step 5).
pub const COOKIE_BYTES_MAX: usize = 4096;

/// Why a cookie is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It has neither a name nor a value.
    #[error("has neither a name nor a value")]
    Empty,
    /// It has a control character.
    #[error("has a control character")]
    Control,
    /// It is longer than [`COOKIE_BYTES_MAX`].
    #[error("is longer than {COOKIE_BYTES_MAX} bytes")]
    TooLong,
    /// Its domain is no host, or another one's.
    #[error("is for a domain that is not the server's")]
    Domain,
    /// Its domain is a public suffix.
    #[error("is for a whole public suffix")]
    PublicSuffix,
    /// It is `Secure`, or takes the place of one that is, and came unencrypted.
    #[error("is a matter of TLS, and came without")]
    Insecure,
    /// It is `SameSite=None` without being `Secure`.
    #[error("is SameSite=None and not Secure")]
    SameSite,
    /// Its name begins with `__Secure-` or `__Host-`, and it is not as that demands.
    #[error("is not what its name begins with")]
    Prefix,
    /// The jar is full.
    #[error("finds the jar full")]
    Full,
}
