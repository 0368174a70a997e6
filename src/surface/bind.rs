//! Binds the one listener, and answers whether a port could be bound (LIFE-002, LIFE-003, LIFE-051).
//!
//! IPv4 only, two addresses, no name looked up. Port 0 is never bound and a busy port never leads to another one.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

/// A bound listener, to be handed on to the engine.
pub use std::net::TcpListener as Listener;

/// Where the listener may bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Host {
    /// `127.0.0.1`, the default.
    #[default]
    Loopback,
    /// `0.0.0.0`, the operator's own opt-in (CLI-037).
    Any,
}

impl Host {
    /// The address as typed and as published.
    pub const fn as_str(self) -> &'static str {
        match self {
            Host::Loopback => "127.0.0.1",
            Host::Any => "0.0.0.0",
        }
    }

    const fn address(self) -> Ipv4Addr {
        match self {
            Host::Loopback => Ipv4Addr::LOCALHOST,
            Host::Any => Ipv4Addr::UNSPECIFIED,
        }
    }
}

/// Why the port was not bound.
#[derive(Debug)]
pub enum BindError {
    /// Someone has it.
    InUse,
    /// The system does not let us: held, reserved or blocked.
    NotPermitted,
    /// Anything else.
    Other(io::Error),
}

impl From<io::Error> for BindError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse,
            io::ErrorKind::PermissionDenied => BindError::NotPermitted,
            _ => BindError::Other(error),
        }
    }
}

/// The listener, with the warning to print when one of its options could not be set.
pub fn bind(host: Host, port: u16) -> Result<(TcpListener, Option<String>), BindError> {
    if port == 0 {
        return Err(BindError::Other(io::Error::new(io::ErrorKind::InvalidInput, "port 0 is never bound")));
    }
    Ok(system::bind(host.address(), port)?)
}

/// Whether a listener of ours could take the port on loopback now. Only "in use" counts as held, and on Windows "not
/// permitted" as well; any other failure is not the port's.
pub fn port_free(port: u16) -> bool {
    match bind(Host::Loopback, port) {
        Err(BindError::InUse) => false,
        Err(BindError::NotPermitted) => !cfg!(windows),
        Ok(_) | Err(BindError::Other(_)) => true,
    }
}

/// Waits for the port to come free; tries at least once.
pub fn wait_free(port: u16, limit: Duration, pause: Duration) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if port_free(port) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(pause);
    }
}

#[cfg(unix)]
mod system {
    use super::{Ipv4Addr, TcpListener, io};

    /// The standard library sets `SO_REUSEADDR` on POSIX, so that a port whose old connections still linger is free.
    pub(super) fn bind(address: Ipv4Addr, port: u16) -> io::Result<(TcpListener, Option<String>)> {
        Ok((TcpListener::bind((address, port))?, None))
    }
}

#[cfg(windows)]
mod system {
    use super::{Ipv4Addr, TcpListener, io};
    use crate::surface::win32;
    use std::os::windows::io::FromRawSocket as _;

    const AF_INET: i32 = 2;
    const SOCK_STREAM: i32 = 1;
    const IPPROTO_TCP: i32 = 6;
    const SOL_SOCKET: i32 = 0xffff;
    /// `~SO_REUSEADDR`: nobody else may share the port, whatever they ask for.
    const SO_EXCLUSIVEADDRUSE: i32 = !4;
    const WSA_FLAG_OVERLAPPED: u32 = 1;
    const WSA_FLAG_NO_HANDLE_INHERIT: u32 = 0x80;
    const BACKLOG: i32 = 128;

    fn last_error() -> io::Error {
        // SAFETY: reads this thread's last socket error.
        io::Error::from_raw_os_error(unsafe { win32::WSAGetLastError() })
    }

    /// `SO_EXCLUSIVEADDRUSE` must be set before the bind, which the standard library gives no chance for.
    pub(super) fn bind(address: Ipv4Addr, port: u16) -> io::Result<(TcpListener, Option<String>)> {
        // SAFETY: the start-up record is at most 408 bytes; the address outlives its call; the socket is either closed
        // here or handed over, once.
        unsafe {
            let mut data = [0u64; 64];
            win32::WSAStartup(0x0202, data.as_mut_ptr().cast());
            let flags = WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT;
            let socket = win32::WSASocketW(AF_INET, SOCK_STREAM, IPPROTO_TCP, std::ptr::null(), 0, flags);
            if socket == usize::MAX {
                return Err(last_error());
            }
            let on: i32 = 1;
            let set = win32::setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (&raw const on).cast(), 4);
            let warning =
                (set != 0).then(|| format!("the port could not be reserved for this program: {}", last_error()));
            let name = win32::SocketAddress {
                family: AF_INET as u16,
                port: port.to_be_bytes(),
                address: address.octets(),
                zero: [0; 8],
            };
            let length = size_of::<win32::SocketAddress>() as i32;
            if win32::bind(socket, &raw const name, length) != 0 || win32::listen(socket, BACKLOG) != 0 {
                let error = last_error();
                win32::closesocket(socket);
                return Err(error);
            }
            Ok((TcpListener::from_raw_socket(socket as u64), warning))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    /// LIFE-003.
    #[test]
    fn life_003_a_busy_port_is_in_use_and_never_another_one() {
        let port = free_port();
        let (held, _) = bind(Host::Loopback, port).unwrap();
        assert_eq!(held.local_addr().unwrap().to_string(), format!("127.0.0.1:{port}"));
        assert!(matches!(bind(Host::Loopback, port), Err(BindError::InUse)));
        assert!(matches!(bind(Host::Any, port), Err(BindError::InUse)));
        assert!(matches!(bind(Host::Loopback, 0), Err(BindError::Other(_))));
    }

    /// LIFE-051, LIFE-052.
    #[test]
    fn life_051_and_052_free_once_the_listener_is_gone_even_with_lingering_peers() {
        let port = free_port();
        let (held, _) = bind(Host::Any, port).unwrap();
        assert!(!wait_free(port, Duration::ZERO, Duration::from_millis(1)));
        let peer = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (served, _) = held.accept().unwrap();
        drop((served, held));
        assert!(wait_free(port, Duration::from_secs(5), Duration::from_millis(5)));
        drop(peer);
    }
}
