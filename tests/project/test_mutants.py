"""Mutants of the privacy code: each is a plausible mistake, and the test named beside it kills it.

A mutant is the package with one piece of text replaced, in the function, class or constant that it
names (or, where that is no Python, in a file); which file has it does not matter. The killer runs against it in a
process of its own and must fail. A few of them are made at each run, and all by ``make soak``.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from support.draws import some
from support.nursery import outcome

import dproo

pytestmark = pytest.mark.untraced

SOURCE = Path(dproo.__file__).parent
TESTS = Path(__file__).parents[1]

BREAKS = (
    "counting/test_layouts.py::test_a_line_break_of_another_kind_within_a_record_changes_no_other"
)
LETTERS_OF_DATA = "releases/test_letters_of_data.py"
GUARDED = f"{LETTERS_OF_DATA}::test_nothing_of_a_protected_file_decides_how_it_is_refused"
GUESSED = f"{LETTERS_OF_DATA}::test_no_first_record_of_data_without_a_header_is_told_by_guesses"
QUOTED_BREAKS = (
    "counting/test_layouts.py::test_line_breaks_within_quotes_tell_cells_and_people_apart"
)
PATIENT = (
    "counting/test_postgresql.py::test_a_callers_session_waits_too_and_then_has_its_own_limits"
)
FOLLOWS = "synthesis/test_model.py::test_noise_records_and_certificate_of_a_model_must_follow_from_its_costs"
CHARACTER_SETS = "counting/test_sqlalchemy.py::test_no_character_set_of_a_connection_changes_a_cell"
SESSION_LIMITS = "counting/test_sqlalchemy.py::test_no_limit_of_a_session_leaves_a_record_out"
RECEIPT_ROOM = "releases/test_receipt_room.py::test_a_receipt_that_a_ledger_might_not_take_is_refused_before_the_charge"
DECIMAL_BITS = "counting/test_odd_cells.py::test_bits_that_are_no_decimal_of_the_type_are_other"
LAW = "mechanisms/test_draw.py::test_the_law_of_the_draw_is_the_pmf"
EACH = "mechanisms/test_draw.py::test_a_letter_of_each_dataset_is_what_each_would_draw_from_the_same_bytes"
CUT = "counting/test_parity.py::test_text_is_cut_behind_the_longest_letter"
MANY = "mechanisms/test_draw.py::test_many_draws_have_the_law_of_one"
JOINT = "mechanisms/test_draw.py::test_the_law_of_several_draws_is_their_joint_probability"
QUOTIENT = "mechanisms/test_draw.py::test_the_ratio_of_a_transition_is_that_of_its_probabilities"
TOGETHER = "mechanisms/test_draw.py::test_bits_drawn_together_are_the_bits_drawn_one_by_one"
BYTES = "mechanisms/test_draw.py::test_an_integer_below_a_bound_is_uniform_over_all_bytes"
EXP = "core/test_numbers.py::test_the_bounds_on_exp_hold_and_are_as_tight_as_stated"
DATASETS = "analysis/test_limit.py::test_the_limit_for_datasets_has_the_best_letters_and_records"
LEVELS = "analysis/test_limit.py::test_the_bound_of_levels_is_rounded_down"
FEW_LEVELS = f"{LEVELS}_for_few_records"
LEVELS_GROWTH = "analysis/test_limit.py::test_levels_get_no_less_than_e_to_the_epsilon"
LIMIT = "analysis/test_limit.py::test_the_limit_is_the_bound_of_the_proof_rounded_down"
AGREE = "analysis/test_planner.py::test_the_planner_and_the_sampler_agree"
ROW = "mechanisms/test_rows_in_full.py::test_one_record_changes_no_row_by_more_than_certified"
EDGE = "mechanisms/test_rows.py::test_every_edge_is_chosen_for_its_share_of_epsilon"
ROW_LAW = (
    "releases/test_row_release.py::test_the_law_of_many_releases_is_that_of_the_certified_steps"
)
ROW_LEARNED = "releases/test_row_release.py::test_a_learned_network_pays_for_its_choice"
ROW_SEVERAL = (
    "releases/test_row_release.py::test_several_rows_share_epsilon_and_a_person_divides_it"
)
ROW_HIDDEN = "releases/test_row_release.py::test_under_add_remove_nothing_tells_n"
ROUGH = "analysis/test_search.py"
HELD = "analysis/test_planner.py::test_every_question_of_the_ranges_has_an_answer_that_holds"
BEYOND = "analysis/test_planner.py::test_no_private_sampler_meets_the_target_beyond_the_limit"
POWER = "analysis/test_limit.py::test_the_bounds_on_a_power_hold_and_are_as_tight_as_stated"
CLOSE = "core/test_numbers.py::test_a_comparison_with_exp_is_decided_however_close"
ENUMERATED = "analysis/test_privacy.py::test_replacing_one_record_leaks_at_most_epsilon_and_exactly_what_is_certified"
ROO, DS, LS = (f"{ENUMERATED}[{name}-0.5]" for name in ("roo", "ds-roo", "ls-roo"))
ADDED = "analysis/test_privacy.py::test_adding_or_removing_one_record_leaks_at_most_epsilon"
SEVERAL = "analysis/test_privacy.py::test_several_draws_and_several_records_are_certified"
SPREAD = "mechanisms/test_roo_joint.py::test_a_person_who_spreads_two_records_over_two_letters_is_protected"
LEAKED = "mechanisms/test_roo_joint.py::test_the_integers_that_leaked_are_convicted"
BOUNDS = "mechanisms/test_roo_joint.py::test_the_bounds_are_bounds_and_close"
JOINT_WAY = "mechanisms/test_roo_joint.py::test_the_joint_way_keeps_the_person_and_the_prior"
REFUSED_TABLE = "mechanisms/test_roo_joint.py::test_a_table_that_the_search_cannot_judge_is_refused"
CLEARLY = "mechanisms/test_registry.py::test_bal_roo_is_ls_roo_wherever_that_is_clearly_better"
SAME_LAW = "mechanisms/test_registry.py::test_under_add_remove_the_law_of_bal_roo_does_not_depend_on_the_most_records"
AT_RANDOM = "analysis/test_certificates_at_random.py"
WRITTEN = "core/test_numbers.py::test_every_fraction_can_be_written_whatever_its_length"
PRIOR = "analysis/test_privacy.py::test_a_public_prior_is_certified"
ANSWERS = "analysis/test_privacy.py::test_several_answers_by_randomized_response_are_certified"
COUNTEREXAMPLES = (
    "analysis/test_privacy.py::test_the_printed_table_leaks_and_the_private_one_does_not"
)
REFUSED = "analysis/test_privacy.py::test_a_sampler_whose_integers_leak_cannot_be_made"
SHORT = "analysis/test_privacy.py::test_no_rate_makes_a_long_table[16385-1e-30-True]"
ROUNDED = "analysis/test_privacy.py::test_the_certified_epsilon_is_rounded_up"
MISFIT = "mechanisms/test_mechanisms.py::test_counts_that_do_not_fit_are_refused"
PSEUDO = "mechanisms/test_mechanisms.py::test_the_rounded_pseudo_count_is_never_below_the_true_one"

ORDER = "releases/test_release.py::test_the_charge_is_durable_before_the_first_record_is_read"
RELATION = "releases/test_release.py::test_an_unknown_relation_is_refused"
GROUPS = "releases/test_release.py::test_one_record_is_released_for_each_public_group"
PERSON = (
    "releases/test_release.py::test_a_person_with_several_records_is_protected_by_every_sampler"
)
TWO_GROUPS = "releases/test_release.py::test_a_person_with_records_in_several_groups_is_protected"
UNRECORDED = (
    "releases/test_release.py::test_a_record_that_fails_in_any_way_does_not_cost_the_release"
)
PRIVATE_N = "releases/test_release.py::test_under_add_remove_the_receipt_does_not_tell_n"
EVERY_CELL = "releases/test_release.py::test_the_counts_of_a_group_hold_every_cell_of_it"
STEPS = (
    "mechanisms/test_bal_roo.py::test_every_step_of_the_proof_holds_for_every_small_dataset[4-12-1]"
)
LARGE_STEPS = (
    "mechanisms/test_bal_roo.py::test_every_step_of_the_proof_holds_wherever_some_letters_are"
)
OWN_FALL = "mechanisms/test_bal_roo.py::test_a_letter_that_loses_a_record_loses_no_more_than_the_bound_says"
HIGHEST = "mechanisms/test_bal_roo.py::test_the_level_is_the_highest_that_fits"
UNCOUNTED = (
    "mechanisms/test_bal_roo.py::test_hidden_letters_that_are_counted_nowhere_leak_and_are_refused"
)
LEAST = "mechanisms/test_bal_roo.py::test_the_least_total_is_that_of_a_dataset_nearly"
HALF_SURPLUS = "mechanisms/test_bal_roo.py::test_too_small_a_surplus_leaks_and_is_refused"
NOT_PROVEN = "mechanisms/test_bal_roo.py::test_a_table_that_is_not_proven_is_not_taken"
DOMINATED = "study/test_average.py::test_no_small_dataset_is_further_than_its_letters_add[1]"
SHARP = "study/test_average.py::test_the_domination_is_sharp"
TOLL = "study/test_average.py::test_no_probabilities_add_more_than_the_bound"
BINOMIAL = "study/test_average.py::test_the_mean_over_binomial_counts_is_never_below_the_true_one"
CHANGES = "mechanisms/test_both_relations.py::test_the_certificate_is_the_worst_of_all_changes[1]"
TYPES = "analysis/test_scale.py::test_equal_keys_of_different_types_are_different_cells"
UNLOOKED = "releases/test_release.py::test_auto_looks_at_no_number_that_is_private"
UNTOLD = "releases/test_assurance.py::test_several_and_people_have_their_own_sentence"
BLOCKS = "releases/test_block_accuracy.py::test_a_receipt_says_what_enumeration_finds"
IN_BLOCKS = "releases/test_block_accuracy.py::test_the_mean_over_blocks_is_that_of_the_binomial_law"
BEST = "mechanisms/test_registry.py::test_auto_is_never_worse_than_another_sampler"
NOBODY = "cli/test_reporting.py::test_what_may_be_published_names_no_folder_and_nobody"
DEALT = "core/test_partition_dealing.py::test_dealt_records_have_the_law_of_a_random_partition"
UNIFORM = "core/test_partition_dealing.py::test_every_value_below_a_bound_is_as_likely"
ORDERS = "core/test_partition_dealing.py::test_every_order_is_as_likely"
PLACES = "core/test_partition_dealing.py::test_a_place_among_the_sorted_letters_is_one_letter"
SUBSET = "core/test_partition.py::test_a_subset_of_counts_is_a_uniform_subset_of_records"
LIMITS = "ledger/test_ledger_limits.py"
OF_A_SPENDER = f"{LIMITS}::test_the_releases_of_one_spender_are_at_most_so_large"
UNKNOWN_SPENDER = f"{LIMITS}::test_a_file_does_not_know_who_spends"
FOR_EVERYONE = f"{LIMITS}::test_what_was_charged_again_counts_for_every_spender"
ONE_UNIT = f"{LIMITS}::test_people_and_records_never_share_a_budget[file]"
SPENDER_HASHED = "ledger/test_ledger_edits.py::test_every_field_of_an_event_and_the_one_before_it_are_in_its_hash"
OTHERS = "ledger/test_ledger_kept.py::test_what_another_process_writes_in_between_is_seen"
NO_WITNESS = (
    "ledger/test_ledger_memory.py::test_a_file_of_something_else_is_never_a_witness[file-data]"
)
DEFAULT_KIND = "cli/test_cli.py::test_a_default_has_the_kind_that_its_option_takes[certify]"
LATE_WITNESS = "ledger/test_ledger_memory.py::test_a_new_witness_is_told_of_every_event[postgresql]"
WITH_DELTA = "auditing/test_audit_delta.py::test_delta_is_taken_from_the_likelier_side"
COVERED = "auditing/test_audit.py::test_the_bound_on_odds_covers_them_exactly"
REACHED = "auditing/test_audit.py::test_a_million_trials_find_95_percent_of_epsilon_on_the_worst_pair[roo]"
NO_ALARM = "auditing/test_audit.py::test_choosing_among_many_letters_raises_no_false_alarm"
SHARED = "auditing/test_audit.py::test_the_confidence_is_shared_by_the_bound_and_the_test_of_independence"
FAR = "auditing/test_audit.py::test_datasets_far_apart_share_the_bound"
CLOCK = "auditing/test_audit.py::test_a_sampler_seeded_by_the_clock_is_caught"
CRASH = "auditing/test_audit_command.py::test_a_program_that_fails_on_one_dataset_only_is_caught"
MULTIPLE = "auditing/test_law_audit.py::test_a_random_float_is_compared_as_the_multiple_it_is"

BROKEN_BYTES = "counting/test_engines_poison.py::test_bytes_that_are_not_text_are_one_record_each"
REFUSED_OPEN = "counting/test_opened_tables.py::test_a_refusal_closes_the_table"
COUNTED_OPEN = "counting/test_opened_tables.py::test_whatever_ends_the_count_closes_the_table"
SAME_N = "counting/test_several.py::test_tables_of_different_numbers_of_records_are_a_failure"
POISON_LINE = "counting/test_several.py::test_a_poison_line_is_one_record_of_every_table"
AS_BY_EACH = "counting/test_several.py::test_every_engine_counts_by_several_alphabets_as_by_each[parquet_file]"
SHEET = "counting/test_excel.py::test_blank_rows_are_no_records_however_far_the_last_one_is"
ANY_SHEET_CELL = "counting/test_excel.py::test_no_cell_of_a_sheet_decides_about_the_others"
NO_ENCODING = "counting/test_row_files.py::test_text_that_is_in_no_encoding_stops_nothing"
INTEGER_OR_REAL = "counting/test_odd_cells.py::test_sqlite_tells_an_integer_from_its_real"
ANY_CELL = "counting/test_sqlalchemy.py::test_sqlite_has_cells_of_any_type_in_any_column"
TOO_LONG = "counting/test_layouts.py::test_a_cell_far_longer_than_every_letter_is_not_read"
CUT_OFF = "counting/test_layouts.py::test_a_damaged_file_is_said_to_be_one"
RECORDS = "counting/test_records.py::test_no_record_changes_how_another_is_read"
LONG_RECORDS = (
    "counting/test_records.py::test_a_record_too_long_by_its_own_breaks_and_quotes_is_one"
)
ITEMS = "counting/test_layouts.py::test_every_item_of_an_array_is_one_record"
DRAFTED = "codebooks/test_drafts.py::test_a_draft_is_refused_until_it_is_completed_and_confirmed"
ENUMERATIONS = "codebooks/test_drafts.py::test_enumerations_of_a_schema_are_taken_over_and_categories_of_the_data_are_not"
NO_LETTER = "counting/test_layouts.py::test_a_column_that_can_hold_no_letter_is_refused"
UNNAMED = "counting/test_postgresql_secrets.py::test_no_name_holds_a_secret"
UNQUOTED = "counting/test_postgresql_secrets.py::test_no_refusal_before_the_charge_holds_a_secret"

PEOPLE = "releases/test_people_release.py::test_a_person_who_changes_all_their_records_changes_no_release_by_more_than_epsilon[ls-roo-1]"
PEOPLE_SAID = "releases/test_people_release.py::test_a_receipt_says_that_a_person_is_protected_and_tells_nobody"
MERGED = "counting/test_identifiers.py::test_a_person_of_a_typed_column_is_one_record[parquet-text]"
NAMES_NOBODY = "counting/test_people.py::test_a_column_that_names_nobody_by_its_type_is_refused"
DECLARED = (
    "releases/test_people_release.py::test_missing_values_of_a_code_book_are_missing_identifiers"
)
NUMBERS_DECLARED = "counting/test_identifiers.py::test_numbers_are_declared_missing_by_their_text"
SEVERAL_TYPES = "counting/test_engines.py::test_files_of_a_pattern_may_differ_in_types_that_follow_from_their_cells[number-alphabet0]"
FILES_OF_ONE = "counting/test_people.py::test_a_person_is_one_however_many_files_hold_the_records"
OPEN_LAW = "mechanisms/test_open.py"
KEEP = "mechanisms/test_keep.py"
HYPOTHESES = "project/test_hypotheses.py"
KEPT_BY_BRUTE_FORCE = f"{KEEP}::test_all_small_neighbours_leak_exactly_what_is_certified"
FOUND_PATHS = (
    "releases/test_discovery.py::test_on_every_path_the_parts_cost_no_more_than_epsilon_and_delta"
)
OPEN_LETTERS = "counting/test_open_letters.py"
OPEN_RELEASE = "releases/test_open_release.py"

HOSTILE = "web/test_web_hostile.py::test_a"
REBOUND = f"{HOSTILE}_release_for_another_host_is_refused[a name that is rebound to us]"
ORIGIN = f"{HOSTILE}_release_with_a_wrong_header_is_refused[another origin]"
KEY = f"{HOSTILE}_release_with_a_wrong_header_is_refused[no key]"
OTHER_SITE = f"{HOSTILE}nother_site_in_the_same_browser_reads_nothing"
DOOR = "web/test_web_door.py::test"
SPENT = f"{DOOR}_a_link_works_once"
OLD = f"{DOOR}_a_link_grows_old"
OTHER_PORT = f"{DOOR}_a_token_is_taken_only_from_where_a_browser_sends_it[a page on another port]"
HANGING = f"{DOOR}_the_owner_releases_while_others_hang[2000]"
REPLAYED = f"{HOSTILE}_replayed_nonce_is_refused"
LINKED = f"{HOSTILE}_file_outside_the_folder_is_refused[a link to outside]"
STEWARD = "web/test_web_steps.py::test"
DECLARED_LATE = f"{STEWARD}_a_budget_is_declared_from_nothing_and_only_when_confirmed"
CONFIRMED = f"{STEWARD}_what_was_shown_is_confirmed_as_what_it_is"
INTERRUPTED = f"{STEWARD}_an_interrupt_while_records_are_counted_loses_no_release[1]"
IN_PIECES = f"{HOSTILE}_body_in_pieces_is_refused_when_it_gets_too_large"
UNOPENED = "web/test_web.py::test_the_data_is_not_opened_for_what_its_budget_refuses"
MOVED = "web/test_web.py::test_a_file_that_was_changed_to_a_link_is_not_read"
OF_A_LAKE = "counting/test_engines_process.py::test_no_file_of_a_table_with_deleted_records_is_read"
THREADS = "counting/test_batches.py::test_every_thread_of_a_large_machine_has_room_for_its_tables"
WOKEN = (
    "counting/test_engines_process.py::test_an_interrupt_that_wakes_nobody_is_heeded_all_the_same"
)
AT_ONCE = (
    "cli/test_cli_ends.py::test_signals_that_come_together_are_one_and_what_stops_is_not_disturbed"
)
LOOPBACK = "web/test_web.py::test_it_listens_on_this_machine_only"
DOMINATES = "analysis/test_composition.py::test_the_pair_of_every_sampler_dominates_its_neighbours"
EXACT_DELTA = (
    "analysis/test_composition.py::test_the_delta_of_some_releases_is_never_below_the_exact_one"
)
BOTH_SUMS = "ledger/test_ledger_delta.py::test_both_sums_stay_within_the_budget[file]"
OLD_COPY = "ledger/test_ledger_memory.py::test_an_old_copy_put_back_is_refused_by_every_call[file]"
CHARGED_AGAIN = (
    "ledger/test_ledger_memory.py::test_what_was_lost_is_charged_again_and_only_once[file]"
)
BOTH_COPIES = (
    "ledger/test_ledger_memory.py::test_two_copies_charged_beyond_the_budget_leave_nothing[file]"
)
OF_A_DAY = "ledger/test_ledger_limits.py::test_the_releases_of_one_day_are_at_most_so_large[file]"
BROKEN_RULE = "ledger/test_ledger_limits.py::test_a_charge_that_broke_a_rule_is_found[file]"
ACCEPTED_AT_ONCE = (
    "ledger/test_ledger_postgresql.py::"
    "test_a_loss_is_charged_once_however_many_accept_the_restore_at_once"
)
LINE_CUT = "ledger/test_ledger_faults.py::test_a_line_cut_around_the_commit_charges_once[moments2]"
OWNER_ONLY = (
    "integrations/test_agent.py::test_what_fails_before_the_charge_is_told_to_the_owner_only"
)
MOUNTED = "ledger/test_ledger_place.py::test_a_ledger_that_is_mounted_by_itself_is_refused"
KEPT = "ledger/test_ledger_kept.py::test_an_edit_between_two_calls_is_found_by_the_next"
NO_TIME = "ledger/test_ledger.py::test_only_the_reservation_has_a_time_so_the_length_of_the_scan_is_not_kept[postgresql]"
STICKY = "ledger/test_ledger_place.py::test_a_folder_that_others_may_write_is_refused_sticky_or_not[1023]"
PURE = (
    "ledger/test_ledger_delta.py::test_a_pure_budget_refuses_every_delta_and_is_not_charged[file]"
)
FORGED = "ledger/test_ledger_delta.py::test_deltas_that_exceed_the_budget_are_found_in_a_chain_written_anew[file]"
DELTA_FIRST = (
    "releases/test_synthesis.py::test_epsilon_and_delta_are_charged_before_the_first_record_is_read"
)
TWO_RECORDS = "analysis/test_composition.py::test_the_pair_of_a_person_with_two_records_dominates"
MAP = "integrations/test_opendp.py::test_the_map_is_never_below_an_epsilon_that_is_no_float"
GROUP_MAP = (
    "integrations/test_opendp.py::test_the_map_covers_every_pair_of_datasets_at_its_distance"
)
STATED_SIZE = "integrations/test_opendp.py::test_data_of_another_size_is_refused_without_telling_it"

CONDITION = "project/test_proofs.py::test_each_condition_tells_a_table_that_breaks_it"
PAIRS = "project/test_proofs.py::test_a_table_of_two_letters_that_breaks_a_condition_is_told"
ENTRIES = (
    "project/test_proofs.py::test_a_table_of_data_specific_entries_that_breaks_a_condition_is_told"
)
FAILED_LIMIT = "project/test_proofs.py::test_a_limit_that_fails_a_condition_cannot_be_made"
FAILED_CONDITION = "project/test_proofs.py::test_a_sampler_that_fails_a_condition_cannot_be_made"
ASSUMED = "project/test_proofs.py::test_a_sampler_checks_exactly_what_its_theorem_assumes"
SEARCHED = "project/test_proofs.py::test_the_search_finds_nothing_exactly_where_no_neighbours_leak"

TABLE = "synthesis/test_request.py::test_the_law_of_all_noisy_tables_changes_by_exactly_what_is_certified"
TABLE_FAMILIES = "synthesis/test_request.py::test_a_table_of_columns_and_pair_pays_for_every_family"
TABLE_SCORE = "synthesis/test_request.py::test_a_score_changes_by_no_more_than_a_choice_pays_for"
TABLE_CHOICE = "synthesis/test_request.py::test_a_choice_costs_what_its_ratio_says"
TABLE_DRAWN = "synthesis/test_request.py::test_everything_that_is_drawn_stands_in_the_transcript"
TABLE_ANSWER = "synthesis/test_run.py::test_an_answer_changes_by_no_more_than_its_question_pays_for"
TABLE_STEPS = "synthesis/test_run.py::test_nothing_but_released_values_decides_what_comes_next"
TABLE_LEFT = "synthesis/test_request.py::test_a_run_never_spends_more_than_is_left"
TABLE_SHARES = "synthesis/test_request.py::test_shares_add_up_exactly_whatever_the_sizes"
TABLE_SQUARES = "synthesis/test_request.py::test_the_squares_of_changes_add_up_to_no_more_than_gaussian_noise_pays_for"
TABLE_RHO = "synthesis/test_request.py::test_gaussian_noise_spends_the_rho_of_epsilon_and_delta"
NOISE_RATIO = (
    "mechanisms/test_noise.py::test_a_ratio_is_never_below_what_epsilon_allows_and_close_to_it"
)
NOISE_COMPARED = "mechanisms/test_noise.py::test_a_comparison_has_exactly_its_chance_over_all_bytes"
NOISE_GEOMETRIC = "mechanisms/test_noise.py::test_a_geometric_draw_has_exactly_its_law"
NOISE_DIGITS = "mechanisms/test_noise.py::test_digits_beyond_a_byte_are_put_together"
NOISE_TWO_SIDED = "mechanisms/test_noise.py::test_noise_is_the_difference_of_two_geometric_draws"
NOISE_FLIP = "mechanisms/test_noise.py::test_permute_and_flip_has_exactly_its_law"
NOISE_GAUSSIAN = "mechanisms/test_noise.py::test_gaussian_noise_has_its_law"
NOISE_DELTA = "mechanisms/test_noise.py::test_the_rho_of_a_delta_is_never_above_what_it_allows"
MODEL_HASH = "synthesis/test_model.py::test_a_changed_file_is_refused"
MODEL_INTERVAL = (
    "synthesis/test_model.py::test_half_of_an_interval_is_what_noise_exceeds_one_time_in_twenty"
)

TABLE_ORDER = (
    "releases/test_table_release.py::test_the_charge_of_a_table_is_durable_before_a_record_is_read"
)
TABLE_PATH = "releases/test_table_release.py::test_one_record_changes_what_is_released_by_exactly_what_is_certified"
TABLE_PERSON = (
    "releases/test_table_release.py::test_a_person_changes_a_family_by_what_is_kept_of_them"
)

MUTANTS = {
    "table: records are counted before the charge": (
        "run._charged", "        entry = apart(reserve, stop=stopped.set)\n", "        prepared.scan.count_several()\n        entry = apart(reserve, stop=stopped.set)\n", TABLE_ORDER,
    ),
    "table: a family is missing from the cost": (
        "request.certified", "math.prod((s.largest_ratio for s in steps)", "math.prod((s.largest_ratio for s in steps[1:])", TABLE_PATH,
    ),
    "table: a person is charged as one record": (
        "ModelRequest.mechanism", "records_per_person=self.protection.records,", "records_per_person=1,", TABLE_PERSON,
    ),
    "table: a ratio is rounded down": (
        "Ratio.of", "return cls(ceil_div(lower.denominator << bits, lower.numerator), bits)", "return cls((lower.denominator << bits) // lower.numerator, bits)", NOISE_RATIO,
    ),
    "table: a tie of the first byte is a success": (
        "_COMPARED", "bytes(_TIE if byte == first else byte < first", "bytes(1 if byte == first else byte < first", NOISE_COMPARED,
    ),
    "table: a digit has the chance of a power": (
        "Ratio._threshold", "(part if is_digit else 0)", "0", NOISE_COMPARED,
    ),
    "table: the second byte is compared with the first": (
        "Ratio._is_below", "for places in count(2 * BYTE, BYTE):", "for places in count(BYTE, BYTE):", NOISE_COMPARED,
    ),
    "table: a draw that lives on is not counted": (
        "Ratio.geometric", "                values[place] += 1\n", "                values[place] += place\n", NOISE_GEOMETRIC,
    ),
    "table: digits of a draw overlap": (
        "Ratio.geometric", "value << length | low", "value << BYTE | low", NOISE_DIGITS,
    ),
    "table: noise has one sign": (
        "Ratio.noise", "drawn[place] - drawn[size + place]", "drawn[place] + drawn[size + place]", NOISE_TWO_SIDED,
    ),
    "table: a flip is one step too easy": (
        "permute_and_flip", "reaches[place] >= best - scores[place]", "reaches[place] + 1 >= best - scores[place]", NOISE_FLIP,
    ),
    "table: flips in a fixed order": (
        "first_taken", "place = waiting.pop(source.below(len(waiting)))", "place = waiting.pop(0)", NOISE_FLIP,
    ),
    "table: Gaussian noise forgets its variance": (
        "_gaussian", "gap = size - variance / scale", "gap = Fraction(size)", NOISE_GAUSSIAN,
    ),
    "table: rho is larger than delta allows": (
        "concentrated.rate", "gain = own + order * log_lower(order / less)", "gain = own + order * order * log_lower(order / less)", NOISE_DELTA,
    ),
    "table: a replaced record changes one cell": (
        "TableRequest.changed", "return self.records_per_person * (2 if self.neighbours == REPLACE else 1)", "return self.records_per_person", TABLE,
    ),
    "table: a person has one record": (
        "TableRequest.changed", "return self.records_per_person * (2 if self.neighbours == REPLACE else 1)", "return 2 if self.neighbours == REPLACE else 1", TABLE,
    ),
    "table: the certificate leaves a family out": (
        "request.certified", "(s.largest_ratio for s in steps)", "(s.largest_ratio for s in steps[1:])", TABLE_FAMILIES,
    ),
    "table: a family costs half of its share": (
        "TableRequest._noisy", "Ratio.of(cost * RESERVE / changes)", "Ratio.of(2 * cost * RESERVE / changes)", TABLE,
    ),
    "table: a choice pays for one change of its scores": (
        "TableRequest.choice", "changes = 2 * UNIT * self.changed", "changes = UNIT * self.changed", TABLE_SCORE,
    ),
    "table: a choice costs half of its share": (
        "TableRequest.choice", "loss = root_below(8 * cost) if self.is_gaussian else cost", "loss = root_below(8 * cost) if self.is_gaussian else 2 * cost", TABLE_CHOICE,
    ),
    "table: a score counts records twice": (
        "_Run.score", "sum(abs(UNIT * n - c)", "sum(abs(2 * UNIT * n - c)", TABLE_SCORE,
    ),
    "table: the choices are not paid for": (
        "_Run.choose", "        self.steps.append(self.request.choice(found, cost))\n", "", TABLE_DRAWN,
    ),
    "table: a question pays for a part of its changes": (
        "TableRequest.question", "changes = UNIT * self.records_per_person * SENSITIVITY[self.neighbours]", "changes = self.records_per_person * SENSITIVITY[self.neighbours]", TABLE_ANSWER,
    ),
    "table: a question is not paid for": (
        "_Run.ask", "        self.steps.append(replace(step, answer=answer))\n", "", TABLE_DRAWN,
    ),
    "table: the plan knows the number of records": (
        "_Run.plan", "least = self.total() -", "least = sum(self.known[0,]) -", TABLE_STEPS,
    ),
    "table: scores are taken from the data's own columns": (
        "_Run.forest", "projected(self.tables[c,], records)", "projected(np.array(self.known[c,], dtype=float), records)", TABLE_STEPS,
    ),
    "table: what a pair is worth depends on its true counts": (
        "_Run.forest", "round(2 * UNIT * math.hypot(off[a], off[b]))", "round(2 * UNIT * math.hypot(off[a], self.known[a, b][0]))", TABLE_STEPS,
    ),
    "table: pairs without records are not chosen from": (
        "_Run.auto", "if f not in forest]", "if f not in forest and min(self.known[f])]", TABLE_STEPS,
    ),
    "table: the fit weighs by true counts": (
        "_Run.measure", "1 / max(found.deviation_squared, NO_NOISE)", "1 / (found.deviation_squared + counts[0])", TABLE_STEPS,
    ),
    "table: a measure may cost more than is left": (
        "_Run.measure", "if family is None or step.cost > self.left:", "if family is None:", TABLE_LEFT,
    ),
    "table: shares are rounded up": (
        "families.shares", "whole = sum(weights.values())", "whole = sum(weights.values()) - 1", TABLE_SHARES,
    ),
    "table: Gaussian noise pays for one cell of a replaced record": (
        "TableRequest.changed_squared", "return self.records_per_person**2 * (2 if self.neighbours == REPLACE else 1)", "return self.records_per_person**2", TABLE_SQUARES,
    ),
    "table: Gaussian noise is a factor of two too small": (
        "TableRequest._noisy", "Fraction(squared) / (2 * cost)", "Fraction(squared) / (4 * cost)", TABLE_RHO,
    ),
    "table: a changed model is taken": (
        "Model._checked", 'if (stored := content.pop("sha256", None)) != _hash(content):', 'if not (stored := content.pop("sha256", None)):', MODEL_HASH,
    ),
    "table: an interval forgets that cells were added up": (
        "_quantile", "** summed\n", "\n", MODEL_INTERVAL,
    ),
    "a condition that fails is ignored": (
        "Mechanism.__post_init__", "if self.is_for_release and not holds:", "if self.is_for_release and holds is None:", FAILED_CONDITION,
    ),
    "a limit that fails a condition is ignored": (
        "Limit.__post_init__", "            if not holds:", "            if holds is None:", FAILED_LIMIT,
    ),
    "the lightest letter may weigh nothing": (
        "lightest_positive", "return lightest > 0", "return lightest >= 0", CONDITION,
    ),
    "a letter may be lighter than the lightest": (
        "base_at_least", "lightest <= min(bases)", "lightest <= max(bases)", CONDITION,
    ),
    "a record may weigh more than the lightest letter": (
        "unit_at_most_lightest", "return unit <= lightest", "return unit <= 2 * lightest", CONDITION,
    ),
    "the lightest letter is drawn once less": (
        "lightest_covers_all", "unit for i in range(few))\n    under", "unit for i in range(few - 1))\n    under", CONDITION,
    ),
    "a unit of zero is positive": (
        "unit_positive", "return unit > 0", "return unit >= 0", CONDITION,
    ),
    "an entry may be negative": (
        "entries_nonnegative", "min(entries) >= 0", "min(entries) >= -1", CONDITION,
    ),
    "an entry may be above the unit": (
        "entries_at_most_unit", "max(entries) <= unit", "max(entries) <= 2 * unit", CONDITION,
    ),
    "entries may rise": (
        "entries_falling", "low >= high for", "low + 1 >= high for", CONDITION,
    ),
    "a rarest letter gains nothing": (
        "rarest_may_gain", "weight(m, m + 1) * growth", "weight(m, m) * growth", ENTRIES,
    ),
    "the minimum falls and the letter stays": (
        "minimum_may_fall", "weight(m, m + 2) * growth", "weight(m, m + 1) * growth", ENTRIES,
    ),
    "the minimum rises and the table stays": (
        "largest_may_rise", "weight(m + 1, c) * growth", "weight(m, c) * growth", ENTRIES,
    ),
    "a record may lower the rarer of two letters": (
        "pair_rises", "weight(m, m) <= weight(min(m + 1, n - m - 1), m + 1)", "weight(m, m) <= unit * n + weight(m, m + 1)", PAIRS,
    ),
    "the rarer of two letters gains nothing": (
        "pair_grows_at_most", "weight(min(m + 1, n - m - 1), m + 1) * under", "weight(min(m + 1, n - m - 1), m) * under", PAIRS,
    ),
    "no letter is left for the rest": (
        "letters_leave_one", "0 < letters < k", "0 < letters <= k", CONDITION,
    ),
    "one letter is several": (
        "letters_are_several", "1 < letters <= k", "0 < letters <= k", CONDITION,
    ),
    "a share may be negative": (
        "share_nonnegative", "return share >= 0", "return share >= -1", CONDITION,
    ),
    "the shares may be more than all": (
        "share_fits", "letters * share <= 1", "letters * share <= 2", CONDITION,
    ),
    "a rest is left of an even share": (
        "share_even", "letters * share == 1", "letters * share <= 1", CONDITION,
    ),
    "an alphabet may be empty": (
        "some_letter", "return k > 0", "return k >= 0", CONDITION,
    ),
    "a hypothesis is dropped": (
        "LetterSpecificRevealOrObscure.conditions", '"table_convex": hypotheses.table_convex(table),', "", ASSUMED,
    ),
    "the last step may be larger than the slope": (
        "table_convex", "pairwise([*steps, table.slope])", "pairwise(steps)", CONDITION,
    ),
    "a table of zeros is positive": (
        "table_positive", "min(table.values) > 0", "min(table.values) >= 0", CONDITION,
    ),
    "the search takes the largest total where the total falls": (
        "_range_fits.others", "spread = table.least if gap > 0 else table.most", "spread = table.most", SEARCHED,
    ),
    "the total is not taken to fall where ranges are left out": (
        "LetterTable.gains_at_most", "fallen = total - self.slope + gained - weight", "fallen = total", SEARCHED,
    ),
    "the total of twice the records is taken for the least": (
        "search_found_nothing", "table.least(n, k)", "table.least(2 * n, k)", SEARCHED,
    ),
    "the search leaves out a half": (
        "_halves_fit", "ranges += [(low, middle), (middle + 1, high)]", "ranges += [(low, middle)]", SEARCHED,
    ),
    "a group is drawn from the units of the one before it": (
        "pick_each", "        start = end\n    return", "        start = 0\n    return", EACH,
    ),
    "an unreadable decimal of Arrow is a missing one": (
        "arrow._decimals", "return pc.if_else(is_valid, valid, beyond)", "return pc.if_else(is_valid, valid, pa.scalar(None, dtype))", "counting/test_unreadable_identifiers.py::test_a_decimal_with_too_many_digits_names_nobody",
    ),
    "a code book calls unreadable identifiers missing": (
        "can_be_missing", '{"\\0", "\\ufffd"}', '{"\\0"}', "releases/test_people_release.py::test_no_code_book_makes_unreadable_identifiers_several_people",
    ),
    "nanoseconds are rounded to the next day": (
        "in_range", 'if type_name in {"TIMESTAMP_NS", NANOSECONDS}:', 'if type_name == "":', "counting/test_engines.py::test_a_nanosecond_before_midnight_is_of_the_day_before",
    ),
    "moments of milliseconds are taken for those of other units": (
        "_MILLIS", "TIMESTAMP_MILLIS|Timestamp.*MILLIS=(?!<null>)", "nothing", "counting/test_engines.py::test_no_moment_makes_a_release_from_files_with_different_units_fail",
    ),
    "text is cut at the longest letter": (
        "arrow._longest", "return _CHARACTER * (axis.room + 1)", "return axis.longest", CUT,
    ),
    "a letter's own gift moves its level": (
        "Levels.__call__", "rise, base = self._others(own, segment)", "rise, base = segment.rise, segment.base", STEPS,
    ),
    "the surplus does not fade": (
        "Levels._segment", "rise=lifted + self.under * table.fading", "rise=lifted", HIGHEST,
    ),
    "a loss is forgotten at once": (
        "BalancedTable.gift", "rising = over * (count * self.unit - self.plateau)", "rising = 9 * under * (count * self.unit - self.plateau)", HIGHEST,
    ),
    "letters on the slope are not counted": (
        "Levels._segment", "losing = self.letters[high] - self.letters[low]", "losing = self.letters[flat] - self.letters[low]", LARGE_STEPS,
    ),
    "the level is one too high": (
        "Levels.__call__", "low = high = root\n", "low = high = root + 1\n", HIGHEST,
    ),
    "bal-roo is kept where ls-roo is far better": (
        "BalancedRevealOrObscure._certified", "return None if self._is_worse(found[0].table) else found", "return found", CLEARLY,
    ),
    "the law of bal-roo depends on a private number of records": (
        "BalancedRevealOrObscure._is_worse", "n = enough(self.epsilon, self.k)", "n = self.n", SAME_LAW,
    ),
    "the surplus is halved": (
        "BalancedRevealOrObscure._table_of", "plateau, given, fading", "plateau, given // 2, fading", STEPS,
    ),
    "the slope is four times as steep as what was proven": (
        "Levels.__init__", "self.over, self.under = table.slope.as_integer_ratio()", "self.over, self.under = (4 * table.slope).as_integer_ratio()", LARGE_STEPS,
    ),
    "hidden letters may be counted nowhere": (
        "BalancedBounds.conditions", "table.plateau == least_plateau(table)", "table.plateau >= 0", UNCOUNTED,
    ),
    "any surplus will do": (
        "BalancedBounds.conditions", "table.surplus >= flat", "table.surplus > 0", HALF_SURPLUS,
    ),
    "levels never drift": (
        "BalancedBounds.drift", "return up(slope / (self.surplus + (1 + slope) * self.knee))", "return Fraction(0)", STEPS,
    ),
    "the total falls by nothing": (
        "BalancedBounds.fall", "return up(max(self.own_fall, lost, 1 + lost * (1 - 1 / self._apart)) + added)", "return Fraction(0)", STEPS,
    ),
    "the total lacks no more than a letter loses": (
        "BalancedBounds.least_total", "table.starved(end)[1] - table.left(end) for", "table.starved(end)[1] for", LEAST,
    ),
    "hidden letters need no longer plateau": (
        "least_plateau", "if needed <= over * plateau:", "if needed > 0:", NOT_PROVEN,
    ),
    "all levels are alike": (
        "lowest_beside", "return max(table.low, level * table.surplus // differ)", "return level", STEPS,
    ),
    "a letter that loses a record loses one at most": (
        "BalancedBounds.own_fall", "return max(Fraction(1), table.revealed * (1 - 1 / table.growth))", "return Fraction(1)", OWN_FALL,
    ),
    "the level has no cap": (
        "BalancedBounds.conditions", "powers[table.knee] * table.high < table.knee * unit", "table.high > 0", NOT_PROVEN,
    ),
    "a table is used whether proven or not": (
        "BalancedRevealOrObscure._certified", "if found and all(found[0].conditions.values()):", "if found:", NOT_PROVEN,
    ),
    "half of what is taken counts on average": (
        "_Range.added", "taken = self.above.times(-gift)", "taken = self.above.times(-gift) // 2", SHARP,
    ),
    "no letter is starved for itself on average": (
        "_Range.added", "lost + self.below_cost)", "0)", DOMINATED,
    ),
    "a large letter is counted for nothing on average": (
        "_Range.added", "max(taken, taken + gap, lost, given)", "0", DOMINATED,
    ),
    "the most probable letter gets the toll back twice": (
        "LetterShares._with", "+ probable - toll", "+ probable - 2 * toll", TOLL,
    ),
    "nobody pays the toll": (
        "LetterShares._with", "means.largest(toll=toll) for", "means.largest() for", TOLL,
    ),
    "one record too few is counted on average": (
        "average.mean", "chance * max(0, n - count) * odds.numerator", "chance * max(0, n - count - 1) * odds.numerator", BINOMIAL,
    ),
    "a group of unknown size has all records": (
        "worst_replacement", "fewest = n - x - low if is_n_public else 0", "fewest = n - x - low", CHANGES,
    ),
    "both relations get the table of one": (
        "LetterSpecificRevealOrObscure._found", "if self.neighbours == ADD_REMOVE:\n            table = tables", "if self.neighbours != REPLACE:\n            table = tables", CHANGES,
    ),
    "the lower bound on exp is the upper one": (
        "exp_lower", "return _exp_bounds(x, bits)[0]", "return _exp_bounds(x, bits)[1]", EXP,
    ),
    "the tail of the series is forgotten": (
        "_exp_fixed", "total, total + 2 * terms + 4", "total, total", EXP,
    ),
    "a ratio within the bounds' width passes": (
        "is_at_most_exp", "if y <= lower:", "if y <= upper:", CLOSE,
    ),
    "the bound itself can be drawn": (
        "RandomSource.below", ">= bound:", "> bound:", BYTES,
    ),
    "a rejected draw is not rejected but folded back": (
        "RandomSource.below",
        "while (value := self.bits(width)) >= bound:\n            pass",
        "value = self.bits(width) % bound",
        BYTES,
    ),
    "a letter's first unit goes to its neighbour": (
        "Runs.letter_at", "unit_ends[i] - 1 - unit", "unit_ends[i] - unit", LAW,
    ),
    "many draws keep what must be rejected": (
        "pick_many",
        "weights.letter_at(unit) if unit < weights.total else pick(weights, source)",
        "weights.letter_at(min(unit, weights.total - 1))",
        MANY,
    ),
    "a cell of two letters is given to one": (
        "_letters_of_cells", "-(-start // cell), end // cell", "start // cell, end // cell", MANY,
    ),
    "the pseudo-count is a tenth too small": (
        "least_pseudo", "return many / (growth - 1)", "return many / (growth - 1) * 9 / 10", ROO,
    ),
    "the pseudo-count is cut to a float": (
        "least_pseudo", "return many / (growth - 1)", "return Fraction(many / float(growth - 1))", PSEUDO,
    ),
    "several draws cost as one": (
        "RevealOrObscure._pseudo", "least_pseudo(self.epsilon, self.growth, shares, gains, self.draws)", "least_pseudo(self.epsilon, self.growth, shares, gains, 1)", SEVERAL,
    ),
    "a person owns one record only": (
        "RevealOrObscure._pseudo", "least_pseudo(self.epsilon, self.growth, shares, gains, self.draws)", "least_pseudo(self.epsilon, self.growth, shares, 1, self.draws)", SEVERAL,
    ),
    "a person puts all records on one letter": (
        "least_pseudo", "    if pseudo >= 1 or len(shares) == 1:\n", "    if pseudo:\n", SPREAD,
    ),
    "a person who spreads the records is not certified": (
        "Urn.certified", "if few == 1 or is_one_free or lightest >= self.record:", "if few == 1 or is_one_free or lightest:", LEAKED,
    ),
    "the search stops at one letter": (
        "_extended", "fewer, (over, under) = best[gains - g][draws - s], one[g][s]", "fewer, (over, under) = Allocation(1, 1), one[g][s]", LEAKED,
    ),
    "the total of a larger dataset is forgotten": (
        "Urn._ratio", "        if not self.is_n_public:\n            total", "        if not self.draws:\n            total", AT_RANDOM,
    ),
    "the bound on many factors takes the last one": (
        "bound_on_one", "power_upper(ends, few // 2, bits=4 * BITS) * middle", "power_upper(ends, few // 2 - 1, bits=4 * BITS) * middle", BOUNDS,
    ),
    "the bound on the spread forgets later records": (
        "bound_on_spread", "(1 / pseudo + _harmonic(few - 1)), few, bits", "(1 / pseudo), few, bits", BOUNDS,
    ),
    "the joint way forgets the person": (
        "compose", "        records_per_person=mechanism.records_per_person,\n", "", JOINT_WAY,
    ),
    "a table of any shape is searched": (
        "LetterTable.__post_init__", "any(map(gt, steps, steps[1:]))", "not steps", REFUSED_TABLE,
    ),
    "a long ratio is written out": (
        "_LONGEST_TEXT", "_LONGEST_TEXT = 2048", "_LONGEST_TEXT = 2**30", WRITTEN,
    ),
    "the urn forgets what was drawn": (
        "RevealOrObscure._draw", "(self._record, self.draws - 1)", "(0, self.draws - 1)", JOINT,
    ),
    "the urn holds what was not yet drawn": (
        "RevealOrObscure._draw", "elif ball - k < len(letters):", "elif letters:", JOINT,
    ),
    "the certificate of several draws forgets one": (
        "risen", "prod(base + (many + j) * record", "prod(base + (many - 1 + j) * record", SEVERAL,
    ),
    "bits drawn together are shared": (
        "RandomSource.bits_of_each", "range(0, length * size, length)", "[0] * size", TOGETHER,
    ),
    "the prior is scaled to its largest share": (
        "RevealOrObscure._record", "return unit * min(self._shares.sizes)", "return unit * max(self._shares.sizes)", PRIOR,
    ),
    "the certificate watches a letter that somebody has": (
        "Urn._moved",
        "return self._transition(before, after, tuple(drawn))",
        "return self._transition(after, before, tuple(drawn))",
        ROO,
    ),
    "several answers cost as one": (
        "SubsampledRandomizedResponse.q", "self.n * self.epsilon / self.draws", "self.n * self.epsilon", ANSWERS,
    ),
    "records are drawn with replacement": (
        "without_replacement", "row.letter_at(units.get(j, j))", "row.letter_at(j)", JOINT,
    ),
    "the same-minimum bound is dropped": (
        "DataSpecificRevealOrObscure._lower_bounds", "        yield self._same_minimum_bound(m)\n", "", COUNTEREXAMPLES,
    ),
    "a big letter is taken to be smaller than it can be": (
        "DataSpecificRevealOrObscure._lower_bounds", "big = n - (k - 1) * m", "big = n - k * m", f"{ENUMERATED}[ds-roo-0.01]",
    ),
    "n is one too large": (
        "DataSpecificRevealOrObscure._same_minimum_bound", "(over - under) * (n - k * m)", "(over - under) * (n + 1 - k * m)", DS,
    ),
    "the certificate does not watch untouched letters": (
        "DataSpecificRevealOrObscure._extreme_pairs", "yield lower, upper, min(k, 3)", "yield lower, upper, 2", COUNTEREXAMPLES,
    ),
    "the minimum is read one too high": (
        "DataSpecificRevealOrObscure.weights", "self._entry(counts.smallest)", "self._entry(counts.smallest + 1)", DS,
    ),
    "two letters in the middle are never obscured": (
        "DataSpecificRevealOrObscure._table_of_two_letters", "entries = [max(0, self._same_minimum_bound(last))]", "entries = [0]", DS,
    ),
    "the printed table passes for the private one": (
        "DataSpecificRevealOrObscure._lower_bounds", "        if self.as_printed:\n            return\n        yield", "        return\n        yield", DS,
    ),
    "the total is taken for constant": (
        "LetterSpecificRevealOrObscure._found", "if self.neighbours == ADD_REMOVE:\n            table = tables", "if self.neighbours:\n            table = tables", LS,
    ),
    "the worst total is the largest": (
        "worst_replacement", "            if gap > 0:\n", "            if gap < 0:\n", LS,
    ),
    "the losing letter's last step is left out": (
        "_losing_counts", "high = min(reach, table.last + 1)", "high = min(reach, table.last)", LS,
    ),
    "a removal is not looked at": (
        "worst_addition", "if (total + step) * under > over * total:", "if step < 0:", ADDED,
    ),
    "nobody looks at the certificate": (
        "Mechanism.__post_init__", "if self.is_for_release and not is_at_most_exp", "if not self.k and not is_at_most_exp", REFUSED,
    ),
    "counts need not sum to n": (
        "Mechanism.checked", "self.neighbours == REPLACE and counts.n != self.n", "counts.n > self.n", MISFIT,
    ),
    "the certified loss is rounded down": (
        "log_float_upper", "nearest if is_at_most_exp(ratio, Fraction(nearest)) else nextafter(nearest, inf)", "nearest", ROUNDED,
    ),
    "data is read before the charge": (
        "run._charged", "        entry = apart(reserve, stop=stopped.set)\n", "        prepared.scan.count()\n        entry = apart(reserve, stop=stopped.set)\n", ORDER,
    ),
    "a release is shown without being recorded": (
        "run._charged", "receipt=apart(record, stop=lambda: None, is_due=True)", "receipt=drawn.receipt", UNRECORDED,
    ),
    "n is told though it is private": (
        "run._receipt", "n=n if protection.neighbours == REPLACE else None", "n=n", PRIVATE_N,
    ),
    "auto looks at a number of records that is private": (
        "SampleRequest.settled", "n=n if self.is_n_public else None", "n=n", UNLOOKED,
    ),
    "auto takes the worst of all samplers": (
        "registry.choose", "best = min(alphas", "best = max(alphas", BEST,
    ),
    "the accuracy of private records is that of their true number": (
        "SampleRequest._assurance", "worst_alpha_of_each(records,", "worst_alpha_of_each(self.size,", UNTOLD,
    ),
    "blocks of a random size are taken to be equal": (
        "Mechanism.worst_alpha_of_each", "mean_in_block(self.worst_alpha_among, records, draws)", "self.worst_alpha_among(records // draws)", BLOCKS,
    ),
    "a block without records is forgotten": (
        "partition.mean_in_block", "[0, *range(max(1, first),", "[*range(max(1, first),", IN_BLOCKS,
    ),
    "the operator stands in the receipt": (
        "run._receipt", "charge.stated[name]", "charge.operator", NOBODY,
    ),
    "a receipt names the folders of a file": (
        "charge.published", '{"dataset": short_name(charged["dataset"])}', "{}", NOBODY,
    ),
    "the first places of a letter are opened": (
        "partition._opened", "_uniform(len(tried), len(tried) // _TRIES + 1, source)", "range(len(tried))", DEALT,
    ),
    "missing records fill the places in the order of their letters": (
        "_fill", "    _shuffle(missing, source)\n", "", DEALT,
    ),
    "a record never keeps its place in a shuffle": (
        "_shuffle", "if other <= last:", "if other < last:", ORDERS,
    ),
    "values are rejected too early": (
        "partition._uniform", "if word < below]", "if word < below and (word or drawn)]", UNIFORM,
    ),
    "a missing letter takes the place of a seen one": (
        "Mechanism.draw_from_seen", "key=lambda i: letters[i] - i", "key=lambda i: letters[i]", PLACES,
    ),
    "a record that moves between two groups costs once": (
        "Request.cost", "(2 if self._is_moving", "(1 if self._is_moving", GROUPS,
    ),
    "a person's records cost as one": (
        "registry.certified", "epsilon /= records_per_person", "epsilon /= 1", PERSON,
    ),
    "a person's records in two groups cost as in one": (
        "SampleRequest.sampler_for", "self.epsilon / self.protection.records, 1, **options", "self.epsilon, self.protection.records, **options", TWO_GROUPS,
    ),
    "an unknown relation passes for add-remove": (
        "Protection.__post_init__", 'one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE))', "self.neighbours", RELATION,
    ),
    "1 and True share a place": (
        "_Places.of", "kinds_of(cells) <= {id(str), id(type(None))}", "not kinds_of(cells) & {id(list), id(dict)}", TYPES,
    ),
    "one broken text stops the count of a frame": (
        "arrow._text", "except pa.ArrowInvalid:", "except KeyError:", BROKEN_BYTES,
    ),
    "a refused table stays open": (
        "Table.scan", "            self.close()\n            raise\n", "            raise\n", REFUSED_OPEN,
    ),
    "a counted table stays open": (
        "Scan._counted", "            self.close()\n", "            pass\n", COUNTED_OPEN,
    ),
    "tables may be of different records": (
        "Scan.count_several", " or len({counts.n for counts in tables}) > 1", "", SAME_N,
    ),
    "a record too long is one of the first table only": (
        "file_scan._counted", "for marks in set(query.marks)", "for marks in query.marks[:1]", POISON_LINE,
    ),
    "a table takes the rows of another set of columns": (
        "marked", '"0" if place in set(places) else "1"', '"0" if place in set(places) else "0"', AS_BY_EACH,
    ),
    "cells outside are dropped": (
        "_Sums._tally", "outside = seen.pop(None, 0)", "outside = 0 * seen.pop(None, 0)", EVERY_CELL,
    ),
    "a cell of any length is read": (
        "Axis.text_of", "str) and len(cell) > self.room", "str) and len(cell) < 0", TOO_LONG,
    ),
    "an engine reads a cell of any length": (
        "_if_short", 'f"CASE WHEN length({cell}) <= {axis.room} THEN {read} END"', 'f"CASE WHEN TRUE THEN {read} END"', TOO_LONG,
    ),
    "a blank row of a sheet is a record": (
        "excel.rows_of", "        if values:\n", "        if values is not None:\n", SHEET,
    ),
    "an error value stops the count of a sheet": (
        "Cells.value", "value: Any = BEYOND", "value: Any = float(text) if cell.get('t') == 'e' else BEYOND", ANY_SHEET_CELL,
    ),
    "one broken text stops the count of an SPSS file": (
        "_short_cells", "encoding=_LATIN_1,", "encoding=None,", NO_ENCODING,
    ),
    "an integer of SQLite is equal to its real": (
        "cells._groups", "len(kinds) <= 1 and kinds <= {id(str), id(int), id(bool)}", "kinds <= {id(str), id(int), id(float)}", INTEGER_OR_REAL,
    ),
    "one broken text stops the count of SQLite": (
        "StreamedTable.cursor", "self.connection.text_factory = repaired", "self.connection.text_factory = str", ANY_CELL,
    ),
    "a file that was cut off passes for a whole one": (
        "_gunzipped", "if not unpacking.eof:", "if unpacking is None:", CUT_OFF,
    ),
    "a part of a file ends within a record": (
        "Parts._part", "self._hold(block[last:], is_careful=is_careful)", "self._begin()", RECORDS,
    ),
    "quotes in odd places reach the reader": (
        "Parts._part", "rest if is_careful else self._syntax.careful(rest)", "rest", RECORDS,
    ),
    "a record that is too long is lost": (
        "Parts._ended", "if self._size > self._longest:", "if self._size < 0:", LONG_RECORDS,
    ),
    "items of an array are lost": (
        "_ArraySplitter._instead", 'b"\\n" if sign == b"," and self.depth == 1', 'b"" if sign == b"," and self.depth == 1', ITEMS,
    ),
    "a draft is taken for a code book": (
        "CodeBook.of", 'if book.get("draft"):', 'if book.get("draft") == 7:', DRAFTED,
    ),
    "a draft lists what occurs in the data": (
        "_of_polars", "dtype.base_type() == pl.Enum", "dtype.base_type() in {pl.Enum, pl.Categorical}", ENUMERATIONS,
    ),
    "integers may be words": (
        "_fit_letters", "    if not possible:\n", "    if possible is None:\n", NO_LETTER,
    ),
    "the pair is told apart a little less well": (
        "DominatingPair.of", "min(distance / (ratio - 1), 1 / (1 + ratio))", "min(distance / ratio, 1 / (1 + ratio))", f"{DOMINATES}[roo]",
    ),
    "several records of a person count as one in the pair": (
        "RevealOrObscure.neighbour_distance", "most = self._record * min(self.records_per_person, self.n)\n        if", "most = self._record\n        if", TWO_RECORDS,
    ),
    "the table's least total is taken for its largest": (
        "LetterSpecificRevealOrObscure.neighbour_distance", "self.table.least(fewest, self.k)", "self.table.most(fewest, self.k)", f"{DOMINATES}[ls-roo]",
    ),
    "the step of q is left out of the distance": (
        "DataSpecificRevealOrObscure.neighbour_distance", "Fraction(1, self.n) + alpha_of(step, k=self.k) if step", "Fraction(1, self.n) if step", f"{DOMINATES}[ds-roo]",
    ),
    "masses are rounded down": (
        "_convolve", 'ceil_div(int.from_bytes(digits[i : i + width], "little"), 1 << _MASS_BITS)', '(int.from_bytes(digits[i : i + width], "little") >> _MASS_BITS)', EXACT_DELTA,
    ),
    "a larger loss shrinks no further": (
        "Losses._tails", "shrinking * over // under", "shrinking", EXACT_DELTA,
    ),
    "the first loss beyond epsilon is left out": (
        "Losses.delta", "floor(epsilon / loss) + 1", "floor(epsilon / loss) + 2", EXACT_DELTA,
    ),
    "a far loss is forgotten": (
        "Losses.followed_by", "beyond += sum(masses[below + len(middle) :])", "beyond += 0", EXACT_DELTA,
    ),
    "deltas are not added up": (
        "require_left", "max(0, total[1] - spent[1])", "total[1]", BOTH_SUMS,
    ),
    "a delta is taken from a pure budget": (
        "require_left", "if atto and not total[1]:", "if atto < 0:", PURE,
    ),
    "the replay looks at epsilon only": (
        "require_left", "if atto > delta_left:", "if atto < 0:", FORGED,
    ),
    "nobody looks at what is remembered of a ledger": (
        "Memory.lost", "if all(self._is_held(note, held) for note in self.newest.values()):", "if self.newest:", OLD_COPY,
    ),
    "what was lost is not charged again": (
        "accept_restore.restore", 'nano=min(note.nano, TERMS["budget_max"]),', "nano=0,", CHARGED_AGAIN,
    ),
    "what two restores have lost is charged twice": (
        "Witness._branches", "del lineage[kept:]", "del lineage[:0]", CHARGED_AGAIN,
    ),
    "two copies make the same event": (
        "Draft.id", "secrets.token_hex(16)", '"0" * 32', BOTH_COPIES,
    ),
    "the charges of a day are not added up": (
        "BudgetTally.require", "self.days[charge.at[:10]] + charge.nano", "charge.nano", OF_A_DAY,
    ),
    "the charges of a spender are not added up": (
        "ledger/stores/schema.sql", "sums.theirs + charge)", "charge)", OF_A_SPENDER,
    ),
    "nobody need be known to spend": (
        "Limits.require", "                if amount is None:\n", "                if amount is None:\n                    amount = 0\n                if amount < 0:\n", UNKNOWN_SPENDER,
    ),
    "what was charged again counts for nobody": (
        "ledger/stores/schema.sql", "known.role = session_user OR known.kind = 'restored'", "known.role = session_user", FOR_EVERYONE,
    ),
    "what a budget was declared for is not looked at": (
        "Ledger.reserve.append", "            session.tally(dataset).require_basis(basis)\n", "", ONE_UNIT,
    ),
    "a new witness is not told of earlier events": (
        "Memory.news_for", "since = newest.seq if newest is not None else 0", "since = newest.seq if newest is not None else 3", LATE_WITNESS,
    ),
    "any file is read as a witness": (
        "Witness._reading", "                _require_notes(file)\n", "", NO_WITNESS,
    ),
    "a default may be of any kind": (
        "_parsed", "not _fits(options[name], value)", "value is None", DEFAULT_KIND,
    ),
    "an edit of an event's spender is overlooked": (
        "Event.link", "*self[:-1]", "*self[:7], *self[8:-1]", SPENDER_HASHED,
    ),
    "the replay looks at no rule": (
        "Replay._reserved", "            tally.require(event, request, NO_LIMITS)\n", "", BROKEN_RULE,
    ),
    "a writer looks at a database before it holds the lock": (
        "PostgresqlStore._begun", "; {_LOCK[begin]}", "", ACCEPTED_AT_ONCE,
    ),
    "a charge whose answer was lost is made again": (
        "PostgresqlSession.append", "if self.is_again and (sent := self.one(", "if self.is_again is None and (sent := self.one(", LINE_CUT,
    ),
    "an agent reads what failed": (
        "Desk.answer", "            sentence = UNAVAILABLE\n", "            sentence = str(error)\n", OWNER_ONLY,
    ),
    "a file that is mounted by itself is taken": (
        "require_unmounted", "if is_on_other_device or _mount(path) != _mount(path.parent):", "if is_on_other_device:", MOUNTED,
    ),
    "what another process wrote is not looked at": (
        "SqliteStore._check", "if known is None or session.head() != known.head:", "if known is None:", OTHERS,
    ),
    "a file of the same size is taken for the same": (
        "SqliteStore._stamp", "status.st_size, status.st_mtime_ns, status.st_ctime_ns", "status.st_size", KEPT,
    ),
    "the database keeps the time of a record": (
        "ledger/stores/schema.sql", "charged.seq, 0, 0, '', record.id,", "charged.seq, 0, 0, dproo.now(), record.id,", NO_TIME,
    ),
    "a sticky folder is taken for one's own": (
        "_require_part", "not is_last and status.st_mode", "status.st_mode", STICKY,
    ),
    "the delta of a release is not charged": (
        "_charged.reserve", "                delta=request.delta,\n", "", DELTA_FIRST,
    ),
    "the privacy map rounds to the nearest float": (
        "float_upper", "return nearest if Fraction(nearest) >= x else nextafter(nearest, inf)", "return nearest", MAP,
    ),
    "a group is bounded as one record": (
        "RevealOrObscure.group_loss", "1 + records * (exp_upper(epsilon) - 1)", "1 + (exp_upper(epsilon) - 1)", f"{GROUP_MAP}[roo]",
    ),
    "data of another size than stated is drawn from": (
        "make_sampler.release", "raise ReleaseError(_OTHER_SIZE)", "pass", STATED_SIZE,
    ),
    "a random block may be of any size": (
        "subset", "abs(excess), source)", "0, source)", SUBSET,
    ),
    "an audit measures the trials that chose the event": (
        "audit", "ordering, choosing, measuring = phases", "ordering = choosing = measuring = phases[2]", NO_ALARM,
    ),
    "an audit bounds the wrong side": (
        "audit", "log_odds_lower(counts[side], ", "log_odds_lower(counts[1 - side], ", REACHED,
    ),
    "an audit looks in one direction only": (
        "_choose", "    found = []\n    for side in (0, 1):", "    found = []\n    for side in (0,):", REACHED,
    ),
    "an audit spends its confidence twice": (
        "audit", "float(risk * (1 - _INDEPENDENCE))", "float(risk)", SHARED,
    ),
    "an audit takes datasets far apart for neighbours": (
        "audit", "bound / distance", "bound", FAR,
    ),
    "an audit forgets delta": (
        "_loss_lower", "excess = Fraction(least) - delta", "excess = Fraction(least)", WITH_DELTA,
    ),
    "an audit believes draws that repeat": (
        "Audit.verdict", "        if not self.are_independent:\n            return DEPENDENT\n", "", CLOCK,
    ),
    "the bound on odds forgets the tail": (
        "_is_refuted", "        total += term\n", "", COVERED,
    ),
    "the bound on odds is taken at even luck": (
        "_last_refuted", "_is_refuted(middle, successes, trials, alpha)", "_is_refuted(middle, successes, trials, 0.5)", COVERED,
    ),
    "a run that fails is read as if it had not": (
        "_Runs.letter", "        if process.returncode:\n            return Failure(process.returncode)\n", "", CRASH,
    ),
    "a random float is rounded to its lower multiple": (
        "_Uniform.__lt__", "math.ceil(", "math.floor(", MULTIPLE,
    ),
    "a table is as long as its rate is low": (
        "Envelope.end", "if min(knee, self.n) <= ENTRIES_MAX:", "if knee > 0:", SHORT,
    ),
    "the planner forgets that a table's entries are rounded up": (
        "Envelope.worst_alpha", "weigh(0) + 3 + ceil_div(self.unit, rate)", "weigh(0)", f"{AGREE}[ls-roo]",
    ),
    "the planner forgets that DS-ROO's entries are rounded up": (
        "DataSpecificRevealOrObscure._first", "rounded = growth / (growth - 1) if last else 0", "rounded = 0", f"{AGREE}[ds-roo]",
    ),
    "a rough answer is one that fails": (
        "roughly", "    return found\n", "    return failed or found\n", ROUGH,
    ),
    "the least epsilon of the limit is rounded up": (
        "Question.limit", "below = value - last_digit(Fraction(value), _DIGITS)", "below = value", BEYOND,
    ),
    "e^epsilon of the limit is rounded down": (
        "_theorem_1", "growth = exp_upper(epsilon) - 1", 'growth = __import__("dproo").core.numbers.exp_lower(epsilon) - 1', LIMIT,
    ),
    "the limit of few records rounds e^epsilon down": (
        "_theorem_2", "* exp_upper(half * epsilon))", '* __import__("dproo").core.numbers.exp_lower(half * epsilon))', LIMIT,
    ),
    "the limit is rounded up": (
        "_rounded_down", "Fraction((value.numerator << places) // value.denominator, 1 << places)", "Fraction(-(-(value.numerator << places) // value.denominator), 1 << places)", LIMIT,
    ),
    "the power in the limit is rounded down": (
        "_theorem_1", "power_upper(1 + excess, n, bits=_BITS)", '__import__("dproo").core.numbers.power_lower(1 + excess, n)', LIMIT,
    ),
    "an upper power is squared downwards": (
        "_power", "square = divide(square * square, one)", "square = square * square // one", POWER,
    ),
    "the limit of adding a record is that of replacing one": (
        "_loss", "else 2 * epsilon", "else epsilon", LIMIT,
    ),
    "a letter too many has no records": (
        "Limit.datasets", "Fraction(letters, self.k - letters)", "Fraction(letters, self.k - letters + 1)", DATASETS,
    ),
    "the limit counts a letter too many without probability": (
        "_theorem_1", "spare = k - letters + _is_even(letters, share)", "spare = k - letters + 1", LIMIT,
    ),
    "a letter too many of the levels has no probability": (
        "LimitLevels.bound", "(k - self.letters - i) * here", "(k - self.letters - i + 1) * here", LEVELS,
    ),
    "levels forget a condition": (
        "LimitLevels._owed", "if gained * high >= owed * low:", "if 2 * gained * high >= owed * low:", LEVELS,
    ),
    "levels round a term down": (
        "LimitLevels._owed", "low = ceil_div(low * over * self.middle, under)", "low = low * over * self.middle // under", FEW_LEVELS,
    ),
    "levels forget what letters above deserve": (
        "LimitLevels.bound", "won -= ceil_div(gained * self.high * _UNIT, others + self.high)", "won -= 0", LEVELS,
    ),
    "the limit of levels rounds e^epsilon down": (
        "limit.limit", "growth=exp_upper(loss))", 'growth=__import__("dproo").core.numbers.exp_lower(loss))', LEVELS_GROWTH,
    ),
    "every column of a row pays for all": (
        "RowSampler._step", "self.sampler(epsilon=epsilon, k=k, n=self.n, neighbours=relation)", "self.sampler(epsilon=self.epsilon, k=k, n=self.n, neighbours=relation)", ROW,
    ),
    "a conditional step forgets that records come and go": (
        "RowSampler._step", "if self.neighbours == REPLACE and not family.parents:", "if self.neighbours == REPLACE:", ROW_LAW,
    ),
    "a row is certified by its worst step": (
        "RowSampler.largest_ratio", "return prod((step.largest_ratio for step in self.steps), start=Fraction(1))", "return max(step.largest_ratio for step in self.steps)", ROW,
    ),
    "a learned network costs nothing": (
        "RowRequest.row_epsilon", "return (self.epsilon - self.network_epsilon) / self.size", "return self.epsilon / self.size", ROW_LEARNED,
    ),
    "several rows cost as one": (
        "RowRequest.row_epsilon", "return (self.epsilon - self.network_epsilon) / self.size", "return self.epsilon - self.network_epsilon", ROW_SEVERAL,
    ),
    "the number of records of a private row is told": (
        "RowRequest.rows_by", "n=n if self.is_n_public else 0", "n=n", ROW_HIDDEN,
    ),
    "the letters of the parents are read backwards": (
        "RowTables.matching", "place = place * self.sizes[parent] + letter", "place = place + self.sizes[parent] * letter", "releases/test_row_tables.py",
    ),
    "a network is chosen at twice its rate": (
        "grown_tree", "/ (2 * SENSITIVITY[neighbours])", "/ SENSITIVITY[neighbours]", EDGE,
    ),
    "a name rebound to this machine opens the page": (
        "Gate.refusal", "len(hosts) != 1 or hosts[0].lower() not in self._hosts", "len(hosts) != 1", REBOUND,
    ),
    "any site may send a release": (
        "_unsafe_refusal", 'values(scope, "origin") != [f"http://{host}"]', 'not values(scope, "origin")', ORIGIN,
    ),
    "nobody looks for the key": (
        "Lock.__call__", "if len(given) == 1 and self._door.fits(given[0]):", "if len(given) < 2:", KEY,
    ),
    "a link works twice": (
        "Door.open", "            self._token = None\n            if", "            if", SPENT,
    ),
    "a link never grows old": (
        "Door.open", "if time.monotonic() > self._until:", "if not self._until:", OLD,
    ),
    "a page on another port opens the door": (
        "_entrance_refusal", 'sites <= {"same-origin", "cross-site"}', "True", OTHER_PORT,
    ),
    "whoever hangs is waited for": (
        "Connection._set_clock", "if len(self._clocks) > MOST_WAITING:", "if not self._clocks:", HANGING,
    ),
    "any site may read": (
        "Gate.refusal", 'not set(values(scope, "sec-fetch-site")) <= {"same-origin", "none"}', "False", OTHER_SITE,
    ),
    "a nonce is good for ever": (
        "Nonces.take", "self._waiting.pop(nonce, None)", "self._waiting.get(nonce)", REPLAYED,
    ),
    "a link leads out of the folder": (
        "Folder._file", "path.is_relative_to(self.root) and path.is_file()", "path.is_file()", LINKED,
    ),
    "the page looks into the data before it is told to": (
        "Order.of", "        order = cls(\n", "        source.data.open().close()\n        order = cls(\n", UNOPENED,
    ),
    "a file that was exchanged is read": (
        "NamedData.require_unchanged", 'folder.find("data", str(self.data)) != self.data', "not self.data", MOVED,
    ),
    "a budget is declared before it is confirmed": (
        "Api._budget", "        return {**budget.shown", "        budget.declare()\n        return {**budget.shown", DECLARED_LATE,
    ),
    "a budget's nonce is taken for a release's": (
        "Api._release", "self.orders.take(nonce)", "(self.orders.take if nonce in self.orders._waiting else self.declarations.take)(nonce)", CONFIRMED,
    ),
    "Ctrl-C leaves a release that was charged": (
        "change.endpoint", "response(*await to_thread.run_sync(answered, action, body))", "await while_wanted(request, _aside(Semaphore(1), action, body))", INTERRUPTED,
    ),
    "every request may be as long as a code book": (
        "_most", 'CODEBOOK_MAX if scope["path"] in _WITH_CODEBOOK else BODY_MAX', "CODEBOOK_MAX", IN_PIECES,
    ),
    "a password is in the name of a budget": (
        "dataset_name", "return postgresql_url.public_name(data)", "return data", UNNAMED,
    ),
    "a refusal quotes a connection string": (
        "checks.refusal", "{WITHHELD if is_secret else shown(value)}", "{value!r}", UNQUOTED,
    ),
    "two records of a person are kept": (
        "kept_rows", "if len(chosen) < query.records_per_person:", "if len(chosen) <= query.records_per_person:", PEOPLE,
    ),
    "which record is kept depends on the others": (
        "kept_rows", "rank = rank_of(query.salt, person, keys)", "rank = rank_of(query.salt, str(len(people)), keys)", PEOPLE,
    ),
    "people and records share a budget": (
        "BudgetTally.require_basis", "if basis.unit != self.basis.unit:", "if basis.unit is None:", ONE_UNIT,
    ),
    "the person is asked for letters": (
        "check_fit", "    counted = columns[: len(axes)]\n", "    counted = columns[-len(axes) :]\n", NAMES_NOBODY,
    ),
    "a release forgets the people": (
        "Protection.where", '"person": self.person', '"person": None', PEOPLE_SAID,
    ),
    "long identifiers are cut": (
        "person_sql", "ELSE '{HASHED}' || {dialect.digest.replace('{}', text)} END", "ELSE left({text}, 64) END", MERGED,
    ),
    "what records hold that name nobody is looked at": (
        "people.named", "CASE WHEN p = '' THEN '' ELSE {k} END", "{k}", MERGED,
    ),
    "a person is one in each file": (
        "counted_people", "kept = people.kept_by_group(ranked, query)\n    if len", "kept = ranked\n    if len", FILES_OF_ONE,
    ),
    "a declared text is an identifier in Python": (
        "kept_rows", "        if person in missing:\n", "        if person is None:\n", DECLARED,
    ),
    "a declared text is an identifier in SQL": (
        "person_sql", "    if query.missing_texts:\n", "    if not query.missing_texts:\n", f"{NUMBERS_DECLARED}[integers]",
    ),
    "nobody is told which texts are no identifiers": (
        "Protection.sentence", 'f"; no identifiers: {texts}" if texts else ""', '""', DECLARED,
    ),
    "NaN in some files of a pattern is a person": (
        "united_cell", "CASE WHEN {is_missing} THEN '' ELSE", "CASE WHEN 1 = 0 THEN '' ELSE", SEVERAL_TYPES,
    ),
    "other has no floor": (
        "OpenAlphabet.floor", "ceil(self._step / (self.growth - 1))", "ceil(self._step / (self.growth - 1) / 1000)", OPEN_LAW,
    ),
    "other has no floor, and nobody looks": (
        "OpenAlphabet.weights", "rest = counts.n * self.unit + self.floor -", "rest = counts.n * self.unit -", f"{OPEN_LAW}::test_replacing_one_record_leaks_exactly_what_is_certified[4-1-0.01]",
    ),
    "an unknown number of records is taken for a known one": (
        "OpenAlphabet._slack", "total = self.n if self.neighbours == REPLACE else count + 1", "total = self.n if self.neighbours == REPLACE else count + 100", f"{OPEN_LAW}::test_the_certificate_under_add_remove_is_reached",
    ),
    "a person with several records is several people": (
        "OpenRequest.minimum", "return (self.minimum_people - 1) * self.protection.records + 1", "return self.minimum_people", OPEN_RELEASE,
    ),
    "each of a person's records has all of delta": (
        "OpenRequest.sampler_for", "        if people > 1:\n", "        if people > 99:\n", OPEN_RELEASE,
    ),
    "a rare letter leaves the engine": (
        "named_counts", "if text and number >= axis.minimum and is_open_letter(text)", "if text and is_open_letter(text)", f"{OPEN_LETTERS}::test_lists_and_arrays_have_letters_too",
    ),
    "a letter is rare if it is rare in one file": (
        "statements.counted", "minimum = 1 if is_part else query.open_axis.minimum", "minimum = query.open_axis.minimum", f"{OPEN_LETTERS}::test_a_letter_is_as_frequent_as_it_is_in_all_files_together",
    ),
    "a value is kept one record too early": (
        "KeepRule.release", "if count >= self.minimum + place", "if count >= self.minimum + place - 1", KEPT_BY_BRUTE_FORCE,
    ),
    "the first thresholds have twice delta": (
        "KeepRule.weights", "share = self.delta if", "share = 2 * self.delta if", KEPT_BY_BRUTE_FORCE,
    ),
    "thresholds rise and never fall": (
        "KeepRule.weights", "return (*rising, *reversed(rising if is_twice else rising[:-1]))", "return (*rising,)", KEPT_BY_BRUTE_FORCE,
    ),
    "a replaced record is one step": (
        "KeepRule.changes", "self.records * (2 if self.neighbours == REPLACE else 1)", "self.records", KEPT_BY_BRUTE_FORCE,
    ),
    "a replaced record leaks once": (
        "KeepRule.largest_delta", "return one if self.neighbours == ADD_REMOVE else 1 - (1 - one) ** 2", "return one", f"{KEEP}::test_a_replaced_record_leaks_exactly_what_is_certified",
    ),
    "thresholds grow faster than epsilon": (
        "KeepRule.growth", "return exp_lower(self.epsilon / self.changes)", "return exp_lower(2 * self.epsilon / self.changes)", f"{KEEP}::test_weights_are_built_just_below_the_growth",
    ),
    "thresholds that grow too fast meet the condition": (
        "weights_rise_at_most", "after * under <= before * over", "after * under <= 2 * before * over", f"{HYPOTHESES}::test_the_conditions_of_the_keep_rule_are_those_of_its_theorems",
    ),
    "the steps of a table are not multiplied": (
        "paths_within", "prod(growths, start=Fraction(1))", "max(growths, default=Fraction(1))", f"{HYPOTHESES}::test_a_table_checks_exactly_what_its_theorem_assumes",
    ),
    "a stage of a column is not paid for": (
        "_ColumnState.spend", "        self.left -= cost\n", "", FOUND_PATHS,
    ),
    "every column has all of epsilon": (
        "DiscoveryRequest.epsilon_of_each", " / len(self.paying)", "", FOUND_PATHS,
    ),
    "every column has all of delta": (
        "DiscoveryRequest.rule", "self.delta / len(self.paying)", "self.delta", "releases/test_discovery.py::test_a_stage_costs_what_it_takes_of_a_column_and_all_of_them_are_added_up",
    ),
    "a bare CR ends a record": (
        "_own_break", "match[0][-3:] if match[1] else UNREADABLE", "match[0]", BREAKS,
    ),
    "CR CR LF within quotes is CR LF": (
        "Syntax.ended_once", 'UNREADABLE + b"\\r" if i % 2 else b"\\r"', 'b"\\r"', QUOTED_BREAKS,
    ),
    "decimals that are split are read by the engine that cannot": (
        "_split", "if chunk.is_split and", "if not chunk.path and", "counting/test_layouts.py::test_every_encoding_of_a_parquet_file_is_read",
    ),
    "a caller's connection keeps the transaction of a release": (
        "sqlalchemy._connected", "if not is_within:", "if is_engine:", "counting/test_sqlalchemy.py::test_a_connection_is_as_it_was_and_each_release_sees_new_records",
    ),
    "MariaDB ends an idle session while the ledger is charged": (
        "sqlalchemy._prepare", "value for name, value in settings.items()", "f'@@{name}' for name in settings", "counting/test_sqlalchemy.py::test_no_limit_of_an_idle_session_ends_it_while_the_ledger_is_charged",
    ),
    "PostgreSQL ends an idle session while the ledger is charged": (
        "Session._lift", 'cursor.execute(f"SET {which} = 0")', 'cursor.execute(f"SHOW {name}")', PATIENT,
    ),
    "the limits of an idle session are not set again": (
        "Session.close", "limits.items()", "()", PATIENT,
    ),
    "the first release of a connection to end sets its limits again": (
        "Session.close", "{} if shared.waiting else dict(shared.limits)", "dict(shared.limits)", "counting/test_postgresql.py::test_releases_of_one_connection_wait_together_and_leave_it_its_own_limits",
    ),
    "each batch of PostgreSQL is compared with the letters of all columns": (
        "CountQuery.letters_in", "batch.query if self.person is None else self", "self", "counting/test_batches.py::test_every_engine_counts_all_batches_of_the_same_records[None]",
    ),
    "the last of two cells of a name counts": (
        "cells._named", "if len(names) > len({*names}) and any(", "if not names and any(", "counting/test_identifiers.py::test_a_name_that_a_record_has_twice_names_nobody",
    ),
    "only SQLite locks a ledger": (
        "location.lock_folder", "wait_for_lock(_LOCKED[folder], patience)", "pass", "ledger/test_ledger_file.py::test_a_backup_while_the_ledger_is_charged_lets_no_other_process_in",
    ),
    "the folder of a pattern is a pattern": (
        "source._fixed", "here = glob.escape(here)", "pass", "releases/test_release.py::test_a_pattern_finds_its_own_folder_whatever_that_is_called",
    ),
    "a code book states the rule of texts where numbers were sought": (
        "DiscoveryRequest.words_of", "max((self.text_rule, *rules), key=lambda used: used.certain)", "self.text_rule", "releases/test_discovery.py::test_the_rule_that_is_stated_is_the_one_used_where_numbers_were_sought_among_texts",
    ),
    "what a handler raises before the charge is a failed release": (
        "guarded", "if state and not state.sentence:", "if state is guarded:", "releases/test_preparation.py::test_what_a_handler_raises_before_the_charge_itself_is_a_refusal",
    ),
    "the noise of a model is what its file says": (
        "Model._check", "noise == [(m.family, m.ratio, m.variance) for m in self.measurements]", "True", FOLLOWS,
    ),
    "the steps of a model are what its file says": (
        "Model._check", 'transcript(steps) == self.released["steps"]', "bool(steps)", FOLLOWS,
    ),
    "a model may cost more than its epsilon": (
        "Model._check", "certified(request, steps).holds", "request", FOLLOWS,
    ),
    "a protected file is looked into": (
        "protected", "return () if ledger is None else", "return () if ledger else", GUARDED,
    ),
    "data with a budget is told by its first line": (
        "protected", "any(origin.is_data(file, ()) for name", "any(origin.is_data(file, origin.header) for name", GUESSED,
    ),
    "bits beyond a decimal's digits are read": (
        "in_range", "if match is None:", "if match:", DECIMAL_BITS,
    ),
    "identifiers come in the connection's character set": (
        "_mariadb_cell", "(*forms, _MARIADB_BYTES)", "(() if is_key else (*forms, _MARIADB_BYTES))", CHARACTER_SETS,
    ),
    "a session leaves records out": (
        "sqlalchemy.StreamedTable.statement", "{_MARIADB_ALL * self.is_mariadb}", "", SESSION_LIMITS,
    ),
    "a receipt that no ledger takes is charged": (
        "_require_room", 'room > TERMS["receipt_max"]', "room < 0", RECEIPT_ROOM,
    ),
    "files of a table with deleted records are read": (
        "find_files", "    refuse_tables(paths)\n", "", OF_A_LAKE,
    ),
    "a link into such a table is not followed": (
        "refuse_tables", "(os.path.abspath, os.path.realpath)", "(os.path.abspath,)", OF_A_LAKE,
    ),
    "every thread has all the room": (
        "duckdb.Engine.start", "max(1, TABLES // max(1, room))", "TABLES", THREADS,
    ),
    "a signal just before the wait is slept over": (
        "_Errand.wait", "acquire(timeout=_AGAIN)", "acquire()", WOKEN,
    ),
    "two signals at once are two": (
        "ending._on_signal", "now - _State.interrupted_at < TOGETHER", "False", AT_ONCE,
    ),
    "the page listens to the network": (
        "server.serve", "socket.create_server((HOST, port))", 'socket.create_server(("", port))', LOOPBACK,
    ),
}  # fmt: skip


FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


class Place(NamedTuple):
    """A part of the package's text, where something is edited."""

    path: Path
    before: str
    text: str
    behind: str


@cache
def definitions() -> dict[str, Place]:
    """Return every function, method, class and constant of the package by its full name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        module = ".".join(("dproo", *path.relative_to(SOURCE).with_suffix("").parts))
        for name, node in named(ast.parse(text), module):
            first = min(one.lineno for one in (node, *getattr(node, "decorator_list", ())))
            parts = lines[: first - 1], lines[first - 1 : node.end_lineno], lines[node.end_lineno :]
            found[name] = Place(path, *map("".join, parts))
    return found


def named(parent, prefix):
    """Yield what is defined in a module, a class or a function, with its name."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, FUNCTION | ast.ClassDef):
            yield f"{prefix}.{node.name}", node
            yield from named(node, f"{prefix}.{node.name}")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not isinstance(parent, FUNCTION):
            for target in getattr(node, "targets", None) or [node.target]:
                for one in getattr(target, "elts", [target]):
                    if isinstance(one, ast.Name):
                        yield f"{prefix}.{one.id}", node


def place_of(where):
    """Return the part of the package that a mutant names, or a whole file of another kind."""
    if "/" in where:
        return Place(SOURCE / where, "", (SOURCE / where).read_text(encoding="utf-8"), "")
    found = [place for name, place in definitions().items() if name.endswith(f".{where}")]
    assert len(found) == 1, f"{where} is one of {len(found)} definitions"
    return found[0]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_mutant_fits_the_code_and_its_killer_is_there(mutant):
    where, original, mutated, killer = MUTANTS[mutant]
    assert place_of(where).text.count(original) == 1
    assert mutated != original
    file, _, test = killer.partition("::")
    assert f"def {test.partition('[')[0]}" in (TESTS / file).read_text(encoding="utf-8")


CHANCES = 3  # some killers draw their settings at random


@pytest.mark.parametrize("mutant", some(MUTANTS, one_of=40))
def test_the_mutant_dies(mutant, tmp_path):
    where, original, mutated, killer = MUTANTS[mutant]
    place = place_of(where)
    text = place.before + place.text.replace(original, mutated) + place.behind
    linked(tmp_path, place.path.relative_to(SOURCE)).write_text(text, encoding="utf-8")
    log = tmp_path / "log"
    code = 0
    for _ in range(CHANCES):
        if code != 1:  # nor did pytest itself come to grief
            code = outcome(tmp_path, TESTS / killer, log)
    told = log.read_text()
    if code == 0 and re.search(r"^s+ |^\d+ skipped in ", told, re.MULTILINE):
        pytest.skip("The test that kills it needs what is not installed.")
    assert code == 1, f"{mutant!r} survived:\n{told}"


def linked(folder, module):
    """Make a package of links to ours, and return the path of the one file that it lacks."""
    source, target = SOURCE, folder / "dproo"
    for part in module.parts:
        target.mkdir()
        for entry in source.iterdir():
            if entry.name != part:
                (target / entry.name).symlink_to(entry)
        source, target = source / part, target / part
    return target
