//! Every column of the database is compared by `audit verify`, or stands in a list that says why not.

use crate::audit::books::{Tampering, scene};
use crate::referee::{ANN, BO};

/// Columns that no check compares: the table, the columns or `*`, and the reason.
const NOT_COMPARED: &[(&str, &str, &str)] = &[
    (
        "player",
        "bouncing created_at member digest_at forgotten_at",
        "wishes, and what mail servers said of an address",
    ),
    ("address", "rank", "only decides which of a player's addresses gets letters, each of which is compared"),
    (
        "standing",
        "*",
        "what is known of addresses: it decides whether letters are asked about, not what they do",
    ),
    ("question", "*", "commands that wait; the letters that carry them out are named by entries"),
    ("player_change", "*", "addresses are compared with the pins of ledgers"),
    ("match", "version", "counts commits"),
    ("rating", "*", "compared by `audit verify --ratings`, because each depends on all before it"),
    ("merged_player", "*", "without it, books and ratings do not agree with the ledgers"),
    ("event", "version", "counts commits"),
    (
        "invitation",
        "code inviter_name invited_name created_at lapses_at rematch_of",
        "only told to people, or refused",
    ),
    ("budget", "*", "how much was used today"),
    (
        "letter",
        "id origin message_id size sent_as note tries decided_at wait_until lane in_ledger bytes_deleted_at accepted_by \
         known forgotten_at",
        "how the letter was queued; a letter that an entry names is compared with its bytes and its ruling",
    ),
    ("unproven_letter", "code player_id gm address noted_at told", "what was asked; the answer is compared"),
    (
        "dispatch",
        "answers reminds created_at due_at given_up_at tries error returned_at urgency seen return_id pin listed dropped_at \
         dropped forgotten_at",
        "how the letter was queued; its contents, reader and delivery are compared with the ledger",
    ),
    ("mailbox", "name", "a mailbox without a mark gets one"),
    ("left_letter", "*", "letters that are not read again"),
    ("site_file", "*", "pages of the site, which are built anew if they differ"),
    ("memo", "key", "notes of the daemon; without the key of a GM's token, a new one is made"),
    ("kept_snapshot", "*", "only there after the procedure changed; found by its digest in an entry"),
    ("verified", "*", "only decides how much of the house's play the daily check computes again"),
];

/// Changes every value of a column to another one of its type.
fn other(table: &str, column: &str, kind: &str) -> String {
    let value = match kind {
        "INTEGER" => format!(
            "CASE WHEN {column} IN (0, 1) THEN 1 - {column} ELSE COALESCE({column}, 0) + 86400000 END"
        ),
        "BLOB" => "x'00'".to_owned(),
        _ => format!("COALESCE({column}, '') || 'x'"),
    };
    format!("UPDATE {table} SET {column} = {value}")
}

#[test]
fn every_column_is_compared_or_says_why_not() {
    let referee = scene();
    // A letter that its player confirmed.
    let to_ann =
        referee.all_to(ANN).into_iter().rfind(|sent| sent.text.contains("Reply token: ")).expect("one");
    referee.sent_to(ANN);
    referee.reply("ann@holiday.example", &to_ann, "STATUS");
    let notice = referee.last_to(ANN);
    referee.reply(ANN, &notice, &format!("CONFIRM {}", crate::audit::books::code(&notice.text, "CONFIRM")));
    referee.sent_to(BO);
    let mut tampering = Tampering::begin(&referee);
    let columns = tampering.texts(
        "SELECT t.name || ' ' || c.name || ' ' || c.type FROM pragma_table_list t JOIN pragma_table_info(t.name) c \
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name <> '_sqlx_migrations' \
         ORDER BY t.name, c.cid",
    );
    assert!(columns.len() > 150, "{}", columns.len());
    let is_listed = |table: &str, column: &str| {
        NOT_COMPARED.iter().any(|(of, names, _)| {
            *of == table && (*names == "*" || names.split_whitespace().any(|name| name == column))
        })
    };
    let mut unnamed = Vec::new();
    for line in &columns {
        let [table, column, kind] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if is_listed(table, column) {
            continue;
        }
        let (changed, said) = tampering.findings_after(&[other(table, column, kind)], &[]);
        if changed == 0 || said.is_empty() {
            unnamed.push(format!("{table}.{column} ({changed} rows)"));
        }
    }
    assert!(unnamed.is_empty(), "neither compared nor listed: {unnamed:#?}");
    for (table, names, reason) in NOT_COMPARED {
        let is_there = |name: &str| columns.iter().any(|line| line.starts_with(&format!("{table} {name} ")));
        let are_there = names.split_whitespace().all(|name| name == "*" || is_there(name));
        assert!(are_there && !reason.is_empty(), "{table}: {names}");
    }
}
