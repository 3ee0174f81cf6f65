//! The store's contract, tested on both databases, and the particulars of each.

mod audit;
mod budgets;
mod carry;
mod claims;
mod contract;
mod earlier;
mod letters;
mod offers;
mod outbox;
#[path = "../support/overview.rs"]
mod overview;
mod particular;
mod place;
mod samples;
mod unruled;

/// Runs each of these tests on both databases.
macro_rules! on_both {
    ($($module:ident: $($name:ident)*;)*) => {
        mod sqlite {
            $($(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                crate::$module::$name(crate::place::Place::sqlite().await).await;
            })*)*
        }
        mod postgres {
            $($(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(place) = crate::place::Place::postgres().await {
                    crate::$module::$name(place).await;
                }
            })*)*
        }
    };
}

on_both! {
    audit:
        what_was_changed_past_the_triggers_is_named;
    letters:
        letters_wait_in_the_order_received
        a_letter_known_by_digest_is_kept_once
        a_letter_sent_twice_is_kept_and_marked_repeated
        letters_without_a_message_id_are_never_repeated
        whatever_a_stranger_writes_is_kept
        a_failed_try_is_counted_and_noted
        letters_are_listed_by_fate_match_and_digest
        a_letter_is_decided_once
        a_letter_without_effect_can_be_put_back;
    contract:
        five_hundred_letters_are_settled_in_one_transaction
        a_stale_match_leaves_nothing
        a_new_match_of_a_taken_id_is_stale
        a_match_twice_in_a_settlement_is_refused
        entries_follow_one_another_without_gaps
        history_is_neither_changed_nor_deleted
        of_settlements_at_the_same_moment_one_stands
        two_programs_write_at_the_same_time
        matches_due_come_in_the_order_of_their_clocks
        matches_are_listed_by_id_and_stage
        seats_are_found_by_token_and_by_match
        a_substitute_takes_the_seat_and_the_old_token_ends
        a_player_is_found_by_an_address_in_any_case
        a_player_met_at_the_same_moment_is_added_once
        an_address_belongs_to_one_player
        what_is_remembered_is_replaced
        what_is_remembered_is_found_by_the_beginning_of_its_key_and_forgotten
        a_database_tells_what_it_is
        everything_is_there_after_a_restart
        a_database_of_a_newer_program_is_refused;
    budgets:
        a_count_never_exceeds_its_limit
        counts_are_found_by_subject_and_past_ones_are_deleted
        a_question_is_replaced_answered_or_lapses
        a_delayed_dispatch_waits_until_it_is_due
        a_declined_offer_is_remembered_for_each_pair;
    offers:
        an_invitation_is_taken_up_once
        open_invitations_are_found_by_when_they_lapse
        two_players_become_one_with_all_seats_and_addresses
        a_letter_put_off_waits_until_then
        a_dispatch_that_came_back_is_marked
        entries_are_found_by_kind_and_time;
    claims:
        letters_are_claimed_once
        whoever_has_claimed_letters_gets_the_next_ones
        a_claim_ends_with_what_is_committed_under_it
        a_letter_waits_for_those_before_it
        the_oldest_letter_that_waits_is_known_while_it_is_claimed;
    outbox:
        a_dispatch_is_claimed_until_its_claim_ends
        claims_at_the_same_moment_share_the_dispatches
        what_came_of_sending_is_noted
        a_letter_with_a_picture_is_read_back_byte_for_byte
        a_dispatch_once_taken_stays_so
        a_dispatch_given_up_can_be_taken_up_again
        the_next_dispatch_is_the_one_due_first
        dispatches_are_found_by_match_and_message_id
        answers_are_counted_for_each_recipient
        queues_say_what_waits_and_since_when;
    unruled:
        bytes_of_unruled_letters_are_deleted_and_all_else_stays
        no_other_letter_loses_its_bytes;
}
