//! Copies of sent letters, to be sent again.

use chrono::{DateTime, Utc};
use memchr::memmem::find;

use crate::report::pin::pin;
use crate::store::{DispatchRow, NewDispatch, Urgency};

/// Returns a copy of a dispatch, to be sent again from `sender`. It has a Message-ID of its own, because many
/// mail programs hide a letter whose Message-ID they have seen, and the fields of a resent letter (RFC 5322,
/// 3.6.6). It does not count as a letter of its match: the ledger pins only the original.
pub fn copy(row: &DispatchRow, bytes: &[u8], sender: &str, at: DateTime<Utc>) -> NewDispatch {
    let message_id = match row.message_id.split_once('@') {
        Some((local, domain)) => format!("{local}.r{}@{domain}", at.timestamp_millis()),
        None => format!("{}.r{}", row.message_id, at.timestamp_millis()),
    };
    let bytes = resent(bytes, row, &message_id, sender, at);
    NewDispatch {
        pin: Some(pin(&bytes)),
        return_id: None,
        bytes,
        message_id,
        recipient: row.recipient.clone(),
        kind: row.kind,
        match_id: None,
        seat: None,
        answers: None,
        reminds: None,
        due: None,
        replaces: None,
        urgency: Urgency::of(row.kind, row.match_id.is_some()),
    }
}

/// Whether a letter is such a copy.
pub fn is_copy(bytes: &[u8]) -> bool {
    bytes.starts_with(b"Resent-Date:")
}

fn resent(bytes: &[u8], row: &DispatchRow, message_id: &str, sender: &str, at: DateTime<Utc>) -> Vec<u8> {
    let fields = format!(
        "Resent-Date: {}\r\nResent-From: {sender}\r\nResent-To: {}\r\nResent-Message-ID: <{message_id}>\r\n",
        at.to_rfc2822(),
        row.recipient
    );
    let own = format!("Message-ID: <{}>\r\n", row.message_id);
    let header_end = find(bytes, b"\r\n\r\n").unwrap_or(bytes.len());
    // The field must start a line, because another field may contain the same text.
    let place = find(&bytes[..header_end], own.trim_end().as_bytes())
        .filter(|place| *place == 0 || bytes[..*place].ends_with(b"\r\n"));
    let Some(place) = place else { return [fields.as_bytes(), bytes].concat() };
    let after = &bytes[(place + own.len()).min(bytes.len())..];
    let renamed = format!("Message-ID: <{message_id}>\r\n");
    [fields.as_bytes(), &bytes[..place], renamed.as_bytes(), after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::referee::DispatchKind;

    #[test]
    fn a_copy_has_a_new_message_id_and_the_fields_of_a_resent_letter() {
        let at = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
        let row = DispatchRow {
            id: 7,
            message_id: "token.q1@club.test".to_owned(),
            recipient: "ann@players.test".to_owned(),
            kind: DispatchKind::Report,
            match_id: Some("QD-7K3M".to_owned()),
            seat: None,
            created_at: at,
            sent_at: Some(at),
            tries: 1,
            waiting: false,
            given_up_at: None,
            error: String::new(),
            returned: false,
        };
        let bytes = b"From: x\r\nMessage-ID: <token.q1@club.test>\r\nSubject: y\r\n\r\nMessage-ID: <token.q1@club.test>\r\n";
        let copy = copy(&row, bytes, "referee@club.test", at);
        assert_eq!(copy.message_id, "token.q1.r1800000000000@club.test");
        assert_eq!(
            String::from_utf8(copy.bytes).expect("ASCII"),
            "Resent-Date: Fri, 15 Jan 2027 08:00:00 +0000\r\nResent-From: referee@club.test\r\n\
             Resent-To: ann@players.test\r\nResent-Message-ID: <token.q1.r1800000000000@club.test>\r\n\
             From: x\r\nMessage-ID: <token.q1.r1800000000000@club.test>\r\nSubject: y\r\n\r\n\
             Message-ID: <token.q1@club.test>\r\n"
        );
        assert_eq!((copy.match_id, copy.urgency), (None, Urgency::Report));
    }
}
