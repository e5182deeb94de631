(* DS-ROO: how often a letter is obscured depends on the count of the rarest letter. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy.

Section Smallest.

Variable k : nat.
Implicit Types c : counts k.

(* The count of the rarest letter. *)
Definition smallest c : nat := \big[minn/records c]_y c y.

Lemma smallest_le c y : (smallest c <= c y)%N.
Proof.
rewrite /smallest; move: (mem_index_enum y); elim: (index_enum _) => // z letters IH.
rewrite inE big_cons => /orP[/eqP ->|/IH le]; first exact: geq_minl.
exact: leq_trans (geq_minr _ _) le.
Qed.

Lemma le_smallest (y0 : 'I_k) m c : (forall y, m <= c y)%N -> (m <= smallest c)%N.
Proof.
move=> below; apply: (big_ind (fun x => m <= x)%N) => // [|x z].
  exact: leq_trans (below y0) (count_le_records c y0).
by rewrite leq_min => -> ->.
Qed.

Lemma smallest_attained (y0 : 'I_k) c : exists y, c y = smallest c.
Proof.
have [/existsP[y /eqP]|none] := boolP [exists y, c y == smallest c]; first by exists y.
have /(le_smallest y0) : forall y, (smallest c < c y)%N; last by rewrite ltnn.
move=> y; rewrite ltn_neqAle smallest_le andbT eq_sym.
by apply: contraNneq none => E; apply/existsP; exists y; rewrite E.
Qed.

Lemma smallest_is m c z : (forall y, m <= c y)%N -> c z = m -> smallest c = m.
Proof.
by move=> below zE; apply/eqP; rewrite eqn_leq -{1}zE smallest_le (le_smallest z below).
Qed.

(* If every letter has m records, so many are left to one of them. *)
Lemma count_room m c y : (forall z, m <= c z)%N -> (c y + k.-1 * m <= records c)%N.
Proof.
move=> below; rewrite /records (bigD1 y) //= leq_add2l.
have <- : (\sum_(z | z != y) m = k.-1 * m)%N by rewrite sum_nat_const cardC1 card_ord.
exact: leq_sum.
Qed.

End Smallest.

Section DataSpecific.

Variables (k n : nat) (table : nat -> rat) (unit G : rat).

(* Times k n: with probability table m / unit a uniform letter, otherwise a uniform record. *)
Definition data_weight (m c : nat) : rat := table m * n%:R + (unit - table m) * (k%:R * c%:R).

Definition ds_roo (c : counts k) (y : 'I_k) : rat :=
  law (fun z => data_weight (smallest c) (c z)) y.

Lemma data_total (c : counts k) : records c = n -> \sum_y data_weight (smallest c) (c y) = unit * (k%:R * n%:R).
Proof.
move=> n_records; rewrite big_split /= sumr_const card_ord -mulr_sumr -mulr_sumr -natr_sum.
by rewrite -[(\sum_y c y)%N]/(records c) n_records -[_ * _ *+ _]mulr_natr; rat_linear.
Qed.

Hypothesis growth_at_least_one : 1 <= G.
Hypothesis unit_positive : 0 < unit.
Hypothesis entries_nonnegative : forall m, 0 <= table m.
Hypothesis entries_at_most_unit : forall m, table m <= unit.
Hypothesis entries_falling : forall m, table m.+1 <= table m.
Hypothesis rarest_may_gain :
  forall m, (k * m < n)%N -> data_weight m m.+1 <= G * data_weight m m.
Hypothesis minimum_may_fall :
  forall m, (k * m.+1 <= n)%N -> data_weight m m.+2 <= G * data_weight m.+1 m.+1.
Hypothesis largest_may_rise :
  forall m, (k * m.+1 <= n)%N ->
  data_weight m.+1 (n - k.-1 * m.+1) <= G * data_weight m (n - k.-1 * m.+1).

Let weight_ge0 m c : 0 <= data_weight m c.
Proof. by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0 ?ler0n. Qed.

Let weight_rises m c c' : (c <= c')%N -> data_weight m c <= data_weight m c'.
Proof.
by move=> cc'; rewrite ler_add2l ler_wpmul2l ?subr_ge0 // ler_wpmul2l ?ler0n // ler_nat.
Qed.

Let grows x : 0 <= x -> x <= G * x. Proof. by move=> x_ge0; rewrite ler_pemull. Qed.

(* A letter at or above the minimum gains a record, and the minimum stays. *)
Let gains m x : (k * m < n)%N -> (m <= x)%N -> data_weight m x.+1 <= G * data_weight m x.
Proof.
move=> inside m_x; have := rarest_may_gain inside.
have G1 : 0 <= G - 1 by rewrite subr_ge0.
have := ler_wpmul2l G1 (weight_rises m m_x).
rewrite /data_weight !mulrSr; move: (table m * n%:R) => A.
by rat_linear.
Qed.

(* The minimum falls: the letter that gains is worst if it was a rarest one. *)
Let gains_falling m x : (k * m.+1 <= n)%N -> (m.+1 <= x)%N ->
  data_weight m x.+1 <= G * data_weight m.+1 x.
Proof.
move=> inside m_x; have := minimum_may_fall inside; rewrite /data_weight !mulrSr.
have -> : x%:R = m%:R + 1 + (x - m.+1)%:R :> rat by rewrite -mulrSr -natrD subnKC.
move: (x - m.+1)%N => d.
have slope : 0 <= G * (unit - table m.+1) - (unit - table m).
  have := grows (_ : 0 <= unit - table m.+1); rewrite subr_ge0 => /(_ (entries_at_most_unit _)).
  by have := entries_falling m; rat_linear.
have kd_ge0 : 0 <= k%:R * d%:R :> rat by rewrite mulr_ge0 ?ler0n.
by have := mulr_ge0 slope kd_ge0; rat_linear.
Qed.

(* The minimum rises: a letter nobody touched is worst if it has all that is left. *)
Let untouched m x : (k * m.+1 <= n)%N -> (x <= n - k.-1 * m.+1)%N ->
  data_weight m.+1 x <= G * data_weight m x.
Proof.
move=> inside x_le; set C := (n - k.-1 * m.+1)%N in x_le.
have largest := largest_may_rise inside; rewrite -/C in largest.
have fall : 0 <= table m - table m.+1 by rewrite subr_ge0.
have [small|large] := leqP (k * x) n.
  have small' : 0 <= n%:R - k%:R * x%:R :> rat by rewrite subr_ge0 -natrM ler_nat.
  apply: le_trans (grows (weight_ge0 m x)); rewrite /data_weight.
  by have := mulr_ge0 fall small'; rat_linear.
have x_gt : 0 < k%:R * x%:R - n%:R :> rat by rewrite subr_gt0 -natrM ltr_nat.
have C_ge : 0 <= k%:R * C%:R - k%:R * x%:R :> rat.
  by rewrite subr_ge0 -!natrM ler_nat leq_mul2l x_le orbT.
have whole : 0 <= unit * n%:R * (G - 1) by rewrite !mulr_ge0 ?ler0n ?subr_ge0 // ltW.
have C_gt : 0 < k%:R * C%:R - n%:R :> rat by move: x_gt C_ge; rat_linear.
rewrite -subr_ge0 in largest; rewrite -subr_ge0 -(pmulr_lge0 _ C_gt).
have := mulr_ge0 largest (ltW x_gt); have := mulr_ge0 whole C_ge; rewrite /data_weight.
by rat_linear.
Qed.

Theorem ds_roo_replace : private (@replaced_of_n k n) G ds_roo.
Proof.
move=> c c' [[rest [a [b [cE c'E]]]] n_records] y.
have n_records' : records c' = n by rewrite c'E records_add -n_records cE records_add.
rewrite /ds_roo /law !data_total // [G * _]mulrA ler_wpmul2r ?invr_ge0 ?mulr_ge0 ?ler0n ?(ltW unit_positive) //=.
set m := smallest c; set m' := smallest c'.
have low z : (m <= c z)%N by apply: smallest_le.
have low' z : (m' <= c' z)%N by apply: smallest_le.
have counted z : (c z = rest z + (z == b))%N /\ (c' z = rest z + (z == a))%N.
  by rewrite cE c'E !addE.
have [same|moved] := eqVneq a b; first by rewrite /m /m' c'E cE same; apply: grows.
have at_most : (m' <= m.+1)%N.
  have [z zE] := smallest_attained a c; have := low' z; have [cz c'z] := counted z.
  by move: zE c'z cz; rewrite -/m; case: (z == a); case: (z == b); lia.
have at_least : (m <= m'.+1)%N.
  have [z zE] := smallest_attained a c'; have := low z; have [cz c'z] := counted z.
  by move: zE c'z cz; rewrite -/m'; case: (z == a); case: (z == b); lia.
have [ca c'a] := counted a; rewrite eqxx (negbTE moved) in ca c'a.
have less z : z != a -> (c' z <= c z)%N.
  by move=> /negbTE z_a; have [-> ->] := counted z; rewrite z_a addn0 leq_addr.
have k_gt0 : (0 < k)%N := leq_ltn_trans (leq0n _) (ltn_ord a).
have times l : (k * l = l + k.-1 * l)%N by rewrite -mulSn prednK.
have room (d : counts k) (l : nat) : records d = n -> (forall z, l <= d z)%N ->
    (k * l <= n)%N /\ forall z, (d z <= n - k.-1 * l)%N.
  move=> <- below; split=> [|z].
    by rewrite times (leq_trans _ (count_room a below)) // leq_add2r below.
  by rewrite leq_subRL; [rewrite addnC count_room | exact: leq_trans (leq_addl _ _) (count_room a below)].
have [mE|[m'E|mE]] : m = m' \/ m' = m.+1 \/ m = m'.+1 by move: at_most at_least; clear; lia.
- have [_ room_a] := room c' m' n_records' low'; rewrite -mE in room_a *.
  have inside : (k * m < n)%N.
    have := count_room a low'; rewrite n_records' c'a -mE times addn1; apply: leq_trans.
    by rewrite addSn ltnS leq_add2r -(addn0 (rest a)) -ca.
  have [->|y_a] := eqVneq y a; last by apply: le_trans (weight_rises m (less _ y_a)) (grows (weight_ge0 _ _)).
  by rewrite c'a addn1 -(addn0 (rest a)) -ca; apply: gains.
- have [inside room_y] := room c' m' n_records' low'; rewrite m'E in inside room_y *.
  have [->|y_a] := eqVneq y a; last first.
    apply: le_trans (untouched inside (room_y y)) _.
    by rewrite ler_wpmul2l ?weight_rises ?less // (le_trans ler01).
  have m_lt : (k * m < n)%N by apply: leq_trans inside; rewrite ltn_mul2l k_gt0 ltnSn.
  have ca_m : c a = m.
    have [z zE] := smallest_attained a c.
    have [za|z_a] := eqVneq z a; first by rewrite -za zE.
    by have := leq_trans (low' z) (less z z_a); rewrite zE -/m m'E ltnn.
  rewrite c'a addn1 -(addn0 (rest a)) -ca ca_m; apply: le_trans (rarest_may_gain m_lt).
  have fall : 0 <= table m - table m.+1 by rewrite subr_ge0.
  have small : 0 <= n%:R - k%:R * m.+1%:R :> rat by rewrite subr_ge0 -natrM ler_nat.
  by have := mulr_ge0 fall small; rewrite /data_weight; rat_linear.
- have [inside _] := room c m n_records low; rewrite mE in inside low *.
  apply: le_trans (gains_falling inside (low y)); apply: weight_rises.
  have [->|/less y_a] := eqVneq y a; last exact: leqW.
  by rewrite c'a ca addn0 addn1.
Qed.

End DataSpecific.

(* Two letters: what one has the other has not. *)
Section TwoLetters.

Variables (n : nat) (table : nat -> rat) (unit G : rat).

(* The weight of a letter with x records. *)
Definition pair_weight (x : nat) : rat := data_weight 2 n table unit (minn x (n - x)) x.

Hypothesis growth_at_least_one : 1 <= G.
Hypothesis unit_positive : 0 < unit.
Hypothesis entries_nonnegative : forall m, 0 <= table m.
Hypothesis entries_at_most_unit : forall m, table m <= unit.
Hypothesis pair_rises : forall m, (2 * m < n)%N -> pair_weight m <= pair_weight m.+1.
Hypothesis pair_grows_at_most : forall m, (2 * m < n)%N -> pair_weight m.+1 <= G * pair_weight m.

Let weight_ge0 x : 0 <= pair_weight x.
Proof. by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0 ?ler0n. Qed.

Let whole : rat := unit * (2%:R * n%:R).

Let mirrored x : (x <= n)%N -> pair_weight x = whole - pair_weight (n - x).
Proof.
move=> x_le; rewrite /pair_weight /data_weight /whole subKn // [minn (n - x) x]minnC natrB //.
have -> : 2%:R = 1 + 1 :> rat by [].
by rat_linear.
Qed.

(* A step beyond the middle is a step before it. *)
Let beyond x : (x < n)%N -> (n <= 2 * x)%N -> let y := (n - x.+1)%N in
  [/\ (2 * y < n)%N, (y <= x)%N &
      pair_weight x.+1 - pair_weight x = pair_weight y.+1 - pair_weight y].
Proof.
move=> x_lt x_ge y; rewrite /y; split; try lia.
rewrite (mirrored x_lt) (mirrored (ltnW x_lt)).
have -> : (n - x = (n - x.+1).+1)%N by lia.
by rat_linear.
Qed.

Let rises x : (x < n)%N -> pair_weight x <= pair_weight x.+1.
Proof.
move=> x_lt; have [/(beyond x_lt)[y_lt _]|] := leqP n (2 * x); last exact: pair_rises.
by have := pair_rises y_lt; rat_linear.
Qed.

Let rises_to y x : (y <= x)%N -> (x <= n)%N -> pair_weight y <= pair_weight x.
Proof.
move/subnK <-; elim: (x - y)%N => [|d IH] inside; first by rewrite add0n.
by apply: le_trans (IH (ltnW inside)) (rises inside).
Qed.

Let grows x : (x < n)%N -> pair_weight x.+1 <= G * pair_weight x.
Proof.
move=> x_lt; have [/(beyond x_lt)[y_lt y_le same]|] := leqP n (2 * x); last first.
  exact: pair_grows_at_most.
have G1 : 0 <= G - 1 by rewrite subr_ge0.
have := ler_wpmul2l G1 (rises_to y_le (ltnW x_lt)); have := pair_grows_at_most y_lt.
by move: same; rat_linear.
Qed.

Let smallest_of_two (c : counts 2) y : records c = n -> smallest c = minn (c y) (n - c y).
Proof.
move=> <-; pose z : 'I_2 := lift ord0 ord0.
have two (P : 'I_2 -> Prop) : P ord0 -> P z -> forall x, P x.
  by move=> P0 Pz x; case: (unliftP ord0 x) => [i ->|->] //; rewrite (ord1 i).
have sum : records c = (c ord0 + c z)%N by rewrite /records big_ord_recl big_ord1.
have least : smallest c = minn (c ord0) (c z).
  apply/eqP; rewrite eqn_leq leq_min !smallest_le /=; apply: (le_smallest y).
  by apply: two; rewrite ?geq_minl ?geq_minr.
by move: y; apply: two; rewrite least sum ?addKn ?addnK // minnC.
Qed.

Theorem ds_roo_two_letters : private (@replaced_of_n 2 n) G (@ds_roo 2 n table unit).
Proof.
move=> c c' [[rest [a [b [cE c'E]]]] n_records] y.
have n_records' : records c' = n by rewrite c'E records_add -n_records cE records_add.
rewrite /ds_roo /law !data_total // [G * _]mulrA.
rewrite ler_wpmul2r ?invr_ge0 ?mulr_ge0 ?ler0n ?(ltW unit_positive) //=.
rewrite (smallest_of_two y n_records) (smallest_of_two y n_records') -!/(pair_weight _).
have stays x : pair_weight x <= G * pair_weight x by rewrite ler_pemull.
have below : (rest y < n)%N by rewrite -n_records cE records_add ltnS count_le_records.
rewrite cE c'E !addE; case: (y == a); case: (y == b); rewrite ?addn1 ?addn0 //.
  exact: grows.
exact: le_trans (rises below) (stays _).
Qed.

End TwoLetters.
