//! A small map by session key that cannot grow without end.

use crate::config::MAX_CACHE_ENTRIES;
use std::collections::{HashMap, VecDeque};

/// A map of at most 8,192 entries; the oldest inserted goes first.
pub struct Bounded<T> {
    map: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Bounded { map: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> Bounded<T> {
    pub fn get(&self, key: &str) -> Option<&T> {
        self.map.get(key)
    }

    pub fn insert(&mut self, key: &str, value: T) {
        if self.map.insert(key.to_owned(), value).is_some() {
            return;
        }
        self.order.push_back(key.to_owned());
        if self.order.len() > MAX_CACHE_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.map.remove(&oldest);
        }
    }

    pub fn remove(&mut self, key: &str) {
        if self.map.remove(key).is_some() {
            self.order.retain(|held| held != key);
        }
    }
}
