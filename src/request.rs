//! stand-in
use crate::game::{Fault, Line};
use crate::letter::Address;
use chrono::NaiveDate;
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub check: bool,
    pub wait: bool,
    pub turn: Option<u32>,
    pub orders: Vec<Line>,
    pub commands: Vec<Asked>,
    pub remarks: Vec<Line>,
    pub faults: Vec<Fault>,
}
#[derive(Clone, Debug)]
pub struct Asked {
    pub line: Line,
    pub command: Command,
}
#[derive(Clone, Debug)]
pub enum Command {
    Status,
    Report(Option<u32>),
    History,
    Tell(String),
    Resign { confirmed: bool },
    Draw,
    Extend { days: u32 },
    Agree,
    Absent { from: NaiveDate, to: NaiveDate },
    Substitute,
    Protest(String),
    Help(Option<String>),
    Games,
    Rules(Option<String>),
    Matches,
    Challenge { opponent: Address, game: String, options: Vec<(String, String)>, days: Option<u32> },
    Accept(String),
    Decline(String),
    Open { game: String, options: Vec<(String, String)>, days: Option<u32> },
    Join(String),
    Gm(String),
}
impl Request {
    pub fn read(_lines: &[Line], _is_order: impl Fn(&str) -> bool) -> Request {
        Request::default()
    }
}
