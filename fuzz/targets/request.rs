//! Reads any lines as a request in a match of each game.

#![no_main]

use fogpost::game::any::GameKind;
use fogpost::game::{Line, Syntax};
use fogpost::request::Request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let numbered = |(at, line): (usize, &str)| Line { no: at + 1, text: line.to_owned() };
    let lines: Vec<Line> = text.lines().enumerate().map(numbered).collect();
    for kind in GameKind::ALL {
        let request = Request::read(&lines, |line: &str| !matches!(kind.syntax(line), Err(Syntax::Unknown)));
        let known = |no: usize| request.written(no).is_some();
        assert!(request.orders.iter().chain(&request.remarks).all(|line| known(line.no)));
        assert!(request.commands.iter().all(|asked| known(asked.line)));
        let _ = kind.replaced(&request.orders);
    }
});
