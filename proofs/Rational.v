(* Linear arithmetic for the rationals of Mathematical Components.

   Coq's solver for linear inequalities knows its own rationals only. The bridge is a map that
   respects +, -, * and <=; the tactics send the goal and all hypotheses across it. *)

From Coq Require Import ZArith QArith Lqa.
From mathcomp.zify Require Import zify ssrZ.
From dproo Require Import Preamble.

Definition Q_of (x : rat) : Q := Qmake (Z_of_int (numq x)) (Z.to_pos (Z_of_int (denq x))).

Local Lemma posE (d : int) : 0 < d -> Z.pos (Z.to_pos (Z_of_int d)) = Z_of_int d.
Proof. by move=> d_gt0; rewrite Z2Pos.id //; lia. Qed.

Local Lemma Q_of_frac (a b : int) :
  0 < b -> Qeq (Q_of (a%:~R / b%:~R)) (Qmake (Z_of_int a) (Z.to_pos (Z_of_int b))).
Proof.
move=> b_gt0; rewrite /Q_of /Qeq /=; set x := _ / _; have d_gt0 := denq_gt0 x.
have /eqP : (numq x)%:~R / (denq x)%:~R = a%:~R / b%:~R :> rat by rewrite divq_num_den.
rewrite eqr_div ?intr_eq0 ?denq_neq0 ?lt0r_neq0 // -!intrM eqr_int => /eqP.
by rewrite !posE //; move: (numq x) (denq x) => n d; lia.
Qed.

Local Lemma fracE (x : rat) : x = (numq x)%:~R / (denq x)%:~R.
Proof. by rewrite divq_num_den. Qed.

Local Lemma den_neq0 (x : rat) : (denq x)%:~R != 0 :> rat.
Proof. by rewrite intr_eq0 denq_neq0. Qed.

Lemma Q_add (x y : rat) : Qeq (Q_of (x + y)) (Qplus (Q_of x) (Q_of y)).
Proof.
rewrite {1}[x]fracE {1}[y]fracE addf_div ?den_neq0 // -!intrM -intrD.
rewrite Q_of_frac ?mulr_gt0 ?denq_gt0 // /Qeq /= Pos2Z.inj_mul !posE ?mulr_gt0 ?denq_gt0 //.
by move: (numq x) (numq y) (denq x) (denq y) => a b c d; lia.
Qed.

Lemma Q_mul (x y : rat) : Qeq (Q_of (x * y)) (Qmult (Q_of x) (Q_of y)).
Proof.
rewrite {1}[x]fracE {1}[y]fracE mulf_div -!intrM.
rewrite Q_of_frac ?mulr_gt0 ?denq_gt0 // /Qeq /= Pos2Z.inj_mul !posE ?mulr_gt0 ?denq_gt0 //.
by move: (numq x) (numq y) (denq x) (denq y) => a b c d; lia.
Qed.

Lemma Q_opp (x : rat) : Qeq (Q_of (- x)) (Qopp (Q_of x)).
Proof. by rewrite /Qeq /Q_of numqN denqN /=; lia. Qed.

Lemma Q_0 : Qeq (Q_of 0) 0. Proof. by []. Qed.
Lemma Q_1 : Qeq (Q_of 1) 1. Proof. by []. Qed.

Lemma Q_le (x y : rat) : x <= y <-> Qle (Q_of x) (Q_of y).
Proof.
rewrite /Qle /= !posE ?denq_gt0 // -[x <= y]/(le_rat x y).
by case: x y => [[a b] ?] [[c d] ?]; rewrite /numq /denq /=; lia.
Qed.

Lemma Q_lt (x y : rat) : x < y <-> Qlt (Q_of x) (Q_of y).
Proof.
rewrite ltNge; split=> [/negP not_le|lt]; last by apply/negP => /Q_le; lra.
by apply/Qnot_le_lt => /Q_le.
Qed.

Lemma Q_eq (x y : rat) : x = y <-> Qeq (Q_of x) (Q_of y).
Proof.
split=> [-> //|eq]; apply/eqP; rewrite eq_le.
by apply/andP; split; apply/Q_le; lra.
Qed.

(* Gives a name to what is no sum or product, the same name to all that is the same by definition. *)
Ltac name_atoms :=
  repeat match goal with
  | H : Qle _ _ |- _ => revert H
  | H : Qlt _ _ |- _ => revert H
  | H : Qeq _ _ |- _ => revert H
  end;
  repeat match goal with |- context [Q_of ?x] => move: (Q_of x) => ? end;
  intros.

(* Sends everything in sight across the bridge. *)
Ltac to_Q :=
  repeat match goal with
  | H : is_true (@Order.le _ _ _ _) |- _ => apply Q_le in H
  | H : is_true (@Order.lt _ _ _ _) |- _ => apply Q_lt in H
  | H : @eq _ _ _ |- _ => apply Q_eq in H
  end;
  try first [apply/Q_le | apply/Q_lt | apply/Q_eq];
  repeat rewrite -> ?Q_add, ?Q_mul, ?Q_opp, ?Q_0, ?Q_1 in *;
  name_atoms.

(* Products of variables are variables of their own to the first, and are multiplied by the second. *)
Ltac rat_linear := intros; to_Q; lra.
Ltac rat_nonlinear := intros; to_Q; nra.
