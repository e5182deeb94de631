(* Tables: a letter weighs f(c) if it has c records. Convex ones, and what so many records weigh. *)

From dproo Require Import Preamble Rational Privacy.

Section Convex.

Variable f : nat -> rat.

(* What one more record adds. *)
Definition step (c : nat) : rat := f c.+1 - f c.

(* The least weight of r records on m letters: spread evenly. The most: all on one. *)
Definition least (r m : nat) : rat := m%:R * f (r %/ m) + (r %% m)%:R * step (r %/ m).

Definition most (r m : nat) : rat := if m is m'.+1 then f r + m'%:R * f 0 else 0.

Lemma least_ge0 r m : (forall c, 0 <= f c) -> (forall c, f c <= f c.+1) -> 0 <= least r m.
Proof. by move=> f_ge0 f_rises; rewrite addr_ge0 ?mulr_ge0 ?ler0n ?subr_ge0. Qed.

Hypothesis table_convex : forall c, step c <= step c.+1.

Lemma step_le a b : (a <= b)%N -> step a <= step b.
Proof.
move/subnK <-; elim: (b - a)%N => [|d IH]; first by rewrite add0n.
by rewrite addSn (le_trans IH).
Qed.

Lemma stepE c : f c.+1 = f c + step c.
Proof. by rewrite /step addrC subrK. Qed.

(* The table lies above each of its tangents. *)
Lemma tangent q c : f q + step q * (c%:R - q%:R) <= f c.
Proof.
have [qc|/ltnW cq] := leqP q c.
  rewrite -(subnK qc) natrD; elim: (c - q)%N => [|d IH]; first by rewrite add0n; rat_linear.
  rewrite addSn stepE mulrSr; have := step_le (leq_addl d q); rat_linear.
rewrite -(subnK cq) natrD; elim: (q - c)%N => [|d IH]; first by rewrite add0n; rat_linear.
have := ler_wpmul2l (ler0n _ d.+1) (table_convex (d + c)).
rewrite addSn stepE mulrSr; rat_linear.
Qed.

(* What a letter adds to the empty letter's weight, it adds to any other's, or more. *)
Lemma crowding a b : f a + f b <= f (a + b)%N + f 0.
Proof.
elim: a => [|a IH]; first by rewrite add0n addrC.
by rewrite addSn !stepE; have := step_le (leq_addr b a); rat_linear.
Qed.

Variables (k : nat) (c : counts k) (A : {set 'I_k}).

Lemma least_le : least (\sum_(y in A) c y) #|A| <= \sum_(y in A) f (c y).
Proof.
rewrite /least; set r := (\sum_(_ in _) _)%N; set q := (r %/ _)%N.
have: \sum_(y in A) (f q + step q * ((c y)%:R - q%:R)) <= \sum_(y in A) f (c y).
  by apply: ler_sum => y _; apply: tangent.
have constant (x : rat) : \sum_(y in A) x = x * #|A|%:R by rewrite sumr_const mulr_natr.
apply: le_trans; rewrite big_split /= -mulr_sumr sumrB !constant -natr_sum -/r.
have -> : r%:R = q%:R * #|A|%:R + (r %% #|A|)%:R :> rat by rewrite -natrM -natrD -divn_eq.
by rat_linear.
Qed.

Lemma most_ge : \sum_(y in A) f (c y) <= most (\sum_(y in A) c y) #|A|.
Proof.
rewrite -!big_enum cardE /=; elim: (enum A) => [|y letters IH]; first by rewrite !big_nil.
rewrite !big_cons; case: letters IH => [|z letters] /= IH.
  by rewrite !big_nil addn0 mul0r.
apply: le_trans (ler_add (lexx _) IH) _; rewrite mulrSr.
by have := crowding (c y) (\sum_(i <- z :: letters) c i); rat_linear.
Qed.

End Convex.
