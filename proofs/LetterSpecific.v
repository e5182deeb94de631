(* LS-ROO: a letter weighs f(c) if it has c records, whatever the other letters have. *)

From dproo Require Import Preamble Rational Privacy LetterTable.

(* If the bound holds for the worst total, it holds for all. *)
Lemma larger_total (new old gap E Z : rat) :
  0 <= old -> 0 <= gap -> 0 < E -> 0 <= Z - E -> new * E <= old * (E - gap) ->
  new * Z <= old * (Z - gap).
Proof.
move=> old_ge0 gap_ge0 E_gt0 EZ fit; have new_le : new <= old.
  by rewrite -(ler_pmul2r E_gt0) (le_trans fit) // ler_wpmul2l // ler_subl_addr ler_addl.
have := ler_wpmul2l EZ new_le; rat_linear.
Qed.

Lemma smaller_total (new old gap E Z : rat) :
  0 <= old -> gap <= 0 -> 0 <= Z -> 0 <= E - Z -> new * E <= old * (E - gap) ->
  new * Z <= old * (Z - gap).
Proof.
move=> old_ge0 gap_le0 Z_ge0 ZE fit; have [new_le|/ltW old_le] := leP new old.
  have := ler_wpmul2r Z_ge0 new_le; have := ler_wpmul2l old_ge0 gap_le0; rat_linear.
have := ler_wpmul2l ZE old_le; rat_linear.
Qed.

Section Table.

Variables (k : nat) (f : nat -> rat) (G : rat).

Definition ls_roo (c : counts k) (y : 'I_k) : rat := law (fun z => f (c z)) y.

Hypothesis table_positive : forall c, 0 < f c.
Hypothesis table_rising : forall c, f c <= f c.+1.

Variable n : nat.

Section AddRemove.

Hypothesis table_grows_at_most : forall c, (c < n)%N -> f c.+1 <= G * f c.
Hypothesis growth_at_least_one : 1 <= G.

Theorem ls_roo_add_remove : private (@add_remove_up_to k n) G ls_roo.
Proof.
have rises (c : counts k) a y : f (c y) <= f (add c a y).
  by rewrite addE; case: (y == a); rewrite ?addn1 ?addn0.
have grows (c : counts k) a y : (records (add c a) <= n)%N -> f (add c a y) <= G * f (c y).
  rewrite records_add addE => below; case: (y == a); rewrite ?addn1 ?addn0.
    by apply: table_grows_at_most; apply: leq_ltn_trans (count_le_records c y) below.
  by rewrite ler_pemull // ltW.
have positive (c : counts k) y : 0 < f (c y) by [].
move=> c c' [[] [a ->] below below'] y.
  by have [] := law_squeezed y (positive c) (rises c a) (grows c a ^~ below').
by have [] := law_squeezed y (positive c') (rises c' a) (grows c' a ^~ below).
Qed.

End AddRemove.

Section Replace.

(* A record moves from a letter that keeps b records to one that had x. The total of all weights
   falls by the gap. What the other letters weigh is known only to be between least and most;
   the worst total is the least one if the total falls, and the largest if it does not. *)
Definition gap (x b : nat) : rat := step f b - step f x.

Definition worst_total (x b : nat) : rat :=
  let others := if 0 < gap x b then least f else most f in
  f x + f b.+1 + others (n.-1 - x - b)%N (k - 2)%N.

Definition fits (x b : nat) : bool :=
  f x.+1 * worst_total x b <= G * f x * (worst_total x b - gap x b).

Hypothesis growth_at_least_one : 1 <= G.
Hypothesis table_convex : forall c, step f c <= step f c.+1.
Hypothesis gains_fit :
  forall x b, (x + b < n)%N -> ((k <= 2)%N -> (x + b).+1 = n) -> fits x b.

Section Move.

Variables (rest : counts k) (a b : 'I_k).
Hypothesis n_records : (records rest).+1 = n.
Hypothesis moved : a != b.

Let x := rest a.
Let u := rest b.
Let others : {set 'I_k} := ~: [set a; b].
Let R := \sum_(y in others) f (rest y).
Let r := (\sum_(y in others) rest y)%N.

Let split_big (V : Type) (idx : V) (op : Monoid.com_law idx) (g : 'I_k -> V) :
  \big[op/idx]_y g y = op (op (g a) (g b)) (\big[op/idx]_(y in others) g y).
Proof.
rewrite (bigD1 a) //= (bigD1 b) 1?eq_sym //= Monoid.mulmA; congr (op _ _).
by apply: eq_bigl => y; rewrite !inE negb_or.
Qed.

Let others_card : #|others| = (k - 2)%N.
Proof. by rewrite /others cardsCs setCK cards2 moved card_ord. Qed.

Let n_split : n = (x + u + r).+1.
Proof. by rewrite -n_records /records split_big. Qed.

Let at_least : least f r (k - 2) <= R.
Proof. by rewrite -others_card; apply: least_le. Qed.

Let at_most : R <= most f r (k - 2).
Proof. by rewrite -others_card; apply: most_ge. Qed.

Let moves_fit : fits x u.
Proof.
apply: gains_fit => [|k_le2]; rewrite n_split ?ltnS ?leq_addr //.
have /cards0_eq empty : #|others| = 0%N by rewrite others_card; apply/eqP; rewrite subn_eq0.
by rewrite /r empty big_set0 addn0.
Qed.

Let Z := f x + f u.+1 + R.

Let gaining : f x.+1 * Z <= G * f x * (Z - gap x u).
Proof.
have f_ge0 c : 0 <= f c by apply: ltW.
have old_ge0 : 0 <= G * f x by rewrite mulr_ge0 // (le_trans ler01).
have := moves_fit; rewrite /fits /worst_total n_split /= -addnA addKn addKn.
case: ltP => [gap_gt0|gap_le0].
  apply: larger_total; rewrite ?(ltW gap_gt0) ?subr_ge0 ?ler_add2l //.
  by rewrite ltr_paddr ?least_ge0 ?addr_gt0.
apply: smaller_total; rewrite ?subr_ge0 ?ler_add2l //.
by rewrite !addr_ge0 ?sumr_ge0.
Qed.

Let c := add rest b.
Let c' := add rest a.

Let count y : (c y = rest y + (y == b))%N /\ (c' y = rest y + (y == a))%N.
Proof. by rewrite !addE. Qed.

Let total : \sum_y f (c y) = Z.
Proof.
rewrite split_big /=; congr (_ + _ + _); rewrite ?addE ?eqxx ?addn1 ?(negbTE moved) ?addn0 //.
by apply: eq_bigr => y; rewrite !inE addE negb_or => /andP[_ /negbTE ->]; rewrite addn0.
Qed.

Let total' : \sum_y f (c' y) = Z - gap x u.
Proof.
rewrite split_big /= !addE eqxx addn1 [b == a]eq_sym (negbTE moved) addn0.
rewrite /Z -/x -/u (eq_bigr (fun y => f (rest y))) -/R ?stepE; last first.
  by move=> y; rewrite !inE addE negb_or => /andP[/negbTE -> _]; rewrite addn0.
by rewrite /gap; rat_linear.
Qed.

Let whole : Z <= G * (Z - gap x u).
Proof.
have f_ge0 y : 0 <= f y by apply: ltW.
rewrite -(ler_pmul2l (table_positive x)); apply: le_trans (_ : f x.+1 * Z <= _).
  by rewrite ler_wpmul2r ?addr_ge0 ?sumr_ge0.
by rewrite mulrA [f x * G]mulrC.
Qed.

Lemma moved_record y : law (fun z => f (c' z)) y <= G * law (fun z => f (c z)) y.
Proof.
rewrite law_leP // total total'; have Z'_ge0 : 0 <= Z - gap x u.
  by rewrite -total' sumr_ge0 // => z _; apply: ltW.
have [->|ya] := eqVneq y a.
  by rewrite !addE eqxx (negbTE moved) addn0 addn1.
have less : f (c' y) <= f (c y).
  by rewrite !addE (negbTE ya) addn0; case: (y == b); rewrite ?addn1 ?addn0.
apply: le_trans (_ : f (c y) * Z <= _).
  by rewrite ler_wpmul2r // -total sumr_ge0 // => z _; apply: ltW.
by rewrite [G * _]mulrC -mulrA ler_wpmul2l // ltW.
Qed.

End Move.

Theorem ls_roo_replace : private (@replaced_of_n k n) G ls_roo.
Proof.
move=> c c' [[rest [a [b [-> ->]]]]]; rewrite records_add => n_records y.
have [->|moved] := eqVneq a b; last exact: moved_record.
have [law_ge0 _] := law_is_one (leq_ltn_trans (leq0n _) (ltn_ord a)) (fun z => table_positive (add rest b z)).
by rewrite ler_pemull ?law_ge0.
Qed.

End Replace.
End Table.
