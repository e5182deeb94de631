(* ROO with one draw, for a person who owns up to g records: sharper than group privacy. *)

From dproo Require Import Preamble Rational Privacy RevealOrObscure.

Section SeveralRecords.

Variables (k : nat) (base : 'I_k -> rat) (unit G : rat) (g : nat).

Notation weight := (urn_weight base unit).
Notation total := (urn_total base unit).

Definition roo_one_draw (c : counts k) (y : 'I_k) : rat := law (weight c) y.

Hypothesis base_positive : forall y, 0 < base y.
Hypothesis unit_nonnegative : 0 <= unit.
Hypothesis base_covers_records : forall y, unit * g%:R <= base y * (G - 1).

Let weight_gt0 c y : 0 < weight c y. Proof. exact: urn_weight_gt0. Qed.

Let records_ge0 : 0 <= unit * g%:R. Proof. by rewrite mulr_ge0 ?ler0n. Qed.

Let growth_ge0 (y : 'I_k) : 0 <= G - 1.
Proof. by rewrite -(pmulr_rge0 _ (base_positive y)) (le_trans records_ge0). Qed.

(* A quantity of at least a letter's base grows by less than G when it gains g records. *)
Let covered (y : 'I_k) w h : (h <= g)%N -> base y <= w -> w + unit * h%:R <= G * w.
Proof.
move=> h_le base_le; have : unit * h%:R <= unit * g%:R by rewrite ler_wpmul2l // ler_nat.
have := ler_wpmul2r (growth_ge0 y) base_le.
by have := base_covers_records y; rat_linear.
Qed.

Theorem roo_one_draw_replace : private (within (@replaced k) g) G roo_one_draw.
Proof.
have moved h c c' : within (@replaced k) h c c' ->
    total c = total c' /\ forall y, weight c' y <= weight c y + unit * h%:R.
  elim: h c => [|h IH] c /= => [->|[d [[rest [a [b [-> ->]]]] /IH[same gain]]]].
    by split=> // y; rewrite mulr0 addr0.
  split=> [|y]; first by rewrite -same !urn_total_add.
  apply: le_trans (gain y) _; rewrite !urn_weight_add mulrSr.
  have le1 (b1 : bool) : unit * b1%:R <= unit by case: b1; rewrite ?mulr1 ?mulr0.
  have ge0 (b1 : bool) : 0 <= unit * b1%:R by rewrite mulr_ge0 ?ler0n.
  by have := le1 (y == a); have := ge0 (y == b); rat_linear.
move=> c c' /moved[same gain] y; rewrite law_leP // -![\sum_z _]/(total _) same.
rewrite ler_wpmul2r ?(ltW (urn_total_gt0 base_positive unit_nonnegative _ y)) //.
apply: le_trans (gain y) (covered (y := y) (leqnn g) _).
by rewrite ler_addl mulr_ge0 ?ler0n.
Qed.

(* Up to g records are added, or removed. *)
Definition add_remove_several (c c' : counts k) : Prop :=
  exists2 h, (h <= g)%N & within (@added k) h c c' \/ within (@added k) h c' c.

Theorem roo_one_draw_add_remove : private add_remove_several G roo_one_draw.
Proof.
have more h c c' : within (@added k) h c c' ->
    total c' = total c + unit * h%:R /\
    forall y, weight c y <= weight c' y /\ weight c' y <= weight c y + unit * h%:R.
  elim: h c => [|h IH] c /= => [->|[d [[a ->] /IH[all each]]]].
    by rewrite mulr0 addr0; split=> // y; rewrite addr0.
  rewrite all urn_total_add mulrSr; split=> [|y]; first by rat_linear.
  have [low high] := each y; move: low high; rewrite urn_weight_add.
  have le1 (b1 : bool) : unit * b1%:R <= unit by case: b1; rewrite ?mulr1 ?mulr0.
  have ge0 (b1 : bool) : 0 <= unit * b1%:R by rewrite mulr_ge0 ?ler0n.
  by have := le1 (y == a); have := ge0 (y == a); split; rat_linear.
have base_le c y : base y <= weight c y by rewrite ler_addl mulr_ge0 ?ler0n.
have total_ge0 c (y : 'I_k) := ltW (urn_total_gt0 base_positive unit_nonnegative c y).
move=> c c' [h h_le []] /more[all each] y; rewrite law_leP // -![\sum_z _]/(total _) all.
  apply: ler_pmul; rewrite ?(ltW (weight_gt0 _ _)) ?total_ge0 //.
    by have [_ high] := each y; apply: le_trans high (covered h_le (base_le _ _)).
  by rewrite ler_addl mulr_ge0 ?ler0n.
rewrite mulrAC [G * _ * _]mulrC; have [low _] := each y.
apply: ler_pmul; rewrite ?(ltW (weight_gt0 _ _)) ?addr_ge0 ?total_ge0 ?mulr_ge0 ?ler0n //.
by apply: (covered (y := y)) => //; apply: base_le_total.
Qed.

End SeveralRecords.
