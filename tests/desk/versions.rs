//! What the audit says of letters and rulings that another version of the program made.

use fogpost::audit::AuditResult;
use fogpost::club::BookFact;
use fogpost::game::any::GameKind;
use fogpost::letter::Digest;

use crate::club::book;
use crate::desk::{ANN, BO, Desk};

/// A desk of another version of the program, until it is restarted.
fn earlier_desk() -> Desk {
    let mut desk = Desk::new();
    desk.office_mut().set_program(Digest::of(b"an earlier version"));
    desk.work();
    desk
}

/// How much each audit says that it could not check, of those that verified a match.
fn noted_as_unchecked(desk: &Desk) -> Vec<u64> {
    let verified = book(desk).into_iter().filter_map(|entry| match entry.fact {
        BookFact::Verified(verified) => Some(verified.unchecked),
        _ => None,
    });
    verified.collect()
}

#[test]
fn letters_of_another_version_count_as_checked_if_its_own_audit_checked_them() {
    let mut desk = earlier_desk();
    let id = desk.open(GameKind::Quad, &[]).id;
    desk.advance(26);
    desk.restart();
    let verdict = desk.verify(&id);
    assert_eq!((verdict.result(), verdict.checked_then), (AuditResult::CheckedThen, 2), "{verdict:#?}");
    assert_eq!(noted_as_unchecked(&desk), [0]);
}

#[test]
fn the_daily_audit_notes_how_much_of_what_is_new_it_could_not_check() {
    let mut desk = earlier_desk();
    let id = desk.open(GameKind::Quad, &[]).id;
    let (to_ann, _) = (desk.one_to(ANN), desk.one_to(BO));
    desk.restart();
    desk.advance(26);
    assert_eq!(noted_as_unchecked(&desk), [2], "both invitations");
    desk.reply(ANN, &to_ann, "STATUS");
    desk.advance(24);
    assert_eq!(noted_as_unchecked(&desk), [2, 0], "they were noted before");
    let verdict = desk.verify(&id);
    assert_eq!((verdict.result(), verdict.unchecked), (AuditResult::NotChecked, 2), "{verdict:#?}");
}
