(* Whole rows: a row is drawn column by column, each given the letters drawn before it. *)

From dproo Require Import Preamble Rational Privacy.

Section Composition.

Variables (D T : Type) (near : D -> D -> Prop).
Variables (draw : seq T -> D -> T -> rat) (G : nat -> rat).

(* The probability of the outcomes of all steps; a step knows the outcomes before it. *)
Fixpoint path_probability (before : seq T) (d : D) (outcomes : seq T) : rat :=
  if outcomes is t :: later then draw before d t * path_probability (rcons before t) d later
  else 1.

Hypothesis draws_nonnegative : forall before d t, 0 <= draw before d t.
Hypothesis steps_private : forall before, private near (G (size before)) (draw before).

Theorem composition m :
  private near (\prod_(j < m) G j) (fun d (outcomes : m.-tuple T) => path_probability [::] d outcomes).
Proof.
have path_ge0 before d outcomes : 0 <= path_probability before d outcomes.
  by elim: outcomes before => [|t later IH] before //=; rewrite mulr_ge0.
move=> d d' dd' outcomes; suff: forall before later, path_probability before d' later <=
    (\prod_(j < size later) G (size before + j)%N) * path_probability before d later.
  by move=> /(_ [::] outcomes); rewrite size_tuple.
move=> before later; elim: later before => [|t later IH] before /=.
  by rewrite big_ord0 mul1r.
rewrite big_ord_recl addn0 mulrACA; apply: ler_pmul => //; first exact: steps_private.
apply: le_trans (IH _) _; rewrite size_rcons.
by under [in leRHS]eq_bigr do rewrite -addSnnS.
Qed.

End Composition.

(* A dataset of records. One is replaced in its place, or one is added. *)
Section Records.

Variable R : Type.

Definition replaced_record (d d' : seq R) : Prop :=
  exists before after r r', d = before ++ r :: after /\ d' = before ++ r' :: after.

Definition added_record (d d' : seq R) : Prop :=
  exists before after r, d = before ++ after /\ d' = before ++ r :: after.

Definition add_remove_record (d d' : seq R) : Prop := added_record d d' \/ added_record d' d.

Variables (k : nat) (matches : pred R) (letter : R -> 'I_k).

(* The counts of a column among the records that match what was drawn before. *)
Definition tally (d : seq R) : counts k :=
  [ffun y => count (fun r => matches r && (letter r == y)) d].

Lemma tally_cons before after r :
  tally (before ++ r :: after) =
  if matches r then add (tally (before ++ after)) (letter r) else tally (before ++ after).
Proof.
case: ifP => matches_r; apply/ffunP => y; rewrite ?addE !ffunE !count_cat /= matches_r //=.
by rewrite [y == _]eq_sym addnCA addnC addnAC.
Qed.

(* A replaced record is replaced, added, removed, or not seen, in the counts of a step. *)
Lemma tally_replaced d d' :
  replaced_record d d' ->
  [\/ replaced (tally d) (tally d'), add_remove (tally d) (tally d') | tally d = tally d'].
Proof.
move=> [before [after [r [r' [-> ->]]]]]; rewrite !tally_cons.
case: (matches r); case: (matches r').
- by apply: Or31; exists (tally (before ++ after)), (letter r'), (letter r).
- by apply: Or32; right; exists (letter r).
- by apply: Or32; left; exists (letter r').
- exact: Or33.
Qed.

Lemma tally_add_remove d d' :
  add_remove_record d d' -> add_remove (tally d) (tally d') \/ tally d = tally d'.
Proof.
move=> [] [before [after [r [-> ->]]]]; rewrite tally_cons; case: (matches r); try by right.
  by left; left; exists (letter r).
by left; right; exists (letter r).
Qed.

End Records.

Section Rows.

(* Letters are numbers. The column to draw, its alphabet, its sampler and the records that count
   may depend on the letters drawn before. *)
Variables (R : Type) (k : seq nat -> nat) (G : nat -> rat).
Variables (matches : seq nat -> pred R) (letter : forall before, R -> 'I_(k before)).
Variable sampler : forall before, counts (k before) -> 'I_(k before) -> rat.

Definition column (before : seq nat) (d : seq R) (t : nat) : rat :=
  if insub t is Some y then sampler (tally (matches before) (@letter before) d) y else 0.

Definition row (m : nat) (d : seq R) (letters : m.-tuple nat) : rat :=
  path_probability column [::] d letters.

Hypothesis samplers_nonnegative : forall before c y, 0 <= @sampler before c y.
Hypothesis growths_at_least_one : forall j, 1 <= G j.
Hypothesis samplers_private_add_remove :
  forall before, private (@add_remove _) (G (size before)) (@sampler before).

Let column_ge0 before d t : 0 <= column before d t.
Proof. by rewrite /column; case: insubP. Qed.

Theorem rows_add_remove m : private (@add_remove_record R) (\prod_(j < m) G j) (@row m).
Proof.
apply: composition => // before d d' dd' t; rewrite /column.
case: insubP => [y _ _|_]; last by rewrite mulr0.
case: (tally_add_remove (matches before) (@letter before) dd') => [near|->].
  exact: samplers_private_add_remove.
by rewrite ler_pemull.
Qed.

(* No factor of two: a sampler that is private for both relations serves a replaced record. *)
Hypothesis samplers_private_replace :
  forall before, private (@replaced _) (G (size before)) (@sampler before).

Theorem rows_replace m : private (@replaced_record R) (\prod_(j < m) G j) (@row m).
Proof.
apply: composition => // before d d' dd' t; rewrite /column.
case: insubP => [y _ _|_]; last by rewrite mulr0.
case: (tally_replaced (matches before) (@letter before) dd') => [near|near|->].
- exact: samplers_private_replace.
- exact: samplers_private_add_remove.
- by rewrite ler_pemull.
Qed.

End Rows.
