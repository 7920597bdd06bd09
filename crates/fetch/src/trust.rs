//! Why a TLS handshake failed, in words: what is wrong with a certificate above all.

use std::fmt::{Debug, Display, Write};

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, OtherError, PeerIncompatible};

/// Why there is no TLS with `host`.
pub(crate) fn words(host: &str, error: &Error) -> String {
    match error {
        Error::InvalidCertificate(reason) => certificate(host, reason),
        Error::NoCertificatesPresented => format!("{host} has sent no certificate"),
        // The first bytes of an answer by HTTP are no record of TLS.
        Error::InvalidMessage(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
            format!("the answer of {host} is not TLS: perhaps this port is for http, not for https")
        }
        Error::InvalidMessage(kind) => format!("the answer of {host} is not valid TLS: {}", plain(kind)),
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13 | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        )
        | Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            format!("{host} offers neither TLS 1.2 nor TLS 1.3, and older versions are not used")
        }
        Error::PeerIncompatible(kind) => format!("nothing in common with {host}: {}", plain(kind)),
        Error::PeerMisbehaved(kind) => format!("{host} breaks the protocol: {}", plain(kind)),
        other => other.to_string(),
    }
}

fn certificate(host: &str, error: &CertificateError) -> String {
    use CertificateError as E;
    let what = match error {
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            return format!("certificate not valid for name {host}");
        }
        E::UnknownIssuer => "was issued by an authority that is not trusted (--ca-cert adds one)".to_owned(),
        E::Expired | E::ExpiredContext { .. } => "has expired".to_owned(),
        E::NotValidYet | E::NotValidYetContext { .. } => "is not valid yet".to_owned(),
        E::BadEncoding => "cannot be read: its encoding is broken".to_owned(),
        E::Revoked => "has been revoked by its authority".to_owned(),
        E::UnhandledCriticalExtension => "has a critical extension that is not supported".to_owned(),
        E::UnknownRevocationStatus => "may have been revoked: nothing is known of that".to_owned(),
        E::ExpiredRevocationList | E::ExpiredRevocationListContext { .. } => {
            "may have been revoked: the list that says so has expired".to_owned()
        }
        E::BadSignature => "has a signature that is not by the key of its issuer".to_owned(),
        E::UnsupportedSignatureAlgorithmContext { .. } => {
            "is signed with an algorithm that is not supported, perhaps an outdated one".to_owned()
        }
        E::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "is signed with an algorithm that does not fit the key of its issuer".to_owned()
        }
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            "is for another purpose than to identify a server".to_owned()
        }
        E::InvalidOcspResponse => "came with an invalid statement about its revocation (OCSP)".to_owned(),
        E::ApplicationVerificationFailure => "was refused".to_owned(),
        E::Other(OtherError(error)) => match error.downcast_ref::<webpki::Error>() {
            Some(error) => chain(error),
            None => format!("is not accepted: {error}"),
        },
        // Kinds of later versions, and a deprecated one.
        other => format!("is not accepted: {}", plain(other)),
    };
    format!("certificate of {host} {what}")
}

/// What is wrong with a certificate or its chain, of what `rustls` has no kind for.
fn chain(error: &webpki::Error) -> String {
    use webpki::Error as E;
    let what = match error {
        // `openssl req -x509` makes such a certificate by default.
        E::CaUsedAsEndEntity => {
            "is that of an authority (CA:TRUE), as many that are self-signed, and may not identify a server: the server needs one with \
             CA:FALSE, issued by a trusted authority or by one that --ca-cert adds"
        }
        E::EndEntityUsedAsCa => "was issued with a certificate that is not that of an authority",
        E::CertDistrusted => "is known and distrusted",
        E::EmptyEkuExtension => "is for no purpose: its list of purposes is empty",
        E::ExtensionValueInvalid | E::MalformedExtensions => "has an extension that cannot be read",
        E::InvalidSerialNumber => "has a serial number that is not allowed",
        E::InvalidNetworkMaskConstraint | E::MalformedNameConstraint => {
            "has an issuer whose limits of names cannot be read"
        }
        E::MalformedDnsIdentifier => "has a name that is not the name of a host",
        E::NameConstraintViolation => "has a name that its issuer may not certify",
        E::PathLenConstraintViolated => "has more authorities above it than one of them allows",
        E::MaximumNameConstraintComparisonsExceeded
        | E::MaximumPathBuildCallsExceeded
        | E::MaximumPathDepthExceeded
        | E::MaximumSignatureChecksExceeded => "has a chain of authorities that is too long or takes too long to check",
        E::SignatureAlgorithmMismatch => "names two different algorithms for its signature",
        E::UnsupportedCertVersion => "has a version other than 3, the one in use",
        E::UnsupportedCriticalExtension => "has a critical extension that is not supported",
        E::UnsupportedNameType => "has a kind of name that is not supported",
        other => return format!("is not accepted: {}", plain(other)),
    };
    what.to_owned()
}

/// The name of a kind of error as words: `CaUsedAsEndEntity` → `ca used as end entity`.
fn plain(kind: &impl Debug) -> String {
    let name = format!("{kind:?}");
    let name = name.split(['(', '{', ' ']).next().unwrap_or_default();
    Words(name).to_string()
}

struct Words<'a>(&'a str);

impl Display for Words<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, letter) in self.0.char_indices() {
            if letter.is_ascii_uppercase() && at > 0 {
                f.write_char(' ')?;
            }
            f.write_char(letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Words, and no name of a type or a kind.
    fn check(told: &str, kind: &dyn Debug) {
        let is_name = |word: &str| word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
        assert!(told.starts_with("certificate of a.test ") || told.contains("for name a.test"), "{told}");
        assert!(told.split([' ', '(', ')', ':']).all(|word| !is_name(word)), "{kind:?}: {told}");
    }

    #[test]
    fn each_kind_of_bad_certificate_has_words() {
        use CertificateError as E;
        let kinds = [
            E::BadEncoding,
            E::Expired,
            E::NotValidYet,
            E::Revoked,
            E::UnhandledCriticalExtension,
            E::UnknownIssuer,
            E::UnknownRevocationStatus,
            E::ExpiredRevocationList,
            E::BadSignature,
            E::UnsupportedSignatureAlgorithmContext { signature_algorithm_id: vec![1], supported_algorithms: vec![] },
            E::UnsupportedSignatureAlgorithmForPublicKeyContext {
                signature_algorithm_id: vec![1],
                public_key_algorithm_id: vec![2],
            },
            E::NotValidForName,
            E::InvalidPurpose,
            E::InvalidOcspResponse,
            E::ApplicationVerificationFailure,
        ];
        for kind in kinds {
            check(&words("a.test", &Error::InvalidCertificate(kind.clone())), &kind);
        }
    }

    #[test]
    fn each_kind_of_bad_chain_has_words() {
        use webpki::Error as E;
        let kinds = [
            E::CaUsedAsEndEntity,
            E::EndEntityUsedAsCa,
            E::CertDistrusted,
            E::EmptyEkuExtension,
            E::ExtensionValueInvalid,
            E::MalformedExtensions,
            E::InvalidSerialNumber,
            E::InvalidNetworkMaskConstraint,
            E::MalformedNameConstraint,
            E::MalformedDnsIdentifier,
            E::NameConstraintViolation,
            E::PathLenConstraintViolated,
            E::MaximumNameConstraintComparisonsExceeded,
            E::MaximumPathBuildCallsExceeded,
            E::MaximumPathDepthExceeded,
            E::MaximumSignatureChecksExceeded,
            E::SignatureAlgorithmMismatch,
            E::UnsupportedCertVersion,
            E::UnsupportedCriticalExtension,
            E::UnsupportedNameType,
            E::UnsupportedDeltaCrl,
        ];
        for kind in kinds {
            let told = words("a.test", &CertificateError::Other(OtherError(Arc::new(kind.clone()))).into());
            check(&told, &kind);
        }
    }

    #[test]
    fn a_name_of_a_kind_is_told_as_words() {
        assert_eq!(plain(&webpki::Error::UnsupportedDeltaCrl), "unsupported delta crl");
        assert_eq!(plain(&InvalidMessage::MissingData("Certificate")), "missing data");
    }
}
