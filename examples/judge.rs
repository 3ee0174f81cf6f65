use fogpost::game::Syntax;
use fogpost::game::any::Kind;
use fogpost::letter::{Address, Letter, Limits, Own, Written};
use fogpost::request::Request;
use std::io::BufRead;
fn main() {
    let own = Own {
        address: Address::parse("referee@club.example").unwrap(),
        message_id_domain: std::env::var("MID").unwrap_or("club.example".into()),
        return_path: None,
    };
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let f: Vec<&str> = line.split('\t').collect();
        let raw = std::fs::read(f[0]).unwrap();
        let begun = std::time::Instant::now();
        let mut out = serde_json::json!({"path": f[0]});
        match Letter::read(&raw, &own, &Limits::default()) {
            Err(u) => {
                out["unreadable"] = format!("{:?}", u.why).into();
                out["automatic"] = u.automatic.as_ref().map(|a| a.to_string()).into();
            }
            Ok(letter) => {
                out["automatic"] = letter.automatic.as_ref().map(|a| a.to_string()).into();
                out["kind"] = letter.automatic.as_ref().map(|a| format!("{:?}", a.kind)).into();
                out["about"] = letter.automatic.as_ref().map(|a| a.about().to_vec()).into();
                out["tokens"] = letter.tokens.iter().map(|t| t.as_str()).collect::<Vec<_>>().into();
                out["subject"] = letter.subject.clone().into();
                out["in_reply_to"] = letter.in_reply_to.clone().into();
                let kind =
                    f.get(1).and_then(|k| Kind::parse(k)).unwrap_or(Kind::parse("quadrant-z").unwrap());
                let answered: Vec<String> = f
                    .iter()
                    .skip(2)
                    .filter(|p| !p.is_empty() && **p != "-")
                    .map(|p| std::fs::read_to_string(p).unwrap())
                    .collect();
                let w = letter.fresh(answered.first().map(String::as_str));
                let lines = match w {
                    Written::Lines(l) => l,
                    Written::Blank => vec![],
                    Written::CannotRead(w) => {
                        out["instead"] = format!("{w:?}").into();
                        vec![]
                    }
                };
                let r = Request::read(&lines, |l| !matches!(kind.syntax(l), Err(Syntax::Unknown)));
                out["orders"] = r.orders.iter().map(|l| l.text.clone()).collect::<Vec<_>>().into();
                out["bad"] = r
                    .orders
                    .iter()
                    .filter(|l| kind.syntax(&l.text).is_err())
                    .map(|l| l.text.clone())
                    .collect::<Vec<_>>()
                    .into();
                out["remarks"] = r.remarks.iter().map(|l| l.text.clone()).collect::<Vec<_>>().into();
                out["commands"] =
                    r.commands.iter().map(|l| format!("{:?}", l.command)).collect::<Vec<_>>().into();
                out["faults"] = r.faults.iter().map(|l| l.reason.clone()).collect::<Vec<_>>().into();
                out["turn"] = r.turn.into();
            }
        }
        out["us"] = (begun.elapsed().as_micros() as u64).into();
        println!("{out}");
    }
}
