use super::*;
use crate::surface::listen::Headers;
use proptest::prelude::*;

const PORT: u16 = 4553;

fn here(mode: HostMode) -> Here {
    Here { mode, port: PORT }
}

/// The verdict on a request from this machine with these header lines.
fn judged(gate: Gate, mode: HostMode, lines: &[(&str, &str)]) -> Result<(), Clause> {
    from("127.0.0.1", gate, mode, lines)
}

fn from(peer: &str, gate: Gate, mode: HostMode, lines: &[(&str, &str)]) -> Result<(), Clause> {
    let headers = Headers::from_lines(lines);
    Facts::new(&headers, None, peer.parse().unwrap()).pass(gate, here(mode))
}

fn host(mode: HostMode, host: &str) -> bool {
    judged(Gate::RELAXED, mode, &[("host", host)]).is_ok()
}

const NAVIGATION: [(&str, &str); 4] = [
    ("host", "127.0.0.1"),
    ("sec-fetch-site", "cross-site"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-dest", "document"),
];

/// GATE-001, GATE-002.
#[test]
fn gate_001_002_hosts_of_the_default_bind() {
    for good in [
        "127.0.0.1",
        "127.0.0.1:4553",
        "127.0.0.1:1",
        "localhost",
        "LocalHost:4553",
        "[::1]",
        "[::1]:4553",
        "::1",
        " localhost\t",
    ] {
        assert!(host(HostMode::Loopback, good), "{good:?}");
    }
    for bad in [
        "",
        "evil.example",
        "127.0.0.1.evil.example",
        "[",
        "[]",
        "[]:1",
        "[::1]evil.example",
        "[::1].",
        "[::1]:x",
        "[::1]:",
        "localhost:",
        "localhost:evil.example",
        "192.168.1.5",
        "127.0.0.2",
        "0.0.0.0",
        "localhost.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "user@localhost",
        "localhost:4553,evil.example",
        "::1:4553x",
        ":4553",
        "localhost:+1",
        "localhost:٤",
    ] {
        assert!(!host(HostMode::Loopback, bad), "{bad:?}");
    }
    assert_eq!(judged(Gate::RELAXED, HostMode::Loopback, &[]), Err(Clause::Host), "no Host line");
}

/// GATE-003.
#[test]
fn gate_003_a_wide_bind_admits_literals_and_never_names() {
    for good in [
        "192.168.1.5:4553",
        "10.0.0.7",
        "[fe80::1]:4553",
        "[2001:db8::7]",
        "127.0.0.2",
        "localhost",
        "127.0.0.1:1",
        "[::1]",
        "::ffff:10.0.0.1",
    ] {
        assert!(host(HostMode::Wide, good), "{good:?}");
    }
    for bad in [
        "evil.example:4553",
        "board.local",
        "192.168.1.5.nip.io",
        "localhost.",
        "0.0.0.0",
        "0.0.0.0:4553",
        "[::]",
        "224.0.0.1",
        "239.255.255.250",
        "[ff02::1]",
        "",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "010.0.0.1",
        "[::ffff:0.0.0.0]",
        "[::ffff:224.0.0.1]",
        "[fe80::1%eth0]",
    ] {
        assert!(!host(HostMode::Wide, bad), "{bad:?}");
    }
}

/// GATE-004.
#[test]
fn gate_004_another_single_address_is_admitted_exactly() {
    let mode = HostMode::Exact("10.1.2.3".parse().unwrap());
    assert!(host(mode, "10.1.2.3:9") && host(mode, "localhost"));
    assert!(!host(mode, "10.1.2.4") && !host(mode, "evil.example"));
}

/// GATE-005.
#[test]
fn gate_005_origins() {
    let origin = |value: &str| judged(Gate::STRICT, HostMode::Loopback, &[("host", "localhost"), ("origin", value)]);
    for good in ["http://127.0.0.1:4553", "http://localhost:4553", "http://[::1]:4553", ""] {
        assert_eq!(origin(good), Ok(()), "{good:?}");
    }
    for bad in [
        "null",
        "https://127.0.0.1:4553",
        "http://127.0.0.1:4554",
        "http://127.0.0.1",
        "http://localhost",
        "http://evil.example:4553",
        "http://127.0.0.1:x",
        "http://127.0.0.1:",
        "http://127.0.0.1.evil.example:4553",
        "http://localhost.:4553",
        "file://",
        "ftp://127.0.0.1:4553",
        "127.0.0.1:4553",
        "http://127.0.0.1:45530000",
        "http://127.0.0.1:4553/",
        "http://u@127.0.0.1:4553",
        "HTTP://127.0.0.1:4553",
        "http://[::1]",
        "http://[::1:4553",
        "http://",
        "http://:4553",
        "http://127.0.0.1:4553 http://evil.example",
        "http://127.0.0.1:+4553",
    ] {
        assert_eq!(origin(bad), Err(Clause::Origin), "{bad:?}");
    }
    let headers = [("host", "localhost"), ("origin", "http://localhost:4553"), ("origin", "http://evil.example")];
    assert_eq!(judged(Gate::STRICT, HostMode::Loopback, &headers), Err(Clause::Origin), "every Origin line counts");
    let eighty = Here { mode: HostMode::Loopback, port: 80 };
    let headers = Headers::from_lines(&[("host", "localhost"), ("origin", "http://[::1]")]);
    let facts = Facts::new(&headers, None, "::1".parse().unwrap());
    assert_eq!(facts.pass(Gate::STRICT, eighty), Ok(()), "a port left out is 80");
}

/// GATE-006, GATE-007, GATE-008, GATE-009.
/// The matrix of the three headers, against what GATE-005..009 and GATE-016 say of each gate.
#[test]
fn gate_005_to_009_016_the_fetch_metadata_matrix() {
    let sites = [None, Some("none"), Some("same-origin"), Some("same-site"), Some("cross-site"), Some("Cross-Site")];
    let modes = [None, Some("navigate"), Some("Navigate"), Some("cors"), Some("no-cors")];
    let dests = [
        None,
        Some("document"),
        Some("iframe"),
        Some("FRAME"),
        Some("embed"),
        Some("object"),
        Some("fencedframe"),
        Some("empty"),
        Some("script"),
    ];
    let lower = |value: Option<&str>| value.map(str::to_ascii_lowercase);
    let count = sites.len() * modes.len() * dests.len();
    for n in 0..count {
        let (site, mode, dest) = (sites[n % 6], modes[n / 6 % 5], dests[n / 30]);
        let mut lines = vec![("host", "127.0.0.1:4553")];
        lines.extend(site.map(|v| ("sec-fetch-site", v)));
        lines.extend(mode.map(|v| ("sec-fetch-mode", v)));
        lines.extend(dest.map(|v| ("sec-fetch-dest", v)));
        let (site, mode, dest) = (lower(site), lower(mode), lower(dest));
        let cross = site.as_deref() == Some("cross-site");
        let sibling = site.as_deref() == Some("same-site");
        let document = mode.as_deref() == Some("navigate") && dest.as_deref() == Some("document");
        let framed = matches!(dest.as_deref(), Some("iframe" | "frame" | "embed" | "object" | "fencedframe"));
        for (gate, want) in [
            (Gate::RELAXED, !cross || document),
            (Gate::STRICT, !cross),
            (Gate::STRICT_UNFRAMED, !cross && !framed),
            (Gate::LOOPBACK, !cross && !sibling),
            (Gate::PRESS, !cross && !sibling && !framed && !document),
        ] {
            assert_eq!(judged(gate, HostMode::Loopback, &lines).is_ok(), want, "{gate:?} {lines:?}");
        }
    }
}

/// GATE-010.
#[test]
fn gate_010_truth_table() {
    let (page, l) = (Gate::RELAXED, HostMode::Loopback);
    assert_eq!(judged(page, l, &[("host", "127.0.0.1")]), Ok(()), "curl");
    assert_eq!(judged(page, l, &NAVIGATION), Ok(()), "a link from another site");
    assert_eq!(judged(Gate::STRICT, l, &NAVIGATION), Err(Clause::Site), "the same as a POST");
    let foreign = [NAVIGATION.as_slice(), &[("origin", "http://evil.example")]].concat();
    assert_eq!(judged(page, l, &foreign), Err(Clause::Origin), "a navigation that carries a foreign origin");
    let own = [("host", "192.168.1.5:4553"), ("origin", "http://192.168.1.5:4553")];
    assert_eq!(judged(page, HostMode::Wide, &own), Ok(()));
    assert_eq!(judged(page, l, &own), Err(Clause::Host));
    let named = [("host", "192.168.1.5:4553"), ("origin", "http://evil.example:4553")];
    assert_eq!(judged(page, HostMode::Wide, &named), Err(Clause::Origin));
}

/// GATE-008, GATE-015.
#[test]
fn gate_008_015_loopback_routes_stay_on_this_machine() {
    let lines = [("host", "10.0.0.7")];
    for (peer, want) in [
        ("127.0.0.1", Ok(())),
        ("127.9.9.9", Ok(())),
        ("::1", Ok(())),
        ("::ffff:127.0.0.1", Ok(())),
        ("10.0.0.9", Err(Clause::Peer)),
        ("::ffff:10.0.0.9", Err(Clause::Peer)),
    ] {
        assert_eq!(from(peer, Gate::LOOPBACK, HostMode::Wide, &lines), want, "{peer}");
        assert_eq!(from(peer, Gate::STRICT, HostMode::Wide, &lines), Ok(()), "{peer}");
    }
    let spoofed =
        [("host", "10.0.0.7"), ("x-forwarded-for", "127.0.0.1"), ("forwarded", "for=127.0.0.1"), ("x-real-ip", "::1")];
    assert_eq!(
        from("10.0.0.9", Gate::LOOPBACK, HostMode::Wide, &spoofed),
        Err(Clause::Peer),
        "TRUST-046: the socket decides"
    );
}

/// GATE-014.
#[test]
fn gate_014_an_absolute_target_is_held_to_the_same_rule() {
    let headers = Headers::from_lines(&[("host", "127.0.0.1")]);
    let verdict = |authority| {
        Facts::new(&headers, Some(authority), "::1".parse().unwrap()).pass(Gate::RELAXED, here(HostMode::Loopback))
    };
    assert_eq!(verdict("localhost:4553"), Ok(()));
    for bad in ["evil.example", "", "localhost@evil.example", "evil.example@localhost"] {
        assert_eq!(verdict(bad), Err(Clause::Host), "{bad:?}");
    }
    let two = Headers::from_lines(&[("host", "127.0.0.1"), ("host", "evil.example")]);
    assert_eq!(
        Facts::new(&two, None, "::1".parse().unwrap()).pass(Gate::RELAXED, here(HostMode::Loopback)),
        Err(Clause::Host)
    );
}

/// TRUST-041.
#[test]
fn trust_041_the_first_failing_clause_is_named() {
    let lines = [
        ("host", "evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("origin", "null"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    let wanted = [Clause::Host, Clause::Site, Clause::Origin, Clause::Peer, Clause::Navigation];
    for (skip, want) in wanted.into_iter().enumerate() {
        let mut lines = lines.to_vec();
        let repairs = [("host", "10.0.0.7"), ("sec-fetch-site", "none"), ("origin", "")];
        for (line, repair) in lines.iter_mut().zip(repairs).take(skip) {
            *line = repair;
        }
        let peer = if skip > 3 { "127.0.0.1" } else { "10.0.0.9" };
        assert_eq!(from(peer, Gate::PRESS, HostMode::Wide, &lines), Err(want));
    }
    let framed = [("host", "localhost"), ("sec-fetch-dest", "iframe")];
    assert_eq!(judged(Gate::PRESS, HostMode::Loopback, &framed), Err(Clause::Frame));
}

proptest! {
    /// TRUST-080: no bytes as host or origin make the gate panic, and what it admits by default is one of three hosts.
    #[test]
    fn trust_080_hosts_and_origins(text in "\\PC{0,40}", shaped in "(\\[|http://)?(localhost|127\\.0\\.0\\.1|::1|evil)?(\\])?[:.\\[\\]a@]{0,2}[0-9]{0,6}") {
        for value in [text.as_str(), shaped.as_str()] {
            if host(HostMode::Loopback, value) {
                let rest = value.trim().to_ascii_lowercase();
                let known = ["127.0.0.1", "localhost", "::1", "[127.0.0.1]", "[localhost]", "[::1]"];
                prop_assert!(known.iter().any(|k| rest.strip_prefix(k).is_some_and(|port| port.is_empty() || port[1..].bytes().all(|b| b.is_ascii_digit()))), "{value:?}");
            }
            let _ = judged(Gate::STRICT, HostMode::Wide, &[("host", "localhost"), ("origin", value)]);
        }
    }
}
