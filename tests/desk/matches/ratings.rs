//! Ratings by letter: which matches are rated, what the result says about ratings, and recomputed figures.

use fogpost::daemon::ratings;
use fogpost::game::any::GameKind;

use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee, Sent};

const CY: &str = "cy@players.example";

fn gm(referee: &Referee, lines: &str) -> Sent {
    if referee.all_to(GM).is_empty() {
        referee.write(GM, "GM LIST");
    }
    let last = referee.all_to(GM).pop().expect("a letter with the GM's token");
    referee.sent_to(GM);
    referee.reply(GM, &last, lines);
    referee.sent_to(GM).into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

/// Plays a match of Quad until each has filed. Returns the last letters to both.
fn begun(referee: &Referee) -> (String, Sent, Sent) {
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.last_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let to_bo = referee.last_to(BO);
    referee.reply(BO, &to_bo, "MARBLE F6");
    referee.sent_to(ANN);
    (game_match.id, to_ann, to_bo)
}

/// The differences between the stored ratings and those that follow from the ledgers.
fn differences(referee: &Referee) -> Vec<String> {
    referee.block_on(ratings::verify(referee.office(), GameKind::Quad)).expect("the store answers").1
}

fn rated_results(referee: &Referee) -> usize {
    referee.block_on(ratings::verify(referee.office(), GameKind::Quad)).expect("the store answers").0
}

#[test]
fn the_result_tells_both_figures_and_ratings_lists_them() {
    let referee = Referee::with("[ratings]\nquad = 0\n");
    let (id, to_ann, to_bo) = begun(&referee);
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let result =
        referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("have won")).expect("a result");
    result.says("Ann's rating in Quad: 1662?, before 1500?.");
    result.says("Bo's rating in Quad: 1338?, before 1500?.");
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "RATINGS quad\nPROFILE\nRATINGS chess");
    let told = referee.one_to(ANN);
    told.says("- 1662? Ann (P-1), 1 result").says("- 1338? Bo (P-2), 1 result").says("Rated 1662?");
    told.says(&format!("{id}: 1500? to 1662?")).says("There is no game called chess here");
    referee.reply(ANN, &to_ann, "RATING Bo\nRATING quad");
    referee.one_to(ANN).says("Bo (P-2)").says("Rated 1338?").says("- 1662? Ann (P-1), 1 result");
    referee.reply(ANN, &to_ann, "RATING");
    referee.one_to(ANN).says("Ann (P-1)").says("Rated 1662?");
    assert_eq!((rated_results(&referee), differences(&referee)), (2, Vec::new()));
}

#[test]
fn results_of_one_moment_are_rated_in_the_order_of_their_matches() {
    for in_order in [true, false] {
        let referee = Referee::with("[ratings]\nquad = 0\n");
        let mut begun = [begun(&referee), begun(&referee)];
        begun.sort_by(|one, other| one.0.cmp(&other.0));
        if !in_order {
            begun.reverse();
        }
        for (_, _, to_bo) in &begun {
            referee.reply(BO, to_bo, "RESIGN CONFIRM");
        }
        referee.advance(1);
        assert_eq!((rated_results(&referee), differences(&referee)), (4, Vec::new()));
        let told: Vec<Sent> = referee.sent_to(ANN);
        assert!(told.iter().any(|sent| sent.text.contains("1662?, before 1500?")));
        let anew: Vec<&Sent> = told.iter().filter(|sent| sent.subject == "Your rating in Quad").collect();
        assert_eq!(anew.len(), usize::from(!in_order));
        anew.iter().for_each(|sent| {
            sent.says("because several results came at the same moment");
        });
    }
}

#[test]
fn nothing_is_rated_before_a_filing_of_each_was_adjudicated() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    to_ann.says("The result is rated. For the figures, send RATINGS quad.");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    referee.last_to(ANN).keeps_silent_of("s rating in");
    assert_eq!((rated_results(&referee), differences(&referee)), (0, Vec::new()));
}

#[test]
fn whoever_wants_no_rating_plays_unrated() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS rated=off");
    referee.one_to(ANN).says("| rated=off");
    referee.open(GameKind::Quad, &[]);
    referee.last_to(BO).says("This match is unrated: Ann plays so.");
}

#[test]
fn the_fifth_match_of_two_within_thirty_days_is_unrated() {
    let referee = Referee::new();
    for _ in 0..4 {
        referee.open(GameKind::Quad, &[]);
        referee.last_to(ANN).says("The result is rated.");
    }
    referee.open(GameKind::Quantum, &[]);
    referee.last_to(ANN).says("This match is unrated: your fifth match within 30 days.");
    referee.sleep(31 * 24);
    referee.open(GameKind::Quad, &[]);
    assert!(referee.sent_to(ANN).iter().any(|sent| sent.text.contains("The result is rated.")));
}

#[test]
fn one_match_against_the_house_is_rated_at_a_time() {
    let referee = Referee::answering(CY, "");
    referee.write(CY, "CHALLENGE house quad level=easy first=me");
    referee
        .sent_to(CY)
        .iter()
        .find(|sent| sent.text.contains("plays Quad"))
        .expect("it begins")
        .says("is rated");
    referee.write(CY, "CHALLENGE house quad level=easy first=me");
    referee
        .sent_to(CY)
        .iter()
        .find(|sent| sent.text.contains("plays Quad"))
        .expect("it begins")
        .says("is unrated");
}

#[test]
fn a_result_that_the_gm_annuls_or_unrates_is_computed_out_and_told() {
    for act in ["ANNUL One person held both seats.", "TERMS rated=off"] {
        let referee = Referee::new();
        let (id, _, to_bo) = begun(&referee);
        referee.reply(BO, &to_bo, "RESIGN CONFIRM");
        referee.sent_to(ANN);
        referee.sent_to(BO);
        assert_eq!(rated_results(&referee), 2);
        gm(&referee, &format!("GM MATCH {id} {act}"));
        referee.advance(1);
        assert_eq!((rated_results(&referee), differences(&referee)), (0, Vec::new()), "{act}");
        let told = referee.sent_to(BO);
        assert!(told.iter().any(|sent| sent.text.contains("were computed anew")), "{act}");
        let kind = if act.starts_with("ANNUL") { "MatchAnnulled" } else { "TermsChanged" };
        assert!(kinds(&referee, &referee.find(&id)).contains(&kind.to_owned()), "{act}");
    }
}

#[test]
fn whoever_gives_up_a_seat_is_rated_as_having_lost_unless_the_gm_excuses_them() {
    for (excused, results) in [("", 1), (" EXCUSED", 0)] {
        let referee = Referee::new();
        let (id, _, _) = begun(&referee);
        gm(&referee, &format!("GM MATCH {id} REPLACE first {CY}{excused}"));
        referee.advance(1);
        assert_eq!((rated_results(&referee), differences(&referee)), (results, Vec::new()), "{excused}");
        let told = referee.sent_to(ANN).iter().any(|sent| sent.text.contains("were computed anew"));
        assert_eq!(told, results == 1, "{excused}");
        let to_bo = referee.last_to(BO);
        referee.reply(BO, &to_bo, "RESIGN CONFIRM");
        referee.last_to(CY).keeps_silent_of("s rating in");
        referee.advance(1);
        assert_eq!((rated_results(&referee), differences(&referee)), (results, Vec::new()), "{excused}");
    }
}

#[test]
fn the_audit_finds_a_rating_that_was_changed() {
    let referee = Referee::new();
    let (_, _, to_bo) = begun(&referee);
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    referee.change_database("UPDATE rating SET figure = figure + 100 WHERE player_id = 1");
    let found = differences(&referee);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("P-1, result 1:"), "{found:?}");
}
