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
