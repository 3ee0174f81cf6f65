
use crate::game::record::Record;
use crate::report::Templates;
use crate::web::Site;
use crate::web::replay::{FinishedMatch, page};

#[test]
fn probe() {
    let templates = Templates::of_program();
    for name in ["quadrant-z", "pacific", "quantum", "quad"] {
        let text = std::fs::read_to_string(format!("src/cli/demo/records/{name}.toml")).unwrap();
        let record = Record::parse(&text).unwrap();
        let mut outcome = None;
        record.replay(|step| if let crate::game::record::Replayed::Adjudicated(done) = step { outcome = done.state.outcome() });
        let finished = FinishedMatch {
            id: "QZ-TEST".into(), record, outcome: outcome.unwrap(), ended_at: None, head: "ab".repeat(32), keys: vec!["cd".repeat(32)], has_record: true };
        let begin = std::time::Instant::now();
        let html = page(&templates, &Site::of_one_page("The Demo Club", "r@x"), &finished).unwrap();
        println!("{name}: {} {} steps {:?}", html.len(), html.matches("class=step").count(), begin.elapsed());
        std::fs::write(format!("/dev/shm/faces/{name}.html"), &html).unwrap();
        let html = page(&templates, &Site { club: "c".into(), address: "a".into(), sheet: None, script: None }, &finished).unwrap();
        std::fs::write(format!("/dev/shm/faces/{name}-linked.html"), &html).unwrap();
    }
}
