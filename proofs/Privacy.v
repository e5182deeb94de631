(* What it means that a release is private.

   Everything is rational and finite. A dataset is known to a sampler by its counts: how many
   records each of the k letters of the public alphabet has. A release is private at G if no
   neighbour of a dataset makes any output more than G times as likely. *)

From dproo Require Import Preamble Rational.

Section Counts.

Variable k : nat.

Definition counts := {ffun 'I_k -> nat}.

Definition records (c : counts) : nat := (\sum_y c y)%N.

(* One more record, of letter a. *)
Definition add (c : counts) (a : 'I_k) : counts := [ffun y => (c y + (y == a))%N].

(* Neighbours: a record is added, added or removed, or replaced by another. *)
Definition added (c c' : counts) : Prop := exists a, c' = add c a.

Definition add_remove (c c' : counts) : Prop := added c c' \/ added c' c.

Definition replaced (c c' : counts) : Prop :=
  exists rest a b, c = add rest b /\ c' = add rest a.

(* The number of records is private, but at most n. *)
Definition add_remove_up_to (n : nat) (c c' : counts) : Prop :=
  [/\ add_remove c c', (records c <= n)%N & (records c' <= n)%N].

(* A record is replaced, added or removed, and their number is private, but at most n. *)
Definition changed_up_to (n : nat) (c c' : counts) : Prop :=
  [/\ add_remove c c' \/ replaced c c', (records c <= n)%N & (records c' <= n)%N].

(* The number of records is public. *)
Definition replaced_of_n (n : nat) (c c' : counts) : Prop := replaced c c' /\ records c = n.

Lemma addE c a y : add c a y = (c y + (y == a))%N.
Proof. by rewrite ffunE. Qed.

Lemma addC c a b : add (add c a) b = add (add c b) a.
Proof. by apply/ffunP => y; rewrite !addE addnAC. Qed.

Lemma records_add c a : records (add c a) = (records c).+1.
Proof.
rewrite /records; under eq_bigr do rewrite addE.
rewrite big_split /= -addn1; congr addn.
by rewrite (bigD1 a) //= eqxx big1 // => y /negbTE ->.
Qed.

Lemma count_le_records (c : counts) (y : 'I_k) : (c y <= records c)%N.
Proof. by rewrite /records (bigD1 y) //= leq_addr. Qed.

(* The law of one draw from weights: a letter's share of the total. *)
Definition law (w : 'I_k -> rat) (y : 'I_k) : rat := w y / \sum_z w z.

End Counts.

(* P d t is the probability of output t on dataset d. *)
Definition private (D T : Type) (near : D -> D -> Prop) (G : rat) (P : D -> T -> rat) : Prop :=
  forall d d', near d d' -> forall t, P d' t <= G * P d t.

Section Private.

Variables (D : Type) (near : D -> D -> Prop) (G : rat).

(* d' is reached from d by g steps to a neighbour. *)
Fixpoint within (g : nat) (d d' : D) : Prop :=
  if g is g'.+1 then exists e, near d e /\ within g' e d' else d = d'.

(* Every property of the output, not only every output, is protected. *)
Theorem private_event (T : finType) (P : D -> T -> rat) (event : pred T) :
  private near G P ->
  forall d d', near d d' -> \sum_(t | event t) P d' t <= G * \sum_(t | event t) P d t.
Proof. by move=> PG d d' dd'; rewrite mulr_sumr ler_sum // => t _; apply: PG. Qed.

(* Whoever is private for one record is private for g of them, at the g-th power. *)
Theorem group_privacy (T : Type) (P : D -> T -> rat) (g : nat) :
  0 <= G -> private near G P -> private (within g) (G ^+ g) P.
Proof.
move=> G_ge0 PG; elim: g => [|g IH] d d' /=; first by move=> -> t; rewrite expr0 mul1r.
move=> [e [de ed']] t; rewrite exprSr -mulrA.
by apply: le_trans (IH _ _ ed' t) _; rewrite ler_wpmul2l ?exprn_ge0 ?PG.
Qed.

(* What is done with the output, without the data, reveals no more. *)
Theorem post_processing (T U : finType) (P : D -> T -> rat) (K : T -> U -> rat) :
  (forall t u, 0 <= K t u) -> private near G P ->
  private near G (fun d u => \sum_t P d t * K t u).
Proof.
move=> K_ge0 PG d d' dd' u; rewrite mulr_sumr ler_sum // => t _.
by rewrite mulrA ler_wpmul2r ?PG.
Qed.

End Private.

Section Weights.

Variables (k : nat) (G : rat).
Implicit Types (v w : 'I_k -> rat).

Lemma sum_gt0 w (y : 'I_k) : (forall z, 0 < w z) -> 0 < \sum_z w z.
Proof.
by move=> w_gt0; rewrite (bigD1 y) //= ltr_paddr // sumr_ge0 // => z _; apply: ltW.
Qed.

(* A law is one: no share is negative, and together they are 1. *)
Theorem law_is_one w :
  (0 < k)%N -> (forall y, 0 < w y) -> (forall y, 0 <= law w y) /\ \sum_y law w y = 1.
Proof.
move=> k_gt0 w_gt0; have W_gt0 := sum_gt0 (Ordinal k_gt0) w_gt0.
split=> [y|]; first by rewrite divr_ge0 // ltW.
by rewrite -mulr_suml mulfV // gt_eqF.
Qed.

(* Ratios of laws, without a division: what certificates compare. *)
Lemma law_leP v w y :
  (forall z, 0 < v z) -> (forall z, 0 < w z) ->
  (law v y <= G * law w y) = (v y * (\sum_z w z) <= G * w y * (\sum_z v z)).
Proof.
move=> v_gt0 w_gt0; have V_gt0 := sum_gt0 y v_gt0; have W_gt0 := sum_gt0 y w_gt0.
by rewrite /law ler_pdivr_mulr // !mulrA mulrAC ler_pdivl_mulr.
Qed.

(* Weights that only rise, none by more than G, make a private step both ways. *)
Lemma law_squeezed v w y :
  (forall z, 0 < v z) -> (forall z, v z <= w z) -> (forall z, w z <= G * v z) ->
  law w y <= G * law v y /\ law v y <= G * law w y.
Proof.
move=> v_gt0 vw wv; have w_gt0 z : 0 < w z := lt_le_trans (v_gt0 z) (vw z).
have w_ge0 z : 0 <= w z by apply: ltW.
rewrite !law_leP //; split.
  by apply: ler_pmul (wv y) (ler_sum _ _); rewrite ?sumr_ge0 // => z _; rewrite ?vw // ltW.
rewrite mulrAC [v y * _]mulrC; apply: ler_pmul; rewrite ?sumr_ge0 ?(ltW (v_gt0 _)) //.
by rewrite mulr_sumr ler_sum.
Qed.

End Weights.
