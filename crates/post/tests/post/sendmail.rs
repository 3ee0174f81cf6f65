//! The sendmail outbox, with small scripts as the command.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use fogpost_post::outbox::{Outbox, OutboxConfig, Outgoing, SendError};
use fogpost_post::sendmail;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::support::letter;

/// An outbox whose command is this shell script. `$D` is `folder`.
fn outbox(folder: &TempDir, script: &str, timeout_seconds: u64) -> Outbox {
    let command = folder.path().join("sendmail");
    let place = folder.path().display();
    // Write the script from another process. If this one had it open for writing while another test forks, the child
    // would inherit the open file, and running the script would fail with "text file busy".
    let text = format!("#!/bin/sh\nD={place}\n{script}\n");
    let mut write = Command::new("sh");
    write.args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &text]).arg(&command);
    assert!(write.status().expect("a shell").success());
    Outbox::new(OutboxConfig::Sendmail(sendmail::SendmailConfig { command, timeout_seconds }))
        .expect("nothing to open")
}

async fn send(out: &Outbox, return_path: Option<&str>) -> Result<String, SendError> {
    out.send(&Outgoing { return_path, to: "anna@home.test", bytes: &letter("report") }).await
}

#[tokio::test]
async fn the_command_gets_the_envelope_as_arguments_and_the_letter_with_unix_lines() {
    let folder = TempDir::new().expect("a folder");
    let out = outbox(&folder, r#"echo "$@" > $D/args; cat > $D/letter"#, 600);
    send(&out, Some("b@club.test")).await.expect("taken");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written by the command");
    assert_eq!(read("args"), "-i -f b@club.test -- anna@home.test\n");
    assert_eq!(
        read("letter").into_bytes(),
        String::from_utf8(letter("report")).expect("text").replace("\r\n", "\n").into_bytes()
    );
    send(&out, None).await.expect("taken");
    assert_eq!(read("args"), "-i -f <> -- anna@home.test\n");
}

#[tokio::test]
async fn the_exit_status_decides_whether_a_refusal_is_final() {
    let folder = TempDir::new().expect("a folder");
    let later = send(&outbox(&folder, "echo busy >&2; exit 75", 600), None).await.expect_err("75");
    assert!(later.is_transient() && later.to_string().contains("busy"));
    let never = send(&outbox(&folder, "echo no such user >&2; exit 67", 600), None).await.expect_err("67");
    assert!(!never.is_transient() && never.to_string().contains("no such user"));
}

#[tokio::test]
async fn concurrent_commands_are_limited() {
    let folder = TempDir::new().expect("a folder");
    // Each command waits until two run at the same time.
    let script =
        "mkdir $D/$$; until [ -e $D/two ]; do [ $(ls -d $D/[0-9]* | wc -l) -lt 2 ] || touch $D/two; done
        ls -d $D/[0-9]* | wc -l >> $D/running; rmdir $D/$$";
    let out = Arc::new(outbox(&folder, script, 600));
    let mut sending = JoinSet::new();
    for _ in 0..80 {
        let out = Arc::clone(&out);
        sending.spawn(async move { send(&out, None).await.expect("taken") });
    }
    assert_eq!(sending.join_all().await.len(), 80);
    let running = fs::read_to_string(folder.path().join("running")).expect("written by the commands");
    let most = running.lines().map(|line| line.trim().parse::<u32>().expect("a number")).max();
    assert!(most.is_some_and(|most| (1..=32).contains(&most)), "{most:?}");
}

#[tokio::test]
async fn a_command_that_hangs_is_killed_and_the_letter_waits() {
    let folder = TempDir::new().expect("a folder");
    let error = send(&outbox(&folder, "exec sleep 60", 1), None).await.expect_err("hangs");
    assert!(error.is_transient() && !error.is_configuration());
}

#[tokio::test]
async fn a_missing_command_is_a_configuration_fault() {
    let settings = sendmail::SendmailConfig { command: "/nowhere/sendmail".into(), ..Default::default() };
    let out = Outbox::new(OutboxConfig::Sendmail(settings)).expect("nothing to open");
    let error = send(&out, None).await.expect_err("missing");
    assert!(error.is_transient() && error.is_configuration());
    assert!(out.check().await.is_err());
}
