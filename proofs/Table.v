(* A private table: noisy counts of families of columns, and choices of what to count next.

   A record is in one cell of every family. Which step is taken, and with what ratio, may depend on
   what was released before. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy Rows Noise Choice.

(* How far the counts are from public numbers, in units of 1/u records. *)
Section Score.

Variables (R : Type) (k u : nat) (centre : 'I_k -> int) (cell : R -> 'I_k).

Definition score (d : seq R) : nat :=
  (\sum_x `|(u * tally predT cell d x)%:Z - centre x|)%N.

Lemma score_cons before after r :
  (score (before ++ r :: after) <= score (before ++ after) + u)%N /\
  (score (before ++ after) <= score (before ++ r :: after) + u)%N.
Proof.
rewrite /score tally_cons /=; set c := tally _ _ _; set a := cell r.
have split (e : counts k) : (\sum_x `|(u * e x)%:Z - centre x| =
    `|(u * e a)%:Z - centre a| + \sum_(x | x != a) `|(u * e x)%:Z - centre x|)%N by rewrite (bigD1 a).
rewrite !split addE eqxx mulnDr muln1.
have -> : (\sum_(x | x != a) `|(u * add c a x)%:Z - centre x| =
           \sum_(x | x != a) `|(u * c x)%:Z - centre x|)%N.
  by apply: eq_bigr => x /negbTE xa; rewrite addE xa addn0.
by move: (\sum_(x | _) _)%N (u * c a)%N (centre a) => rest p z; split; lia.
Qed.

(* In records, half of it: a sensitivity of 1/2 if one is added or removed, of 1 if one is replaced. *)
Theorem score_add_remove d d' : add_remove_record d d' -> (score d' <= score d + u)%N.
Proof.
by move=> [] [before [after [r [-> ->]]]]; have [] := score_cons before after r.
Qed.

Theorem score_replace d d' : replaced_record d d' -> (score d' <= score d + 2 * u)%N.
Proof.
move=> [before [after [r [r' [-> ->]]]]].
have [up _] := score_cons before after r'; have [_ down] := score_cons before after r.
by move: up down; lia.
Qed.

End Score.

Section Table.

Variable R : Type.

(* A measure of a family's cells with noise of ratio q; a choice among candidates, each scored in
   units of at most u and weighed by a public prior; or a question, one number with noise, which
   changes by at most s. *)
Inductive step : Type :=
| Measure (k : nat) (q : rat) (cell : R -> 'I_k)
| Choose (k : nat) (t : rat) (u : nat) (prior : 'I_k -> rat) (unit cells : 'I_k -> nat)
    (centre : forall i, 'I_(cells i) -> int) (cell : forall i, R -> 'I_(cells i))
| Ask (q : rat) (s : nat) (number : seq R -> nat).

(* What a step releases: a number for each cell, or the place of a candidate. *)
Definition outcome := ((nat -> int) + nat)%type.

Definition weigh k (t : rat) (prior : 'I_k -> rat) unit cells centre cell (d : seq R) (i : 'I_k) : rat :=
  prior i * t^-1 ^+ @score R (cells i) (unit i) (centre i) (cell i) d.

Definition step_law (s : step) (d : seq R) (released : outcome) : rat :=
  match s, released with
  | Measure k q cell, inl y => noisy q (tally predT cell d) y
  | Choose k t u prior unit cells centre cell, inr place =>
      if insub place is Some i then choice (weigh t prior unit centre cell) d i else 0
  | Ask q s number, inl y => cell_law q (number d) (y 0%N)
  | _, _ => 0
  end.

Definition sound (near : seq R -> seq R -> Prop) (s : step) : Prop :=
  match s with
  | Measure k q cell => 0 < q < 1
  | Choose k t u prior unit cells centre cell =>
      [/\ 0 < t, t <= 1, forall i, 0 < prior i & forall i, (unit i <= u)%N]
  | Ask q s number => 0 < q < 1 /\ forall d d', near d d' -> (number d' <= number d + s)%N
  end.

(* What a step may change, if what is protected changes one cell of a family, or two, by one. *)
Definition step_growth (changes : nat) (s : step) : rat :=
  match s with
  | Measure k q cell => q^-1 ^+ changes
  | Choose k t u prior unit cells centre cell => (t^-1 ^+ (changes * u)) ^+ 2
  | Ask q s number => q^-1 ^+ s
  end.

Lemma step_law_ge0 near s d released : sound near s -> 0 <= step_law s d released.
Proof.
case: s released => [k q cell|k t u prior unit cells centre cell|q s number] [y|place] //=.
- by move=> /andP[q_gt0 q_lt1]; apply: noisy_ge0.
- move=> [t_gt0 _ prior_gt0 _]; case: insubP => // i _ _; apply: choice_ge0 => e j.
  by rewrite mulr_gt0 // exprn_gt0 // invr_gt0.
- by move=> [/andP[q_gt0 q_lt1] _]; apply/ltW/cell_law_gt0.
Qed.

(* A step whose measures and scores change by so much is private at its growth. *)
Lemma step_private (near : seq R -> seq R -> Prop) (changes : nat) s :
  sound near s ->
  (forall d d', near d d' -> near d' d) ->
  (forall k q (cell : R -> 'I_k), 0 < q < 1 ->
     private near (q^-1 ^+ changes) (fun d => noisy q (tally predT cell d))) ->
  (forall k u centre (cell : R -> 'I_k) d d', near d d' ->
     (score u centre cell d' <= score u centre cell d + changes * u)%N) ->
  private near (step_growth changes s) (step_law s).
Proof.
move=> ok symmetric measures scores.
case: s ok => [k q cell|k t u prior unit cells centre cell|q s number] /=.
- by move=> q_in d d' near_d [y|place] /=; [apply: measures | rewrite mulr0].
- move=> [t_gt0 t_le1 prior_gt0 unit_le] d d' near_d [y|place] /=; first by rewrite mulr0.
  case: insubP => [i _ _|_]; last by rewrite mulr0.
  have inverse : 1 <= t^-1 by rewrite invf_ge1.
  apply: (permute_and_flip (near := near)) near_d _ => [e j||e e' near_e j].
  - by rewrite mulr_gt0 // exprn_gt0 // invr_gt0.
  - by rewrite exprn_gt0 // invr_gt0.
  have grows f f' : near f f' ->
      weigh t prior unit centre cell f' j <= t^-1 ^+ (changes * u) * weigh t prior unit centre cell f j.
    move=> near_f; rewrite /weigh mulrCA ler_pmul2l // -exprD; apply: ler_weexpn2l => //.
    apply: leq_trans (scores _ (unit j) (centre j) (cell j) _ _ near_f) _.
    by rewrite addnC leq_add2r leq_mul2l unit_le orbT.
  by split; apply: grows => //; apply: symmetric.
- move=> [/andP[q_gt0 q_lt1] changes_by] d d' near_d [y|place] /=; last by rewrite mulr0.
  apply: cell_law_far => //; have := changes_by _ _ near_d.
  by have := changes_by _ _ (symmetric _ _ near_d); rewrite /gap; lia.
Qed.

Variables (plan : seq outcome -> step) (E : rat).

Definition table : seq R -> seq outcome -> rat :=
  path_probability (fun before => step_law (plan before)) [::].

Section AddRemove.

Hypothesis steps_sound : forall before, sound (@add_remove_record R) (plan before).
Hypothesis paths_within :
  forall released, spent (fun before => step_growth 1 (plan before)) [::] released <= E.

Theorem table_add_remove : private (@add_remove_record R) E table.
Proof.
apply: adaptive_composition paths_within => [before d t|before].
  exact: step_law_ge0 (steps_sound before).
apply: step_private => // [d d' []|k q cell /andP[q_gt0 q_lt1] d d' near y|k u centre cell d d' near].
- by right.
- by left.
- rewrite expr1; case: (tally_add_remove predT cell near) => [near_c|->]; first exact: noise_add_remove.
  by rewrite ler_pemull ?noisy_ge0 // invf_ge1 // ltW.
- by rewrite mul1n; apply: score_add_remove.
Qed.

End AddRemove.

Section Replace.

Hypothesis steps_sound : forall before, sound (@replaced_record R) (plan before).
Hypothesis paths_within :
  forall released, spent (fun before => step_growth 2 (plan before)) [::] released <= E.

Theorem table_replace : private (@replaced_record R) E table.
Proof.
apply: adaptive_composition paths_within => [before d t|before].
  exact: step_law_ge0 (steps_sound before).
apply: step_private => // [d d'|k q cell /andP[q_gt0 q_lt1] d d' near y|k u centre cell d d' near].
- by move=> [before' [after [r [r' [-> ->]]]]]; exists before', after, r', r.
- have [before' [after [r [r' [-> ->]]]]] := near; apply: noise_replace => //.
  by rewrite !tally_cons; exists (tally predT cell (before' ++ after)), (cell r'), (cell r).
- exact: score_replace.
Qed.

End Replace.
End Table.
