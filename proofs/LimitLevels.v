(* Three levels: what Theorem 4 of the limit says of one letter among the same others.

   The others are drawn from R. If y has the probability u, the number of its records is binomial,
   and given this number they are any of the records. *)

From dproo Require Import Preamble Rational Privacy Limit.

(* S(u, t): what the chances of up to t records weigh, if a letter grows by G with each of them. *)
Definition partial_sum (n : nat) (G u : rat) (t : nat) : rat :=
  \sum_(c < t.+1) 'C(n, c)%:R * (G * u) ^+ c * (1 - u) ^+ (n - c).

Section Levels.

Variables (k : nat) (R : 'I_k -> rat) (y : 'I_k).

(* A record is y with the probability u, and else one of the others. *)
Definition mixed (u : rat) (r : 'I_k) : rat := u * (r == y)%:R + (1 - u) * R r.

(* The sum over all choices of c among n records: these are y, the others drawn from R. *)
Fixpoint chosen (n c : nat) : (n.-tuple 'I_k -> rat) -> rat :=
  match n return (n.-tuple 'I_k -> rat) -> rat with
  | 0%N => fun F => (c == 0%N)%:R * F [tuple]
  | n'.+1 => fun F =>
      (if c is c'.+1 then @chosen n' c' (fun x => F (cons_tuple y x)) else 0) +
      \sum_r R r * @chosen n' c (fun x => F (cons_tuple r x))
  end.

Lemma chosen_none n c F : (n < c)%N -> @chosen n c F = 0.
Proof.
elim: n c F => [|n IH] [|c] F //=; first by rewrite mul0r.
move=> nc; rewrite IH // add0r big1 // => r _; by rewrite IH ?mulr0 // ltnW.
Qed.

Hypothesis others_nonnegative : forall r, 0 <= R r.

Lemma chosen_le n c F F' : (forall x, F x <= F' x) -> @chosen n c F <= @chosen n c F'.
Proof.
elim: n c F F' => [|n IH] c F F' FF' /=; first by rewrite ler_wpmul2l ?ler0n.
apply: ler_add; first by case: c => [|c] //; apply: IH => x.
by apply: ler_sum => r _; rewrite ler_wpmul2l // IH.
Qed.

Lemma chosen_scale n c g F : @chosen n c (fun x => g * F x) = g * @chosen n c F.
Proof.
elim: n c F => [|n IH] c F /=; first by rewrite mulrCA.
rewrite mulrDr mulr_sumr; congr (_ + _); first by case: c => [|c]; rewrite ?mulr0 ?IH.
by apply: eq_bigr => r _; rewrite IH mulrCA.
Qed.

Lemma chosen_ge0 n c F : (forall x, 0 <= F x) -> 0 <= @chosen n c F.
Proof.
elim: n c F => [|n IH] c F F_ge0 /=; first by rewrite mulr_ge0 ?ler0n.
rewrite addr_ge0 //; first by case: c => [|c] //; apply: IH => x.
by apply: sumr_ge0 => r _; rewrite mulr_ge0 // IH.
Qed.

Lemma mean_chosen u n F :
  mean (mixed u) F = \sum_(c < n.+1) u ^+ c * (1 - u) ^+ (n - c) * @chosen n c F.
Proof.
elim: n F => [|n IH] F; first by rewrite mean0 big_ord1 /= !mul1r.
rewrite meanS.
have -> : \sum_r mixed u r * mean (mixed u) (fun x => F (cons_tuple r x)) =
    u * mean (mixed u) (fun x => F (cons_tuple y x)) +
    (1 - u) * \sum_r R r * mean (mixed u) (fun x => F (cons_tuple r x)).
  have -> : u * mean (mixed u) (fun x => F (cons_tuple y x)) =
      \sum_r u * (r == y)%:R * mean (mixed u) (fun x => F (cons_tuple r x)).
    by rewrite (bigD1 y) //= eqxx mulr1 big1 ?addr0 // => r /negbTE ->; rewrite mulr0 mul0r.
  rewrite mulr_sumr -big_split; apply: eq_bigr => r _ /=; rewrite /mixed; rat_linear.
rewrite IH; under eq_bigr do rewrite IH.
have split_term (c : 'I_n.+2) : u ^+ c * (1 - u) ^+ (n.+1 - c) * @chosen n.+1 c F =
    u ^+ c * (1 - u) ^+ (n.+1 - c) *
      (if (c : nat) is c'.+1 then @chosen n c' (fun x => F (cons_tuple y x)) else 0) +
    u ^+ c * (1 - u) ^+ (n.+1 - c) * \sum_r R r * @chosen n c (fun x => F (cons_tuple r x)).
  by rewrite -mulrDr.
under [RHS]eq_bigr do rewrite split_term; rewrite big_split /=; congr (_ + _).
  rewrite [RHS]big_ord_recl /= mulr0 add0r mulr_sumr; apply: eq_bigr => c _ /=.
  by rewrite /bump /= add1n exprS subSS !mulrA.
rewrite [RHS]big_ord_recr /= [X in _ = _ + _ * X]big1 ?mulr0 ?addr0; last first.
  by move=> r _; rewrite chosen_none ?mulr0.
rewrite mulr_sumr; under eq_bigr do rewrite mulr_sumr mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => c _; rewrite mulr_sumr; apply: eq_bigr => r _.
rewrite subSn; last by rewrite -ltnS.
by rewrite exprS; rat_linear.
Qed.

Hypothesis others_add_up : \sum_r R r = 1.

(* One of the records that are y is replaced by a draw from R. *)
Lemma chosen_private G n c F :
  (forall x x', one_replaced x x' -> F x' <= G * F x) ->
  c.+1%:R * @chosen n c.+1 F <= G * ((n - c)%:R * @chosen n c F).
Proof.
elim: n c F => [|n IH] c F private_F; first by rewrite sub0n /= !mul0r !mulr0.
pose A m := @chosen n m (fun x => F (cons_tuple y x)).
pose B m := \sum_r R r * @chosen n m (fun x => F (cons_tuple r x)).
have after r x x' : one_replaced x x' -> F (cons_tuple r x') <= G * F (cons_tuple r x).
  move=> [i same]; apply: private_F; exists (lift ord0 i) => j.
  case: (unliftP ord0 j) => [j' ->|->] // ji.
  by rewrite !tnthS same //; apply: contraNneq ji => ->.
have moved m : A m <= G * B m.
  rewrite -[A m]mul1r -others_add_up mulr_suml mulr_sumr; apply: ler_sum => r _.
  rewrite mulrCA ler_wpmul2l // -chosen_scale; apply: chosen_le => x.
  apply: private_F; exists ord0 => j.
  by case: (unliftP ord0 j) => [j' ->|->] //; rewrite ?eqxx // !tnthS.
have first_y m : m.+1%:R * A m.+1 <= G * ((n - m)%:R * A m) by apply: IH => x x'; exact: after.
have first_r m : m.+1%:R * B m.+1 <= G * ((n - m)%:R * B m).
  rewrite /B !mulr_sumr; apply: ler_sum => r _; rewrite mulrCA.
  rewrite [X in _ <= G * X]mulrCA [X in _ <= X]mulrCA ler_wpmul2l //.
  by apply: IH => x x'; exact: after.
case: c => [|c].
  rewrite /= -/(A 0%N) -/(B 1%N) -/(B 0%N) subn0.
  have := first_r 0%N; have := moved 0%N; rewrite subn0 [n.+1%:R]mulrSr; rat_linear.
rewrite /= -/(A c) -/(A c.+1) -/(B c.+1) -/(B c.+2) subSS.
case: (ltnP c n) => [cn|nc]; last first.
  rewrite /A /B chosen_none ?ltnS // (eqP nc) mul0r mulr0 big1 ?addr0 ?mulr0 // => r _.
  by rewrite chosen_none ?mulr0 // ltnS; exact: leqW.
have := first_y c; have := first_r c.+1; have := moved c.+1.
rewrite -(subnSK cn) [(n - c.+1).+1%:R]mulrSr [c.+2%:R]mulrSr; rat_linear.
Qed.

End Levels.

(* Summation by parts. *)
Lemma falling_sum n (g psi : nat -> rat) :
  (forall t, (t <= n)%N -> 0 <= \sum_(c < t.+1) g c) ->
  (forall c, (c < n)%N -> psi c.+1 <= psi c) ->
  psi n * (\sum_(c < n.+1) g c) <= \sum_(c < n.+1) g c * psi c.
Proof.
elim: n => [|n IH] sums falls; first by rewrite !big_ord1 mulrC.
rewrite big_ord_recr [X in _ <= X]big_ord_recr /= mulrDr [psi n.+1 * g n.+1]mulrC ler_add2r.
apply: le_trans (IH _ _) => [|t tn|c cn]; last 2 first.
- by apply: sums; exact: leqW.
- by apply: falls; exact: leqW.
by rewrite ler_wpmul2r ?falls // sums.
Qed.

Theorem limit_of_three_levels k n (R : 'I_k -> rat) y (G a b d v w : rat) F :
  distribution R -> 0 < G -> (forall x, 0 <= F x) ->
  (forall x x', @one_replaced k n x x' -> F x' <= G * F x) ->
  (forall t, (t <= n)%N -> d * partial_sum n G v t <= a + b * partial_sum n G w t) ->
  d * mean (mixed R y v) F <= a * mean R F + b * mean (mixed R y w) F.
Proof.
move=> [R_ge0 R1] G_gt0 F_ge0 private_F bounded.
pose N c : rat := 'C(n, c)%:R * G ^+ c; pose psi c := @chosen k R y n c F / N c.
have N_gt0 c : (c <= n)%N -> 0 < N c by move=> cn; rewrite mulr_gt0 ?exprn_gt0 // ltr0n bin_gt0.
pose term u c : rat := 'C(n, c)%:R * (G * u) ^+ c * (1 - u) ^+ (n - c).
have expand u : mean (mixed R y u) F = \sum_(c < n.+1) term u c * psi c.
  rewrite mean_chosen; apply: eq_bigr => c _; rewrite /psi mulrA.
  apply: (canRL (mulfK _)); first by rewrite gt_eqF // N_gt0 // -ltnS.
  by rewrite /term /N exprMn; rat_linear.
have mixed0 : mean R F = mean (mixed R y 0) F.
  rewrite /mean; apply: eq_bigr => x _; congr (_ * _); apply: eq_bigr => r _.
  by rewrite /mixed mul0r add0r subr0 mul1r.
have sum0 t : \sum_(c < t.+1) term 0 c = 1.
  rewrite big_ord_recl /term /= bin0 !expr0 subn0 subr0 expr1n !mulr1 big1 ?addr0 // => c _.
  by rewrite /bump /= mulr0 exprS mul0r mulr0 mul0r.
rewrite mixed0 !expand !mulr_sumr -subr_ge0 -big_split /= -sumrB.
pose g c := a * term 0 c + b * term w c - d * term v c.
rewrite (eq_bigr (fun c : 'I_n.+1 => g c * psi c)) => [|c _]; last by rewrite /g; rat_linear.
have sums t : (t <= n)%N -> 0 <= \sum_(c < t.+1) g c.
  move=> tn; have := bounded t tn; rewrite /g sumrB big_split /= -!mulr_sumr sum0 mulr1.
  by rewrite /partial_sum -/(term _ _); rat_linear.
apply: le_trans (falling_sum sums _) => [|c cn].
  rewrite mulr_ge0 ?sums // mulr_ge0 ?chosen_ge0 // invr_ge0 ltW // N_gt0 //.
rewrite /psi ler_pdivr_mulr ?N_gt0 // mulrAC ler_pdivl_mulr ?N_gt0 ?(ltnW cn) //.
have c1_gt0 : 0 < c.+1%:R :> rat by rewrite ltr0n.
rewrite -(ler_pmul2l c1_gt0).
have step : c.+1%:R * @chosen k R y n c.+1 F <= G * ((n - c)%:R * @chosen k R y n c F).
  exact: chosen_private.
have -> : c.+1%:R * (@chosen k R y n c F * N c.+1) =
    G * ((n - c)%:R * @chosen k R y n c F) * N c.
  rewrite /N exprS; have : c.+1%:R * 'C(n, c.+1)%:R = (n - c)%:R * 'C(n, c)%:R :> rat.
    by rewrite -!natrM mul_bin_left.
  move: ('C(n, c.+1)%:R) ('C(n, c)%:R) (G ^+ c) => p q e pq.
  have -> : c.+1%:R * (chosen R y c F * (p * (G * e))) = (c.+1%:R * p) * (chosen R y c F * (G * e)).
    by rat_linear.
  by rewrite pq; rat_linear.
by rewrite [X in X <= _]mulrA ler_wpmul2r // ltW // N_gt0 // ltnW.
Qed.
