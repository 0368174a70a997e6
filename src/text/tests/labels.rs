//! Project labels and resume tokens.

use super::super::label::{Host, encoded_label, project_label, resume_id, short_name};
use Host::{Posix, Windows};

/// ROW-006.
#[test]
fn row_006_labels_on_posix() {
    for (cwd, want) in [
        ("", None),
        ("acme/shop", None),
        ("~/shop", None),
        ("/", None),
        ("/.", None),
        ("/w/acme/../shop", None),
        ("/w/..", None),
        ("/w", Some("w")),
        ("/w/acme/shop", Some("acme/shop")),
        ("/w/./acme//shop//", Some("acme/shop")),
        ("/w/acme/sh\\op", Some("acme/sh\\op")),
        ("/w/a..b/c", Some("a..b/c")),
        ("/home/me", Some("(home)")),
        ("/home/me/", Some("(home)")),
        ("//home/./me", Some("(home)")),
        ("/home/me/solo", Some("solo")),
        ("/home/me/a/b/c", Some("b/c")),
        ("/home/merlin/x", Some("merlin/x")),
        ("/home/Me/x", Some("Me/x")),
        ("/home", Some("home")),
        ("C:\\w\\acme", None),
        ("/w/a\u{202e}b/c\nd", Some("a b/c d")),
    ] {
        assert_eq!(project_label(cwd, "/home/me/", Posix).as_deref(), want, "{cwd:?}");
    }
    for home in ["", "relative", "/home/../me"] {
        assert_eq!(project_label("/home/me", home, Posix).as_deref(), Some("home/me"), "home {home:?}");
    }
    assert_eq!(project_label("/", "/", Posix).as_deref(), Some("(home)"));
    assert_eq!(project_label("/w/acme/shop", "/", Posix).as_deref(), Some("acme/shop"));
}

/// ROW-006.
#[test]
fn row_006_labels_on_windows() {
    for (cwd, want) in [
        (r"C:\w\acme\shop", Some("acme/shop")),
        ("C:/w/acme/shop/", Some("acme/shop")),
        (r"c:\users\ME", Some("(home)")),
        (r"C:\Users\me\solo", Some("solo")),
        (r"C:\USERS\Me\a\b/c", Some("b/c")),
        (r"D:\Users\me\solo", Some("me/solo")),
        (r"\\?\C:\Users\me\solo", Some("solo")),
        (r"\\server\share\acme\shop", Some("acme/shop")),
        (r"\\?\UNC\server\share\acme\shop", Some("acme/shop")),
        (r"\\server\share", None),
        (r"\Users\me\solo", Some("solo")),
        (r"C:\w\..\shop", None),
        (r"C:shop", None),
        ("C:", None),
        (r"C:\", None),
        (r"acme\shop", None),
        ("", None),
    ] {
        assert_eq!(project_label(cwd, r"C:\Users\me", Windows).as_deref(), want, "{cwd:?}");
    }
    assert_eq!(project_label(r"C:\x\ÄRGER", r"c:\X\ärger", Windows).as_deref(), Some("(home)"));
}

/// ROW-007.
#[test]
fn row_007_labels_of_encoded_directories() {
    for (directory, home, host, want) in [
        ("-w-team-folder", "/home/me", Posix, "team-folder"),
        ("-home-me-acme-shop-web", "/home/me", Posix, "shop-web"),
        ("-home-me-solo", "/home/me", Posix, "solo"),
        ("-home-me", "/home/me/", Posix, "(home)"),
        ("-home-me-", "/home/me", Posix, "(home)"),
        ("", "/home/me", Posix, "(home)"),
        ("---", "", Posix, "(home)"),
        ("-home-merlin-x", "/home/me", Posix, "merlin-x"),
        ("-home-j-doe-shop", "/home/j.doe", Posix, "shop"),
        ("-w-acme--hidden", "/home/me", Posix, "acme-hidden"),
        ("plain", "/home/me", Posix, "plain"),
        ("C--Users-me-acme-shop", r"C:\Users\me", Windows, "acme-shop"),
        ("c--users-ME-shop", r"C:\Users\me", Windows, "shop"),
    ] {
        assert_eq!(encoded_label(directory, home, host), want, "{directory}");
    }
    assert_eq!((short_name("acme/shop"), short_name("codex")), ("shop", "codex"));
}

/// ROW-005.
#[test]
fn row_005_a_resume_token_is_a_plain_id_or_nothing() {
    let long = "x".repeat(64);
    for token in ["27d10654-0000-4000-8000-000000000000", "plain_ID-09", "_u", "a", "a-", long.as_str()] {
        assert_eq!(resume_id(token), Some(token));
    }
    let over = "z".repeat(65);
    for token in [
        "",
        "--dangerously-skip-permissions",
        "-p",
        "a b",
        "a;b",
        "$(x)",
        "a.b",
        "a/b",
        "a\n",
        "\na",
        "ünï",
        over.as_str(),
    ] {
        assert_eq!(resume_id(token), None, "{token:?}");
    }
}
