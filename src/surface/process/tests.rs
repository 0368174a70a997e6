use super::*;
use crate::env::Platform;
use std::time::Instant;

fn shell() -> Program {
    Program::at("/bin/sh").unwrap()
}

fn env() -> Env {
    Env::of(Platform::Linux, [("PATH", "/usr/bin:/bin"), ("KEPT", "yes"), (REACH_URL, "https://h.example/s")])
}

fn sh<'a>(program: &'a Program, env: &'a Env, script: &str) -> Spec<'a> {
    Spec {
        program,
        args: vec!["-c".into(), script.into()],
        dir: None,
        env,
        stdin: Input::Null,
        stdout: Output::Capture(1000),
        stderr: Output::Head(20),
        timeout: Some(Duration::from_secs(20)),
    }
}

fn run_sh(script: &str) -> Result<Done, Failure> {
    run(sh(&shell(), &env(), script))
}

fn gone(pid: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while alive(pid) {
        // A killed orphan is a zombie until init takes it.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')) {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// TRUST-013.
#[test]
fn trust_013_status_output_and_environment() {
    let done = run_sh("echo out; echo $KEPT >&2; cat; exit 3").unwrap();
    assert_eq!((done.code, done.stdout.as_slice(), done.stderr.as_slice()), (Some(3), &b"out\n"[..], &b"yes\n"[..]));
}

/// NOTE-110.
#[test]
fn note_110_no_child_sees_the_webhook_url() {
    let done = run_sh("env").unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("KEPT=yes") && !text.contains("h.example"));
}

/// TRUST-013.
#[test]
fn trust_013_input_larger_than_a_pipe_arrives_whole() {
    let bytes = vec![b'x'; 300_000];
    let (program, env) = (shell(), env());
    let mut spec = sh(&program, &env, "wc -c");
    spec.stdin = Input::Bytes(&bytes);
    assert_eq!(String::from_utf8(run(spec).unwrap().stdout).unwrap().trim(), "300000");
    let mut deaf = sh(&program, &env, "exec 0<&-; echo done");
    deaf.stdin = Input::Bytes(&bytes);
    assert_eq!(run(deaf).unwrap().stdout, b"done\n");
}

/// TRUST-055.
#[test]
fn trust_055_output_caps() {
    assert!(matches!(run_sh("while :; do echo 0123456789; done"), Err(Failure::Oversized)));
    let done = run_sh("yes | head -c 500000 >&2; echo ok").unwrap();
    assert_eq!((done.stdout.as_slice(), done.stderr.len()), (&b"ok\n"[..], 20));
}

/// TRUST-055.
#[test]
fn trust_055_a_file_that_outgrows_its_limit_ends_the_child() {
    let home = crate::surface::write::Temporary::create(&std::env::temp_dir(), "cargento-process-test").unwrap();
    let file = home.place().create("out.txt").unwrap();
    let (program, env) = (shell(), env());
    let mut spec = sh(&program, &env, "while :; do echo 0123456789; done");
    spec.stdout = Output::File(file, Some(1000));
    assert!(matches!(run(spec), Err(Failure::Oversized)));
}

/// LIFE-073: a child that ignores SIGTERM and forked is killed with its tree.
#[test]
fn life_073_time_out_kills_the_whole_tree() {
    let (program, env) = (shell(), env());
    let home = crate::surface::write::Temporary::create(&std::env::temp_dir(), "cargento-process-test").unwrap();
    let file = home.place().path("pid");
    let script = format!("trap '' TERM; sleep 600 & echo $! > {}; wait", file.display());
    let mut spec = sh(&program, &env, &script);
    spec.timeout = Some(Duration::from_millis(400));
    let began = Instant::now();
    assert!(matches!(run(spec), Err(Failure::TimedOut)));
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(gone(std::fs::read_to_string(file).unwrap().trim().parse().unwrap()));
}

/// LIFE-073: what a child leaves behind after a normal exit goes too, and its open pipe holds nobody up.
#[test]
fn life_073_stragglers_are_swept_after_a_normal_exit() {
    let began = Instant::now();
    let done = run_sh("sleep 600 & echo $!").unwrap();
    assert!(done.success() && began.elapsed() < Duration::from_secs(5));
    assert!(gone(String::from_utf8(done.stdout).unwrap().trim().parse().unwrap()));
}

/// LIFE-073.
#[test]
fn life_073_a_child_leads_its_own_session() {
    let done = run_sh("exec ps -o sid= -p $$ 2>/dev/null || cut -d' ' -f6 /proc/$$/stat").unwrap();
    let sid: i32 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
    // SAFETY: asks for our own session.
    assert_ne!(sid, unsafe { libc::getsid(0) });
}

/// TRUST-013.
#[test]
fn trust_013_what_cannot_start_is_named() {
    let missing = Program::at("/nowhere/at/all").unwrap();
    let env = env();
    assert!(matches!(run(sh(&missing, &env, "")), Err(Failure::NotStarted(_))));
    let (program, env) = (shell(), env.clone());
    let mut spec = sh(&program, &env, "true");
    spec.dir = Some(Path::new("/nowhere/at/all"));
    assert!(matches!(run(spec), Err(Failure::NotStarted(_))));
}

/// TRUST-055.
#[test]
fn trust_055_a_signal_is_no_exit_status() {
    assert_eq!(run_sh("kill -9 $$").unwrap().code, None);
}

/// READ-048.
#[test]
fn read_048_a_cancelled_child_is_killed_before_or_while_it_runs() {
    let (program, env) = (shell(), env());
    let supervisor = Supervisor::default();
    let handle = supervisor.handle();
    let closer = supervisor.clone();
    let began = Instant::now();
    let result = supervise(sh(&program, &env, "sleep 600"), &handle, &|| {
        let closer = closer.clone();
        std::thread::spawn(move || closer.close());
    });
    assert!(matches!(result, Err(Failure::Cancelled)) && began.elapsed() < Duration::from_secs(5));
    assert!(matches!(supervise(sh(&program, &env, "true"), &supervisor.handle(), &|| ()), Err(Failure::Cancelled)));
}

/// TRUST-013, TRUST-060: a caller that panics leaves no child behind.
#[test]
fn trust_013_a_child_is_reaped_although_its_caller_panics() {
    let home = crate::surface::write::Temporary::create(&std::env::temp_dir(), "cargento-process-test").unwrap();
    let file = home.place().path("pid");
    let script = format!("echo $$ > {0}.new; mv {0}.new {0}; sleep 600", file.display());
    let (program, env) = (shell(), env());
    let panicked = std::panic::catch_unwind(|| {
        let _ = supervise(sh(&program, &env, &script), &Handle::default(), &|| {
            while !file.exists() {
                std::thread::yield_now();
            }
            panic!("the caller failed");
        });
    });
    assert!(panicked.is_err());
    assert!(!alive(std::fs::read_to_string(&file).unwrap().trim().parse().unwrap()));
}

/// STATE-011.
#[test]
fn state_011_live_processes() {
    assert!(alive(std::process::id()));
    assert!(alive(1));
    assert!(!alive(0));
    assert!(!alive(u32::MAX));
}
