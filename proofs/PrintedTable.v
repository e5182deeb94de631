(* The table of DS-ROO as it is printed is not private: two counterexamples, computed.

   The numbers are Coq's binary rationals; the bridge of Rational.v carries them over. *)

From Coq Require Import ZArith QArith.
From dproo Require Import Preamble Rational Privacy DataSpecific.

Delimit Scope Q_scope with binary.

(* Algorithm 2: q_0 = 1/(1 + r(E-1)), and q_m = max(0, (u q_(m-1) - w)/v). *)
Definition printed_step (r E m q : rat) : rat :=
  let u := r - m - 1 in let v := E * (r - m) in let w := m * (E - 1) - 1 in
  Num.max 0 ((u * q - w) / v).

Fixpoint printed (r E : rat) (m : nat) : rat :=
  if m is m'.+1 then printed_step r E m%:R (printed r E m') else 1 / (1 + r * (E - 1)).

Definition ds_roo_as_printed (k n : nat) (E : rat) : counts k -> 'I_k -> rat :=
  ds_roo n (printed (n%:R / k%:R) E) 1.

Section Computed.

Lemma Q_nat (n : nat) : Qeq (Q_of n%:R) (inject_Z (Z.of_nat n)).
Proof.
elim: n => [|n IH]; first exact: Q_0.
by rewrite mulrSr Q_add IH Q_1 Nat2Z.inj_succ -Z.add_1_r inject_Z_plus.
Qed.

Lemma Q_inv (x : rat) : Qeq (Q_of x^-1) (Qinv (Q_of x)).
Proof.
have [->|x_neq0] := eqVneq x 0; first by rewrite invr0 Q_0.
have product : Qeq (Qmult (Q_of x) (Q_of x^-1)) 1%binary by rewrite -Q_mul mulfV // Q_1.
have neq0 : ~ Qeq (Q_of x) 0%binary.
  by move=> E; move/eqP: x_neq0; apply; apply/Q_eq; rewrite E Q_0.
by rewrite -[Q_of x^-1]Qmult_1_l -(Qmult_inv_r _ neq0) [Qmult (Q_of x) _]Qmult_comm -Qmult_assoc product Qmult_1_r.
Qed.

Lemma Q_max0 (x : rat) : Qeq (Q_of (Num.max 0 x)) (if Qle_bool 0%binary (Q_of x) then Q_of x else 0%binary).
Proof.
case: (leP 0 x) => [/Q_le|/Q_lt]; rewrite Q_0.
  by move/Qle_bool_iff ->.
by move=> lt; case: (Qle_bool _ _) (Qle_bool_iff 0%binary (Q_of x)) => // [[/(_ isT)/(Qlt_not_le _ _ lt)]].
Qed.

Definition step_Q (r E m q : Q) : Q :=
  let x := Qred (((r - m - 1) * q - (m * (E - 1) - 1)) / (E * (r - m)))%binary in
  if Qle_bool 0%binary x then x else 0%binary.

Fixpoint printed_Q (r E : Q) (m : nat) : Q :=
  if m is m'.+1 then step_Q r E (inject_Z (Z.of_nat m)) (printed_Q r E m')
  else Qred (1 / (1 + r * (E - 1)))%binary.

Lemma Q_step (r E m q : rat) (r' E' m' q' : Q) :
  Qeq (Q_of r) r' -> Qeq (Q_of E) E' -> Qeq (Q_of m) m' -> Qeq (Q_of q) q' ->
  Qeq (Q_of (printed_step r E m q)) (step_Q r' E' m' q').
Proof.
move=> rE EE mE qE; rewrite /printed_step /step_Q Q_max0; cbv zeta.
set x := (_ / _)%R; set y := Qred _.
have xy : Qeq (Q_of x) y.
  by rewrite /x /y Qred_correct Q_mul Q_inv !(Q_add, Q_mul, Q_opp, Q_1) rE EE mE qE.
have -> : Qle_bool 0%binary (Q_of x) = Qle_bool 0%binary y by apply: Qleb_comp.
by case: Qle_bool.
Qed.

Lemma Q_printed (r E : rat) (r' E' : Q) m :
  Qeq (Q_of r) r' -> Qeq (Q_of E) E' -> Qeq (Q_of (printed r E m)) (printed_Q r' E' m).
Proof.
move=> rE EE; elim: m => [|m IH]; last exact: Q_step (Q_nat m.+1) IH.
by rewrite /printed_Q Qred_correct /printed Q_mul Q_inv !(Q_add, Q_mul, Q_opp, Q_1) rE EE.
Qed.

(* Whether a letter with x records, at the minimum m, grows by more than G if it has x' at m'. *)
Definition weight_Q (k n q x : Q) : Q := (q * n + (1 - q) * (k * x))%binary.

Definition leaks (k n : Z) (E G : Q) (m m' x x' : nat) : bool :=
  let table := printed_Q (inject_Z n / inject_Z k)%binary E in
  let weight m x := weight_Q (inject_Z k) (inject_Z n) (table m) (inject_Z (Z.of_nat x)) in
  ~~ Qle_bool (weight m' x') (G * weight m x)%binary.

Lemma printed_leaks k n E G (E' G' : Q) (rest : counts k) (a b y : 'I_k) m m' x x' :
  Qeq (Q_of E) E' -> Qeq (Q_of G) G' -> (records rest).+1 = n ->
  smallest (add rest b) = m -> smallest (add rest a) = m' ->
  add rest b y = x -> add rest a y = x' -> leaks (Z.of_nat k) (Z.of_nat n) E' G' m m' x x' ->
  ~ private (@replaced_of_n k n) G (@ds_roo_as_printed k n E).
Proof.
move=> EE GG n_records mE m'E xE x'E leak is_private.
have near : replaced_of_n n (add rest b) (add rest a).
  by split; [exists rest, a, b | rewrite records_add].
have := is_private _ _ near y; rewrite /ds_roo_as_printed /ds_roo /law.
rewrite !data_total ?records_add // mE m'E xE x'E [(G * _)%R]mulrA.
have k_gt0 : (0 < k)%N := leq_ltn_trans (leq0n _) (ltn_ord a).
rewrite ler_pmul2r ?invr_gt0 ?mulr_gt0 ?ltr0n // -?n_records // => /Q_le.
have weight i j : Qeq (Q_of (data_weight k n (printed (n%:R / k%:R) E) 1 i j))
    (weight_Q (inject_Z (Z.of_nat k)) (inject_Z (Z.of_nat n))
      (printed_Q (inject_Z (Z.of_nat n) / inject_Z (Z.of_nat k))%binary E' i)
      (inject_Z (Z.of_nat j))).
  rewrite /data_weight /weight_Q !(Q_add, Q_mul, Q_opp, Q_1, Q_nat).
  have ratio : Qeq (Q_of (n%:R / k%:R)) (inject_Z (Z.of_nat n) / inject_Z (Z.of_nat k))%binary.
    by rewrite Q_mul Q_inv !Q_nat.
  rewrite (Q_printed i ratio EE); reflexivity.
rewrite n_records Q_mul !weight GG => /Qle_bool_iff le.
by move: leak; rewrite /leaks le.
Qed.

End Computed.

Lemma Q_hundredths (i : nat) :
  Qeq (Q_of (i%:R / 100%:R)) (inject_Z (Z.of_nat i) / inject_Z 100)%binary.
Proof. by rewrite Q_mul Q_inv !Q_nat. Qed.

(* The last step where k does not divide n: one letter has two records, all others one. *)
Section LastStep.

Variables (k : nat) (G : nat).
Hypothesis two : (1 < k)%N.

Let a : 'I_k := Ordinal two.
Let b : 'I_k := Ordinal (ltnW two).
Let rest : counts k := [ffun _ => 1%N].

Lemma last_step : leaks (Z.of_nat k) (Z.of_nat k.+1) (inject_Z 101 / inject_Z 100)%binary
    (inject_Z (Z.of_nat G) / inject_Z 100)%binary 1 1 1 2 ->
  ~ private (@replaced_of_n k k.+1) (G%:R / 100%:R) (@ds_roo_as_printed k k.+1 (101%:R / 100%:R)).
Proof.
have least (d e : 'I_k) : d != e -> smallest (add rest d) = 1%N.
  move=> de; apply: (@smallest_is _ _ _ e) => [y|]; rewrite addE ffunE ?addSn //.
  by rewrite [e == d]eq_sym (negbTE de).
apply: (@printed_leaks _ _ _ _ _ _ rest a b a); rewrite ?Q_hundredths //.
- by rewrite /records; under eq_bigr do rewrite ffunE; rewrite sum1_card card_ord.
- exact: (least b a).
- exact: (least a b).
- by rewrite addE ffunE.
- by rewrite addE ffunE eqxx.
Qed.

End LastStep.

Theorem printed_leaks_at_the_last_step :
  ~ private (@replaced_of_n 2 3) (101%:R / 100%:R) (@ds_roo_as_printed 2 3 (101%:R / 100%:R)).
Proof. by apply: (@last_step 2 101 isT); vm_compute. Qed.

Theorem printed_leaks_by_nearly_two :
  ~ private (@replaced_of_n 10000 10001) (199%:R / 100%:R)
    (@ds_roo_as_printed 10000 10001 (101%:R / 100%:R)).
Proof. by apply: (@last_step 10000 199 isT); vm_compute. Qed.

(* Big letters: counts 98 and 100 become 99 and 99, one letter has 1099, all others 99. *)
Theorem printed_leaks_at_a_big_letter :
  ~ private (@replaced_of_n 1000 (100 * 1000)) (103%:R / 100%:R)
    (@ds_roo_as_printed 1000 (100 * 1000) (101%:R / 100%:R)).
Proof.
pose a : 'I_1000 := @Ordinal 1000 0 isT; pose b : 'I_1000 := @Ordinal 1000 1 isT.
pose y : 'I_1000 := @Ordinal 1000 2 isT.
pose rest : counts 1000 := [ffun z => (99 + 1000 * (z == y) - (z == a))%N].
have away : (a == y = false) /\ (b == y = false) /\ (b == a = false) /\ (y == a = false) by [].
have filled z : add rest a z = (99 + 1000 * (z == y))%N.
  by rewrite addE ffunE subnK //; case: (z == a).
apply: (@printed_leaks _ _ _ _ (inject_Z 101 / inject_Z 100)%binary
  (inject_Z 103 / inject_Z 100)%binary rest a b y 98 99 1099 1099).
- exact: Q_hundredths.
- exact: Q_hundredths.
- rewrite -(records_add rest a) /records; under eq_bigr do rewrite filled.
  rewrite big_split /= sum_nat_const card_ord -big_distrr /= (bigD1 y) //= big1 => [|z /negbTE -> //].
  by rewrite addn0 muln1 [(100 * _)%N]mulSn addnC mulnC.
- apply: (@smallest_is _ _ _ a) => [z|]; rewrite addE ffunE //.
  by case: (z == y); case: (z == a); case: (z == b).
- apply: (@smallest_is _ _ _ a) => [z|]; rewrite filled ?leq_addr //.
- by rewrite addE ffunE.
- by rewrite filled.
- by rewrite -multE Nat2Z.inj_mul; vm_compute.
Qed.
