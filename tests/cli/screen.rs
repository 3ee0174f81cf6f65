//! The GM's screen, served by the daemon: the config, a login by the link of `fogpost screen`, and its limits.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::club::{CONFIG, Club, PATIENCE};

/// Sends a request as it is, and returns the status and the whole answer; `None` if nobody listens.
fn send(port: u16, head: &str, body: &str) -> Option<(u16, String)> {
    let mut tcp = TcpStream::connect(("127.0.0.1", port)).ok()?;
    tcp.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(tcp, "{head}\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).ok()?;
    Some((answer.split(' ').nth(1)?.parse().ok()?, answer))
}

fn screen_at(port: u16) -> String {
    format!("{CONFIG}[screen]\nlisten = \"127.0.0.1:{port}\"\n")
}

#[test]
fn the_daemon_serves_the_screen_to_whoever_has_the_link() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    let club = Club::with(&screen_at(port));
    let id = club.open("quad", ["Ann <ann@players.example>", "bo@players.example"], &[]);
    let early = club.run(&["screen"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("the link works once `fogpost run` has started"));
    let daemon = club.start();
    club.wait_for("the screen", || send(port, "GET / HTTP/1.1", "").is_some_and(|(status, _)| status == 403));
    let link = String::from_utf8(club.run(&["screen"]).stdout).expect("a link");
    let path = link.trim().strip_prefix(&format!("http://127.0.0.1:{port}")).expect("our address");
    let token = path.strip_prefix("/login?token=").expect("a token");
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{link}");
    assert_eq!(send(port, &format!("GET {path} HTTP/1.1"), "").expect("an answer").0, 200);
    let origin = format!("Origin: http://127.0.0.1:{port}");
    let post = format!("POST /login HTTP/1.1\r\n{origin}");
    let (status, answer) = send(port, &post, &format!("token={token}")).expect("an answer");
    assert_eq!(status, 303, "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    let cookie = format!("Cookie: {}", cookie.split(';').next().expect("a pair"));
    assert_eq!(
        send(port, &post, &format!("token={token}")).expect("an answer").0,
        403,
        "a link logs in once"
    );
    let referee = || send(port, &format!("GET / HTTP/1.1\r\n{cookie}"), "").expect("an answer");
    assert!(referee().1.contains("Nothing waits for you."), "{}", referee().1);
    // A reload of the config ends no session.
    daemon.signal("-HUP");
    club.log_says("configuration reloaded");
    assert_eq!(referee().0, 200);
    let (_, page) = send(port, &format!("GET /match/{id} HTTP/1.1\r\n{cookie}"), "").expect("an answer");
    let field = |name: &str| {
        let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).expect("a field");
        rest.split('"').next().expect("a value").to_owned()
    };
    let act = format!("POST /act HTTP/1.1\r\n{origin}\r\n{cookie}");
    let form = format!("form={}&guard={}&back=/&do=MATCH+{id}+EXTEND+3", field("form"), field("guard"));
    let (status, answer) = send(port, &act, &form).expect("an answer");
    assert_eq!(status, 303, "{answer}");
    club.letters_to("ann@players.example", 2);
    // Neither a body nor a head without end is read.
    assert_eq!(send(port, &act, &format!("{form}&below={}", "x".repeat(40_000))).expect("an answer").0, 413);
    let long = format!("GET / HTTP/1.1\r\nX-Long: {}", "x".repeat(40_000));
    assert!(send(port, &long, "").is_none_or(|(status, _)| status == 431));
    club.configure(CONFIG);
    daemon.signal("-HUP");
    club.wait_for("the screen to disappear", || send(port, "GET / HTTP/1.1", "").is_none());
    assert_eq!(daemon.stop(&club), Some(0));
}

#[test]
fn only_this_machine_may_reach_the_screen() {
    for (listen, fault) in [
        (
            "0.0.0.0:9119",
            "screen.listen is 0.0.0.0:9119, which other machines could reach; try 127.0.0.1:9119",
        ),
        ("192.0.2.1:80", "try 127.0.0.1:80"),
        ("[::]:9119", "which other machines could reach"),
    ] {
        let club = Club::with(&format!("{CONFIG}[screen]\nlisten = \"{listen}\"\n"));
        let said = String::from_utf8(club.run(&["run"]).stderr).expect("text");
        assert!(said.contains(fault), "{said}");
    }
    let club = Club::new();
    let said = String::from_utf8(club.run(&["screen"]).stderr).expect("text");
    assert!(said.contains("there is no screen; set screen.listen"), "{said}");
}
