//! Mail addresses, and the reply tokens that their plus part carries.

use std::fmt::{self, Debug, Display};

use serde::{Deserialize, Deserializer, Serialize};

/// A mail address, `local@domain`, in the form in which addresses are compared, stored, shown and sent: ASCII
/// letters in lower case, and the domain in ASCII (`xn--…`), which every mail server accepts and which cannot
/// look like another domain. It has no blanks, quotes or control characters, so it is safe in any header.
///
/// This type is the only validator. A letter can be built to any address that it accepts; one whose local part
/// has letters beyond ASCII goes out only through a server with SMTPUTF8 (RFC 6531). Somebody may write from
/// such an address and is answered there, but nobody plays from one, because few servers accept letters to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Address(String);

/// The text is not a mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a mail address")]
pub struct ParseAddressError;

/// The text is not an address that somebody can give us to write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseGivenError {
    #[error(transparent)]
    NotAnAddress(#[from] ParseAddressError),
    #[error("an address with other letters than ASCII before its @, which few mail servers deliver to")]
    BeyondAscii,
}

impl Address {
    /// Parses `local@domain` (RFC 5321 4.1.2), ignoring the case of ASCII letters. Other letters of the local
    /// part keep their case: the Kelvin sign (U+212A) would become `k`, and the mailbox would be somebody
    /// else's.
    ///
    /// # Errors
    /// [`ParseAddressError`] if the text is anything else, such as an address literal or a local part that
    /// needs its quotes, which no real mailbox uses.
    pub fn parse(text: &str) -> Result<Address, ParseAddressError> {
        let (local, domain) = text.trim().rsplit_once('@').ok_or(ParseAddressError)?;
        let domain = ascii_domain(domain).ok_or(ParseAddressError)?;
        let address = format!("{}@{domain}", without_quotes(local).to_ascii_lowercase());
        // RFC 5321 4.5.3.1.3, less the angle brackets.
        if address.len() > 254 || !is_local_part(without_quotes(local)) {
            return Err(ParseAddressError);
        }
        Ok(Address(address))
    }

    /// Parses an address that somebody gives us to write to.
    ///
    /// # Errors
    /// [`ParseGivenError`] if the text is not an address, or one that few mail servers deliver to.
    pub fn parse_given(text: &str) -> Result<Address, ParseGivenError> {
        let address = Address::parse(text)?;
        if address.is_reachable() { Ok(address) } else { Err(ParseGivenError::BeyondAscii) }
    }

    /// Whether all mail servers deliver to the address: it has only ASCII before its `@`.
    pub fn is_reachable(&self) -> bool {
        self.0.is_ascii()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn at(&self) -> usize {
        self.0.rfind('@').expect("parse saw an @")
    }

    pub fn local(&self) -> &str {
        &self.0[..self.at()]
    }

    pub fn domain(&self) -> &str {
        &self.0[self.at() + 1..]
    }

    /// Returns the part after the first `+` of the local part.
    pub fn plus(&self) -> Option<&str> {
        self.local().split_once('+').map(|(_, plus)| plus)
    }

    /// Returns the address without its plus part.
    pub fn base(&self) -> Address {
        match self.local().split_once('+') {
            Some((base, _)) if !base.is_empty() => Address(format!("{base}@{}", self.domain())),
            _ => self.clone(),
        }
    }

    /// Returns the address with `+plus` appended to its local part.
    ///
    /// # Errors
    /// [`ParseAddressError`] if the result is not an address, because `plus` is too long or has other
    /// characters.
    pub fn with_plus(&self, plus: &str) -> Result<Address, ParseAddressError> {
        Address::parse(&format!("{}+{plus}@{}", self.local(), self.domain()))
    }

    /// Returns the plus part that `other` adds to `self`: `token` for `referee+token@…` and `referee@…`.
    pub(crate) fn plus_of<'a>(&self, other: &'a Address) -> Option<&'a str> {
        if self.domain() != other.domain() {
            return None;
        }
        other.local().strip_prefix(self.local())?.strip_prefix('+')
    }
}

/// Returns a local part without quotes around it: some programs put quotes around one with two dots in a row.
fn without_quotes(local: &str) -> &str {
    local.strip_prefix('"').and_then(|local| local.strip_suffix('"')).unwrap_or(local)
}

/// Whether the text can be a local part. RFC 5321 allows no dot at the ends and no two in a row, but Japanese
/// providers gave such addresses to many people.
fn is_local_part(local: &str) -> bool {
    (1..=64).contains(&local.len())
        && local.contains(|c| c != '.')
        && local.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c))
}

/// Returns a domain in ASCII and lower case, or `None` if it is not a domain. A label beyond ASCII gets its
/// `xn--…` form (UTS 46). One that would become plain ASCII is refused: with a Kelvin sign (U+212A) for its
/// K, a domain looks like somebody else's and would become theirs.
pub fn ascii_domain(domain: &str) -> Option<String> {
    if domain.is_ascii() {
        return Some(domain.to_ascii_lowercase()).filter(|domain| domain.split('.').all(is_domain_label));
    }
    let ascii = idna::domain_to_ascii(domain).ok()?;
    let is_undisguised = |(written, label): (&str, &str)| written.is_ascii() || label.starts_with("xn--");
    let is_valid = domain.split('.').count() == ascii.split('.').count()
        && domain.split('.').zip(ascii.split('.')).all(is_undisguised)
        && ascii.split('.').all(is_domain_label);
    is_valid.then_some(ascii)
}

fn is_domain_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Address::parse(&text).map_err(|e| serde::de::Error::custom(format!("{e}: {text}")))
    }
}

/// The secret that marks a letter as a reply to the letters of one seat: 80 bits as 16 characters of
/// Crockford's base 32, in lower case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(String);

const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl Token {
    pub const LENGTH: usize = 16;

    pub fn from_random(random: [u8; 10]) -> Token {
        let bits = random.iter().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
        let digits = (0..Token::LENGTH).map(|i| CROCKFORD[(bits >> (75 - 5 * i) & 31) as usize]);
        Token(digits.map(char::from).collect())
    }

    /// Parses a token, ignoring case. As Crockford specifies, `o` is read as `0`, and `i` and `l` as `1`.
    pub fn parse(text: &str) -> Option<Token> {
        if text.len() != Token::LENGTH {
            return None;
        }
        text.chars().map(crockford_digit).collect::<Option<String>>().map(Token)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn crockford_digit(c: char) -> Option<char> {
    match c.to_ascii_lowercase() {
        'o' => Some('0'),
        'i' | 'l' => Some('1'),
        c => CROCKFORD.contains(&u8::try_from(c).ok()?).then_some(c),
    }
}

impl Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Debug for Token {
    /// Shows only the first characters, because a token is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}…)", &self.0[..4])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_lower_cased_and_split() {
        let address = Address::parse(" Referee+Abc+d@Club.Example ").unwrap();
        assert_eq!(address.as_str(), "referee+abc+d@club.example");
        assert_eq!(address.local(), "referee+abc+d");
        assert_eq!(address.domain(), "club.example");
        assert_eq!(address.plus(), Some("abc+d"));
        assert_eq!(address.base().as_str(), "referee@club.example");
        assert_eq!(address.base().plus_of(&address), Some("abc+d"));
        assert_eq!(address.base().with_plus("x").unwrap().as_str(), "referee+x@club.example");
    }

    #[test]
    fn text_that_could_break_a_header_is_not_an_address() {
        for text in [
            "",
            "@",
            "a@",
            "@b",
            "a b@c.d",
            "a@b c",
            "a@b\r\nBcc: x@y",
            "\"a b\"@b.c",
            "\"a@b.c",
            "a@[127.0.0.1]",
            "a@b..c",
            "..@b.c",
            "a@-b.c",
            "a@m\u{fc}..c",
            "a@\u{ff0f}\u{fc}.c",
            "a@b,c@d",
            "<a@b.c>",
            "a\u{0}@b.c",
            "a@b.c\u{202e}",
        ] {
            assert_eq!(Address::parse(text), Err(ParseAddressError), "{text:?}");
        }
        assert!(Address::parse(&format!("{}@b.c", "a".repeat(65))).is_err());
    }

    #[test]
    fn letters_that_fold_into_ascii_make_no_address() {
        let known = Address::parse("bo@kellers.example").unwrap();
        for other in [
            "bo@\u{212a}ellers.example",
            "bo@keller\u{17f}.example",
            "bo@kellers\u{3002}example",
            "bo@\u{ff4b}ellers.example",
        ] {
            assert_eq!(Address::parse(other), Err(ParseAddressError), "{other}");
        }
        assert_eq!(Address::parse("Bo@KELLERS.example").unwrap(), known);
        assert_ne!(Address::parse("\u{212a}@kellers.example"), Address::parse("k@kellers.example"));
    }

    #[test]
    fn a_domain_beyond_ascii_equals_its_ascii_form() {
        let known = Address::parse("ann@xn--mller-kva.example").unwrap();
        for other in [
            "Ann@m\u{fc}ller.example",
            "ann@M\u{dc}LLER.Example",
            "ann@mu\u{308}ller.example",
            "ann@XN--MLLER-KVA.example",
        ] {
            assert_eq!(Address::parse(other).unwrap(), known, "{other}");
        }
        assert_eq!(known.to_string(), "ann@xn--mller-kva.example");
        // Two registered names, not one.
        assert_ne!(Address::parse("a@stra\u{df}e.example"), Address::parse("a@strasse.example"));
        // A long label is measured in ASCII.
        assert!(Address::parse(&format!("a@{}.example", "\u{fc}".repeat(60))).is_err());
    }

    #[test]
    fn addresses_that_providers_gave_out_against_the_standard_are_taken() {
        for text in
            ["ta..ro@docomo.example", "taro.@docomo.example", ".taro@docomo.example", "bo@ex_.example"]
        {
            assert_eq!(Address::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(Address::parse("\"ta..ro\"@docomo.example"), Address::parse("ta..ro@docomo.example"));
    }

    #[test]
    fn an_address_that_few_servers_take_letters_to_is_not_given_to_us() {
        for text in ["b\u{f8}@other.example", "\u{212a}@other.example"] {
            assert_eq!(Address::parse_given(text), Err(ParseGivenError::BeyondAscii), "{text}");
        }
        assert!(Address::parse("b\u{f8}@other.example").is_ok());
        assert_eq!(Address::parse_given("bo@@other.example"), Err(ParseAddressError.into()));
        // The domain is sent in ASCII.
        assert!(Address::parse_given("ann@m\u{fc}ller.example").is_ok());
    }

    proptest! {
        #[test]
        fn a_token_is_parsed_in_any_case(random: [u8; 10]) {
            let token = Token::from_random(random);
            prop_assert_eq!(token.as_str().len(), Token::LENGTH);
            prop_assert_eq!(Token::parse(token.as_str()), Some(token.clone()));
            prop_assert_eq!(Token::parse(&token.as_str().to_uppercase()), Some(token));
        }

        #[test]
        fn parsing_an_address_never_panics(text in ".*") {
            let _ = (Address::parse(&text), Token::parse(&text));
        }
    }

    #[test]
    fn tokens_of_different_bits_differ() {
        assert_eq!(Token::from_random([0; 10]).as_str(), "0000000000000000");
        assert_eq!(Token::from_random([255; 10]).as_str(), "zzzzzzzzzzzzzzzz");
        assert_eq!(Token::from_random([0, 0, 0, 0, 0, 0, 0, 0, 0, 33]).as_str(), "0000000000000011");
        assert_eq!(Token::parse("O0iLabcdefghjkmn").unwrap().as_str(), "0011abcdefghjkmn");
        assert_eq!(Token::parse("u000000000000000"), None);
    }
}
