//! What a run knows before it does anything: settings, environment, start stamp, places (CLI-018, CLI-019).

use crate::config::PI_SETTINGS_READ_CAP_BYTES;
use crate::env::Env;
use crate::roots::{RELOCATION, Roots, pi_settings_path};
use crate::settings::Settings;
use crate::surface::read;
use crate::surface::write::{Place, Temporary};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The run, read once and handed down.
#[derive(Debug)]
pub struct Context {
    /// What was asked for.
    pub settings: Settings,
    /// The environment at start.
    pub env: Env,
    /// When the process started, seconds since the epoch: the stamp of the state file, the health reply and every
    /// revision.
    pub started: f64,
    /// The state directory.
    pub place: Place,
    /// Where the harnesses keep their stores.
    pub roots: Roots,
    /// This executable, as recorded for readers of the state file; empty when the system does not tell.
    pub executable: PathBuf,
    /// The private home of the demo, removed when this value goes.
    pub private: Option<Temporary>,
}

impl Context {
    /// Samples the clock, then works out the places. Reads Pi's settings file and nothing else; only the demo makes
    /// anything, its private home, and only that can fail.
    pub fn new(settings: Settings, env: Env) -> io::Result<Self> {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let executable = std::env::current_exe().unwrap_or_default();
        if settings.demo {
            return Self::demo(settings, &env, started, executable);
        }
        let place = Place::state(&env.state_dir());
        let pi_settings = read_text(&pi_settings_path(&env), PI_SETTINGS_READ_CAP_BYTES);
        let roots = Roots::new(&env, pi_settings.as_deref());
        Ok(Self { settings, env, started, place, roots, executable, private: None })
    }

    /// A run that knows nothing of this machine: its home is private and empty, and so are its stores (CLI-033).
    fn demo(settings: Settings, env: &Env, started: f64, executable: PathBuf) -> io::Result<Self> {
        let private = Temporary::create(&env.temp_dir(), "cargento-demo")?;
        let root = private.place().root().to_path_buf();
        let mut bare = env.without(&RELOCATION).without(&[
            "CARGENTO_HOME",
            "XDG_DATA_HOME",
            "LOCALAPPDATA",
            "APPDATA",
            "SPACEDOCK_BIN",
            "XDG_RUNTIME_DIR",
            crate::env::REACH_URL,
        ]);
        for name in ["HOME", "USERPROFILE"] {
            bare = bare.with(name, root.as_os_str());
        }
        let place = Place::state(&root.join("state"));
        let roots = Roots::new(&bare, None);
        let settings = settings.for_demo();
        Ok(Self { settings, env: bare, started, place, roots, executable, private: Some(private) })
    }

    /// The log of a detached run on this port, whether or not this one is detached.
    pub fn log_path(&self) -> PathBuf {
        self.place.path(&self.log_name())
    }

    /// Its name in the state directory.
    pub fn log_name(&self) -> String {
        format!("cargento-{}.log", self.settings.port)
    }
}

/// A small text file of the person's own, which may be a link; `None` when it is missing, longer than the cap, no
/// regular file or unreadable.
fn read_text(path: &Path, cap: usize) -> Option<String> {
    let bytes = read::whole(&read::real(path).ok()?, cap as u64).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Platform;
    use crate::settings::typed;

    fn context(args: &[&str], env: Env) -> Context {
        Context::new(Settings::of(&typed(args.iter().map(Into::into)).unwrap()).unwrap(), env).unwrap()
    }

    fn names(dir: &Path) -> usize {
        std::fs::read_dir(dir).unwrap().count()
    }

    /// CLI-019.
    #[test]
    fn cli_019_knowing_the_places_makes_nothing() {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-context-test").unwrap();
        let root = home.place().root();
        let context = context(&["--port=4600"], Env::of(Platform::current(), [("HOME", root), ("USERPROFILE", root)]));
        assert_eq!(context.place.root(), root.join(".cargento"));
        assert_eq!(context.log_path(), root.join(".cargento").join("cargento-4600.log"));
        assert!(context.started > 1.7e9);
        assert_eq!(names(root), 0);
    }

    /// CONF-024.
    #[test]
    fn conf_024_pis_settings_are_read_at_start() {
        let home = Temporary::create(&std::env::temp_dir(), "cargento-context-test").unwrap();
        let env = Env::of(Platform::Linux, [("PI_CODING_AGENT_DIR", home.place().root())]);
        home.place().replace("settings.json", br#"{"sessionDir":"/elsewhere"}"#).unwrap();
        assert_eq!(context(&[], env.clone()).roots.primary("pi.sessions"), Some(Path::new("/elsewhere")));
        home.place().replace("settings.json", &vec![b' '; PI_SETTINGS_READ_CAP_BYTES + 1]).unwrap();
        assert_eq!(
            context(&[], env).roots.primary("pi.sessions"),
            Some(home.place().root().join("sessions").as_path())
        );
    }

    /// CLI-033.
    #[test]
    fn cli_033_the_demo_has_a_private_home_that_goes_with_it() {
        let tmp = Temporary::create(&std::env::temp_dir(), "cargento-context-test").unwrap();
        let base = tmp.place().root().to_str().unwrap();
        let real = [("HOME", "/home/u"), ("CODEX_HOME", "/data/codex"), ("CARGENTO_HOME", "/state")];
        let env =
            Env::of(Platform::Linux, real.into_iter().chain([("TMPDIR", base), (crate::env::REACH_URL, "https://h/")]));
        let demo = context(&["--demo"], env);
        let private = demo.private.as_ref().unwrap().place().root().to_path_buf();
        assert!(private.starts_with(base) && demo.place.root().starts_with(&private));
        assert!(demo.roots.iter().flat_map(|root| &root.candidates).all(|path| path.starts_with(&private)));
        assert!(demo.env.get(crate::env::REACH_URL).is_none() && demo.env.get("CODEX_HOME").is_none());
        drop(demo);
        assert!(!private.exists());
    }
}
