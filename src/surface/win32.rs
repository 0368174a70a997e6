//! The few Windows calls the audit tree needs, declared here so that no binding crate is linked.
//!
//! Signatures follow the Windows SDK headers `jobapi2.h`, `processthreadsapi.h`, `tlhelp32.h`, `consoleapi.h`,
//! `timezoneapi.h` and `winsock2.h`. Nothing here is safe by itself; each caller says why its call is.

#![allow(clippy::upper_case_acronyms)]

use std::ffi::c_void;

pub(super) type Handle = *mut c_void;
pub(super) type Socket = usize;

pub(super) const CREATE_SUSPENDED: u32 = 0x4;
pub(super) const DETACHED_PROCESS: u32 = 0x8;
pub(super) const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
pub(super) const CREATE_NO_WINDOW: u32 = 0x0800_0000;
pub(super) const SYNCHRONIZE: u32 = 0x0010_0000;
pub(super) const WAIT_TIMEOUT: u32 = 0x102;
pub(super) const ERROR_ACCESS_DENIED: i32 = 5;
pub(super) const TH32CS_SNAPTHREAD: u32 = 0x4;
pub(super) const THREAD_SUSPEND_RESUME: u32 = 0x2;
pub(super) const INVALID_HANDLE: Handle = -1isize as Handle;
pub(super) const JOB_OBJECT_EXTENDED_LIMIT_INFORMATION: u32 = 9;
pub(super) const JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE: u32 = 0x2000;

/// `JOBOBJECT_EXTENDED_LIMIT_INFORMATION`, with the counters it starts and ends with as one block each.
#[repr(C)]
#[derive(Default)]
pub(super) struct JobLimits {
    pub(super) per_process_user_time: i64,
    pub(super) per_job_user_time: i64,
    pub(super) limit_flags: u32,
    pub(super) minimum_working_set: usize,
    pub(super) maximum_working_set: usize,
    pub(super) active_processes: u32,
    pub(super) affinity: usize,
    pub(super) priority_class: u32,
    pub(super) scheduling_class: u32,
    pub(super) io_counters: [u64; 6],
    pub(super) memory: [usize; 4],
}

/// `THREADENTRY32`.
#[repr(C)]
#[derive(Default)]
pub(super) struct ThreadEntry {
    pub(super) size: u32,
    pub(super) usage: u32,
    pub(super) thread: u32,
    pub(super) process: u32,
    pub(super) base_priority: i32,
    pub(super) delta_priority: i32,
    pub(super) flags: u32,
}

/// `SYSTEMTIME`.
#[repr(C)]
#[derive(Default)]
pub(super) struct SystemTime {
    pub(super) year: u16,
    pub(super) month: u16,
    pub(super) weekday: u16,
    pub(super) day: u16,
    pub(super) hour: u16,
    pub(super) minute: u16,
    pub(super) second: u16,
    pub(super) millis: u16,
}

/// `FILETIME`: 100 ns since 1601.
#[repr(C)]
pub(super) struct FileTime {
    pub(super) low: u32,
    pub(super) high: u32,
}

/// `sockaddr_in`.
#[repr(C)]
pub(super) struct SocketAddress {
    pub(super) family: u16,
    pub(super) port: [u8; 2],
    pub(super) address: [u8; 4],
    pub(super) zero: [u8; 8],
}

#[link(name = "kernel32")]
unsafe extern "system" {
    pub(super) fn CreateJobObjectW(attributes: *const c_void, name: *const u16) -> Handle;
    pub(super) fn SetInformationJobObject(job: Handle, class: u32, info: *const c_void, length: u32) -> i32;
    pub(super) fn AssignProcessToJobObject(job: Handle, process: Handle) -> i32;
    pub(super) fn TerminateJobObject(job: Handle, code: u32) -> i32;
    pub(super) fn CloseHandle(handle: Handle) -> i32;
    pub(super) fn OpenProcess(access: u32, inherit: i32, process: u32) -> Handle;
    pub(super) fn WaitForSingleObject(handle: Handle, millis: u32) -> u32;
    pub(super) fn CreateToolhelp32Snapshot(flags: u32, process: u32) -> Handle;
    pub(super) fn Thread32First(snapshot: Handle, entry: *mut ThreadEntry) -> i32;
    pub(super) fn Thread32Next(snapshot: Handle, entry: *mut ThreadEntry) -> i32;
    pub(super) fn OpenThread(access: u32, inherit: i32, thread: u32) -> Handle;
    pub(super) fn ResumeThread(thread: Handle) -> u32;
    pub(super) fn SetConsoleCtrlHandler(handler: Option<unsafe extern "system" fn(u32) -> i32>, add: i32) -> i32;
    pub(super) fn FileTimeToSystemTime(time: *const FileTime, out: *mut SystemTime) -> i32;
    pub(super) fn SystemTimeToTzSpecificLocalTime(
        zone: *const c_void,
        universal: *const SystemTime,
        local: *mut SystemTime,
    ) -> i32;
}

#[link(name = "ws2_32")]
unsafe extern "system" {
    pub(super) fn WSAStartup(version: u16, data: *mut c_void) -> i32;
    pub(super) fn WSASocketW(
        family: i32,
        kind: i32,
        protocol: i32,
        info: *const c_void,
        group: u32,
        flags: u32,
    ) -> Socket;
    pub(super) fn setsockopt(socket: Socket, level: i32, name: i32, value: *const i8, length: i32) -> i32;
    pub(super) fn bind(socket: Socket, address: *const SocketAddress, length: i32) -> i32;
    pub(super) fn listen(socket: Socket, backlog: i32) -> i32;
    pub(super) fn closesocket(socket: Socket) -> i32;
    pub(super) fn WSAGetLastError() -> i32;
}
