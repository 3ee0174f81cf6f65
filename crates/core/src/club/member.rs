//! A member of the club: wishes that are not about a match, and facts that the club remembers.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// Time in which nobody else can take a name that was given up.
const NAME_KEPT: TimeDelta = TimeDelta::days(365);

/// Maximum given-up names that are kept for one player.
const MAX_FORMER: usize = 10;

/// Maximum players whom one player can block.
pub const MAX_BLOCKED: usize = 100;

/// A player's choices that are not about a single match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// Whether a GM has registered the player.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub registered: bool,
    /// Whether people other than opponents can see name, number and profile.
    #[serde(skip_serializing_if = "is_true")]
    pub public: bool,
    /// Whether new matches may be rated.
    #[serde(skip_serializing_if = "is_true")]
    pub rated: bool,
    /// The player's standing offers rest while this many of their matches are running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The numbers of the players whose offers the player does not want.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<i64>,
    /// Names that the player gave up, each with the time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former_names: Vec<(String, DateTime<Utc>)>,
    /// The last time that the player left an event after its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_event: Option<DateTime<Utc>>,
}

impl Default for Member {
    fn default() -> Self {
        Member {
            registered: false,
            public: true,
            rated: true,
            limit: None,
            blocked: Vec::new(),
            former_names: Vec::new(),
            left_event: None,
        }
    }
}

impl Member {
    /// Remembers a name that the player gives up.
    pub fn give_up_name(&mut self, name: &str, at: DateTime<Utc>) {
        self.former_names.retain(|(_, given_up)| *given_up + NAME_KEPT > at);
        self.former_names.push((name.to_owned(), at));
        let surplus = self.former_names.len().saturating_sub(MAX_FORMER);
        self.former_names.drain(..surplus);
    }

    /// Returns the names that nobody else can take yet.
    pub fn kept_names(&self, at: DateTime<Utc>) -> impl Iterator<Item = &str> {
        let kept = self.former_names.iter().filter(move |(_, given_up)| *given_up + NAME_KEPT > at);
        kept.map(|(name, _)| name.as_str())
    }

    /// Whether the player blocks the one with this number.
    pub fn blocks(&self, player: i64) -> bool {
        self.blocked.contains(&player)
    }

    /// Returns the player with the blocks of another one, who is the same person, added.
    pub fn merged_with(mut self, other: &Member) -> Member {
        self.registered |= other.registered;
        self.left_event = self.left_event.max(other.left_event);
        self.blocked.extend(
            other.blocked.iter().filter(|id| !self.blocked.contains(id)).copied().collect::<Vec<_>>(),
        );
        self
    }
}

fn is_true(value: &bool) -> bool {
    *value
}

/// Returns how letters name a player's number.
pub fn number(player: i64) -> String {
    format!("P-{player}")
}

/// Reads a number such as `P-12`.
pub fn read_number(word: &str) -> Option<i64> {
    let digits = word.strip_prefix("P-").or_else(|| word.strip_prefix("p-"))?;
    digits.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_for_a_year_after_it_was_given_up() {
        let at = DateTime::UNIX_EPOCH;
        let mut member = Member::default();
        member.give_up_name("Bo", at);
        assert!(member.kept_names(at + TimeDelta::days(364)).eq(["Bo"]));
        assert!(member.kept_names(at + TimeDelta::days(366)).next().is_none());
        for n in 0..20 {
            member.give_up_name(&format!("Bo {n}"), at);
        }
        assert_eq!(member.former_names.len(), MAX_FORMER);
    }

    #[test]
    fn a_number_is_read_in_either_case() {
        assert_eq!(read_number("p-12"), Some(12));
        assert_eq!(["12", "P-", "P-x", "P-0", "Q-1"].map(read_number), [None; 5]);
    }

    #[test]
    fn a_member_without_wishes_is_stored_as_nothing() {
        assert_eq!(serde_json::to_string(&Member::default()).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<Member>("{}").unwrap(), Member::default());
    }
}
