//! How fast saves are; not a bar, a figure: `cargo test --test stores -- --ignored --nocapture`.

use crate::home::{Board, Home};
use std::time::{Duration, Instant};

fn measure(what: &str, clients: usize, board: &Board, save: impl Fn(&Board, usize, usize) + Sync) {
    let until = Instant::now() + Duration::from_secs(3);
    let mut took: Vec<Duration> = std::thread::scope(|scope| {
        let one = |client| {
            let save = &save;
            move || {
                let mut took = Vec::new();
                while Instant::now() < until {
                    let at = Instant::now();
                    save(board, client, took.len());
                    took.push(at.elapsed());
                }
                took
            }
        };
        let clients: Vec<_> = (0..clients).map(|client| scope.spawn(one(client))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    let (rate, half, most, longest) = (took.len() / 3, at(0.5), at(0.99), at(1.0));
    println!("{what}, {clients} clients: {rate}/s, median {half:.1} ms, p99 {most:.1} ms, longest {longest:.1} ms");
}

#[test]
#[ignore = "a measurement"]
fn rate_of_saves() {
    for clients in [1, 8] {
        let home = Home::new();
        let board = home.serve();
        measure("goals", clients, &board, |board, client, i| {
            assert_eq!(board.goal(&format!("s{client}"), &format!("goal {i}")), "stored");
        });
        measure("marks", clients, &board, |board, client, i| assert!(board.mark(&format!("s{client}-{i}"))));
    }
}
