(* ROO with several draws, for a person who owns up to g records: where a record weighs no more
   than the lightest letter, the worst is that all records and all draws are on one letter. *)

From dproo Require Import Preamble Rational Privacy RevealOrObscure SeveralRecords.

Section SeveralDraws.

Variables (k : nat) (base : 'I_k -> rat) (unit lightest G : rat) (g draws : nat).

Notation weight := (urn_weight base unit).
Notation total := (urn_total base unit).

(* w (w + unit) (w + 2 unit) ..., so many factors. *)
Definition rising (w : rat) (t : nat) : rat := \prod_(i < t) (w + unit * i%:R).

Hypothesis lightest_positive : 0 < lightest.
Hypothesis unit_nonnegative : 0 <= unit.
Hypothesis base_at_least : forall y, lightest <= base y.
Hypothesis unit_at_most_lightest : unit <= lightest.
Hypothesis lightest_covers_all :
  rising (lightest + unit * g%:R) draws <= G * rising lightest draws.

Let base_gt0 y : 0 < base y. Proof. exact: lt_le_trans (base_at_least y). Qed.

Let factor_gt0 w (i : nat) : 0 < w -> 0 < w + unit * i%:R.
Proof. by move=> w_gt0; rewrite ltr_paddr ?mulr_ge0 ?ler0n. Qed.

Let rising_gt0 w t : 0 < w -> 0 < rising w t.
Proof. by move=> w_gt0; apply: prodr_gt0 => i _; apply: factor_gt0. Qed.

Let rising_le w w' t : 0 < w -> w <= w' -> rising w t <= rising w' t.
Proof.
move=> w_gt0 le; apply: ler_prod => i _.
by rewrite (ltW (factor_gt0 _ w_gt0)) ler_add2r.
Qed.

Let risingS w t : rising w t.+1 = w * rising (w + unit) t.
Proof.
rewrite /rising big_ord_recl mulr0 addr0; congr (_ * _); apply: eq_bigr => i _.
by rewrite lift0 mulrSr; rat_linear.
Qed.

Let risingSr w t : rising w t.+1 = rising w t * (w + unit * t%:R).
Proof. by rewrite /rising big_ord_recr. Qed.

(* The urn, as a quotient of products. *)
Let urn_rising c letters :
  urn base unit c letters * rising (total c) (size letters) =
  \prod_y rising (weight c y) (count_mem y letters).
Proof.
elim: letters c => [|y letters IH] c /=.
  by rewrite mul1r /rising big_ord0 big1 // => y _; rewrite big_ord0.
have T_gt0 := urn_total_gt0 base_gt0 unit_nonnegative c y.
rewrite risingS -(urn_total_add base unit c y) /law -[\sum_z _]/(total c).
have -> : weight c y / total c * urn base unit (add c y) letters *
    (total c * rising (total (add c y)) (size letters)) =
    weight c y * (urn base unit (add c y) letters * rising (total (add c y)) (size letters)).
  by rewrite -!mulrA; congr (_ * _); rewrite mulrCA mulKf ?gt_eqF // mulrCA mulrA.
rewrite IH (bigD1 y) //= [RHS](bigD1 y) //= eqxx add1n risingS urn_weight_add eqxx mulr1 -mulrA.
congr (_ * (_ * _)); apply: eq_bigr => z z_y.
by rewrite urn_weight_add (negbTE z_y) mulr0 addr0 [y == z]eq_sym (negbTE z_y) add0n.
Qed.

(* How much likelier the lightest letter becomes if it gains j records and is drawn t times. *)
Let rise (j t : nat) : rat := rising (lightest + unit * j%:R) t / rising lightest t.

Let rise_gt0 j t : 0 < rise j t.
Proof. by rewrite divr_gt0 ?rising_gt0 // factor_gt0. Qed.

Let rise0 t : rise 0 t = 1.
Proof. by rewrite /rise mulr0 addr0 divff // gt_eqF ?rising_gt0. Qed.

(* Every other letter grows less. *)
Let rise_lightest w j t : lightest <= w ->
  rising (w + unit * j%:R) t <= rising w t * rise j t.
Proof.
move=> le; have w_gt0 := lt_le_trans lightest_positive le.
rewrite mulrA ler_pdivl_mulr ?rising_gt0 // -!big_split /=; apply: ler_prod => i _.
have j_ge0 : 0 <= unit * j%:R by rewrite mulr_ge0 ?ler0n.
have wj_gt0 : 0 < w + unit * j%:R by apply: factor_gt0.
rewrite mulr_ge0 ?(ltW (factor_gt0 _ _)) //=.
by have := ler_wpmul2l j_ge0 le; rat_linear.
Qed.

(* One record more. *)
Let riseS j t :
  rise j.+1 t * (lightest + unit * j%:R) = rise j t * (lightest + unit * (j + t)%:R).
Proof.
rewrite /rise mulrAC [RHS]mulrAC; congr (_ / _).
have -> : lightest + unit * j.+1%:R = lightest + unit * j%:R + unit.
  by rewrite mulrSr; rat_linear.
rewrite mulrC -risingS risingSr natrD; congr (_ * _); rat_linear.
Qed.

Let rise_le_step j t : rise j t <= rise j.+1 t.
Proof.
rewrite -(ler_pmul2r (factor_gt0 j lightest_positive)) riseS ler_pmul2l //.
by rewrite ler_add2l ler_wpmul2l // ler_nat leq_addr.
Qed.

Let rise_le j j' t : (j <= j')%N -> rise j t <= rise j' t.
Proof.
move/subnK <-; elim: (j' - j)%N => [|d IH] //.
by rewrite addSn (le_trans IH).
Qed.

Let rise_draws j t t' : rise j t <= rise j (t + t').
Proof.
elim: j => [|j IH]; first by rewrite !rise0.
rewrite -(ler_pmul2r (factor_gt0 j lightest_positive)) !riseS.
apply: ler_pmul => //; rewrite ?(ltW (rise_gt0 _ _)) ?(ltW (factor_gt0 _ _)) //.
by rewrite ler_add2l ler_wpmul2l // ler_nat leq_add2l leq_addr.
Qed.

(* What two letters gain, one of them would gain alone, or more. *)
Let together j j' t t' : rise j t * rise j' t' <= rise (j + j') (t + t').
Proof.
have [N] := ubnP (j + j'); elim: N j j' t t' => // N IH j j' t t' below.
wlog: j j' t t' below / (j' * t <= j * t')%N => [wlg|most].
  have [|/ltnW] := leqP (j' * t) (j * t'); first exact: wlg.
  by move=> le; rewrite mulrC addnC [(t + t')%N]addnC; apply: wlg le; rewrite addnC.
case: j below most => [_|j below most].
  rewrite leqn0 muln_eq0 => /orP[/eqP ->|/eqP ->]; first by rewrite !rise0 mulr1.
  by rewrite rise0 mul1r add0n add0n.
have {IH below}IH := IH j j' t t' below.
pose f i : rat := lightest + unit * i%:R.
have f_gt0 i : 0 < f i by apply: factor_gt0.
have ratio : f (j + t)%N * f (j + j')%N <= f j * f (j + j' + (t + t'))%N.
  have u2 : 0 <= unit * unit by rewrite mulr_ge0.
  have most' : j'%:R * t%:R <= (j%:R + 1) * t'%:R :> rat.
    by rewrite -mulrSr -!natrM ler_nat.
  have := ler_wpmul2l u2 most'; rewrite /f !natrD.
  have t'_ge0 : 0 <= unit * t'%:R by rewrite mulr_ge0 ?ler0n.
  by have := ler_wpmul2l t'_ge0 unit_at_most_lightest; rat_linear.
have left_rise : rise j.+1 t * f j * (rise j' t' * f (j + j')%N) =
    rise j t * f (j + t)%N * (rise j' t' * f (j + j')%N) by rewrite riseS.
have right_rise : rise (j + j').+1 (t + t') * f (j + j')%N * f j =
    rise (j + j') (t + t') * f (j + j' + (t + t'))%N * f j by rewrite riseS.
have key : rise j t * rise j' t' * (f (j + t)%N * f (j + j')%N) <=
    rise (j + j') (t + t') * (f j * f (j + j' + (t + t'))%N).
  by apply: ler_pmul; rewrite // mulr_ge0 // ltW.
rewrite addSn -(ler_pmul2r (f_gt0 j)) -(ler_pmul2r (f_gt0 (j + j')%N)).
by move: left_rise right_rise key; clear; rat_linear.
Qed.

Let all_together (letters : seq 'I_k) (j t : 'I_k -> nat) :
  \prod_(y <- letters) rise (j y) (t y) <=
  rise (\sum_(y <- letters) j y) (\sum_(y <- letters) t y).
Proof.
elim: letters => [|y letters IH]; first by rewrite !big_nil rise0.
rewrite !big_cons; apply: le_trans (together _ _ _ _).
by rewrite ler_pmul2l.
Qed.

Let total_draws (letters : seq 'I_k) : (\sum_y count_mem y letters = size letters)%N.
Proof.
elim: letters => [|z letters IH]; first by rewrite big1.
by rewrite /= big_split /= IH (bigD1 z) //= eqxx big1 // => y; rewrite eq_sym => /negbTE ->.
Qed.

Let gains_bounded (c c' : counts k) (j : 'I_k -> nat) (letters : draws.-tuple 'I_k) :
  (\sum_y j y <= g)%N -> (forall y, weight c' y <= weight c y + unit * (j y)%:R) ->
  \prod_y rising (weight c' y) (count_mem y letters) <=
  G * \prod_y rising (weight c y) (count_mem y letters).
Proof.
move=> few gain; have weight_gt0 d y : 0 < weight d y by apply: urn_weight_gt0.
have covered : rise g draws <= G by rewrite ler_pdivr_mulr // rising_gt0.
pose t y := count_mem y letters.
apply: le_trans (_ : \prod_y (rising (weight c y) (t y) * rise (j y) (t y)) <= _).
  apply: ler_prod => y _; rewrite (ltW (rising_gt0 _ _)) //=.
  apply: le_trans (rising_le (t y) _ (gain y)) (rise_lightest _ _ _) => //.
  by apply: le_trans (base_at_least y) _; rewrite ler_addl mulr_ge0 ?ler0n.
rewrite big_split /= mulrC; apply: ler_wpmul2r.
  by apply: prodr_ge0 => y _; apply/ltW/rising_gt0.
apply: le_trans (all_together _ _ _) (le_trans _ covered).
by rewrite total_draws size_tuple rise_le.
Qed.

(* The denominators of the urn may grow. *)
Let roo_le (c c' : counts k) (letters : draws.-tuple 'I_k) (T : rat) :
  0 < T -> T <= rising (total c') draws ->
  \prod_y rising (weight c' y) (count_mem y letters) <=
    G * \prod_y rising (weight c y) (count_mem y letters) ->
  rising (total c) draws <= T -> 0 <= G ->
  roo base unit c' letters <= G * roo base unit c letters.
Proof.
move=> T_gt0 T_le; rewrite -!urn_rising size_tuple => le c_le G_ge0.
have U_ge0 d : 0 <= urn base unit d letters by apply: urn_ge0.
rewrite /roo -(ler_pmul2r T_gt0) -mulrA.
apply: le_trans (_ : urn base unit c' letters * rising (total c') draws <= _).
  by rewrite ler_wpmul2l.
by apply: le_trans le _; rewrite ler_wpmul2l // ler_wpmul2l.
Qed.

Let growth_ge0 : 0 <= G.
Proof.
rewrite -(pmulr_lge0 _ (rising_gt0 draws lightest_positive)).
by apply: le_trans lightest_covers_all; apply/ltW/rising_gt0/factor_gt0.
Qed.

Let total_gt0 c (letters : draws.-tuple 'I_k) : 0 < rising (total c) draws.
Proof.
apply: prodr_gt0 => i _; apply: factor_gt0.
exact: urn_total_gt0 base_gt0 unit_nonnegative c (tnth letters i).
Qed.

Theorem roo_both_replace : private (within (@replaced k) g) G (@roo k base unit draws).
Proof.
have moved h c c' : within (@replaced k) h c c' -> total c = total c' /\
    exists2 j : 'I_k -> nat, (\sum_y j y <= h)%N &
    forall y, weight c' y <= weight c y + unit * (j y)%:R.
  elim: h c => [|h IH] c /= => [->|[d [[rest [a [b [-> ->]]]] /IH[same [j few gain]]]]].
    by split=> //; exists (fun=> 0%N) => [|y]; rewrite ?big1 // mulr0 addr0.
  split; first by rewrite -same !urn_total_add.
  exists (fun y => (j y + (y == a))%N) => [|y].
    rewrite big_split /= -addn1 leq_add // (bigD1 a) //= eqxx big1 // => y /negbTE -> //.
  apply: le_trans (gain y) _; rewrite !urn_weight_add natrD.
  have ge0 : 0 <= unit * (y == b)%:R by rewrite mulr_ge0 ?ler0n.
  by rat_linear.
move=> c c' /moved[same [j few gain]] letters.
have T_gt0 : 0 < rising (total c) draws by apply: total_gt0 letters.
by apply: (roo_le T_gt0); rewrite -?same //; apply: gains_bounded gain.
Qed.

Theorem roo_both_add_remove : private (@add_remove_several k g) G (@roo k base unit draws).
Proof.
have more h c c' : within (@added k) h c c' ->
    [/\ total c' = total c + unit * h%:R, forall y, weight c y <= weight c' y &
    exists2 j : 'I_k -> nat, (\sum_y j y <= h)%N &
    forall y, weight c' y <= weight c y + unit * (j y)%:R].
  elim: h c => [|h IH] c /= => [->|[d [[a ->] /IH[all up [j few gain]]]]].
    rewrite mulr0 addr0; split=> //.
    by exists (fun=> 0%N) => [|y]; rewrite ?big1 // mulr0 addr0.
  have ge0 y : 0 <= unit * (y == a)%:R by rewrite mulr_ge0 ?ler0n.
  split.
  - by rewrite all urn_total_add mulrSr; rat_linear.
  - by move=> y; have := up y; rewrite urn_weight_add; have := ge0 y; rat_linear.
  exists (fun y => (j y + (y == a))%N) => [|y].
    by rewrite big_split /= -addn1 leq_add // (bigD1 a) //= eqxx big1 // => y /negbTE ->.
  by apply: le_trans (gain y) _; rewrite !urn_weight_add natrD; rat_linear.
move=> c c' [h h_le []] /more[all up [j few gain]] letters.
  have T_gt0 : 0 < rising (total c) draws by apply: total_gt0 letters.
  apply: (roo_le T_gt0) => //; last by apply: gains_bounded gain; apply: leq_trans h_le.
  case: (posnP draws) => [none|some]; first by rewrite /rising none !big_ord0.
  apply: rising_le; first exact: urn_total_gt0 base_gt0 unit_nonnegative c (tnth letters (Ordinal some)).
  by rewrite all ler_addl mulr_ge0 ?ler0n.
have [none|some] := posnP draws.
  have G_ge1 : 1 <= G by move: lightest_covers_all; rewrite /rising none !big_ord0 mulr1.
  rewrite /roo; have -> : tval letters = [::] by apply: size0nil; rewrite size_tuple.
  by rewrite /= mulr1.
have T_gt0 : 0 < rising (total c') draws by apply: total_gt0 letters.
have U_ge0 d : 0 <= urn base unit d letters by apply: urn_ge0.
have grown : rising (total c) draws <= G * rising (total c') draws.
  rewrite all [G * _]mulrC; apply: le_trans (rise_lightest _ _ _) _; last first.
    rewrite ler_pmul2l // (le_trans (rise_le _ h_le)) // ler_pdivr_mulr ?rising_gt0 //.
  apply: le_trans (base_at_least (tnth letters (Ordinal some))) _.
  exact: base_le_total.
rewrite /roo -(ler_pmul2r T_gt0) mulrAC; apply: le_trans (ler_wpmul2r (U_ge0 c) grown).
have numerators : \prod_y rising (weight c' y) (count_mem y letters) <=
    \prod_y rising (weight c y) (count_mem y letters).
  apply: ler_prod => y _; have w_gt0 : 0 < weight c' y by apply: urn_weight_gt0.
  by rewrite (ltW (rising_gt0 _ _)) //= rising_le.
by move: numerators; rewrite -!urn_rising size_tuple [X in _ <= X]mulrC.
Qed.

End SeveralDraws.
