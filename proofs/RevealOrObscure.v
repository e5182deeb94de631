(* ROO: a letter weighs its pseudo-count, base, and unit for each of its records.

   Several draws are a Polya urn: every drawn letter counts as one more record for the draws
   after it. A public prior is a base that differs from letter to letter. *)

From dproo Require Import Preamble Rational Privacy.

Section Urn.

Variables (k : nat) (base : 'I_k -> rat) (unit : rat).

Definition urn_weight (c : counts k) (y : 'I_k) : rat := base y + unit * (c y)%:R.

(* The probability that the draws are exactly these letters, in this order. *)
Fixpoint urn (c : counts k) (letters : seq 'I_k) : rat :=
  if letters is y :: rest then law (urn_weight c) y * urn (add c y) rest else 1.

Hypothesis base_positive : forall y, 0 < base y.
Hypothesis unit_nonnegative : 0 <= unit.

Lemma urn_weight_gt0 c y : 0 < urn_weight c y.
Proof. by rewrite ltr_paddr ?mulr_ge0 ?ler0n. Qed.

Lemma urn_weight_add c a y : urn_weight (add c a) y = urn_weight c y + unit * (y == a)%:R.
Proof. by rewrite /urn_weight addE natrD mulrDr addrA. Qed.

Definition urn_total c : rat := \sum_y urn_weight c y.

Lemma urn_total_add c a : urn_total (add c a) = urn_total c + unit.
Proof.
rewrite /urn_total; under eq_bigr do rewrite urn_weight_add.
rewrite big_split /=; congr +%R.
by rewrite (bigD1 a) //= eqxx mulr1 big1 ?addr0 // => y /negbTE ->; rewrite mulr0.
Qed.

Lemma urn_total_gt0 c (y : 'I_k) : 0 < urn_total c.
Proof. by apply: (sum_gt0 y) => z; apply: urn_weight_gt0. Qed.

Lemma base_le_total c y : base y <= urn_total c.
Proof.
rewrite /urn_total (bigD1 y) //= ler_paddr ?sumr_ge0 // => [z _|].
  exact/ltW/urn_weight_gt0.
by rewrite ler_addl mulr_ge0 ?ler0n.
Qed.

Lemma urn_ge0 c letters : 0 <= urn c letters.
Proof.
elim: letters c => //= y letters IH c; rewrite mulr_ge0 // divr_ge0 ?ltW ?urn_weight_gt0 //.
exact: urn_total_gt0 c y.
Qed.

(* Drawn letter by letter, w is the weight of the letter that gains: it is drawn now, or not. *)
Let drawn_now (p p' U U' Z w t : rat) :
  0 <= p -> 0 <= U' -> p * Z = w -> p' * Z <= w + unit ->
  U' * (w + unit) <= U * (w + unit + unit * t) ->
  p' * U' * w <= p * U * (w + unit * (t + 1)).
Proof.
move=> p_ge0 U'_ge0 pZ p'Z later; have := ler_wpmul2l p_ge0 later.
have := ler_wpmul2l (mulr_ge0 U'_ge0 p_ge0) p'Z; rewrite -pZ; rat_linear.
Qed.

Let not_drawn_now (p p' U U' w t : rat) :
  0 <= p -> p' <= p -> 0 <= U' -> 0 <= U -> 0 <= w ->
  U' * w <= U * (w + unit * t) ->
  p' * U' * w <= p * U * (w + unit * (t + 1)).
Proof.
move=> p_ge0 p'p U'_ge0 U_ge0 w_ge0 later; have := ler_wpmul2l p_ge0 later.
have := ler_wpmul2r (mulr_ge0 U'_ge0 w_ge0) p'p.
have := mulr_ge0 (mulr_ge0 p_ge0 U_ge0) unit_nonnegative; rat_linear.
Qed.

(* A letter that gains a record gains one unit for each time that it is drawn. *)
Lemma urn_gain c a letters c' :
  (forall y, urn_weight c' y <= urn_weight c y + unit * (y == a)%:R) ->
  urn_total c <= urn_total c' ->
  urn c' letters * urn_weight c a <= urn c letters * (urn_weight c a + unit * (size letters)%:R).
Proof.
elim: letters c c' => [|y letters IH] c c' /= weights totals; first by rewrite mulr0 addr0.
have W_gt0 := urn_weight_gt0 c; have Z_gt0 := urn_total_gt0 c y.
have weights' z : urn_weight (add c' y) z <= urn_weight (add c y) z + unit * (z == a)%:R.
  by rewrite !urn_weight_add addrAC ler_add2r.
have totals' : urn_total (add c y) <= urn_total (add c' y).
  by rewrite !urn_total_add ler_add2r.
have {IH weights' totals'} := IH _ _ weights' totals'; rewrite urn_weight_add mulrSr.
have p'Z : law (urn_weight c') y * urn_total c <= urn_weight c y + unit * (y == a)%:R.
  apply: le_trans (weights y); rewrite /law mulrAC ler_pdivr_mulr ?(lt_le_trans Z_gt0) //.
  by apply: ler_wpmul2l => //; apply/ltW/urn_weight_gt0.
have pZ : law (urn_weight c) y * urn_total c = urn_weight c y by rewrite /law divfK ?gt_eqF.
have p_ge0 : 0 <= law (urn_weight c) y by rewrite divr_ge0 ?ltW.
rewrite [a == y]eq_sym; move: p'Z; case: eqVneq => [<-|_] /=; rewrite ?mulr1 ?mulr0 ?addr0 => p'Z.
  by apply: drawn_now pZ p'Z; rewrite ?urn_ge0.
apply: not_drawn_now; rewrite ?urn_ge0 ?(ltW (W_gt0 a)) //.
by rewrite -(ler_pmul2r Z_gt0) pZ.
Qed.

(* A dataset that loses a record loses one unit of the total, once for each draw. *)
Lemma urn_loss c c' letters :
  (forall y, urn_weight c' y <= urn_weight c y) ->
  urn_total c = urn_total c' + unit ->
  urn c' letters * urn_total c' <= urn c letters * (urn_total c' + unit * (size letters)%:R).
Proof.
elim: letters c c' => [|y letters IH] c c' /= weights totals; first by rewrite mulr0 addr0.
have Z'_gt0 := urn_total_gt0 c' y; have Z_gt0 := urn_total_gt0 c y.
have weights' z : urn_weight (add c' y) z <= urn_weight (add c y) z.
  by rewrite !urn_weight_add ler_add2r.
have totals' : urn_total (add c y) = urn_total (add c' y) + unit.
  by rewrite !urn_total_add totals.
have {IH weights' totals'} := IH _ _ weights' totals'; rewrite urn_total_add mulrSr -totals.
have p'Z' : law (urn_weight c') y * urn_total c' = urn_weight c' y by rewrite /law divfK ?gt_eqF.
have pZ : law (urn_weight c) y * urn_total c = urn_weight c y by rewrite /law divfK ?gt_eqF.
have p_ge0 : 0 <= law (urn_weight c) y by rewrite divr_ge0 // ltW ?urn_weight_gt0.
have U'_ge0 := urn_ge0 (add c' y) letters; move: (weights y); rewrite -{}p'Z' -{}pZ {weights}.
move: totals (law _ _) (law _ _) (urn _ _) (urn _ _) (size _)%:R p_ge0 U'_ge0.
move: (urn_total c) (urn_total c') => Z Z' -> p' p U' U t p_ge0 U'_ge0 weight later.
have := ler_wpmul2l p_ge0 later; have := ler_wpmul2r U'_ge0 weight; rat_linear.
Qed.

(* What is gained is paid by a letter's own weight, or by the total: both are at least b. *)
Let paid (G p p' b w x : rat) :
  0 <= p -> 0 < b -> b <= w -> 0 <= x -> x <= b * (G - 1) ->
  p' * w <= p * (w + x) -> p' <= G * p.
Proof.
move=> p_ge0 b_gt0 bw x_ge0 covered gain; have w_gt0 := lt_le_trans b_gt0 bw.
have G_ge1 : 0 <= G - 1 by rewrite -(pmulr_rge0 _ b_gt0) (le_trans x_ge0).
rewrite -(ler_pmul2r w_gt0) (le_trans gain) // [G * p]mulrC -mulrA ler_wpmul2l //.
by have := ler_wpmul2r G_ge1 bw; rat_linear.
Qed.

Variables (G : rat) (draws : nat).
Hypothesis base_covers_draws : forall y, unit * draws%:R <= base y * (G - 1).

(* One release: all of its letters. *)
Definition roo (c : counts k) (letters : draws.-tuple 'I_k) : rat := urn c letters.

Let draws_ge0 : 0 <= unit * draws%:R. Proof. by rewrite mulr_ge0 ?ler0n. Qed.

Let base_le_weight c y : base y <= urn_weight c y.
Proof. by rewrite ler_addl mulr_ge0 ?ler0n. Qed.

Let gains c c' a (letters : draws.-tuple 'I_k) :
  (forall y, urn_weight c' y <= urn_weight c y + unit * (y == a)%:R) ->
  urn_total c <= urn_total c' -> roo c' letters <= G * roo c letters.
Proof.
move=> weights totals; have := urn_gain letters weights totals; rewrite size_tuple.
by apply: paid (base_covers_draws a); rewrite ?urn_ge0.
Qed.

Theorem roo_replace : private (@replaced k) G roo.
Proof.
move=> c c' [rest [a [b [-> ->]]]] letters; apply: (@gains _ _ a); last by rewrite !urn_total_add.
by move=> y; rewrite !urn_weight_add addrAC ler_addl mulr_ge0 ?ler0n.
Qed.

Theorem roo_add_remove : private (@add_remove k) G roo.
Proof.
move=> c c' [] [a ->] letters.
  apply: (@gains _ _ a) => [y|]; first by rewrite urn_weight_add.
  by rewrite urn_total_add ler_addl.
have weights y : urn_weight c' y <= urn_weight (add c' a) y.
  by rewrite urn_weight_add ler_addl mulr_ge0 ?ler0n.
have := urn_loss letters weights (urn_total_add c' a); rewrite size_tuple.
by apply: paid (base_le_total c' a) _ (base_covers_draws a); rewrite ?urn_ge0.
Qed.

(* A person with g records: any g records replaced, or added and removed. *)
Theorem roo_several_records g :
  0 <= G -> private (within (@replaced k) g) (G ^+ g) roo /\
            private (within (@add_remove k) g) (G ^+ g) roo.
Proof.
by move=> G_ge0; split; apply: group_privacy G_ge0 _; [apply: roo_replace | apply: roo_add_remove].
Qed.

End Urn.

(* What the urn gives are probabilities. *)
Theorem roo_is_law k (base : 'I_k -> rat) (unit : rat) (draws : nat) (c : counts k) :
  (0 < k)%N -> (forall y, 0 < base y) -> 0 <= unit ->
  (forall letters : draws.-tuple 'I_k, 0 <= roo base unit c letters) /\
  \sum_(letters : draws.-tuple 'I_k) roo base unit c letters = 1.
Proof.
move=> k_gt0 base_gt0 unit_ge0; split=> [letters|]; first exact: urn_ge0.
rewrite /roo; elim: draws c => [|s IH] c.
  by rewrite (big_pred1 [tuple]) // => t; apply/esym/eqP; exact: tuple0.
rewrite (reindex (fun p : 'I_k * s.-tuple 'I_k => cons_tuple p.1 p.2)) /=; last first.
  exists (fun t => (thead t, behead_tuple t)) => [[y t] _|t _] /=.
    by congr pair; apply: val_inj.
  by rewrite [t in RHS]tuple_eta; apply: val_inj.
rewrite -(pair_big xpredT xpredT (fun y (t : s.-tuple _) =>
  law (urn_weight base unit c) y * urn base unit (add c y) t)) /=.
under eq_bigr do rewrite -mulr_sumr IH mulr1.
by case: (law_is_one k_gt0 (urn_weight_gt0 base_gt0 unit_ge0 c)).
Qed.
