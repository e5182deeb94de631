(* What every source begins with: the library, its settings and its notations. *)

From mathcomp Require Export all_ssreflect all_algebra.

#[export] Set Implicit Arguments.
#[export] Unset Strict Implicit.
#[export] Unset Printing Implicit Defensive.

Export Order.TTheory GRing.Theory Num.Theory.
Open Scope ring_scope.
