//! Everything a request meets between the engine and a feature: gate, route table, body rule, reply.
//!
//! Nothing in here knows a socket, a file or a process. The order every request goes through stands in
//! [`app::App`]; what each route asks stands in the table of [`route`].

pub mod app;
pub mod assets;
mod data;
pub mod gate;
mod health;
pub mod json;
mod lane;
pub mod page;
pub mod query;
pub mod reply;
pub mod route;
mod stream;

pub use app::{App, Call, Handler, Hook, Setup, Shutdown};
pub use gate::{Gate, Here, HostMode};
pub use lane::BrowserLane;
pub use reply::Reply;
pub use route::Feature;
