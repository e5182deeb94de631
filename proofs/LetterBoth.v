(* LS-ROO for both relations at once, among at most n records: what a step of a row may see. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy LetterTable LetterSpecific LetterSearch.

Section Both.

Variables (k : nat) (f : nat -> rat) (G : rat) (n last : nat).

Hypothesis table_positive : forall c, 0 < f c.
Hypothesis table_rising : forall c, f c <= f c.+1.
Hypothesis growth_at_least_one : 1 <= G.
Hypothesis table_convex : forall c, step f c <= step f c.+1.
Hypothesis table_straight : forall c, (last <= c)%N -> step f c = step f last.
Hypothesis table_grows_at_most : forall c, (c < n)%N -> f c.+1 <= G * f c.

(* The least total of all: the other letters have no records. *)
Definition bare_total (x b : nat) : rat := f x + f b.+1 + (k - 2)%:R * f 0.

Definition bare_fits (x low high : nat) : bool :=
  (gap f x high <= 0) ||
  (f x.+1 * bare_total x low <= G * f x * (bare_total x low - gap f x high)).

Hypothesis bare_search_found_nothing :
  forall x, (x < n)%N -> (x < last)%N ->
  exists depth, halves_fit (bare_fits x) depth 0 (minn (n.-1 - x) last).

Let f_ge0 c : 0 <= f c. Proof. exact: ltW. Qed.

Let f_le a b : (a <= b)%N -> f a <= f b.
Proof.
move/subnK <-; elim: (b - a)%N => [|d IH]; first by rewrite add0n.
by rewrite addSn (le_trans IH).
Qed.

Let old_ge0 x : 0 <= G * f x. Proof. by rewrite mulr_ge0 // (le_trans ler01). Qed.

Let bare_gt0 x b : 0 < bare_total x b.
Proof. by rewrite ltr_paddr ?mulr_ge0 ?ler0n ?addr_gt0. Qed.

Let bare_le x b b' : (b <= b')%N -> bare_total x b <= bare_total x b'.
Proof. by move=> bb'; rewrite ler_add2r ler_add2l f_le. Qed.

Let gap_le x b b' : (b <= b')%N -> gap f x b <= gap f x b'.
Proof. by move=> bb'; rewrite /gap ler_add2r; apply: step_le. Qed.

(* What fits with the least total and a larger gap fits. *)
Let moves x b : (x + b < n)%N -> 0 < gap f x b ->
  f x.+1 * bare_total x b <= G * f x * (bare_total x b - gap f x b).
Proof.
move=> inside gap_gt0; have [last_x|x_last] := leqP last x.
  have: gap f x b <= 0.
    rewrite /gap subr_le0 (table_straight last_x); have [/table_straight -> //|] := leqP last b.
    by move/ltnW; apply: step_le.
  by rewrite leNgt gap_gt0.
have [|depth] := bare_search_found_nothing _ x_last; first by lia.
have fit low high c : (low <= c)%N -> 0 < gap f x c -> gap f x c <= gap f x high ->
    bare_fits x low high -> f x.+1 * bare_total x c <= G * f x * (bare_total x c - gap f x c).
  move=> low_c gap_c le_gap; rewrite /bare_fits leNgt (lt_le_trans gap_c le_gap) /= => shown.
  have gap_ge0 := ltW (lt_le_trans gap_c le_gap).
  have := larger_total (old_ge0 x) gap_ge0 (bare_gt0 x low) _ shown => /(_ (bare_total x c)).
  rewrite subr_ge0 bare_le // => /(_ isT) /le_trans; apply.
  by rewrite ler_wpmul2l // ler_add2l ler_opp2.
pose Q c := 0 < gap f x c ->
  f x.+1 * bare_total x c <= G * f x * (bare_total x c - gap f x c).
move=> found; have [b_le|b_high] := leqP b (minn (n.-1 - x) last).
  move: gap_gt0; apply: (halves_sound (Q := Q) _ found); last by rewrite b_le.
  by move=> low high c _ _ /andP[low_c c_high] shown gap_c; apply: fit shown => //; apply: gap_le.
have last_b : (last < b)%N by move: inside b_high; clear; lia.
have same : gap f x b = gap f x last by rewrite /gap (table_straight (ltnW last_b)).
have at_last : f x.+1 * bare_total x last <= G * f x * (bare_total x last - gap f x last).
  have : 0 < gap f x last by rewrite -same.
  apply: (halves_sound (Q := Q) _ found); last by move: inside last_b; clear; lia.
  by move=> low high c _ _ /andP[low_c c_high] shown gap_c; apply: fit shown => //; apply: gap_le.
rewrite same in gap_gt0 *; apply: larger_total (ltW gap_gt0) (bare_gt0 x last) _ at_last => //.
by rewrite subr_ge0 bare_le // ltnW.
Qed.

Let gains m x b : (m <= n)%N -> (x + b < m)%N -> fits k f G m x b.
Proof.
move=> m_le inside; rewrite /fits /worst_total; case: ltP => [gap_gt0|gap_le0].
  have bare := moves (leq_trans inside m_le) gap_gt0.
  apply: larger_total (ltW gap_gt0) (bare_gt0 x b) _ bare => //.
  rewrite subr_ge0 ler_add2l /least; apply: le_trans (_ : (k - 2)%:R * f ((m.-1 - x - b) %/ (k - 2)) <= _).
    by rewrite ler_wpmul2l ?ler0n ?f_le.
  by rewrite ler_addl mulr_ge0 ?ler0n ?subr_ge0.
set total := (_ + _ + _); have total_ge0 : 0 <= total.
  rewrite !addr_ge0 // /most; case: (k - 2)%N => // j.
  by rewrite addr_ge0 ?mulr_ge0 ?ler0n.
have x_lt : (x < n)%N by move: inside m_le; clear; lia.
have := ler_wpmul2r total_ge0 (table_grows_at_most x_lt).
by have := ler_wpmul2l (old_ge0 x) gap_le0; rat_linear.
Qed.

Theorem ls_roo_both : private (@changed_up_to k n) G (@ls_roo k f).
Proof.
move=> c c' [[near|near] below below'].
  exact: (ls_roo_add_remove table_positive table_rising table_grows_at_most growth_at_least_one).
by apply: (@ls_roo_replace k f G table_positive table_rising (records c)) => // x b inside _;
  apply: gains.
Qed.

End Both.
