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

(* The number of records is public, or private but at most n. *)
Definition replaced_record_of_n (n : nat) (d d' : seq R) : Prop :=
  replaced_record d d' /\ size d = n.

Definition add_remove_record_up_to (n : nat) (d d' : seq R) : Prop :=
  [/\ add_remove_record d d', (size d <= n)%N & (size d' <= n)%N].

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

(* No more records match than there are; all do if nothing was asked of them. *)
Lemma records_tally d : records (tally d) = count matches d.
Proof.
elim: d => [|r d IH]; first by rewrite /records big1 // => y _; rewrite ffunE.
have := tally_cons [::] d r; rewrite !cat0s /= => ->.
by case: ifP => _; rewrite ?records_add IH ?add1n ?add0n.
Qed.

Lemma records_tally_le d : (records (tally d) <= size d)%N.
Proof. by rewrite records_tally count_size. Qed.

Lemma records_tally_all d : matches =1 predT -> records (tally d) = size d.
Proof. by move=> all; rewrite records_tally (eq_count all) count_predT. Qed.

Lemma size_replaced d d' : replaced_record d d' -> size d' = size d.
Proof. by move=> [before [after [r [r' [-> ->]]]]]; rewrite !size_cat. Qed.

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

Let column_ge0 before d t : 0 <= column before d t.
Proof. by rewrite /column; case: insubP. Qed.

Variable n : nat.

Section AddRemove.

Hypothesis steps_private_add_remove :
  forall before, private (@add_remove_up_to _ n) (G (size before)) (@sampler before).

Theorem rows_add_remove m : private (@add_remove_record_up_to R n) (\prod_(j < m) G j) (@row m).
Proof.
apply: composition => // before d d' [dd' below below'] t; rewrite /column.
case: insubP => [y _ _|_]; last by rewrite mulr0.
case: (tally_add_remove (matches before) (@letter before) dd') => [near|->].
  by apply: steps_private_add_remove; split=> //; apply: leq_trans (records_tally_le _ _ _) _.
by rewrite ler_pemull.
Qed.

End AddRemove.

Section Replace.

(* A root has no parents: all n records count. *)
Variable root : pred (seq nat).
Hypothesis roots_match_all : forall before, root before -> matches before =1 predT.
Hypothesis roots_private :
  forall before, root before -> private (@replaced_of_n _ n) (G (size before)) (@sampler before).
Hypothesis steps_private_both :
  forall before, ~~ root before -> private (@changed_up_to _ n) (G (size before)) (@sampler before).

(* No factor of two: a step sees a replaced record once, as replaced, added or removed. *)
Theorem rows_replace m : private (@replaced_record_of_n R n) (\prod_(j < m) G j) (@row m).
Proof.
apply: composition => // before d d' [dd' n_records] t; rewrite /column.
case: insubP => [y _ _|_]; last by rewrite mulr0.
have [is_root|not_root] := boolP (root before).
  apply: roots_private => //; split; last by rewrite records_tally_all //; apply: roots_match_all.
  have [before' [after [r [r' [-> ->]]]]] := dd'; rewrite !tally_cons !roots_match_all //.
  by exists (tally (matches before) (@letter before) (before' ++ after)), (letter before r'), (letter before r).
have below e : size e = n -> (records (tally (matches before) (@letter before) e) <= n)%N.
  by move=> <-; apply: records_tally_le.
have below' := below _ (etrans (size_replaced dd') n_records); have {}below := below _ n_records.
case: (tally_replaced (matches before) (@letter before) dd') => [near|near|->].
- by apply: steps_private_both => //; split=> //; right.
- by apply: steps_private_both => //; split=> //; left.
- by rewrite ler_pemull.
Qed.

End Replace.
End Rows.

(* A sampler of counts is a release of records that each have a letter. *)
Section Values.

Variables (R : Type) (k n : nat) (T : Type) (G : rat) (letter : R -> 'I_k).
Variable sampler : counts k -> T -> rat.

Theorem values_replace :
  private (@replaced_of_n k n) G sampler ->
  private (@replaced_record_of_n R n) G (sampler \o tally predT letter).
Proof.
move=> is_private d d' [[before [after [r [r' [-> ->]]]]] n_records] t; apply: is_private.
split; last by rewrite records_tally_all.
by rewrite !tally_cons; exists (tally predT letter (before ++ after)), (letter r'), (letter r).
Qed.

Theorem values_add_remove :
  private (@add_remove_up_to k n) G sampler ->
  private (@add_remove_record_up_to R n) G (sampler \o tally predT letter).
Proof.
move=> is_private d d' [near below below'] t; apply: is_private.
split; rewrite ?records_tally_all //.
by case: near => [] [before [after [r [-> ->]]]]; rewrite tally_cons; [left|right]; exists (letter r).
Qed.

End Values.
