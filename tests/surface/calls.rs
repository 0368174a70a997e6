//! What `strace` wrote down, as calls with the paths they name.

use std::path::{Component, Path, PathBuf};

/// Calls that name a file, and how many of their arguments do.
pub const NAMING: &str = "open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,\
                      symlink,symlinkat,chmod,fchmodat,chown,lchown,fchownat,truncate,utimensat,mknod,mknodat,stat,lstat,\
                      newfstatat,statx,access,faccessat,faccessat2,readlink,readlinkat,execve,execveat,inotify_add_watch";
/// Calls that change an open file's length, owner, mode or time.
pub const HOLDING: &str = "ftruncate,fallocate,fchmod,fchown,futimesat";
pub const NETWORK: &str = "socket,connect,bind,listen,sendto,sendmsg";
/// Calls after which a file system differs, besides an open for writing.
const CHANGING: [&str; 22] = [
    "creat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "chmod",
    "fchmodat",
    "chown",
    "lchown",
    "fchownat",
    "truncate",
    "utimensat",
    "mknod",
    "mknodat",
];

/// One recorded call.
#[derive(Debug)]
pub struct Call {
    pub name: String,
    /// Everything between the brackets.
    pub text: String,
    /// The files it names, absolute, without `.` and `..`.
    pub paths: Vec<PathBuf>,
}

impl Call {
    pub fn opens(&self) -> bool {
        self.name.starts_with("open") || self.name == "creat"
    }

    pub fn writes(&self) -> bool {
        let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
        CHANGING.contains(&self.name.as_str()) || self.opens() && flags.iter().any(|flag| self.text.contains(flag))
    }
}

/// The calls of a record made with `-y`, where a relative name follows its folder's.
pub fn calls(record: &str) -> Vec<Call> {
    let mut found = Vec::new();
    for line in record.lines() {
        // A process number, then the call; what was resumed has been seen.
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let Some((name, rest)) = line.split_once('(') else { continue };
        if !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
            continue;
        }
        found.push(Call { name: name.into(), text: rest.into(), paths: paths(rest) });
    }
    found
}

fn paths(arguments: &str) -> Vec<PathBuf> {
    let (mut found, mut folder, mut rest) = (Vec::new(), PathBuf::new(), arguments);
    while let Some(at) = rest.find(['<', '"']) {
        let quoted = rest.as_bytes()[at] == b'"';
        let inside = &rest[at + 1..];
        let Some(end) = inside.find(if quoted { '"' } else { '>' }) else { break };
        let text = &inside[..end];
        rest = &inside[end + 1..];
        if !quoted {
            folder = PathBuf::from(text);
        } else if !text.is_empty() {
            found.push(plain(&folder.join(text)));
        }
    }
    found
}

fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
