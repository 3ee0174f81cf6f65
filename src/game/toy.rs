use super::*;
pub struct Toy;
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct O;
impl Options for O {
    const RULES: &'static [OptionRule] = &[];
    fn set(&mut self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }
    fn get(&self, _: &str) -> String {
        String::new()
    }
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct S {
    o: O,
    n: u32,
    e: Option<Outcome>,
}
impl Game for Toy {
    const KEY: &'static str = "toy";
    const NAME: &'static str = "Toy";
    const PREFIX: &'static str = "TY";
    const RULES: u32 = 1;
    const SIDES: BySeat<&'static str> = BySeat { first: "a", second: "b" };
    type Options = O;
    type State = S;
    type View = S;
    type Order = String;
    fn start(o: &O) -> S {
        S { o: o.clone(), n: 0, e: None }
    }
    fn options(s: &S) -> &O {
        &s.o
    }
    fn due(s: &S) -> Option<Due> {
        s.e.is_none().then(|| Due { phase: Phase::Turn, turn: s.n + 1, seats: Seat::BOTH.to_vec() })
    }
    fn outcome(s: &S) -> Option<Outcome> {
        s.e.clone()
    }
    fn close(s: &S, o: Outcome) -> S {
        S { e: Some(o), ..s.clone() }
    }
    fn position(s: &S) -> serde_json::Value {
        serde_json::json!(s.n)
    }
    fn view(s: &S, _: Seat) -> S {
        s.clone()
    }
    fn parse(l: &str) -> Result<Vec<String>, Syntax> {
        if l.starts_with("HOLD") { Ok(vec![l.to_owned()]) } else { Err(Syntax::Unknown) }
    }
    fn check(_: &S, o: &[Numbered<String>]) -> Result<Sealed<String>, Vec<Fault>> {
        Ok(Sealed::new(o.iter().map(|o| o.order.clone()).collect()))
    }
    fn missed(_: &S) -> Option<Sealed<String>> {
        None
    }
    fn adjudicate(s: &S, _: &BySeat<Option<Sealed<String>>>) -> S {
        S { n: s.n + 1, ..s.clone() }
    }
    fn board(_: &S) -> Board {
        Board { text: String::new(), svg: String::new() }
    }
}
