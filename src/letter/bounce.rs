//! The words of bounces and absence notes, for those that bear no mark in their header.
//!
//! A subject that only machines write is enough. Of other words two must meet, since people write about mail too.

use super::automatic::{Kind, Mark};

/// Who sends bounces.
pub const DAEMONS: &[&str] = &[
    "mailer-daemon",
    "mailerdaemon",
    "mailer_daemon",
    "mail-daemon",
    "maildaemon",
    "mdaemon",
    "postmaster",
    "daemon",
    "bounce",
    "bounces",
    "majordomo",
    "listserv",
    "mailman",
    "autoresponder",
    "autoreply",
    "auto-reply",
    "auto_reply",
    "vacation",
    "mmdf",
    "uucp",
    "smtp",
    "mta",
    "mailadmin",
    "mail-admin",
    "maildelivery",
    "mail.delivery",
    "microsoftexchange329e71ec88ae4615bbc36ab6ce41109e",
];

/// How subjects of absence notes and other automatic answers begin.
const ABSENCE: &[&str] = &[
    "automatic reply",
    "automated reply",
    "auto reply",
    "auto-reply",
    "autoreply",
    "auto response",
    "auto-response",
    "autoresponse",
    "automated response",
    "automatic response",
    "auto:",
    "[auto]",
    "[auto-reply]",
    "out of office",
    "out-of-office",
    "out of the office",
    "i am out of the office",
    "i'm out of the office",
    "on vacation",
    "vacation reply",
    "vacation:",
    "away from my mail",
    "away from office",
    "away from the office",
    "holiday reply",
    "on holiday",
    "on leave",
    "annual leave",
    "absence:",
    "automatische antwort",
    "automatische rückantwort",
    "automatische rueckantwort",
    "autom. antwort",
    "abwesenheit",
    "ich bin nicht im büro",
    "nicht im büro",
    "außer haus",
    "im urlaub",
    "urlaub:",
    "urlaubsnotiz",
    "réponse automatique",
    "reponse automatique",
    "message automatique",
    "absence du bureau",
    "absent du bureau",
    "message d'absence",
    "notification d'absence",
    "je suis absent",
    "respuesta automática",
    "respuesta automatica",
    "fuera de la oficina",
    "fuera de oficina",
    "ausente de la oficina",
    "resposta automàtica",
    "risposta automatica",
    "fuori sede",
    "fuori ufficio",
    "assente dall'ufficio",
    "resposta automática",
    "resposta automatica",
    "ausência temporária",
    "fora do escritório",
    "ausencia",
    "automatisch antwoord",
    "automatisch bericht",
    "afwezig",
    "niet aanwezig",
    "automatiskt svar",
    "autosvar",
    "frånvaro",
    "frånvarande",
    "automatisk svar",
    "fraværsmelding",
    "ikke til stede",
    "fraværende",
    "automaattinen vastaus",
    "automaattivastaus",
    "poissa",
    "lomavastaaja",
    "automatyczna odpowiedź",
    "autoodpowiedź",
    "odpowiedź automatyczna",
    "poza biurem",
    "nieobecność",
    "automatická odpověď",
    "automatická odpoveď",
    "mimo kancelář",
    "nepřítomnost",
    "automatikus válasz",
    "házon kívül",
    "távol",
    "автоматический ответ",
    "автоответ",
    "вне офиса",
    "автоматична відповідь",
    "автоматичен отговор",
    "автоматски одговор",
    "otomatik yanıt",
    "ofis dışında",
    "自動応答",
    "自動返信",
    "不在通知",
    "外出中",
    "自动答复",
    "自动回复",
    "自動回覆",
    "外出",
    "자동 회신",
    "자동 응답",
    "부재중",
    "răspuns automat",
    "αυτόματη απάντηση",
    "samodejni odgovor",
    "automatski odgovor",
    "automātiskā atbilde",
    "automaatvastus",
    "automatinis atsakymas",
    "תשובה אוטומטית",
    "רד אוטומטי",
    "الرد التلقائي",
    "رد تلقائي",
    "trả lời tự động",
    "balasan otomatis",
    "ตอบกลับอัตโนมัติ",
    "resposta automatico",
    "away:",
    "thank you for contacting",
    "we have received your",
    "your message has been received",
    "automatisk svarmelding",
];

/// How subjects of bounces begin, or what they hold.
const FAILED: &[&str] = &[
    "undelivered mail",
    "undeliverable",
    "undelivered",
    "delivery status notification",
    "delivery failure",
    "delivery failed",
    "delivery notification",
    "delivery report",
    "delivery has failed",
    "delivery error",
    "delivery problem",
    "mail delivery failed",
    "mail delivery failure",
    "mail delivery error",
    "mail delivery problem",
    "mail delivery status",
    "mail delivery system",
    "mail delivery:",
    "mail delivery is delayed",
    "mail failure",
    "mail could not be",
    "failure notice",
    "failed mail",
    "failure delivery",
    "returned mail",
    "returned to sender",
    "return to sender",
    "returned email",
    "message undeliverable",
    "message not delivered",
    "message delivery",
    "message could not be",
    "could not send message",
    "couldn't be delivered",
    "not delivered",
    "non delivery",
    "non-delivery",
    "nondeliverable",
    "nondelivery",
    "non remis",
    "mail system error",
    "mailsystem error",
    "email error",
    "error sending",
    "bounced mail",
    "mail bounced",
    "unable to deliver",
    "cannot deliver",
    "mail rejected",
    "message rejected",
    "rejected:",
    "rejected mail",
    "user unknown",
    "unknown user",
    "unzustellbar",
    "unzustellbarkeit",
    "nicht zustellbar",
    "nicht zugestellt",
    "zustellung fehlgeschlagen",
    "übermittlungsfehler",
    "zustellfehler",
    "konnte nicht zugestellt werden",
    "échec de la remise",
    "non remis",
    "échec de remise",
    "non distribué",
    "notification d'échec",
    "avis de non-remise",
    "no se puede entregar",
    "no entregado",
    "no se ha podido entregar",
    "correo devuelto",
    "mensaje devuelto",
    "notificación de estado de entrega",
    "mancato recapito",
    "mancata consegna",
    "non recapitabile",
    "consegna fallita",
    "mensagem não entregue",
    "não foi possível entregar",
    "falha na entrega",
    "devolvido",
    "niet afgeleverd",
    "onbestelbaar",
    "kan niet worden bezorgd",
    "kunde inte levereras",
    "ej levererat",
    "olevererbart",
    "kunne ikke leveres",
    "kan ikke leveres",
    "ulevereret",
    "ei voitu toimittaa",
    "toimittaminen epäonnistui",
    "niedostarczon",
    "nie dostarczono",
    "nie można dostarczyć",
    "nedoručiteln",
    "nedoručen",
    "nelze doručit",
    "kézbesíthetetlen",
    "nem sikerült kézbesíteni",
    "недоставлен",
    "не доставлено",
    "не удалось доставить",
    "teslim edilemedi",
    "配信不能",
    "配信できません",
    "配送不能",
    "未配信",
    "送信できません",
    "宛先不明",
    "退信",
    "无法投递",
    "無法傳遞",
    "未送達",
    "전송 실패",
    "배달되지 않음",
    "반송",
    "αδύνατη η παράδοση",
    "nelivrat",
    "failed delivery",
];

const DELAYED: &[&str] = &[
    "delayed mail",
    "mail delayed",
    "delayed:",
    "delivery delayed",
    "delivery status notification (delay",
    "message delayed",
    "delay in delivery",
    "warning: could not send message",
    "warning: message",
    "still being retried",
    "zustellung verzögert",
    "verzögert",
    "will be retried",
    "mail delivery is delayed",
    "transient",
    "temporary failure",
    "(delayed)",
    "not yet been delivered",
    "retrasad",
    "retardé",
];

/// What stands in the text of bounces.
const IN_TEXT: &[&str] = &[
    "final-recipient:",
    "diagnostic-code:",
    "action: failed",
    "action: delayed",
    "reporting-mta:",
    "remote-mta:",
    "the following address(es) failed",
    "this message was created automatically by mail delivery",
    "i'm sorry to have to inform you",
    "could not be delivered to one or more",
    "this is the mail system at host",
    "this is the postfix program",
    "this is the qmail-send program",
    "i wasn't able to deliver your message",
    "i've given up",
    "the following addresses had permanent",
    "the following addresses had transient",
    "transcript of session follows",
    "did not reach the following recipient",
    "delivery to the following recipient",
    "delivery has failed to these",
    "your message wasn't delivered",
    "your message could not be delivered",
    "your message did not reach",
    "message could not be delivered",
    "unable to deliver message",
    "unable to deliver your",
    "could not be delivered",
    "permanent fatal errors",
    "permanent error",
    "permanent failure",
    "mailbox unavailable",
    "mailbox is full",
    "mailbox full",
    "user unknown",
    "unknown user",
    "no such user",
    "recipient rejected",
    "no mailbox here",
    "address rejected",
    "host unknown",
    "host or domain name not found",
    "quota exceeded",
    "over quota",
    "returned to sender",
    "this is a permanent error",
    "below this line is a copy of the message",
    "this is a copy of the message",
    "original message follows",
    "original message headers",
    "the original message was received at",
    "undeliverable message",
    "undelivered message",
    "remote host said:",
    "smtp error from remote",
    "error from remote mail server",
    "550 5.",
    "550-5.",
    "551 5.",
    "552 5.",
    "553 5.",
    "554 5.",
    "550 ",
    "554 ",
    "553 ",
    "552 ",
    "5.1.1",
    "5.2.2",
    "5.7.1",
    "<<< 5",
    "relaying denied",
    "spam",
    "nicht zugestellt werden",
    "n'a pas pu être remis",
    "n'a pas pu être livré",
    "no se ha podido entregar",
    "non può essere recapitato",
    "kunde inte levereras",
    "kon niet worden afgeleverd",
    "не было доставлено",
    "配信できません",
    "status: 5.",
    "status: 4.",
    "delivery attempts",
    "delivery to",
    "message-id: <",
    "failed permanently",
    "mail delivery system",
];

/// A bounce's or an absence note's words, where the header says nothing. `text` is in lower case.
pub fn mark(subject: &str, text: &str) -> Option<Mark> {
    if is_absence(subject) {
        return Some(Mark::SubjectOfAbsence);
    }
    let words = IN_TEXT.iter().filter(|words| text.contains(*words)).take(3).count();
    let failed = says_failed(subject);
    if failed && (words >= 1 || !answers(subject)) {
        Some(Mark::SubjectOfBounce)
    } else if words >= 3 && strong(text) {
        Some(Mark::TextOfBounce)
    } else {
        None
    }
}

/// What people do not write by chance.
fn strong(text: &str) -> bool {
    IN_TEXT[..24].iter().any(|words| text.contains(words))
}

fn says_failed(subject: &str) -> bool {
    let subject = subject.to_lowercase();
    FAILED.iter().chain(DELAYED).any(|words| subject.contains(words))
}

/// Whether the subject is that of a reply.
fn answers(subject: &str) -> bool {
    subject.len() != without_reply_prefix(subject).len()
}

/// Whether the subject is that of an absence note.
pub fn is_absence(subject: &str) -> bool {
    let subject = without_reply_prefix(subject).to_lowercase();
    let subject = subject.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[');
    ABSENCE.iter().any(|words| subject.starts_with(words))
        || [
            "(out of office)",
            "[out of office]",
            "out of office",
            "autoreply",
            "auto-reply",
            "automatic reply",
            "abwesenheitsnotiz",
            "(automatic reply)",
        ]
        .iter()
        .any(|words| subject.ends_with(words))
}

/// Whether a bounce is final or a delay, if its words tell.
pub fn failure(subject: &str, text: &str) -> Option<Kind> {
    let subject = subject.to_lowercase();
    if DELAYED.iter().any(|words| subject.contains(words)) {
        return Some(Kind::Delayed);
    }
    if says_failed(&subject) || IN_TEXT[..24].iter().any(|words| text.contains(words)) {
        return Some(Kind::Failed);
    }
    None
}

/// The subject without `Re:` and its like, as often as they stand there.
fn without_reply_prefix(subject: &str) -> &str {
    let mut rest = subject.trim();
    loop {
        let found = [
            "re:", "aw:", "antw:", "sv:", "vs:", "odp:", "ynt:", "rif:", "r:", "res:", "ha:", "fw:", "fwd:",
            "wg:", "tr:",
        ]
        .iter()
        .find(|prefix| rest.get(..prefix.len()).is_some_and(|r| r.eq_ignore_ascii_case(prefix)));
        match found {
            Some(prefix) => rest = rest[prefix.len()..].trim_start(),
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_of_machines_are_known() {
        for subject in [
            "Automatic reply: [QZ-7K3M] Turn 4",
            "Abwesenheitsnotiz: [QZ-7K3M] Turn 4",
            "Réponse automatique : [QZ-7K3M] Turn 4",
            "Re: Out of Office: away",
            "自動応答: Turn 4",
        ] {
            assert_eq!(mark(subject, ""), Some(Mark::SubjectOfAbsence), "{subject}");
        }
        for subject in ["Undelivered Mail Returned to Sender", "failure notice", "Unzustellbar: Turn 4"] {
            assert_eq!(mark(subject, ""), Some(Mark::SubjectOfBounce), "{subject}");
        }
    }

    #[test]
    fn people_who_write_about_mail_are_no_machines() {
        for (subject, text) in [
            ("Re: [QZ-7K3M] Turn 4", "your last mail could not be delivered, i think: mailbox full"),
            ("Re: [QZ-7K3M] Turn 4", "i am out of office next week\nabsent 2026-12-20 to 2026-12-27"),
            ("holidays", "i'll be on holiday"),
            ("Turn 4 - my spam filter", "it went to spam"),
        ] {
            assert_eq!(mark(subject, text), None, "{subject}");
        }
    }
}
