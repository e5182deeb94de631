(* ALS-ROO: a letter's weight depends on its own count and on the records that the other letters
   have at risk, at most knee of each. Its own records never move its own level. *)

From dproo Require Import Preamble Rational Privacy.

Section Adaptive.

Variables (k n knee : nat) (power : nat -> rat) (unit offset rise high G : rat).

Definition level (d : nat) : rat := Num.min high (rise * d%:R + offset).

Definition adaptive_weight (c d : nat) : rat :=
  Num.min (unit * (maxn c knee)%:R) (power c * level d).

(* What the fellows of letter y have at risk. *)
Definition at_risk (c : counts k) (y : 'I_k) : nat := (\sum_(z | z != y) minn (c z) knee)%N.

Definition als_roo (c : counts k) (y : 'I_k) : rat :=
  law (fun z => adaptive_weight (c z) (at_risk c z)) y.

Hypothesis growth_at_least_one : 1 <= G.
Hypothesis unit_positive : 0 < unit.
Hypothesis knee_positive : (0 < knee)%N.
Hypothesis knee_grows_at_most : knee.+1%:R <= G * knee%:R.
Hypothesis high_positive : 0 < high.
Hypothesis rise_nonnegative : 0 <= rise.
Hypothesis offset_positive : 0 < offset.
Hypothesis level_grows_at_most : offset + rise <= G * offset.
Hypothesis powers_positive : forall c, 0 < power c.
Hypothesis powers_rising : forall c, power c <= power c.+1.
Hypothesis powers_grow_at_most : forall c, (c < n)%N -> power c.+1 <= G * power c.

Let G_gt0 : 0 < G. Proof. exact: lt_le_trans ltr01 growth_at_least_one. Qed.

Let level_gt0 d : 0 < level d.
Proof. by rewrite lt_minr high_positive ltr_paddl ?mulr_ge0 ?ler0n. Qed.

Let weight_gt0 c d : 0 < adaptive_weight c d.
Proof.
by rewrite lt_minr !mulr_gt0 // ltr0n (leq_trans knee_positive) // leq_maxr.
Qed.

Let min_grows (a b a' b' : rat) : a' <= G * a -> b' <= G * b -> Num.min a' b' <= G * Num.min a b.
Proof. by move=> aa bb; rewrite minr_pmulr ?(ltW G_gt0) // le_minr !le_minl aa bb orbT. Qed.

Let level_rises d : level d <= level d.+1.
Proof. by rewrite le_minr !le_minl lexx /= ler_add2r ler_wpmul2l ?ler_nat ?leqnSn // orbT. Qed.

Let level_grows d : level d.+1 <= G * level d.
Proof.
apply: min_grows; first by rewrite ler_pemull // ltW.
have d_ge0 : 0 <= rise * d%:R by rewrite mulr_ge0 ?ler0n.
have := ler_wpmul2r d_ge0 growth_at_least_one; rewrite mulrSr.
by have := level_grows_at_most; rat_linear.
Qed.

Let weight_rises c d : adaptive_weight c d <= adaptive_weight c.+1 d.
Proof.
rewrite le_minr !le_minl ler_pmul2l // ler_nat geq_max !leq_max leqnSn leqnn orbT /=.
by rewrite ler_pmul2r // powers_rising orbT.
Qed.

Let weight_rises_level c d : adaptive_weight c d <= adaptive_weight c d.+1.
Proof. by rewrite le_minr !le_minl lexx /= ler_pmul2l // level_rises orbT. Qed.

Let weight_grows c d : (c < n)%N -> adaptive_weight c.+1 d <= G * adaptive_weight c d.
Proof.
move=> c_n; apply: min_grows; last by rewrite mulrA ler_pmul2r // powers_grow_at_most.
rewrite mulrCA ler_pmul2l //; have [c_knee|knee_c] := ltnP c knee.
  by rewrite !(maxn_idPr _) ?(ltnW c_knee) // ler_pemull ?ler0n.
rewrite !(maxn_idPl _) ?(leqW knee_c) //.
have : (knee%:R <= c%:R :> rat) by rewrite ler_nat.
move: growth_at_least_one knee_grows_at_most; rewrite !mulrSr -subr_ge0 => G1 grows le.
by have := ler_wpmul2l G1 le; move: grows; rat_linear.
Qed.

Let weight_grows_level c d : adaptive_weight c d.+1 <= G * adaptive_weight c d.
Proof.
apply: min_grows; last by rewrite mulrCA ler_pmul2l // level_grows.
by rewrite ler_pemull // mulr_ge0 ?ler0n ?ltW.
Qed.

(* A record of a moves the count of a, or the level of another letter, by one at most. *)
Let at_risk_own c a : at_risk (add c a) a = at_risk c a.
Proof. by apply: eq_bigr => z /negbTE z_a; rewrite addE z_a addn0. Qed.

Let at_risk_other c a y : y != a ->
  at_risk (add c a) y = at_risk c y \/ at_risk (add c a) y = (at_risk c y).+1.
Proof.
move=> y_a; have split d : at_risk d y =
    (minn (d a) knee + \sum_(z | (z != y) && (z != a)) minn (d z) knee)%N.
  by rewrite /at_risk (bigD1 a) // eq_sym.
rewrite !split addE eqxx addn1.
have -> : (\sum_(z | (z != y) && (z != a)) minn (add c a z) knee =
           \sum_(z | (z != y) && (z != a)) minn (c z) knee)%N.
  by apply: eq_bigr => z /andP[_ /negbTE z_a]; rewrite addE z_a addn0.
have [c_knee|knee_c] := ltnP (c a) knee.
  by right; rewrite !(minn_idPl _) ?(ltnW c_knee).
by left; rewrite !(minn_idPr _) ?(leqW knee_c).
Qed.

Theorem als_roo_add_remove : private (@add_remove_up_to k n) G als_roo.
Proof.
pose w (c : counts k) z := adaptive_weight (c z) (at_risk c z).
have positive c z : 0 < w c z by apply: weight_gt0.
have moves c a z : (records (add c a) <= n)%N -> w c z <= w (add c a) z <= G * w c z.
  rewrite records_add /w => below; have [->|z_a] := eqVneq z a.
    rewrite at_risk_own addE eqxx addn1 weight_rises weight_grows //.
    exact: leq_ltn_trans (count_le_records c a) below.
  rewrite addE (negbTE z_a) addn0; case: (at_risk_other c z_a) => ->.
    by rewrite lexx ler_pemull // ltW.
  by rewrite weight_rises_level weight_grows_level.
move=> c c' [[] [a ->] below below'] y.
  by have [] := law_squeezed y (positive c) (fun z => proj1 (andP (moves c a z below')))
    (fun z => proj2 (andP (moves c a z below'))).
by have [] := law_squeezed y (positive c') (fun z => proj1 (andP (moves c' a z below)))
  (fun z => proj2 (andP (moves c' a z below))).
Qed.

End Adaptive.
