//! Banners: paragraphs that a mail server puts above each letter from outside, such as "CAUTION: external sender".
//!
//! Their wording differs from server to server, but they all speak of the same few things, and no machine speaks of
//! itself. A person hardly speaks of four of these things in one paragraph above a request.

/// The things that banners speak of, each by the beginnings of words in several languages.
const THINGS: [&[&str]; 8] = [
    &[
        "email",
        "e-mail",
        "mail",
        "message",
        "nachricht",
        "correo",
        "courriel",
        "mensa",
        "messaggi",
        "bericht",
        "wiadomo",
        "письм",
        "meddeland",
        "mejl",
    ],
    &[
        "extern",
        "outside",
        "außerhalb",
        "ausserhalb",
        "buiten",
        "extér",
        "exter",
        "ester",
        "fuera",
        "fora",
        "utanför",
        "utifrån",
        "utenfor",
        "udenfor",
        "zewn",
        "внешн",
    ],
    &[
        "sender",
        "absender",
        "expédit",
        "remit",
        "remet",
        "mittent",
        "afzender",
        "avsänd",
        "avsend",
        "afsend",
        "nadawc",
        "отправ",
    ],
    &["click", "klick", "cliqu", "clic", "klik", "open", "öffne", "ouvr", "abr", "apr", "нажим", "öppna"],
    &["link", "http", "lien", "enlace", "verknüpf", "collegament", "ссыл", "länk"],
    &[
        "attachment",
        "anhang",
        "anhäng",
        "pièce",
        "adjunt",
        "anexo",
        "allegat",
        "bijlag",
        "bifog",
        "bilag",
        "vedlegg",
        "vedhæft",
        "załącz",
        "вложен",
    ],
    &[
        "organi",
        "company",
        "unternehmen",
        "entrepris",
        "empresa",
        "aziend",
        "bedrijf",
        "firma",
        "организ",
        "företag",
    ],
    &[
        "caution",
        "warn",
        "careful",
        "beware",
        "vorsicht",
        "achtung",
        "attention",
        "attenzione",
        "atenci",
        "aten",
        "prudence",
        "cuidado",
        "opgelet",
        "uwaga",
        "вниман",
        "varning",
        "försiktig",
        "advarsel",
    ],
];

/// Words by which a person speaks of themselves.
const OF_A_PERSON: [&str; 22] = [
    "i", "i'm", "my", "me", "we", "our", "ich", "mir", "mein", "wir", "je", "j'ai", "mon", "nous", "yo",
    "mi", "io", "mio", "ik", "mijn", "jag", "мы",
];

/// Maximum words of a banner.
const MAX_WORDS: usize = 80;

/// Maximum bytes of a line of a banner.
const MAX_BYTES: usize = 1000;

/// Minimum words of a line that goes on with the sentence above it.
const MIN_WRAPPED: usize = 4;

/// Returns the number of lines at the top that are banners, with the blank lines and rules below them.
pub fn banner_lines(lines: &[&str]) -> usize {
    let mut end = 0;
    loop {
        let is_gap = |line: &&&str| line.chars().all(|c| !c.is_alphanumeric());
        let start = end + lines[end..].iter().take_while(is_gap).count();
        let paragraph = lines[start..].iter().take_while(|line| !is_gap(line)).count();
        let Some(length) = banner_length(&lines[start..start + paragraph]) else { return end };
        let below = start + length;
        end = below + lines[below..].iter().take_while(is_gap).count();
    }
}

/// Returns the number of lines at the top of a paragraph that are a banner. A request may follow it at once.
fn banner_length(paragraph: &[&str]) -> Option<usize> {
    let mut words = 0;
    let is_short = |line: &&&str| {
        words += line.split_whitespace().take(MAX_WORDS + 1).count();
        words <= MAX_WORDS && line.len() <= MAX_BYTES
    };
    let paragraph = &paragraph[..paragraph.iter().take_while(is_short).count()];
    let least = if paragraph.first()?.starts_with('[') { 3 } else { 4 };
    let is_banner = |said: &Said| said.things.count_ones() >= least && !said.is_of_a_person;
    // What the lines down to each one speak of.
    let mut said = paragraph.iter().scan(Said::default(), |said, line| {
        *said = said.and(Said::of(line));
        Some(*said)
    });
    let mut length = said.position(|said| is_banner(&said))? + 1;
    for said in said {
        if !goes_on(paragraph[length - 1], paragraph[length]) || !is_banner(&said) {
            break;
        }
        length += 1;
    }
    Some(length)
}

/// Whether a line below one of a banner belongs to it, too: it speaks of the same things, or ends the sentence.
fn goes_on(above: &str, line: &str) -> bool {
    let is_open = !above.trim_end().ends_with(['.', '!', '?', ':', ']']);
    let is_wrapped = line.starts_with(char::is_lowercase)
        && line.split_whitespace().count() >= MIN_WRAPPED
        && !line.contains(|c: char| c.is_ascii_digit());
    Said::of(line).things.count_ones() > 1 || is_open && is_wrapped
}

/// What some lines speak of.
#[derive(Clone, Copy, Default)]
struct Said {
    /// A bit for each of [`THINGS`], and one for an address: a banner may show the sender's.
    things: u16,
    is_of_a_person: bool,
}

impl Said {
    fn of(line: &str) -> Said {
        let words = line.split(|c: char| c.is_whitespace() || c == '/');
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        let words: Vec<String> = words.collect();
        let is_named =
            |thing: &[&str]| words.iter().any(|word| thing.iter().any(|start| word.starts_with(start)));
        let bits = (0..).zip(THINGS).map(|(bit, thing)| u16::from(is_named(thing)) << bit);
        Said {
            things: bits.sum::<u16>() | u16::from(line.contains('@')) << THINGS.len(),
            is_of_a_person: words.iter().any(|word| OF_A_PERSON.contains(&word.as_str())),
        }
    }

    fn and(self, other: Said) -> Said {
        Said {
            things: self.things | other.things,
            is_of_a_person: self.is_of_a_person || other.is_of_a_person,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        banner_lines(&Vec::from_iter(text.lines()))
    }

    #[test]
    fn warnings_of_servers_are_banners_and_what_people_write_is_none() {
        for (banner, lines) in [
            (
                "CAUTION: This email originated from outside of the organization. Do not click links or open \
              attachments unless you recognize the sender.\n\nMARBLE E5",
                2,
            ),
            (
                "[You don't often get email from ann@x.example. Learn why this is important at \
              https://aka.ms/LearnAboutSenderIdentification ]\n\nMARBLE E5",
                2,
            ),
            ("EXTERNAL EMAIL: Be careful with links and attachments.\n________\nMARBLE E5", 2),
            (
                "This Message Is From an External Sender\nThis message came from outside your organization.\n\nMARBLE E5",
                3,
            ),
            (
                "ACHTUNG: Diese E-Mail kommt von außerhalb des Unternehmens.\nÖffnen Sie keine Anhänge.\n\nMARBLE E5",
                3,
            ),
            (
                "VARNING: Det här mejlet kommer utifrån företaget. Öppna inga bilagor och klicka inte på länkar.\n\nMARBLE E5",
                2,
            ),
            ("Attention : courriel externe. Ne cliquez pas sur les liens.\n\nMARBLE E5", 2),
            (
                "CAUTION: external e-mail. Check the sender.\n\nWARNING: do not open attachments of this e-mail from outside.\n\nMARBLE E5",
                4,
            ),
            (
                "CAUTION: This email originated from outside of the organization.\nDo not click links or open attachments\n\
                unless you recognize the sender.\nMARBLE E5",
                3,
            ),
            ("EXTERNAL EMAIL: Be careful with links and attachments\nopen quad", 1),
            ("Attention : courriel externe. Ne cliquez pas sur les liens.\nb5-c7", 1),
            ("Attention : courriel externe. Ne cliquez pas sur les liens.\nI wait for Bo.", 1),
        ] {
            assert_eq!(count(banner), lines, "{banner}");
        }
        for words in [
            "Please wait until I write again.\n\nMARBLE E5",
            "Attention: I wrote my last mail from the company, see the attachment.\n\nMARBLE E5",
            "The link in your message is open.\n\nMARBLE E5",
            "MARBLE E5",
            "",
        ] {
            assert_eq!(count(words), 0, "{words}");
        }
    }
}
