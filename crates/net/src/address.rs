//! Public IP addresses. All others may be internal hosts, which an outsider must not reach through this program.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Non-public IPv4 ranges as network and prefix length, from IANA's special-purpose address registry.
pub(super) const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by carriers
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, metadata services of clouds
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // relays from IPv6, no longer in use
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// The IPv6 global unicast range.
pub(super) const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Non-public ranges within [`GLOBAL_V6`].
pub(super) const SPECIAL_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // tunnels to any IPv4 address
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// 96-bit IPv6 prefixes with an embedded IPv4 address, which is the actual destination.
pub(super) const CARRIES_V4: &[Ipv6Addr] = &[
    Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0),    // mapped
    Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), // translated
];

/// Whether an address is on the public internet, and so gives an outsider no access beyond their own.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|range| holds_v4(*range, address)),
        IpAddr::V6(address) => match embedded_ipv4(address) {
            Some(inner) => is_public(inner.into()),
            None => holds_v6(GLOBAL_V6, address) && !SPECIAL_V6.iter().any(|range| holds_v6(*range, address)),
        },
    }
}

/// The IPv4 address embedded in an IPv6 address.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let inside = CARRIES_V4.iter().any(|prefix| holds_v6((*prefix, 96), address));
    inside.then(|| Ipv4Addr::from_bits(address.to_bits() as u32))
}

fn holds_v4((network, length): (Ipv4Addr, u32), address: Ipv4Addr) -> bool {
    (network.to_bits() ^ address.to_bits()) >> (32 - length) == 0
}

fn holds_v6((network, length): (Ipv6Addr, u32), address: Ipv6Addr) -> bool {
    (network.to_bits() ^ address.to_bits()) >> (128 - length) == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().expect("an address"))
    }

    #[test]
    fn addresses_that_everybody_knows() {
        for address in ["140.82.121.4", "1.1.1.1", "172.32.0.1", "172.15.255.255", "100.128.0.1", "2606:4700::1111"] {
            assert!(public(address), "{address}");
        }
        for address in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "198.19.0.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "100::1",
        ] {
            assert!(!public(address), "{address}");
        }
        assert!(public("::ffff:140.82.121.4"));
        assert!(public("64:ff9b::8c52:7904"));
    }

    proptest! {
        #[test]
        fn nothing_in_a_special_range_is_public(range in 0..SPECIAL_V4.len(), bits: u32) {
            let (network, length) = SPECIAL_V4[range];
            let inside = Ipv4Addr::from_bits(network.to_bits() | (bits & (u32::MAX >> length)));
            prop_assert!(!is_public(inside.into()));
        }

        #[test]
        fn an_address_is_as_public_as_its_other_spellings(bits: u32, prefix in 0..CARRIES_V4.len()) {
            let plain = Ipv4Addr::from_bits(bits);
            let other = Ipv6Addr::from_bits(CARRIES_V4[prefix].to_bits() | u128::from(bits));
            prop_assert_eq!(is_public(plain.into()), is_public(other.into()));
        }

        #[test]
        fn what_the_standard_library_knows_to_be_inside_is_not_public(bits: u32, wide: u128) {
            let v4 = Ipv4Addr::from_bits(bits);
            if v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast() || v4.is_unspecified() {
                prop_assert!(!is_public(v4.into()));
            }
            // Only one bit pattern in eight is global unicast, so the other prefixes are generated explicitly.
            for first in [0xfc00_u16, 0xfd12, 0xfe80, 0xff02, 0] {
                let v6 = Ipv6Addr::from_bits((u128::from(first) << 112) | (wide >> 17));
                prop_assert!(!is_public(v6.into()) || embedded_ipv4(v6).is_some());
            }
        }
    }
}
