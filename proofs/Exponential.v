(* e^eps without real numbers: the partial sums of its series.

   For eps >= 0 they rise towards e^eps, so a rational that one of them reaches is at most e^eps.
   For a rational eps > 0 the number e^eps is not rational (Lindemann); hence every rational
   below it is reached, and nothing is lost. *)

From dproo Require Import Preamble Rational Privacy.

Definition exp_term (eps : rat) (i : nat) : rat := eps ^+ i / (i`!)%:R.

Definition exp_sum (eps : rat) (m : nat) : rat := \sum_(i < m) exp_term eps i.

Definition at_most_exp (G eps : rat) : Prop := exists m, G <= exp_sum eps m.

(* eps-differential privacy, for datasets that are near. *)
Definition dp (D T : Type) (near : D -> D -> Prop) (eps : rat) (P : D -> T -> rat) : Prop :=
  exists G, private near G P /\ at_most_exp G eps.

(* A rational that no partial sum passes is at least e^eps. *)
Definition at_least_exp (H eps : rat) : Prop := forall m, exp_sum eps m <= H.

Lemma fact_neq0 i : (i`!)%:R != 0 :> rat.
Proof. by rewrite pnatr_eq0 -lt0n fact_gt0. Qed.

Lemma exp_term_ge0 eps i : 0 <= eps -> 0 <= exp_term eps i.
Proof. by move=> eps_ge0; rewrite mulr_ge0 ?exprn_ge0 ?invr_ge0 ?ler0n. Qed.

(* The i-th term of the sum of two exponents, by the binomial theorem. *)
Lemma exp_termD a b i :
  exp_term (a + b) i = \sum_(j < i.+1) exp_term a (i - j) * exp_term b j.
Proof.
rewrite /exp_term exprDn mulr_suml; apply: eq_bigr => j _.
have j_le : (j <= i)%N by rewrite -ltnS.
have := bin_fact j_le; move/(congr1 (fun x => x%:R : rat)); rewrite !natrM => binE.
rewrite -binE !invfM -mulr_natr.
have: 'C(i, j)%:R / 'C(i, j)%:R = 1 :> rat by rewrite mulfV // pnatr_eq0 -lt0n bin_gt0.
move: ('C(i, j)%:R^-1) (_`!%:R^-1) (_`!%:R^-1) => c' u v /(congr1 ( *%R (a ^+ (i - j) * b ^+ j * u * v))).
by rat_linear.
Qed.

Lemma exp_sum_le eps m m' : 0 <= eps -> (m <= m')%N -> exp_sum eps m <= exp_sum eps m'.
Proof.
move=> eps_ge0 /subnKC <-; rewrite /exp_sum big_split_ord /= ler_addl sumr_ge0 // => i _.
exact: exp_term_ge0.
Qed.

(* Exponents add: e^a e^b = e^(a+b), from below. *)
Lemma exp_sumD a b m : 0 <= a -> 0 <= b ->
  exp_sum a m * exp_sum b m <= exp_sum (a + b) (m + m).
Proof.
move=> a_ge0 b_ge0; pose series x := \poly_(i < m) exp_term x i.
have at1 x : (series x).[1] = exp_sum x m.
  by rewrite horner_poly; apply: eq_bigr => i _; rewrite expr1n mulr1.
have coef_ge0 x i : 0 <= x -> 0 <= (series x)`_i.
  by move=> x_ge0; rewrite coef_poly; case: ifP => // _; apply: exp_term_ge0.
have coef_le x i : 0 <= x -> (series x)`_i <= exp_term x i.
  by move=> x_ge0; rewrite coef_poly; case: ifP => // _; apply: exp_term_ge0.
have size_le : (size (series a * series b)%R <= m + m)%N.
  apply: leq_trans (size_mul_leq _ _) (leq_trans (leq_pred _) (leq_add _ _)); exact: size_poly.
rewrite -!at1 -hornerM (horner_coef_wide _ size_le); apply: ler_sum => i _.
rewrite expr1n mulr1 coefMr exp_termD; apply: ler_sum => j _.
by apply: ler_pmul; rewrite ?coef_ge0 ?coef_le.
Qed.

(* Two releases, the second of which may depend on the first, cost the sum of their eps. *)
Theorem at_most_exp_mul G H a b :
  0 <= a -> 0 <= b -> 0 <= H -> at_most_exp G a -> at_most_exp H b -> at_most_exp (G * H) (a + b).
Proof.
move=> a_ge0 b_ge0 H_ge0 [m Gm] [m' Hm']; pose s := maxn m m'; exists (s + s)%N.
have Gs := le_trans Gm (exp_sum_le a_ge0 (leq_maxl m m')).
have Hs := le_trans Hm' (exp_sum_le b_ge0 (leq_maxr m m')).
apply: le_trans (exp_sumD s a_ge0 b_ge0).
apply: le_trans (ler_wpmul2r H_ge0 Gs) (ler_wpmul2l _ Hs).
by apply: sumr_ge0 => i _; apply: exp_term_ge0.
Qed.

(* The program's lower bound on e^eps: terms rounded down are added up, for eps halved h times,
   and the sum is squared h times, rounded down each time. *)
Section Lower.

Variables (z : rat) (t : nat -> rat) (terms : nat) (square : nat -> rat).
Hypothesis argument_nonnegative : 0 <= z.
Hypothesis first_term_is_one : t 0%N <= 1.
Hypothesis terms_rounded_down : forall i, t i.+1 <= t i * z / i.+1%:R.
Hypothesis sum_of_terms : square 0%N <= \sum_(i < terms) t i.
Hypothesis squares_nonnegative : forall h, 0 <= square h.
Hypothesis squares_rounded_down : forall h, square h.+1 <= square h ^+ 2.

Theorem exp_lower_is_lower h : at_most_exp (square h) (z *+ (2 ^ h)).
Proof.
elim: h => [|h IH].
  exists terms; apply: le_trans sum_of_terms (ler_sum _ _) => i _.
  elim: (i : nat) => [|j IH]; first by rewrite /exp_term expr0 fact0 divr1.
  apply: le_trans (terms_rounded_down j) _; rewrite /exp_term exprSr factS natrM invfM.
  have inv_ge0 : 0 <= (j.+1%:R)^-1 :> rat by rewrite invr_ge0 ler0n.
  apply: le_trans (ler_wpmul2r inv_ge0 (ler_wpmul2r argument_nonnegative IH)) _.
  by rewrite /exp_term -!mulrA; rat_linear.
have z_ge0 : 0 <= z *+ (2 ^ h) by rewrite mulrn_wge0.
have [m] := at_most_exp_mul z_ge0 z_ge0 (squares_nonnegative h) IH IH.
rewrite -mulrnDr addnn -mul2n -expnS => bound; exists m.
by apply: le_trans (squares_rounded_down h) _; rewrite expr2.
Qed.

End Lower.

(* And from above: the first terms of the product of two sums. *)
Lemma exp_sumD_upper a b m : 0 <= a -> 0 <= b ->
  exp_sum (a + b) m <= exp_sum a m * exp_sum b m.
Proof.
move=> a_ge0 b_ge0; pose series x := \poly_(i < m) exp_term x i.
have at1 x : (series x).[1] = exp_sum x m.
  by rewrite horner_poly; apply: eq_bigr => i _; rewrite expr1n mulr1.
have coef_ge0 x i : 0 <= x -> 0 <= (series x)`_i.
  by move=> x_ge0; rewrite coef_poly; case: ifP => // _; apply: exp_term_ge0.
have size_le : (size (series a * series b)%R <= m + m)%N.
  apply: leq_trans (size_mul_leq _ _) (leq_trans (leq_pred _) (leq_add _ _)); exact: size_poly.
rewrite -(at1 a) -(at1 b) -hornerM (horner_coef_wide _ size_le) big_split_ord /= ler_paddr //.
  apply: sumr_ge0 => i _; rewrite expr1n mulr1 coefMr sumr_ge0 // => j _.
  by rewrite mulr_ge0 ?coef_ge0.
rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /exp_sum; apply: eq_bigr => i _.
rewrite expr1n mulr1 coefMr exp_termD; apply: eq_bigr => j _.
have j_lt : (j < m)%N by apply: leq_ltn_trans (ltn_ord i); rewrite -ltnS.
by rewrite !coef_poly j_lt (leq_ltn_trans (leq_subr j i) (ltn_ord i)).
Qed.

(* The program's upper bound on e^eps: less than two units are missing of each term, and less
   than four of all terms after the first that is rounded to zero. *)
Section Upper.

Variables (z unit : rat) (t : nat -> rat) (last : nat) (square : nat -> rat).
Hypothesis argument_nonnegative : 0 <= z.
Hypothesis argument_at_most_half : z + z <= 1.
Hypothesis unit_nonnegative : 0 <= unit.
Hypothesis first_term_not_below_one : 1 <= t 0%N.
Hypothesis terms_short_by_a_unit : forall i, t i * z / i.+1%:R <= t i.+1 + unit.
Hypothesis last_term_is_zero : t last <= 0.
Hypothesis sum_and_what_is_short :
  \sum_(i < last) t i + unit * (2 * last + 4)%:R <= square 0%N.
Hypothesis squares_rounded_up : forall h, square h ^+ 2 <= square h.+1.

Let two_units : rat := unit + unit.

Let half i x : 0 <= x -> x * z / i.+1%:R + x * z / i.+1%:R <= x.
Proof.
move=> x_ge0; have i_gt0 : 0 < i.+1%:R :> rat by rewrite ltr0n.
rewrite -mulrDl -mulrDr ler_pdivr_mulr //.
have i_ge1 : 1 <= i.+1%:R :> rat by rewrite ler1n.
have := ler_wpmul2l x_ge0 argument_at_most_half; have := ler_wpmul2l x_ge0 i_ge1.
by rat_linear.
Qed.

Let termS i : exp_term z i.+1 = exp_term z i * z / i.+1%:R.
Proof. by rewrite /exp_term exprSr factS natrM invfM; rat_linear. Qed.

Let term_short i : exp_term z i <= t i + two_units.
Proof.
elim: i => [|i IH].
  rewrite /exp_term expr0 fact0 divr1; apply: le_trans first_term_not_below_one _.
  by rewrite ler_addl addr_ge0.
have inv_ge0 : 0 <= (i.+1%:R)^-1 :> rat by rewrite invr_ge0 ler0n.
rewrite termS; apply: le_trans (ler_wpmul2r inv_ge0 (ler_wpmul2r argument_nonnegative IH)) _.
have two_ge0 : 0 <= two_units by rewrite addr_ge0.
have := half i two_ge0; have := terms_short_by_a_unit i; rewrite /two_units !mulrDl.
by rat_linear.
Qed.

Let bound : rat := \sum_(i < last) t i + unit * (2 * last + 4)%:R.

Let tail m : exp_sum z (last + m) + (exp_term z (last + m) + exp_term z (last + m)) <= bound.
Proof.
elim: m => [|m IH].
  rewrite addn0; have := term_short last; have := last_term_is_zero.
  have : exp_sum z last <= \sum_(i < last) t i + two_units * last%:R.
    have -> : two_units * last%:R = \sum_(i < last) two_units.
      by rewrite sumr_const card_ord mulr_natr.
    by rewrite -big_split; apply: ler_sum => i _; apply: term_short.
  rewrite /bound; have -> : (2 * last + 4)%:R = last%:R + last%:R + 1 + 1 + 1 + 1 :> rat.
    by rewrite mul2n -addnn -[4%N]/(1 + 1 + 1 + 1)%N !addnA !natrD.
  by rewrite /two_units; rat_linear.
rewrite addnS; have := half (last + m) (exp_term_ge0 (last + m) argument_nonnegative).
rewrite -termS; move: IH; rewrite /exp_sum big_ord_recr /=.
by rat_linear.
Qed.

Theorem exp_upper_is_upper h : at_least_exp (square h) (z *+ (2 ^ h)).
Proof.
elim: h => [|h IH] m.
  rewrite expn0 mulr1n; apply: le_trans sum_and_what_is_short.
  apply: le_trans (exp_sum_le argument_nonnegative (leq_addl last m)) _.
  have := tail m; have := exp_term_ge0 (last + m) argument_nonnegative.
  by rewrite -/bound; rat_linear.
have z_ge0 : 0 <= z *+ (2 ^ h) by rewrite mulrn_wge0.
have sum_ge0 : 0 <= exp_sum (z *+ (2 ^ h)) m.
  by apply: sumr_ge0 => i _; apply: exp_term_ge0.
rewrite expnS mul2n -addnn mulrnDr; apply: le_trans (exp_sumD_upper m z_ge0 z_ge0) _.
apply: le_trans (squares_rounded_up h); rewrite expr2.
by apply: ler_pmul; rewrite ?IH.
Qed.

End Upper.

(* The program's upper bound on a power: squares are rounded up, and multiplied where the exponent,
   halved so often, is odd. *)
Section Power.

Variables (base : rat) (exponent : nat) (power square : nat -> rat).

Fixpoint halved (h : nat) : nat := if h is h'.+1 then (halved h')./2 else exponent.

Hypothesis base_nonnegative : 0 <= base.
Hypothesis power_starts_at_one : 1 <= power 0%N.
Hypothesis square_starts_at_base : base <= square 0%N.
Hypothesis powers_rounded_up : forall h, power h * square h ^+ odd (halved h) <= power h.+1.
Hypothesis squares_rounded_up : forall h, square h ^+ 2 <= square h.+1.

Theorem power_upper_is_upper h : halved h = 0%N -> base ^+ exponent <= power h.
Proof.
have square_ge0 i : 0 <= square i.
  elim: i => [|i IH]; first exact: le_trans base_nonnegative square_starts_at_base.
  by apply: le_trans (squares_rounded_up i); apply: exprn_ge0.
suff [_ bound] : 0 <= power h /\ base ^+ exponent <= power h * square h ^+ halved h.
  by move=> end_; move: bound; rewrite end_ expr0 mulr1.
elim: h => [|h [power_ge0 IH]] /=.
  split; first exact: le_trans ler01 power_starts_at_one.
  rewrite -[X in X <= _]mul1r; apply: ler_pmul; rewrite ?exprn_ge0 //.
  by apply: ler_expn2r; rewrite ?nnegrE.
have factor_ge0 : 0 <= power h * square h ^+ odd (halved h) by rewrite mulr_ge0 ?exprn_ge0.
split; first exact: le_trans factor_ge0 (powers_rounded_up h).
apply: le_trans IH _; rewrite -{1}(odd_double_half (halved h)) exprD mulrA -mul2n exprM.
by apply: ler_pmul; rewrite ?exprn_ge0 //; apply: ler_expn2r; rewrite ?nnegrE ?exprn_ge0.
Qed.

End Power.
