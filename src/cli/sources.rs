//! Settings that may also stand in a variable or in a file of the state directory: the webhook and the quiet hours.
//!
//! Resolved by a serving run, never by a one-shot command. The first source that says anything decides; a bad one is
//! reported and counts as unset, without falling through to the next.

use super::Context;
use crate::config::{QUIET_HOURS_READ_CAP_BYTES, REACH_URL_READ_CAP_BYTES};
use crate::env::REACH_URL;
use crate::lanes::quiet::Quiet;
use crate::settings::{QuietHours, Secret};

/// A resolved setting and the line to print when its source was no good.
#[derive(Debug, PartialEq, Eq)]
pub struct Resolved<T> {
    /// What it is, if anything.
    pub value: Option<T>,
    /// The diagnostic, naming the source and never its content.
    pub diagnostic: Option<String>,
}

impl<T> Resolved<T> {
    const fn none() -> Self {
        Self { value: None, diagnostic: None }
    }

    fn bad(line: String) -> Self {
        Self { value: None, diagnostic: Some(line) }
    }
}

/// The webhook: `--reach-url`, `CARGENTO_REACH_URL`, the file `reach_url` (NOTE-100). The URL is a secret.
pub fn reach_url(context: &Context) -> Resolved<Secret> {
    if context.settings.no_reach {
        return Resolved::none();
    }
    if cfg!(not(feature = "outbound")) {
        // Nothing is looked up: there is nothing that could post (CLI-036).
        let given = context.settings.reach_url.is_some();
        return Resolved {
            value: None,
            diagnostic: given.then(|| "this build cannot post: --reach-url has no effect".to_owned()),
        };
    }
    let flag = context.settings.reach_url.as_ref().map(|url| url.reveal().to_owned());
    let text = flag
        .or_else(|| context.env.text(REACH_URL).map(str::to_owned))
        .or_else(|| file(context, "reach_url", REACH_URL_READ_CAP_BYTES));
    let url = text.as_deref().map(str::trim).unwrap_or_default();
    let usable = url.starts_with("http://") || url.starts_with("https://");
    Resolved { value: usable.then(|| Secret::new(url)), diagnostic: None }
}

/// The quiet hours: `--quiet-hours`, `CARGENTO_QUIET_HOURS`, the file `quiet_hours` (NOTE-090, NOTE-093).
pub fn quiet_hours(context: &Context) -> Resolved<QuietHours> {
    if context.settings.no_quiet_hours {
        return Resolved::none();
    }
    if let Some(hours) = context.settings.quiet_hours {
        return Resolved { value: Some(hours), diagnostic: None };
    }
    let (source, text) = match context.env.get("CARGENTO_QUIET_HOURS") {
        Some(value) => ("the variable CARGENTO_QUIET_HOURS".to_owned(), value.to_str().map(str::to_owned)),
        None => match file(context, "quiet_hours", QUIET_HOURS_READ_CAP_BYTES) {
            Some(text) if !text.trim().is_empty() => {
                (format!("the file {}", context.place.path("quiet_hours").display()), Some(text))
            }
            _ => return Resolved::none(),
        },
    };
    match text.as_deref().and_then(QuietHours::parse) {
        Some(hours) => Resolved { value: Some(hours), diagnostic: None },
        None => Resolved::bad(format!("{source} is not HH:MM-HH:MM; no quiet hours are kept")),
    }
}

/// Whether a moment, seconds since the epoch, lies in the window; a moment that cannot be placed does not.
pub fn in_quiet_hours(hours: Option<QuietHours>, now: f64) -> bool {
    Quiet::new(hours).holds(now)
}

fn file(context: &Context, name: &str, cap: usize) -> Option<String> {
    let bytes = context.place.read_head(name, cap).ok()??;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, Platform};
    use crate::settings::{Settings, typed};
    use crate::surface::write::Temporary;

    fn context(home: &Temporary, args: &[&str], vars: &[(&str, &str)]) -> Context {
        let root = home.place().root().to_str().unwrap();
        let env = Env::of(Platform::Linux, vars.iter().copied().chain([("CARGENTO_HOME", root)]));
        Context::new(Settings::of(&typed(args.iter().map(Into::into)).unwrap()).unwrap(), env).unwrap()
    }

    fn scratch() -> Temporary {
        Temporary::create(&std::env::temp_dir(), "cargento-sources-test").unwrap()
    }

    /// NOTE-100.
    #[cfg(feature = "outbound")]
    #[test]
    fn note_100_the_first_source_decides_without_falling_through() {
        let home = scratch();
        home.place().replace("reach_url", b" https://file.example/x\n").unwrap();
        let url = |args: &[&str], vars: &[(&str, &str)]| {
            reach_url(&context(&home, args, vars)).value.map(|url| url.reveal().to_owned())
        };
        let var = [(REACH_URL, "http://var.example/")];
        assert_eq!(url(&["--reach-url=https://flag.example"], &var).as_deref(), Some("https://flag.example"));
        assert_eq!(url(&[], &var).as_deref(), Some("http://var.example/"));
        assert_eq!(url(&[], &[]).as_deref(), Some("https://file.example/x"));
        assert_eq!(url(&["--reach-url="], &[]).as_deref(), Some("https://file.example/x"));
        assert_eq!(url(&["--reach-url=ftp://x"], &var), None);
        assert_eq!(url(&["--no-reach"], &var), None);
    }

    /// NOTE-093.
    #[test]
    fn note_093_a_bad_source_is_named_and_counts_as_unset() {
        let home = scratch();
        let hours = |args: &[&str], vars: &[(&str, &str)]| quiet_hours(&context(&home, args, vars));
        assert_eq!(hours(&[], &[]), Resolved::none());
        home.place().replace("quiet_hours", b"22:00-07:00\n").unwrap();
        assert_eq!(hours(&[], &[]).value.unwrap().to_string(), "22:00-07:00");
        let bad = hours(&[], &[("CARGENTO_QUIET_HOURS", "late")]);
        assert!(bad.value.is_none() && bad.diagnostic.unwrap().contains("CARGENTO_QUIET_HOURS"));
        let var = [("CARGENTO_QUIET_HOURS", "01:00-02:00")];
        assert_eq!(hours(&[], &var).value.unwrap().to_string(), "01:00-02:00");
        assert_eq!(hours(&["--quiet-hours=03:00-04:00"], &var).value.unwrap().to_string(), "03:00-04:00");
        assert_eq!(hours(&["--no-quiet-hours"], &var), Resolved::none());
        home.place().replace("quiet_hours", b"soon").unwrap();
        assert!(hours(&[], &[]).diagnostic.unwrap().contains("quiet_hours"));
    }
}
