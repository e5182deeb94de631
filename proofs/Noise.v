(* Two-sided geometric noise on the cells of a family of columns.

   A released number y of a cell that holds c records has the probability (1-q)/(1+q) q^|y-c|. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy Rows.

Section Noise.

Variables (q : rat) (k : nat).

Hypothesis ratio_positive : 0 < q.
Hypothesis ratio_below_one : q < 1.

(* How far a released number is from a count. *)
Definition gap (y : int) (c : nat) : nat := `|y - c%:Z|%N.

Definition cell_law (c : nat) (y : int) : rat := (1 - q) / (1 + q) * q ^+ gap y c.

(* The probability of the released numbers of all cells of a family. *)
Definition noisy (c : counts k) (y : nat -> int) : rat := \prod_(x < k) cell_law (c x) (y x).

Lemma cell_law_gt0 c y : 0 < cell_law c y.
Proof.
by rewrite mulr_gt0 ?exprn_gt0 ?divr_gt0 ?subr_gt0 // addr_gt0.
Qed.

Lemma noisy_ge0 c y : 0 <= noisy c y.
Proof. by rewrite prodr_ge0 // => x _; apply/ltW/cell_law_gt0. Qed.

Lemma cell_law_far s c c' y :
  (gap y c <= gap y c' + s)%N -> cell_law c' y <= q^-1 ^+ s * cell_law c y.
Proof.
move=> near; rewrite /cell_law mulrCA ler_wpmul2l //.
  by rewrite divr_ge0 // ?subr_ge0 ?ltW // addr_gt0.
rewrite exprVn mulrC ler_pdivl_mulr ?exprn_gt0 // -exprD.
by apply: ler_wiexpn2l; rewrite ?near // ltW.
Qed.

Lemma cell_law_near c c' y :
  (gap y c <= (gap y c').+1)%N -> cell_law c' y <= q^-1 * cell_law c y.
Proof. by rewrite -[_.+1]addn1 -[q^-1]expr1; apply: cell_law_far. Qed.

Lemma gap_up y c : (gap y c <= (gap y c.+1).+1)%N.
Proof. by rewrite /gap; lia. Qed.

Lemma gap_down y c : (gap y c.+1 <= (gap y c).+1)%N.
Proof. by rewrite /gap; lia. Qed.

(* One cell changes, and no other one. *)
Lemma noisy_changed (c c' : counts k) (a : 'I_k) (y : nat -> int) :
  (forall x, x != a -> c x = c' x) -> (gap (y a) (c a) <= (gap (y a) (c' a)).+1)%N ->
  noisy c' y <= q^-1 * noisy c y.
Proof.
move=> others near; rewrite /noisy (bigD1 a) //= [in leRHS](bigD1 a) //= mulrA.
have -> : \prod_(x < k | x != a) cell_law (c' x) (y x) =
          \prod_(x < k | x != a) cell_law (c x) (y x).
  by apply: eq_bigr => x /others ->.
rewrite ler_wpmul2r ?cell_law_near // prodr_ge0 // => x _.
exact/ltW/cell_law_gt0.
Qed.

Lemma noisy_added c a y :
  noisy (add c a) y <= q^-1 * noisy c y /\ noisy c y <= q^-1 * noisy (add c a) y.
Proof.
have others x : x != a -> add c a x = c x by rewrite addE => /negbTE ->; rewrite addn0.
have own : add c a a = (c a).+1 by rewrite addE eqxx addn1.
split.
  apply: (@noisy_changed c (add c a) a y) => [x xa|]; first by rewrite others.
  by rewrite own gap_up.
apply: (@noisy_changed (add c a) c a y) => [x xa|]; first by rewrite others.
by rewrite own gap_down.
Qed.

Theorem noise_add_remove : private (@add_remove k) q^-1 noisy.
Proof.
move=> c c' [] [a ->] y; first exact: (proj1 (noisy_added c a y)).
exact: (proj2 (noisy_added c' a y)).
Qed.

(* Two cells change: the square. *)
Theorem noise_replace : private (@replaced k) (q^-1 ^+ 2) noisy.
Proof.
move=> c c' [rest [a [b [-> ->]]]] y; rewrite expr2 -mulrA.
apply: le_trans (proj1 (noisy_added rest a y)) _.
apply: ler_wpmul2l; first by rewrite invr_ge0 ltW.
exact: (proj2 (noisy_added rest b y)).
Qed.

End Noise.

Section Adaptive.

(* The growth of a step may depend on the path; on no path is the product above E. *)
Variables (D T : Type) (near : D -> D -> Prop).
Variables (draw : seq T -> D -> T -> rat) (G : seq T -> rat) (E : rat).

Fixpoint spent (before outcomes : seq T) : rat :=
  if outcomes is t :: later then G before * spent (rcons before t) later else 1.

Hypothesis draws_nonnegative : forall before d t, 0 <= draw before d t.
Hypothesis steps_private : forall before, private near (G before) (draw before).
Hypothesis paths_within : forall outcomes, spent [::] outcomes <= E.

Theorem adaptive_composition : private near E (path_probability draw [::]).
Proof.
have path_ge0 before d outcomes : 0 <= path_probability draw before d outcomes.
  by elim: outcomes before => [|t later IH] before //=; rewrite mulr_ge0.
move=> d d' dd' outcomes.
apply: (@le_trans _ _ (spent [::] outcomes * path_probability draw [::] d outcomes)).
  elim: outcomes [::] => [|t later IH] before /=; first by rewrite mul1r.
  by rewrite mulrACA; apply: ler_pmul => //; apply: steps_private.
by rewrite ler_wpmul2r.
Qed.

End Adaptive.
