//! The event tokens: one secret a process, one token a harness (GATE-013, EVT-010).

use super::envelope::SOURCES;
use crate::model::Key;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io;

/// The tokens of this process. They are published in the state file alone.
pub struct Tokens(Vec<(Key, String)>);

impl Tokens {
    /// Tokens under a fresh secret, which is forgotten at once. Fails without a random source.
    pub fn new() -> io::Result<Tokens> {
        let mut secret = [0u8; 32];
        getrandom::fill(&mut secret).map_err(|_| io::Error::other("the system gives no random bytes"))?;
        Ok(Tokens(SOURCES.into_iter().map(|key| (key, derive(&secret, key))).collect()))
    }

    /// For the state file: harness key and token.
    pub fn published(&self) -> Vec<(&'static str, String)> {
        self.0.iter().map(|(key, token)| (key.as_str(), token.clone())).collect()
    }

    /// Whether `given` is the token of `key`, compared in constant time (EVT-013).
    pub fn admits(&self, key: Key, given: Option<&str>) -> bool {
        let Some((_, token)) = self.0.iter().find(|(k, _)| *k == key) else { return false };
        given.is_some_and(|given| same(token.as_bytes(), given.as_bytes()))
    }
}

fn derive(secret: &[u8; 32], key: Key) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(key.as_str().as_bytes());
    mac.finalize().into_bytes().iter().map(|b| format!("{b:02x}")).collect()
}

/// Equality whose time depends on the lengths alone.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0u8, |sum, (x, y)| sum | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_013_evt_010_one_token_a_source_and_none_twice() {
        let (a, b) = (Tokens::new().unwrap(), Tokens::new().unwrap());
        let mut all: Vec<String> = a.published().into_iter().chain(b.published()).map(|(_, t)| t).collect();
        assert!(all.iter().all(|t| t.len() == 64 && t.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 14);
        let claude = a.published().into_iter().find(|(k, _)| *k == "claude").unwrap().1;
        assert!(a.admits(Key::Claude, Some(&claude)));
        for (tokens, key, given) in [
            (&a, Key::Codex, Some(claude.as_str())),
            (&b, Key::Claude, Some(claude.as_str())),
            (&a, Key::Claude, None),
            (&a, Key::Claude, Some("")),
            (&a, Key::Goose, Some(claude.as_str())),
        ] {
            assert!(!tokens.admits(key, given));
        }
    }

    #[test]
    fn gate_013_the_derivation_is_hmac_sha_256_of_the_key() {
        // RFC 4231 gives no vector with a 32-byte key; computed with an independent implementation.
        assert_eq!(derive(&[7; 32], Key::Claude), "251b5070a5e9362dcc055b2e06db0ad02eed45aaec297b8942bd773996d65bfa");
    }
}
