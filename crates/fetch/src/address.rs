//! Which addresses lie on the public Internet: what `--deny-private` lets through.
//!
//! A crawler that takes URLs from strangers must not become their hand inside the network it runs in. The rule is an
//! allow-list where it can be (IPv6: the global unicast block), minus everything special.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks that are not globally routable: the IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast
/// (RFC 5771), and the 6to4 relay anycast block that RFC 7526 withdrew.
const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),        // "this network", RFC 791
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // private, RFC 1918
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // carrier-grade NAT, RFC 6598
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // loopback, RFC 1122
    (Ipv4Addr::new(168, 63, 129, 16), 32), // public by registry, but a service of the host on every machine at Azure
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link-local, RFC 3927; cloud metadata services
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // private, RFC 1918
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // IETF protocol assignments, RFC 6890
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // documentation, RFC 5737
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // 6to4 relay anycast, RFC 7526
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // private, RFC 1918
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // benchmarking, RFC 2544
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // documentation, RFC 5737
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // documentation, RFC 5737
    (Ipv4Addr::new(224, 0, 0, 0), 4),      // multicast, RFC 5771
    (Ipv4Addr::new(240, 0, 0, 0), 4),      // reserved, RFC 1112, and limited broadcast, RFC 919
];

/// The block from which global unicast addresses are given out (RFC 4291 §2.4, IANA IPv6 address space).
const GLOBAL_UNICAST_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// What lies in that block and is special all the same: the IANA IPv6 Special-Purpose Address Registry.
const SPECIAL_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // IETF protocol assignments: Teredo, benchmarking, ORCHID
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation, RFC 3849
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, RFC 3056: an IPv4 address inside
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation, RFC 9637
];

/// NAT64 (RFC 6052 §2.1): the last 32 bits are an IPv4 address, which decides.
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// True for an address on the public Internet: not private, loopback, link-local, shared, multicast, documentation,
/// reserved, nor an IPv6 form that stands for an IPv4 address of such a kind.
#[must_use]
pub fn is_globally_routable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !SPECIAL_V4.iter().any(|(block, length)| (bits ^ block.to_bits()).leading_zeros() >= *length)
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    if lies_in(address, NAT64) {
        let [.., a, b, c, d] = address.octets();
        return is_global_v4(Ipv4Addr::new(a, b, c, d));
    }
    lies_in(address, GLOBAL_UNICAST_V6) && !SPECIAL_V6.iter().any(|block| lies_in(address, *block))
}

fn lies_in(address: Ipv6Addr, (block, length): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ block.to_bits()).leading_zeros() >= length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], global: bool) {
        for text in addresses {
            assert_eq!(is_globally_routable(text.parse().expect(text)), global, "{text}");
        }
    }

    #[test]
    fn addresses_of_the_public_internet_are_let_through() {
        check(&["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"], true);
        check(&["192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "11.0.0.0", "128.0.0.1"], true);
        check(&["2606:4700::1111", "2a00:1450::1", "2001:200::1", "2001:db9::", "3ffe::1"], true);
        check(&["64:ff9b::8.8.8.8", "168.63.129.15", "168.63.129.17"], true);
    }

    #[test]
    fn special_ipv4_blocks_are_refused_from_their_first_to_their_last_address() {
        check(&["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255"], false);
        check(&["127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255"], false);
        check(&["192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.0", "198.19.255.255"], false);
        check(
            &["198.51.100.7", "203.0.113.9", "168.63.129.16", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255"],
            false,
        );
    }

    #[test]
    fn special_ipv6_addresses_are_refused() {
        check(
            &["::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "fe80::1", "febf::1", "fec0::1"],
            false,
        );
        check(&["fc00::1", "fdff::1", "ff02::1", "100::1", "2001:db8::1", "3fff::1", "5f00::1", "2001::1"], false);
        check(
            &["2001:2::1", "2002:7f00:1::", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "4000::1"],
            false,
        );
    }
}
