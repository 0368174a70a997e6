//! Who may ask: the request gates (GATE-001..016). Pure; the facts come from the head and the socket alone.
//!
//! A page on another site, a rebound DNS name and another local port are refused; nothing here authenticates a
//! person, and no header but `Host`, `Origin` and `Sec-Fetch-*` is looked at.

use crate::surface::listen::Headers;
use std::net::IpAddr;

/// Which addresses the server was started on, and so which hosts it answers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMode {
    /// 127.0.0.1.
    Loopback,
    /// 0.0.0.0: address literals are admitted, names never.
    Wide,
    /// One other address, admitted exactly (GATE-004).
    Exact(IpAddr),
}

/// Where the server listens, as far as a gate needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// The bind.
    pub mode: HostMode,
    /// The bound port.
    pub port: u16,
}

/// What a route asks of its callers beyond an admitted host and origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// A link from another site may open it (GATE-006).
    pub relaxed: bool,
    /// Loopback peers only, and no page of a sibling site (GATE-008).
    pub loopback: bool,
    /// Not inside a frame (GATE-007, GATE-016).
    pub unframed: bool,
    /// Not by navigating to it.
    pub unnavigated: bool,
}

/// The gates of the route table.
impl Gate {
    /// R
    pub const RELAXED: Self = Self { relaxed: true, loopback: false, unframed: false, unnavigated: false };
    /// S
    pub const STRICT: Self = Self { relaxed: false, ..Self::RELAXED };
    /// S F
    pub const STRICT_UNFRAMED: Self = Self { unframed: true, ..Self::STRICT };
    /// L
    pub const LOOPBACK: Self = Self { loopback: true, ..Self::STRICT };
    /// S, L, no document or frame navigation
    pub const PRESS: Self = Self { unframed: true, unnavigated: true, ..Self::LOOPBACK };
}

/// The first clause a request failed; the order of the variants is the order they are tried in (TRUST-041).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clause {
    /// The host is not one of ours.
    Host,
    /// Another site asks.
    Site,
    /// The origin is not this server.
    Origin,
    /// The peer is not this machine.
    Peer,
    /// A frame asks.
    Frame,
    /// A navigation asks.
    Navigation,
}

impl Clause {
    /// The counter of this clause.
    pub fn counter(self) -> &'static str {
        match self {
            Self::Host => "gate.host",
            Self::Site => "gate.site",
            Self::Origin => "gate.origin",
            Self::Peer => "gate.peer",
            Self::Frame => "gate.frame",
            Self::Navigation => "gate.navigation",
        }
    }
}

/// What a gate looks at.
pub struct Facts<'a> {
    headers: &'a Headers,
    /// The authority of an absolute-form target (GATE-014).
    authority: Option<&'a str>,
    peer: IpAddr,
}

impl<'a> Facts<'a> {
    /// The facts of one request.
    pub fn new(headers: &'a Headers, authority: Option<&'a str>, peer: IpAddr) -> Self {
        Self { headers, authority, peer }
    }

    /// Whether a browser says that this is the opening of a document (GATE-007).
    pub fn is_document_navigation(&self) -> bool {
        self.only("sec-fetch-mode", &["navigate"]) && self.only("sec-fetch-dest", &["document"])
    }

    /// Whether a browser says that a frame or another embedding element asks (GATE-007, GATE-016).
    pub fn is_framed(&self) -> bool {
        self.any("sec-fetch-dest", &["iframe", "frame", "embed", "object", "fencedframe"])
    }

    /// Whether the peer is this machine; an IPv4-mapped address counts by its IPv4 (GATE-008).
    pub fn is_loopback_peer(&self) -> bool {
        self.peer.to_canonical().is_loopback()
    }

    /// Whether the gate lets the request through, or the first clause it failed.
    pub fn pass(&self, gate: Gate, here: Here) -> Result<(), Clause> {
        let document = self.is_document_navigation();
        let cross = self.any("sec-fetch-site", &["cross-site"]);
        let sibling = gate.loopback && self.any("sec-fetch-site", &["same-site"]);
        let clauses = [
            (Clause::Host, self.host_admitted(here)),
            (Clause::Site, !sibling && (!cross || (gate.relaxed && document))),
            (Clause::Origin, self.headers.all("origin").all(|origin| origin_admitted(origin, here))),
            (Clause::Peer, !gate.loopback || self.is_loopback_peer()),
            (Clause::Frame, !gate.unframed || !self.is_framed()),
            (Clause::Navigation, !gate.unnavigated || !document),
        ];
        clauses.into_iter().find(|(_, passed)| !passed).map_or(Ok(()), |(clause, _)| Err(clause))
    }

    /// The `Host` line there must be, and the authority of the target when it has one.
    fn host_admitted(&self, here: Here) -> bool {
        let mut hosts = self.headers.all("host").peekable();
        hosts.peek().is_some()
            && hosts.all(|host| admitted(host, here))
            && self.authority.is_none_or(|authority| admitted(authority.as_bytes(), here))
    }

    fn any(&self, name: &str, wanted: &[&str]) -> bool {
        self.headers.all(name).any(|value| is_one_of(value, wanted))
    }

    /// As [`Self::any`], and nothing else was sent under the name.
    fn only(&self, name: &str, wanted: &[&str]) -> bool {
        let mut values = self.headers.all(name).peekable();
        values.peek().is_some() && values.all(|value| is_one_of(value, wanted))
    }
}

fn is_one_of(value: &[u8], wanted: &[&str]) -> bool {
    wanted.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()))
}

/// The host of a `Host` value, lower-cased, without its port; `None` for what is no host and port (GATE-001).
fn host_of(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?.trim_matches([' ', '\t']).to_ascii_lowercase();
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let host = if let Some(rest) = text.strip_prefix('[') {
        let (literal, after) = rest.split_once(']')?;
        let plain = after.is_empty() || after.strip_prefix(':').is_some_and(is_port);
        plain.then(|| literal.to_owned())?
    } else {
        match text.split_once(':') {
            None => text,
            // More than one colon and no brackets: a bare IPv6 literal, which has no port.
            Some((_, rest)) if rest.contains(':') => text,
            Some((host, port)) => is_port(port).then(|| host.to_owned())?,
        }
    };
    (!host.is_empty()).then_some(host)
}

/// Whether a host is one this server answers to (GATE-002..004). The port beside it is not compared.
fn admitted(value: &[u8], here: Here) -> bool {
    let Some(host) = host_of(value) else { return false };
    if matches!(host.as_str(), "127.0.0.1" | "localhost" | "::1") {
        return true;
    }
    let Ok(address) = host.parse::<IpAddr>() else { return false };
    match here.mode {
        HostMode::Loopback => false,
        HostMode::Exact(own) => address == own,
        HostMode::Wide => {
            let plain = address.to_canonical();
            !plain.is_unspecified() && !plain.is_multicast()
        }
    }
}

/// Whether an `Origin` is this server: empty, or `http`, an admitted host, and the port listened on (GATE-005).
fn origin_admitted(origin: &[u8], here: Here) -> bool {
    if origin.is_empty() {
        return true;
    }
    let Some(authority) = origin.strip_prefix(b"http://") else { return false };
    let Ok(text) = std::str::from_utf8(authority) else { return false };
    let port = match text.rsplit_once(':') {
        // The colons of an IPv6 literal are inside its brackets.
        Some((host, port)) if !port.ends_with(']') && (!host.contains(':') || host.ends_with(']')) => port,
        _ => "80",
    };
    let plain = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    plain && port.parse() == Ok(here.port) && admitted(authority, here)
}

#[cfg(test)]
mod tests;
