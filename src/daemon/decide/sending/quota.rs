//! How many letters may be sent now, if the mail provider limits them. A limit only ever delays.

use crate::config::Quota;
use crate::store::{ClaimOrder, DispatchScope, SentCount, Urgency};

/// The part of `per_day` that answers to letters without a token may use: strangers cannot use up the players' mail.
const STRANGERS_PART: u32 = 10;

/// The part of `per_day` that is kept for alarms to the GM, and at least one letter.
const ALARMS_PART: u32 = 20;

/// How many letters may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Alarms to the GM, and any other letters.
    pub alarms: u32,
    /// Other letters, with those in answer to strangers.
    pub others: u32,
    /// Answers to letters without a token.
    pub strangers: u32,
}

/// Letters that share a part of a day, in the order in which they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrgencyGroup {
    Alarms,
    Urgent,
    Strangers,
    Rest,
}

impl UrgencyGroup {
    pub const ALL: [UrgencyGroup; 4] =
        [UrgencyGroup::Alarms, UrgencyGroup::Urgent, UrgencyGroup::Strangers, UrgencyGroup::Rest];

    pub fn urgencies(self) -> &'static [Urgency] {
        match self {
            UrgencyGroup::Alarms => &[Urgency::Alarm],
            UrgencyGroup::Urgent => &[Urgency::Receipt, Urgency::Report, Urgency::Result, Urgency::Notice],
            UrgencyGroup::Strangers => &[Urgency::Stranger],
            UrgencyGroup::Rest => &[Urgency::Reminder, Urgency::Digest, Urgency::Announcement],
        }
    }
}

impl Allowance {
    pub fn of_group(&self, group: UrgencyGroup) -> u32 {
        match group {
            UrgencyGroup::Alarms => self.alarms,
            UrgencyGroup::Urgent | UrgencyGroup::Rest => self.others,
            UrgencyGroup::Strangers => self.strangers,
        }
    }

    /// Returns the scope of letters of all groups that may send some: of those, the ones that were tried least often.
    pub fn scope_of_all(&self, room: u32) -> DispatchScope {
        let groups = UrgencyGroup::ALL.into_iter().filter(|group| self.of_group(*group) > 0);
        let groups: Vec<UrgencyGroup> = groups.collect();
        let least = groups.iter().map(|group| self.of_group(*group)).min().unwrap_or_default();
        let urgencies = groups.iter().flat_map(|group| group.urgencies()).copied().collect();
        DispatchScope { limit: least.min(room), order: ClaimOrder::FewestTries, urgencies }
    }

    /// Returns what may still be sent after so many letters, some of which are under way.
    pub fn of(quota: &Quota, sent: &[SentCount]) -> Allowance {
        let minute: u32 = sent.iter().map(|count| count.minute).sum();
        let day: u32 = sent.iter().map(|count| count.day).sum();
        let strangers =
            sent.iter().find(|count| count.urgency == Urgency::Stranger).map_or(0, |count| count.day);
        let now = quota.per_minute.map_or(u32::MAX, |limit| limit.saturating_sub(minute));
        let Some(per_day) = quota.per_day else {
            return Allowance { alarms: now, others: now, strangers: now };
        };
        let reserve = if per_day > 1 { (per_day / ALARMS_PART).max(1) } else { 0 };
        let alarms = now.min(per_day.saturating_sub(day));
        let others = now.min((per_day - reserve).saturating_sub(day));
        let strangers = others.min((per_day / STRANGERS_PART).max(1).saturating_sub(strangers));
        Allowance { alarms, others, strangers }
    }
}

/// Adds letters that are under way to those that were sent.
pub fn with_under_way(mut sent: Vec<SentCount>, under_way: impl Iterator<Item = Urgency>) -> Vec<SentCount> {
    for urgency in under_way {
        match sent.iter_mut().find(|count| count.urgency == urgency) {
            Some(count) => {
                count.minute += 1;
                count.day += 1;
            }
            None => sent.push(SentCount { urgency, minute: 1, day: 1 }),
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(urgency: Urgency, minute: u32, day: u32) -> SentCount {
        SentCount { urgency, minute, day }
    }

    fn allowance(per_minute: Option<u32>, per_day: Option<u32>, counts: &[SentCount]) -> (u32, u32, u32) {
        let Allowance { alarms, others, strangers } = Allowance::of(&Quota { per_minute, per_day }, counts);
        (alarms, others, strangers)
    }

    #[test]
    fn without_limits_everything_may_be_sent() {
        assert_eq!(
            allowance(None, None, &[sent(Urgency::Report, 900, 90_000)]),
            (u32::MAX, u32::MAX, u32::MAX)
        );
    }

    #[test]
    fn a_day_keeps_a_part_for_alarms_and_gives_strangers_a_tenth() {
        assert_eq!(allowance(None, Some(200), &[]), (200, 190, 20));
        let counts = [sent(Urgency::Receipt, 0, 180), sent(Urgency::Stranger, 0, 5)];
        assert_eq!(allowance(None, Some(200), &counts), (15, 5, 5));
        assert_eq!(allowance(None, Some(200), &[sent(Urgency::Stranger, 0, 20)]), (180, 170, 0));
        assert_eq!(allowance(None, Some(200), &[sent(Urgency::Report, 0, 195)]), (5, 0, 0));
        assert_eq!(allowance(None, Some(200), &[sent(Urgency::Report, 0, 300)]), (0, 0, 0));
    }

    #[test]
    fn a_minute_limits_all_letters() {
        assert_eq!(allowance(Some(30), Some(200), &[sent(Urgency::Report, 28, 28)]), (2, 2, 2));
        let under_way = with_under_way(
            vec![sent(Urgency::Report, 28, 28)],
            [Urgency::Report, Urgency::Alarm].into_iter(),
        );
        assert_eq!(allowance(Some(30), None, &under_way), (0, 0, 0));
    }
}
