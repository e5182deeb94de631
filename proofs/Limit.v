(* The limit: what no private sampler can beat, however it works.

   A sampler maps a dataset of n records, in whatever order they stand, to a law on the k letters.
   Nothing else is assumed of it: it need not have weights, nor treat letters or records alike. *)

From dproo Require Import Preamble Rational Privacy.
From mathcomp Require Import fingroup perm.

Section Samplers.

Variable k : nat.
Implicit Types (P Q : 'I_k -> rat) (A : {set 'I_k}) (u G alpha : rat).

Definition distribution P : Prop := (forall y, 0 <= P y) /\ \sum_y P y = 1.

(* The records are drawn from P, independently; the mean of a function of all of them. *)
Definition mean P n (F : n.-tuple 'I_k -> rat) : rat :=
  \sum_(x : n.-tuple 'I_k) (\prod_(record <- x) P record) * F x.

(* The law of the release, its distance from P, and the worst case over all P. *)
Definition output n (sampler : n.-tuple 'I_k -> 'I_k -> rat) P (y : 'I_k) : rat :=
  mean P (fun x => sampler x y).

Definition distance Q P : rat := (\sum_y `|Q y - P y|) / 2%:R.

Definition accurate alpha n (sampler : n.-tuple 'I_k -> 'I_k -> rat) : Prop :=
  forall P, distribution P -> distance (output sampler P) P <= alpha.

Definition one_replaced n (x x' : n.-tuple 'I_k) : Prop :=
  exists i, forall j, j != i -> tnth x' j = tnth x j.

Lemma meanS P n (F : n.+1.-tuple 'I_k -> rat) :
  mean P F = \sum_y P y * mean P (fun x => F (cons_tuple y x)).
Proof.
rewrite /mean (reindex (fun p : 'I_k * n.-tuple 'I_k => cons_tuple p.1 p.2)) /=; last first.
  exists (fun t => (thead t, behead_tuple t)) => [[y t] _|t _] /=.
    by congr pair; apply: val_inj.
  by rewrite [t in RHS]tuple_eta; apply: val_inj.
rewrite -(pair_big xpredT xpredT (fun y (x : n.-tuple _) =>
  (\prod_(r <- y :: x) P r) * F (cons_tuple y x))) /=.
apply: eq_bigr => y _; rewrite mulr_sumr; apply: eq_bigr => x _.
by rewrite big_cons mulrA.
Qed.

Lemma mean0 P (F : 0.-tuple 'I_k -> rat) : mean P F = F [tuple].
Proof.
rewrite /mean (big_pred1 [tuple]) ?big_nil ?mul1r // => t.
by apply/esym/eqP; exact: tuple0.
Qed.

Lemma mean_le P n (F F' : n.-tuple 'I_k -> rat) :
  distribution P -> (forall x, F x <= F' x) -> mean P F <= mean P F'.
Proof.
move=> [P_ge0 _] FF'; apply: ler_sum => x _; rewrite ler_wpmul2l // big_tnth.
by apply: prodr_ge0 => i _; apply: P_ge0.
Qed.

Lemma mean_scale P n (c : rat) (F : n.-tuple 'I_k -> rat) : mean P (fun x => c * F x) = c * mean P F.
Proof. by rewrite /mean mulr_sumr; apply: eq_bigr => x _; rewrite mulrCA. Qed.

Lemma mean1 P n : distribution P -> mean P (fun _ : n.-tuple 'I_k => 1) = 1.
Proof.
move=> [_ P1]; elim: n => [|n IH]; first by rewrite mean0.
by rewrite meanS; under eq_bigr do rewrite IH mulr1.
Qed.

(* If all records are b. *)
Lemma mean_point b n (F : n.-tuple 'I_k -> rat) :
  mean (fun r => (r == b)%:R) F = F (nseq_tuple n b).
Proof.
elim: n F => [|n IH] F; first by rewrite mean0; congr F; apply: val_inj.
rewrite meanS (bigD1 b) //= eqxx mul1r IH big1 ?addr0 => [|r /negbTE ->]; last by rewrite mul0r.
by congr F; apply: val_inj.
Qed.

(* With the share u a record is y, whatever it would have been; privacy pays for it. *)
Lemma mean_mixed P P' u y G n (F : n.-tuple 'I_k -> rat) :
  0 <= u -> u <= 1 -> 0 <= G -> distribution P' ->
  (forall r, P r = u * (r == y)%:R + (1 - u) * P' r) ->
  (forall x x', one_replaced x x' -> F x' <= G * F x) ->
  mean P F <= (1 + u * (G - 1)) ^+ n * mean P' F.
Proof.
move=> u_ge0 u_le1 G_ge0 dP' mixed; have [P'_ge0 P'1] := dP'.
have rest_ge0 : 0 <= 1 - u by rewrite subr_ge0.
have step_ge0 : 0 <= 1 + u * (G - 1).
  by have := mulr_ge0 u_ge0 G_ge0; move: rest_ge0; rat_linear.
elim: n F => [|n IH] F private_F; first by rewrite !mean0 expr0 mul1r.
have P_ge0 r : 0 <= P r by rewrite mixed addr_ge0 ?mulr_ge0 ?ler0n.
pose later r := mean P' (fun x => F (cons_tuple r x)).
apply: le_trans (_ : \sum_r P r * ((1 + u * (G - 1)) ^+ n * later r) <= _).
  rewrite meanS; apply: ler_sum => r _; rewrite ler_wpmul2l // IH // => x x' [i same].
  apply: private_F; exists (lift ord0 i) => j; case: (unliftP ord0 j) => [j' ->|->] // ji.
  by rewrite !tnthS same //; apply: contraNneq ji => ->.
have moved r : later y <= G * later r.
  rewrite -mean_scale; apply: mean_le => // x; apply: private_F; exists ord0 => j.
  by case: (unliftP ord0 j) => [j' ->|->] //; rewrite ?eqxx // !tnthS.
have all_moved : later y <= G * \sum_r P' r * later r.
  rewrite -[later y]mul1r -P'1 mulr_suml mulr_sumr; apply: ler_sum => r _.
  by rewrite mulrCA ler_wpmul2l.
under eq_bigr do rewrite mulrCA; rewrite -mulr_sumr exprSr -mulrA ler_wpmul2l ?exprn_ge0 //.
rewrite meanS -/later (eq_bigr (fun r => u * ((r == y)%:R * later r) +
  (1 - u) * (P' r * later r))) => [|r _]; last by rewrite mixed !mulrA -mulrDl.
rewrite big_split /= -!mulr_sumr (bigD1 y) //= eqxx mul1r big1 ?addr0; last first.
  by move=> r /negbTE ->; rewrite mul0r.
by have := ler_wpmul2l u_ge0 all_moved; rat_linear.
Qed.


(* A set of letters shows at most the distance. *)
Lemma event_le Q P A : \sum_y Q y = \sum_y P y -> \sum_(y in A) (Q y - P y) <= distance Q P.
Proof.
move=> same; rewrite /distance ler_pdivl_mulr ?ltr0n // mulr_natr mulr2n.
have split (F : 'I_k -> rat) : \sum_y F y = \sum_(y in A) F y + \sum_(y | y \notin A) F y :> rat.
  by rewrite (bigID (mem A)).
have : \sum_y (Q y - P y) = 0 by rewrite sumrB same subrr.
have inside : \sum_(y in A) (Q y - P y) <= \sum_(y in A) `|Q y - P y|.
  by apply: ler_sum => y _; apply: ler_norm.
have outside : - (\sum_(y | y \notin A) (Q y - P y)) <= \sum_(y | y \notin A) `|Q y - P y|.
  by rewrite -sumrN; apply: ler_sum => y _; rewrite -normrN ler_norm.
by rewrite !split; move: inside outside; rat_linear.
Qed.

Lemma distanceC Q P : distance Q P = distance P Q.
Proof. by rewrite /distance; under eq_bigr do rewrite distrC. Qed.

End Samplers.

Section Limit.

Variables (k n : nat) (sampler : n.-tuple 'I_k -> 'I_k -> rat) (G alpha : rat).

Hypothesis sampler_is_law : forall x, distribution (sampler x).
Hypothesis growth_nonnegative : 0 <= G.
Hypothesis sampler_private : private (@one_replaced k n) G sampler.
Hypothesis sampler_accurate : accurate alpha sampler.

Let output_sum P : distribution P -> \sum_y output sampler P y = 1.
Proof.
move=> dP; rewrite /output /mean exchange_big /= -[RHS](mean1 n dP); apply: eq_bigr => x _.
by rewrite -mulr_sumr; have [_ ->] := sampler_is_law x.
Qed.

Let above P (A : {set 'I_k}) :
  distribution P -> \sum_(y in A) (output sampler P y - P y) <= alpha.
Proof.
move=> dP; apply: le_trans (sampler_accurate dP); apply: event_le.
by rewrite output_sum //; have [_ ->] := dP.
Qed.

Let below P (A : {set 'I_k}) :
  distribution P -> \sum_(y in A) (P y - output sampler P y) <= alpha.
Proof.
move=> dP; apply: le_trans (sampler_accurate dP); rewrite distanceC; apply: event_le.
by rewrite output_sum //; have [_ ->] := dP.
Qed.

(* P has u on each letter of S; P' i is P without i, and has nothing on i and on Z. *)
Section Hard.

Variables (S Z : {set 'I_k}) (u : rat) (P : 'I_k -> rat) (P' : 'I_k -> 'I_k -> rat).
Hypothesis u_ge0 : 0 <= u.
Hypothesis u_le1 : u <= 1.
Hypothesis P_even : forall i, i \in S -> P i = u.
Hypothesis P_distribution : distribution P.
Hypothesis P'_distribution : forall i, i \in S -> distribution (P' i).
Hypothesis P_mixed : forall i r, i \in S -> P r = u * (r == i)%:R + (1 - u) * P' i r.
Hypothesis P'_empty : forall i r, i \in S -> r \in i |: Z -> P' i r = 0.
Hypothesis apart : forall i, i \in S -> i \notin Z.

Let renamed (s : {perm 'I_k}) (R : 'I_k -> rat) (r : 'I_k) : rat := R (s r).

Let renamed_distribution s R : distribution R -> distribution (renamed s R).
Proof.
move=> [R_ge0 R1]; split=> [y|]; first exact: R_ge0.
by rewrite -R1 [in RHS](reindex_inj (@perm_inj _ s)).
Qed.

(* Of all renamings together: what an emptied letter is left with. *)
Let left i : rat := \sum_s output sampler (renamed s (P' i)) (s^-1%g i).

Let names : rat := #|{perm 'I_k}|%:R.

Let output_ext (R R' : 'I_k -> rat) y :
  (forall r, R r = R' r) -> output sampler R y = output sampler R' y.
Proof.
by move=> RR'; apply: eq_bigr => x _; congr (_ * _); apply: eq_bigr => r _.
Qed.

Let left_any i e : i \in S -> e \in i |: Z ->
  \sum_s output sampler (renamed s (P' i)) (s^-1%g e) = left i.
Proof.
move=> iS eZ; rewrite (reindex_inj (mulIg (tperm i e))) /=; apply: eq_bigr => s _.
rewrite invMg permM tpermV tpermR; apply: output_ext => r; rewrite /renamed permM.
by case: tpermP => [->|->|//]; rewrite !P'_empty // setU11.
Qed.

Let left_small i : i \in S -> #|i |: Z|%:R * left i <= names * alpha.
Proof.
move=> iS; apply: le_trans (_ : \sum_(s : {perm 'I_k}) alpha <= _); last first.
  by rewrite sumr_const mulr_natl.
rewrite mulr_natl -sumr_const (eq_bigr _ (fun e eZ => esym (left_any iS eZ))) exchange_big /=.
apply: ler_sum => s _; have := above [set r | s r \in i |: Z] (renamed_distribution s (P'_distribution iS)).
rewrite (reindex_inj (@perm_inj _ s^-1%g)) /=; apply: le_trans.
rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_big => e; first by rewrite [in RHS]in_set permKV.
by move=> eZ; rewrite /renamed permKV P'_empty // subr0.
Qed.

Let Gamma : rat := (1 + u * (G - 1)) ^+ n.

Let Gamma_ge0 : 0 <= Gamma.
Proof.
apply: exprn_ge0; have := mulr_ge0 u_ge0 growth_nonnegative; move: u_le1.
by rewrite -subr_ge0; rat_linear.
Qed.

Let even_share : names * (#|S|%:R * u) <= names * alpha + Gamma * \sum_(i in S) left i.
Proof.
have -> : names * alpha = \sum_(s : {perm 'I_k}) alpha by rewrite sumr_const mulr_natl.
have -> : names * (#|S|%:R * u) = \sum_(s : {perm 'I_k}) \sum_(i in S) u.
  by rewrite !sumr_const !mulr_natl.
rewrite exchange_big mulr_sumr /= exchange_big /=.
under [X in _ <= _ + X]eq_bigr do rewrite mulr_sumr.
rewrite [X in _ <= _ + X]exchange_big /= -big_split /=; apply: ler_sum => s _.
have := below [set r | s r \in S] (renamed_distribution s P_distribution).
rewrite (reindex_inj (@perm_inj _ s^-1%g)) /= -ler_subl_addr; apply: le_trans.
rewrite -sumrB [X in _ <= X](eq_bigl (mem S)) => [|i]; last by rewrite in_set permKV.
apply: ler_sum => i iS; rewrite /renamed permKV (P_even iS) ler_add2l ler_opp2.
apply: (mean_mixed (y := s^-1%g i)) => // [|r|x x' near].
- exact/renamed_distribution/P'_distribution.
- have -> : (r == s^-1%g i) = (s r == i) by rewrite -[LHS](inj_eq (@perm_inj _ s)) permKV.
  exact: P_mixed.
- exact: sampler_private.
Qed.

Lemma hard : #|S|%:R * u * #|Z|.+1%:R <= alpha * (#|Z|.+1%:R + #|S|%:R * Gamma).
Proof.
have names_gt0 : 0 < names by rewrite ltr0n; apply/card_gt0P; exists 1%g.
have all_left : #|Z|.+1%:R * (\sum_(i in S) left i) <= #|S|%:R * (names * alpha).
  rewrite mulr_sumr mulr_natl -sumr_const; apply: ler_sum => i iS.
  by have := left_small iS; rewrite cardsU1 apart // add1n.
rewrite -(ler_pmul2l names_gt0); have := ler_wpmul2l Gamma_ge0 all_left.
by have := ler_wpmul2r (ler0n _ #|Z|.+1) even_share; rat_linear.
Qed.

End Hard.

(* Such a P: u on each letter of S, and the rest on z, if there is a rest. *)
Section Spread.

Variables (S Z : {set 'I_k}) (z i0 : 'I_k) (u : rat).
Let v : rat := 1 - #|S|%:R * u.
Hypothesis u_ge0 : 0 <= u.
Hypothesis v_ge0 : 0 <= v.
Hypothesis some : i0 \in S.
Hypothesis apart : forall i, i \in S -> i \notin Z.
Hypothesis room : z \notin S :|: Z \/ v = 0 /\ u < 1.

Let sum_in (A : {set 'I_k}) : \sum_r (r \in A)%:R = #|A|%:R :> rat.
Proof.
by rewrite -sum1_card natr_sum [RHS]big_mkcond /=; apply: eq_bigr => r _; case: ifP.
Qed.

Let sum_one (y : 'I_k) : \sum_r (r == y)%:R = 1 :> rat.
Proof. by rewrite (bigD1 y) //= eqxx big1 ?addr0 // => r /negbTE ->. Qed.

Let S_gt0 : (0 < #|S|)%N. Proof. by apply/card_gt0P; exists i0. Qed.

Let u_le1 : u <= 1.
Proof.
have : 1 <= #|S|%:R :> rat by rewrite ler1n.
by move/(ler_wpmul2r u_ge0); move: v_ge0; rewrite /v; rat_linear.
Qed.

Let P (r : 'I_k) : rat := u * (r \in S)%:R + v * (r == z)%:R.

Let P' (i r : 'I_k) : rat :=
  if u == 1 then (r == z)%:R else (u * (r \in S :\ i)%:R + v * (r == z)%:R) / (1 - u).

Let v_at r : r \in S :|: Z -> v * (r == z)%:R = 0.
Proof.
case: room => [z_out r_in|[-> _]]; last by rewrite mul0r.
by case: eqVneq => [E|_]; rewrite ?mulr0 //; move: z_out; rewrite -E r_in.
Qed.

Let all_on i : u = 1 -> i \in S -> S = [set i] /\ v = 0.
Proof.
move=> u1 iS; have : (#|S| <= 1)%N.
  by move: v_ge0; rewrite /v u1 mulr1 subr_ge0 -[X in _ <= X]/(1%:R) ler_nat.
move=> S_le1; have S1 : #|S| == 1%N by rewrite eqn_leq S_le1.
rewrite /v u1 (eqP S1) mulr1 subrr; split=> //.
by have /cards1P[y E] := S1; move: iS; rewrite E inE => /eqP ->.
Qed.

Lemma spread :
  #|S|%:R * u * #|Z|.+1%:R <= alpha * (#|Z|.+1%:R + #|S|%:R * (1 + u * (G - 1)) ^+ n).
Proof.
have P_even i : i \in S -> P i = u.
  by move=> iS; rewrite /P iS v_at ?addr0 ?mulr1 // inE iS.
have rest : u != 1 -> 0 < 1 - u by rewrite subr_gt0 lt_neqAle u_le1 andbT.
apply: (@hard S Z u P P') => //.
- split=> [y|]; first by rewrite addr_ge0 ?mulr_ge0 ?ler0n.
  by rewrite big_split /= -!mulr_sumr sum_in sum_one /v; rat_linear.
- move=> i iS; rewrite /P'; case: (eqVneq u) => [_|/rest lt].
    by split=> [y|]; rewrite ?ler0n ?sum_one.
  split=> [y|]; first by rewrite divr_ge0 ?(ltW lt) // addr_ge0 ?mulr_ge0 ?ler0n.
  rewrite -mulr_suml big_split /= -!mulr_sumr sum_in sum_one /v mulr1.
  rewrite (cardsD1 i S) iS add1n mulrSr -[RHS](divff (lt0r_neq0 lt)); congr (_ / _).
  by rat_linear.
- move=> i r iS; rewrite /P /P'; case: (eqVneq u) => [u1|/rest lt].
    have [SE ->] := all_on u1 iS; rewrite SE u1 inE; rat_linear.
  rewrite [(1 - u) * _]mulrC divfK ?lt0r_neq0 // addrA -mulrDr; congr (_ * _ + _).
  by rewrite in_setD1; case: eqVneq => [->|]; rewrite ?iS ?addr0 ?add0r.
- move=> i r iS r_in; have r_in' : r \in S :|: Z.
    by move: r_in; rewrite !inE => /orP[/eqP ->|->]; rewrite ?iS ?orbT.
  rewrite /P'; case: (eqVneq u) => [u1|_]; last first.
    rewrite v_at // addr0; suff /negbTE -> : r \notin S :\ i by rewrite mulr0 mul0r.
    move: r_in; rewrite !inE => /orP[->//|rZ]; rewrite negb_and negbK.
    by apply/orP; right; apply/negP => /apart; rewrite rZ.
  case: room => [z_out|[_]]; last by rewrite u1 ltxx.
  by case: eqVneq => [E|//]; move: z_out; rewrite -E r_in'.
Qed.

End Spread.

(* The first m records are a, the others b. *)
Let data (m : nat) (a b : 'I_k) : n.-tuple 'I_k := [tuple if (i < m)%N then a else b | i < n].

Let next m a b : (m < n)%N -> one_replaced (data m a b) (data m.+1 a b) /\
  one_replaced (data m.+1 a b) (data m a b).
Proof.
move=> m_lt; split; exists (Ordinal m_lt) => j; rewrite !tnth_mktuple -val_eqE /= => /negbTE j_m;
  by rewrite ltnS [(j <= m)%N]leq_eqVlt j_m.
Qed.

Let from_b m a b t : (m <= n)%N -> sampler (data m a b) t <= G ^+ m * sampler (data 0 a b) t.
Proof.
elim: m => [|m IH] m_le; first by rewrite expr0 mul1r.
have [near _] := next a b m_le; apply: le_trans (sampler_private near t) _.
by rewrite exprS -mulrA ler_wpmul2l // IH // ltnW.
Qed.

Let from_a m a b t : (m <= n)%N -> sampler (data (n - m) a b) t <= G ^+ m * sampler (data n a b) t.
Proof.
elim: m => [|m IH] m_le; first by rewrite subn0 expr0 mul1r.
have below_n : (n - m.+1 < n)%N by rewrite ltn_subrL (leq_ltn_trans (leq0n _) m_le).
have [_ near] := next a b below_n; rewrite -subSn // subSS in near.
by rewrite exprS -mulrA (le_trans (sampler_private near t)) // ler_wpmul2l // IH // ltnW.
Qed.

Let crowd b : \sum_(y | y != b) sampler (nseq_tuple n b) y <= alpha.
Proof.
have point : distribution (fun r : 'I_k => (r == b)%:R).
  split=> [y|]; first exact: ler0n.
  by rewrite (bigD1 b) //= eqxx big1 ?addr0 // => r /negbTE ->.
apply: le_trans (above (~: [set b]) point); rewrite le_eqVlt; apply/orP; left; apply/eqP.
apply: eq_big => [y|y /negbTE y_b]; first by rewrite !inE.
by rewrite /output mean_point y_b subr0.
Qed.

Lemma few : (0 < k)%N -> k.-1%:R <= alpha * ((k.-1%:R + G ^+ (n %% 2)) * G ^+ (n %/ 2)).
Proof.
move=> k_gt0; pose a := Ordinal k_gt0; pose h := (n %/ 2)%N.
have h_le : (h <= n)%N by apply: leq_div.
have half : (n - h = h + n %% 2)%N by rewrite {1}(divn_eq n 2) muln2 -addnn -addnA addKn.
have edges b : data 0 a b = nseq_tuple n b /\ data n a b = nseq_tuple n a.
  by split; apply: eq_from_tnth => i; rewrite tnth_mktuple tnth_nseq ?ltn_ord.
have pair b : 1 <= G ^+ (n - h) * sampler (nseq_tuple n a) b + G ^+ h * alpha.
  have [_ <-] := sampler_is_law (data h a b); have [all_b all_a] := edges b.
  rewrite (bigD1 b) //= ler_add //.
    by have := from_a a b b (leq_subr h n); rewrite subKn // all_a.
  apply: le_trans (ler_wpmul2l _ (crowd b)); last by rewrite exprn_ge0.
  by rewrite mulr_sumr; apply: ler_sum => y _; rewrite -all_b from_b.
have : \sum_(b | b != a) (1 : rat) <=
    \sum_(b | b != a) (G ^+ (n - h) * sampler (nseq_tuple n a) b + G ^+ h * alpha).
  by apply: ler_sum.
have card : #|[pred b : 'I_k | b != a]| = k.-1.
  by have := cardC1 a; rewrite card_ord => <-; apply: eq_card => b; rewrite !inE.
rewrite big_split /= -mulr_sumr !sumr_const card => bound; apply: le_trans bound _.
apply: le_trans (ler_add (ler_wpmul2l _ (crowd a)) (lexx _)) _; first by rewrite exprn_ge0.
by rewrite half exprD -[G ^+ h * alpha *+ _]mulr_natr -/h; rat_linear.
Qed.

End Limit.

Section Statements.

Variables (k n letters : nat) (G u : rat).
Implicit Types (sampler : n.-tuple 'I_k -> 'I_k -> rat) (alpha : rat).

Let first : {set 'I_k} := [set i : 'I_k | (i < letters)%N].

Let first_card : (letters <= k)%N -> #|first| = letters.
Proof.
by move=> le; rewrite cardsE -sum1_card (big_ord_narrow le) sum1_card card_ord.
Qed.

Let divided (alpha x r y : rat) : 0 < r -> alpha * (r + x * y) = alpha * (1 + x / r * y) * r.
Proof.
move=> r_gt0; rewrite -[RHS]mulrA; congr (_ * _).
by rewrite mulrDl mul1r [x / r * y]mulrAC divfK ?gt_eqF.
Qed.

Hypothesis growth_at_least_one : 1 <= G.

Let growth_nonnegative : 0 <= G. Proof. exact: le_trans ler01 growth_at_least_one. Qed.

Section Rest.

Hypothesis letters_leave_one : (0 < letters < k)%N.
Hypothesis share_nonnegative : 0 <= u.
Hypothesis share_fits : letters%:R * u <= 1.

(* The worst case is at least ju / (1 + j/(k-j) (1 + u(G-1))^n). *)
Theorem limit_of_samplers sampler alpha :
  (forall x, distribution (sampler x)) -> private (@one_replaced k n) G sampler ->
  accurate alpha sampler ->
  letters%:R * u <= alpha * (1 + letters%:R / (k - letters)%:R * (1 + u * (G - 1)) ^+ n).
Proof.
move=> is_law is_private is_accurate; have [j_gt0 j_lt] := andP letters_leave_one.
have j_card := first_card (ltnW j_lt); pose z := Ordinal j_lt.
have k_gt0 := leq_ltn_trans (leq0n _) j_lt.
pose Z := ~: (z |: first); have Z_card : #|Z|.+1 = (k - letters)%N.
  rewrite cardsCs setCK cardsU1 j_card inE ltnn /= card_ord add1n.
  by rewrite -subSn // subSS.
have some : Ordinal k_gt0 \in first by rewrite inE.
have v_ge0 : 0 <= 1 - #|first|%:R * u by rewrite j_card subr_ge0.
have apart i : i \in first -> i \notin Z by rewrite !inE negbK => ->; rewrite orbT.
have room : z \notin first :|: Z by rewrite !inE ltnn eqxx.
have rest_gt0 : 0 < (k - letters)%:R :> rat by rewrite ltr0n subn_gt0.
have := spread is_law growth_nonnegative is_private is_accurate share_nonnegative v_ge0 some apart (or_introl room).
rewrite j_card Z_card => hard.
by rewrite -(ler_pmul2r rest_gt0) -divided.
Qed.

End Rest.

(* With u = 1/j no letter is needed for the rest, and k-j+1 may stand for k-j. *)
Section Even.

Hypothesis letters_are_several : (1 < letters <= k)%N.
Hypothesis share_even : letters%:R * u = 1.

Theorem limit_of_samplers_even sampler alpha :
  (forall x, distribution (sampler x)) -> private (@one_replaced k n) G sampler ->
  accurate alpha sampler ->
  1 <= alpha * (1 + letters%:R / (k - letters).+1%:R * (1 + u * (G - 1)) ^+ n).
Proof.
move=> is_law is_private is_accurate; have [j_gt1 j_le] := andP letters_are_several.
have j_card := first_card j_le; have k_gt0 := leq_trans (ltnW j_gt1) j_le.
have j_gt0 : 0 < letters%:R :> rat by rewrite ltr0n ltnW.
pose Z := ~: first; have Z_card : #|Z| = (k - letters)%N.
  by rewrite cardsCs setCK j_card card_ord.
have some : Ordinal k_gt0 \in first by rewrite inE ltnW.
have v_0 : 1 - #|first|%:R * u = 0 by rewrite j_card share_even subrr.
have apart i : i \in first -> i \notin Z by rewrite !inE negbK.
have u_gt0 : 0 < u by rewrite -(pmulr_rgt0 _ j_gt0) share_even.
have u_lt1 : u < 1 by rewrite -(ltr_pmul2l j_gt0) share_even mulr1 ltr1n.
have rest_gt0 : 0 < (k - letters).+1%:R :> rat by rewrite ltr0n.
have v_ge0 : 0 <= 1 - #|first|%:R * u by rewrite v_0.
have := spread is_law growth_nonnegative is_private is_accurate (ltW u_gt0) v_ge0 some apart
  (or_intror (conj v_0 u_lt1)) => /(_ (Ordinal k_gt0)).
rewrite j_card Z_card share_even mul1r => hard.
by rewrite -(ler_pmul2r rest_gt0) mul1r -divided.
Qed.

End Even.

(* Where there are few records: n records of one letter, and half of them replaced. *)
Section Few.

Hypothesis some_letter : (0 < k)%N.

Theorem limit_of_samplers_few sampler alpha :
  (forall x, distribution (sampler x)) -> private (@one_replaced k n) G sampler ->
  accurate alpha sampler ->
  k.-1%:R <= alpha * ((k.-1%:R + G ^+ (n %% 2)) * G ^+ (n %/ 2)).
Proof.
by move=> is_law is_private is_accurate; apply: few is_private is_accurate _.
Qed.

End Few.
End Statements.

(* What is private at G if a record is added or removed is private at G^2 if one is replaced; and
   a sampler that looks at the counts alone is one that looks at the records. *)
Section Relations.

Variable k : nat.

Definition one_added (x x' : seq 'I_k) : Prop :=
  exists left a right, x = left ++ right /\ x' = left ++ a :: right.

Definition one_added_or_removed (x x' : seq 'I_k) : Prop := one_added x x' \/ one_added x' x.

Definition tally (x : seq 'I_k) : counts k := [ffun y => count_mem y x].

Let one_place n (x x' : n.-tuple 'I_k) : one_replaced x x' ->
  exists left a b right, x = left ++ a :: right :> seq _ /\ x' = left ++ b :: right :> seq _.
Proof.
move=> [i same]; exists (take i x), (tnth x i), (tnth x' i), (drop i.+1 x).
have place (y : n.-tuple 'I_k) : y = take i y ++ tnth y i :: drop i.+1 y :> seq _.
  rewrite {1}(tnth_nth (tnth y i)) -drop_nth ?cat_take_drop // size_tuple; exact: ltn_ord.
split; first exact: place.
suff [-> ->] : take i x = take i x' /\ drop i.+1 x = drop i.+1 x' by apply: place.
have other d j : j != i :> nat -> nth d x j = nth d x' j.
  move=> ji; have [j_lt|j_ge] := ltnP j n; last by rewrite !nth_default ?size_tuple.
  by have := same (Ordinal j_lt) ji; rewrite !(tnth_nth d).
split; apply: (@eq_from_nth _ (tnth x i)) => [|j]; rewrite ?size_take ?size_drop ?size_tuple //.
  by rewrite ltn_ord => j_lt; rewrite !nth_take // other // ltn_eqF.
by move=> _; rewrite !nth_drop other // gtn_eqF // ltn_addr.
Qed.

Theorem limit_add_remove n (G : rat) (sampler : seq 'I_k -> 'I_k -> rat) :
  0 <= G -> private one_added_or_removed G sampler ->
  private (@one_replaced k n) (G ^+ 2) (fun x => sampler x).
Proof.
move=> G_ge0 is_private x x' /one_place[left [a [b [right [-> ->]]]]] y.
apply: (group_privacy (g := 2) G_ge0 is_private); exists (left ++ right); split.
  by right; exists left, a, right.
by exists (left ++ b :: right); split=> //; left; exists left, b, right.
Qed.

Theorem limit_of_counts n (G : rat) (sampler : counts k -> 'I_k -> rat) :
  private (@replaced_of_n k n) G sampler ->
  private (@one_replaced k n) G (fun x => sampler (tally x)).
Proof.
move=> is_private x x' /one_place[left [a [b [right [Ex Ex']]]]] y; apply: is_private.
have more c : tally (left ++ c :: right) = add (tally (left ++ right)) c.
  by apply/ffunP => z; rewrite addE !ffunE !count_cat /= [z == c]eq_sym addnCA addnC.
split; first by exists (tally (left ++ right)), b, a; rewrite Ex Ex' !more.
rewrite /records -[RHS](size_tuple x); elim: (x : seq _) => [|z s IH].
  by rewrite big1 // => z _; rewrite ffunE.
rewrite /= -[in RHS]IH -(records_add (tally s) z); apply: eq_bigr => v _.
by rewrite addE !ffunE /= [v == z]eq_sym addnC.
Qed.

End Relations.
