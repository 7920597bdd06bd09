//! Which addresses count as one for politeness.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// The bits of an IPv6 address that identify its network; hosts choose the rest (RFC 4291 §2.5.1, RFC 7421).
const NETWORK_V6_BITS: u32 = 64;

/// The addresses that share a delay and, with several workers, an owner: a single IPv4 address, or the /64 network of an IPv6
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(IpAddr);

impl Network {
    /// The network of an address.
    #[must_use]
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Network(address),
            IpAddr::V6(address) => {
                let host = u128::MAX >> NETWORK_V6_BITS;
                Network(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !host)))
            }
        }
    }

    /// True if the address is in this network.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        Network::of(address) == self
    }

    /// Its only address; `None` if it has many.
    #[must_use]
    pub const fn only_address(self) -> Option<IpAddr> {
        match self.0 {
            IpAddr::V4(_) => Some(self.0),
            IpAddr::V6(_) => None,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(f, "{address}"),
            IpAddr::V6(address) => write!(f, "{address}/{NETWORK_V6_BITS}"),
        }
    }
}

/// The text is no network as [`Network`] writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkError;

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "neither an IPv4 address nor an IPv6 network of {NETWORK_V6_BITS} bits")
    }
}

impl std::error::Error for NetworkError {}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let address = match text.split_once('/') {
            Some((address, bits)) if bits.parse() == Ok(NETWORK_V6_BITS) => {
                IpAddr::V6(address.parse().map_err(|_| NetworkError)?)
            }
            Some(_) => return Err(NetworkError),
            None => IpAddr::V4(text.parse().map_err(|_| NetworkError)?),
        };
        Some(Network::of(address)).filter(|network| network.0 == address).ok_or(NetworkError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_count_as_one() {
        for (address, expect) in [
            ("10.0.0.1", "10.0.0.1"),
            ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
            ("::1", "::/64"),
        ] {
            let network = Network::of(address.parse().expect(address));
            assert_eq!(network.to_string(), expect);
            assert_eq!(expect.parse(), Ok(network));
            assert!(network.contains(address.parse().expect(address)));
        }
        for text in ["", "2001:db8::1", "2001:db8::1/64", "2001:db8::/48", "10.0.0.0/64", "http://a.test"] {
            assert_eq!(text.parse::<Network>(), Err(NetworkError), "{text}");
        }
    }
}
