//! The store's contract, tested on both databases, and the particulars of each.

mod audit;
mod budgets;
mod carry;
mod claims;
mod contract;
mod events;
mod forgotten;
mod lanes;
mod letters;
mod offers;
mod outbox;
#[path = "../support/overview.rs"]
mod overview;
mod particular;
#[path = "../support/place.rs"]
mod place;
mod samples;
mod screen;
mod stalled;
mod unruled;
mod verified;

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
        audit_names_changes_made_past_the_triggers;
    forgotten:
        the_traces_of_a_player_include_earlier_addresses_and_what_waits
        a_player_is_forgotten_and_the_letters_of_others_stay
        a_player_is_not_forgotten_as_loaded_before_a_change;
    verified:
        a_match_is_unverified_until_its_last_entry_is_noted
        the_last_letters_of_a_match_that_is_over_are_to_be_listed_once_they_are_sent;
    letters:
        waiting_letters_are_in_order_of_arrival
        a_letter_with_a_known_digest_is_stored_once
        a_letter_sent_twice_is_stored_and_marked_repeated
        a_letter_sent_as_another_one_waits_if_its_text_is_new
        letters_from_the_spam_folder_are_counted
        unproven_letters_without_an_answer_are_found_by_time
        letters_without_a_message_id_are_never_repeated
        the_first_mailbox_is_as_old_as_the_database_and_left_letters_are_noted_by_mailbox
        any_bytes_from_a_stranger_are_stored
        a_failed_attempt_is_counted_with_its_reason
        letters_are_listed_by_status_match_and_digest
        a_letter_is_decided_once
        a_claim_holds_a_bounded_number_of_bytes
        letters_in_work_are_known_until_their_daemon_is_done
        a_letter_without_effect_can_be_requeued;
    screen:
        words_for_a_gm_wait_until_a_gm_acts_in_their_match
        a_remembered_value_is_taken_once
        players_are_found_by_a_part_of_their_name_or_address;
    contract:
        five_hundred_letters_are_settled_in_one_transaction
        a_stale_match_rolls_the_changes_back
        a_new_match_with_a_taken_id_is_stale
        a_match_twice_in_changes_is_refused
        entries_must_follow_one_another_without_gaps
        history_cannot_be_changed_or_deleted
        only_one_of_two_concurrent_changes_is_committed
        two_programs_can_write_concurrently
        due_matches_are_ordered_by_wake_time
        matches_are_listed_by_id_and_stage
        the_dates_of_a_match_are_those_of_its_first_entry_and_of_its_end
        seats_are_found_by_token_and_by_match
        a_substitute_takes_the_seat_and_the_old_token_ends
        a_player_is_found_by_an_address_in_any_case
        a_player_found_concurrently_is_added_once
        an_address_belongs_to_one_player
        a_remembered_value_is_replaced
        the_first_of_two_values_stands
        remembered_values_are_found_by_key_prefix_and_forgotten
        a_database_describes_itself
        everything_survives_a_restart
        a_database_of_a_newer_program_is_refused;
    budgets:
        a_count_never_exceeds_its_limit
        counts_are_found_by_subject_and_past_ones_are_deleted
        a_question_is_replaced_answered_or_lapses
        a_delayed_dispatch_waits_until_it_is_due
        a_declined_offer_is_remembered_for_each_pair;
    offers:
        a_change_of_a_player_moves_from_stage_to_stage_once
        an_address_has_one_open_challenge_from_all_newcomers
        an_invitation_is_accepted_once
        open_invitations_are_found_once_they_lapse
        two_players_become_one_with_all_seats_and_addresses
        a_deferred_letter_waits_until_its_time
        a_bounced_dispatch_is_marked
        entries_are_found_by_kind_and_time;
    events:
        an_event_changes_at_its_version_and_is_found_when_it_is_due
        a_pair_meets_once_a_season_and_an_end_counts_once
        an_end_is_to_be_looked_at_until_an_event_has_seen_it
        losses_by_missed_turns_and_silent_entrants_are_found
        three_daemons_open_sections_and_close_a_season_exactly_once;
    claims:
        letters_are_claimed_once
        a_due_match_is_claimed_unless_another_daemon_works_on_its_letters
        a_claim_ends_with_its_commit
        a_letter_waits_for_earlier_ones_about_its_match
        the_houses_turns_are_claimed_once_and_keep_no_letter_waiting
        the_oldest_waiting_letter_is_known_while_it_is_claimed
        after_a_restore_letters_are_claimed_alone_whoever_wrote_them
        a_claim_holds_letters_of_players_before_those_of_strangers
        a_claim_holds_few_letters_of_strangers
        letters_with_a_players_address_or_token_come_before_strangers
        letters_of_one_sender_stay_in_order
        one_senders_flood_leaves_room_in_each_claim;
    outbox:
        a_dispatch_is_claimed_until_its_claim_ends
        concurrent_claims_share_the_dispatches
        outcomes_of_sending_are_recorded
        a_letter_with_a_picture_is_read_back_byte_for_byte
        the_picture_of_a_letter_is_dropped_seven_days_after_it_was_sent_and_its_digest_stays
        a_sent_dispatch_stays_sent
        a_dispatch_that_was_given_up_can_be_revived
        letters_are_listed_by_when_they_were_given_up
        of_two_outcomes_of_a_dispatch_the_last_counts
        what_is_queued_is_due_until_it_is_sent_or_deferred
        dispatches_are_found_by_match_and_message_id
        queues_show_what_waits_and_since_when
        a_dispatch_is_found_by_the_id_in_its_return_path
        a_digest_takes_the_place_of_one_that_still_waits
        a_reminder_lapses_once_what_it_is_about_has_changed;
    unruled:
        bytes_of_unruled_letters_are_deleted_and_all_else_stays
        no_other_letter_loses_its_bytes;
}
