(* A private choice: permute-and-flip, on scores that one record changes by little.

   Every candidate is accepted by a coin of its own, with the chance p, and one of the accepted
   ones is taken at random; the best has the chance 1. So a candidate is taken with its own chance
   times the mean of 1 over the number of accepted ones. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy.

(* The mean of g over how many of these coins fall on heads. *)
Fixpoint coins (p : seq rat) (g : nat -> rat) : rat :=
  if p is q :: rest then q * coins rest (g \o succn) + (1 - q) * coins rest g else g 0%N.

Definition chance (q : rat) : bool := 0 <= q <= 1.

Lemma coins_le p g h :
  all chance p -> (forall a, g a <= h a) -> coins p g <= coins p h.
Proof.
elim: p g h => [|q p IH] g h //= /andP[/andP[q_ge0 q_le1] chances] gh.
by rewrite ler_add // ler_wpmul2l ?subr_ge0 // IH // => a /=.
Qed.

(* The likelier the coins, the less a falling function. *)
Lemma coins_falls (I : Type) (s : seq I) (p p' : I -> rat) (g : nat -> rat) :
  (forall i, chance (p i)) -> (forall i, chance (p' i)) -> (forall i, p i <= p' i) ->
  (forall a, g a.+1 <= g a) ->
  coins (map p' s) g <= coins (map p s) g.
Proof.
move=> pc p'c pp'; elim: s g => [|i s IH] g falls //=.
have chances r : (forall i, chance (r i)) -> all chance (map r s) by move=> rc; elim: (s) => //= j s' ->; rewrite rc.
have less : coins (map p' s) (g \o succn) <= coins (map p' s) g.
  by apply: coins_le => //; apply: chances.
have /andP[p_ge0 p_le1] := pc i.
have low := IH (g \o succn) (fun a => falls a.+1); have high := IH g falls.
apply: le_trans (_ : p i * coins (map p' s) (g \o succn) + (1 - p i) * coins (map p' s) g <= _).
  have gain : 0 <= p' i - p i by rewrite subr_ge0.
  have lost : 0 <= coins (map p' s) g - coins (map p' s) (g \o succn) by rewrite subr_ge0.
  have := mulr_ge0 gain lost; rat_linear.
by rewrite ler_add // ler_wpmul2l // subr_ge0.
Qed.

Section Thinned.

Variable l : rat.
Hypothesis l_chance : chance l.

(* The mean of g over how many of a coins of the chance l fall on heads. *)
Definition thin (g : nat -> rat) (a : nat) : rat := coins (nseq a l) g.

Lemma coins_thin p g : coins [seq l * q | q <- p] g = coins p (thin g).
Proof.
elim: p g => [|q p IH] g //=; rewrite !IH.
have linear h h' : coins p (fun a => l * h a + (1 - l) * h' a) = l * coins p h + (1 - l) * coins p h'.
  elim: p h h' {IH} => [|r p IH] h h' //=.
  rewrite (IH (h \o succn) (h' \o succn)) IH; rat_linear.
have -> : coins p (thin g \o succn) = l * coins p (thin (g \o succn)) + (1 - l) * coins p (thin g).
  exact: linear.
rat_linear.
Qed.

Lemma thinS g a : thin g a.+1 = l * thin (g \o succn) a + (1 - l) * thin g a.
Proof. by []. Qed.

Lemma coins_ext p g h : g =1 h -> coins p g = coins p h.
Proof.
elim: p g h => [|q p IH] g h gh /=; first exact: gh.
by rewrite (IH (g \o succn) (h \o succn)) ?(IH g h) // => a; apply: gh.
Qed.

Lemma coins_constant p x : coins p (fun => x) = x.
Proof.
elim: p => //= q p IH; rewrite -[coins p (_ \o _)]/(coins p (fun => x)) IH; rat_linear.
Qed.

Lemma coins_add p g h : coins p (fun b => g b + h b) = coins p g + coins p h.
Proof.
elim: p g h => [|q p IH] g h //=.
rewrite (coins_ext _ (h := fun b => (g \o succn) b + (h \o succn) b)) // !IH; rat_linear.
Qed.

(* To count heads is to choose one of the coins, which then is one. *)
Lemma count_heads g a : thin (fun b => b%:R * g b) a = a%:R * l * thin (g \o succn) a.-1.
Proof.
elim: a g => [|a IH] g; first by rewrite /thin /= !mul0r.
rewrite thinS (IH g) /thin.
rewrite (coins_ext _ (h := fun b => b%:R * (g \o succn) b + (g \o succn) b)) => [|b]; last first.
  by rewrite /= mulrSr mulrDl mul1r.
rewrite coins_add -/(thin _ a) (IH (g \o succn)) -/(thin _ a) /=.
case: a {IH} => [|a]; first by rewrite mulr0n mulr1n /=; rat_linear.
by rewrite [in RHS]mulrSr [thin (g \o succn) a.+1]thinS /=; rat_linear.
Qed.

(* One of those that are accepted is taken. *)
Definition share (a : nat) : rat := a.+1%:R^-1.

Lemma thin_share a : l * thin share a <= share a.
Proof.
pose g (b : nat) : rat := b%:R^-1.
have heads : a.+1%:R * l * thin share a <= 1.
  rewrite -[thin share a]/(thin (g \o succn) a.+1.-1) -count_heads /thin.
  have chances : all chance (nseq a.+1 l) by elim: a.+1 => //= b ->; rewrite l_chance.
  apply: le_trans (coins_le (h := fun => 1) chances _) _ => [[|b]|]; rewrite ?mul0r ?ler01 //.
    by rewrite /g mulfV // pnatr_eq0.
  by rewrite coins_constant.
rewrite /share -[leRHS]mul1r ler_pdivl_mulr ?ltr0n //; move: heads; rat_linear.
Qed.

End Thinned.

Section Choice.

(* Candidate r has the weight w d r on the dataset d, a power of its score; no weight is negative. *)
Variables (D : Type) (k : nat) (near : D -> D -> Prop) (w : D -> 'I_k -> rat) (K : rat).

Definition heaviest (d : D) : rat := \big[Num.max/0]_(i < k) w d i.

Definition accept (d : D) (i : 'I_k) : rat := w d i / heaviest d.

Definition others (r : 'I_k) : seq 'I_k := [seq i <- enum 'I_k | i != r].

Definition choice (d : D) (r : 'I_k) : rat := accept d r * coins (map (accept d) (others r)) share.

Hypothesis weights_positive : forall d i, 0 < w d i.
Hypothesis factor_positive : 0 < K.
Hypothesis weights_change_at_most : forall d d', near d d' -> forall i,
  w d' i <= K * w d i /\ w d i <= K * w d' i.

Let w_ge0 d i : 0 <= w d i. Proof. exact: ltW. Qed.

Let w_le d i : w d i <= heaviest d.
Proof.
rewrite /heaviest; have := mem_index_enum i; elim: (index_enum _) => // j s IH.
rewrite inE big_cons le_maxr => /orP[/eqP <-|/IH ->]; by rewrite ?lexx ?orbT.
Qed.

Let heaviest_gt0 d (i : 'I_k) : 0 < heaviest d.
Proof. exact: lt_le_trans (weights_positive d i) (w_le d i). Qed.

Let accept_chance d i : chance (accept d i).
Proof.
by rewrite /chance /accept divr_ge0 ?(ltW (heaviest_gt0 d i)) //= ler_pdivr_mulr ?mul1r ?(heaviest_gt0 d i).
Qed.

Lemma choice_ge0 d r : 0 <= choice d r.
Proof.
have /andP[ge0 _] := accept_chance d r; rewrite mulr_ge0 //.
have chances (s : seq 'I_k) : all chance (map (accept d) s) by elim: s => //= i s ->; rewrite accept_chance.
apply: le_trans (coins_le (g := fun => 0) (chances _) _) => [|a]; last by rewrite invr_ge0 ler0n.
by rewrite coins_constant.
Qed.

Theorem permute_and_flip : private near (K ^+ 2) choice.
Proof.
move=> d d' dd' r; have change := weights_change_at_most dd'.
have m_gt0 := heaviest_gt0 d r; have m'_gt0 := heaviest_gt0 d' r.
have m_le : heaviest d <= K * heaviest d'.
  rewrite /heaviest; apply: (big_ind (fun x => x <= K * heaviest d')) => [|x y x_le y_le|i _].
  - by rewrite mulr_ge0 // ltW.
  - by rewrite le_maxl x_le y_le.
  - by have [_ low] := change i; apply: le_trans low _; rewrite ler_pmul2l // w_le.
pose l := heaviest d / (K * heaviest d').
have l_chance : chance l.
  rewrite /chance /l divr_ge0 ?mulr_ge0 ?(ltW m_gt0) ?(ltW m'_gt0) ?(ltW factor_positive) //=.
  by rewrite ler_pdivr_mulr ?mul1r // mulr_gt0.
have [l_ge0 l_le1] := andP l_chance.
have scaled i : l * accept d i = w d i / (K * heaviest d').
  by rewrite /l /accept mulrC -mulrA mulKf ?gt_eqF.
(* A candidate is accepted, at least, as if its weight had fallen by K and that of the best stayed. *)
have own : accept d' r <= K ^+ 2 * (l * accept d r).
  have -> : K ^+ 2 * (l * accept d r) = K * w d r / heaviest d'.
    by rewrite scaled invfM expr2 -!mulrA [w d r * (K^-1 * _)]mulrCA mulVKf ?gt_eqF.
  by have [high _] := change r; rewrite ler_pmul2r ?invr_gt0.
have rest i : l * accept d i <= accept d' i.
  rewrite scaled invfM mulrA /accept.
  by have [_ low] := change i; rewrite ler_pmul2r ?invr_gt0 // ler_pdivr_mulr // mulrC.
have thinned i : chance (l * accept d i).
  have /andP[ge0 le1] := accept_chance d i; rewrite /chance mulr_ge0 //=.
  by rewrite mulr_ile1.
have falls a : share a.+1 <= share a by rewrite /share lef_pinv ?posrE ?ltr0n // ler_nat.
have coins_ge0 : 0 <= coins (map (accept d') (others r)) share.
  have := choice_ge0 d' r; rewrite pmulr_rge0 //.
  by rewrite divr_gt0.
have chances : all chance (map (accept d) (others r)) by elim: (others r) => //= i s ->; rewrite accept_chance.
apply: le_trans (ler_wpmul2r coins_ge0 own) _; rewrite -mulrA; apply: ler_wpmul2l.
  by rewrite exprn_ge0 // ltW.
apply: le_trans (_ : l * accept d r * coins (map (fun i => l * accept d i) (others r)) share <= _).
  apply: ler_wpmul2l; last exact: coins_falls.
  by have /andP[] := thinned r.
rewrite (map_comp (fun q => l * q)) coins_thin /choice -mulrA mulrCA ler_wpmul2l //.
  by have /andP[] := accept_chance d r.
have -> : forall p g, l * coins p g = coins p (fun a => l * g a).
  by elim=> [|q p IH] g //=; rewrite mulrDr ![l * (_ * _)]mulrCA !IH.
by apply: coins_le => // a; apply: thin_share.
Qed.

End Choice.
