//! How many letters may be sent now, if the mail provider limits them. A limit only ever delays.

use crate::config::Quota;
use crate::store::{ClaimOrder, DispatchScope, SentCount, Urgency};

/// The part of `per_day` that answers to letters without a token may use: strangers cannot use up the players' mail.
const STRANGERS_PART: u32 = 10;

/// The part of `per_day` that is kept for alarms to the GM, and at least one letter.
const ALARMS_PART: u32 = 20;

/// The number of letters that may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Allowance {
    /// Alarms to the GM, and any other letters.
    alarms: u32,
    /// Other letters, with those in answer to strangers.
    others: u32,
    /// Answers to letters without a token.
    strangers: u32,
}

/// Returns which letters may be sent next, and at most how many of them, so that no part of the quota is exceeded
/// whichever they are. At most `room`.
pub fn scope(quota: &Quota, sent: &[SentCount], room: u32, order: ClaimOrder) -> DispatchScope {
    let allowance = Allowance::of(quota, sent);
    let allowed = Urgency::ALL.map(|urgency| (urgency, allowance.of_urgency(urgency)));
    let allowed: Vec<_> = allowed.into_iter().filter(|(_, letters)| *letters > 0).collect();
    let limit = allowed.iter().map(|(_, letters)| *letters).min().unwrap_or_default().min(room);
    DispatchScope { limit, order, urgencies: allowed.into_iter().map(|(urgency, _)| urgency).collect() }
}

impl Allowance {
    fn of_urgency(&self, urgency: Urgency) -> u32 {
        match urgency {
            Urgency::Alarm => self.alarms,
            Urgency::Stranger => self.strangers,
            Urgency::Receipt
            | Urgency::Report
            | Urgency::Result
            | Urgency::Notice
            | Urgency::Reminder
            | Urgency::Digest
            | Urgency::Announcement => self.others,
        }
    }

    /// Returns what may still be sent after so many letters, some of which are under way.
    fn of(quota: &Quota, sent: &[SentCount]) -> Allowance {
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
