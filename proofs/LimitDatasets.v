(* The limit for datasets: how near a private sampler can be to the records of every dataset. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy Limit.
From mathcomp Require Import fingroup perm.

Section Datasets.

Variables (k n : nat).

(* The share of each letter among the records. *)
Definition empirical (x : n.-tuple 'I_k) (y : 'I_k) : rat := (count_mem y x)%:R / n%:R.

(* Near the records of every dataset. *)
Definition faithful (beta : rat) (sampler : n.-tuple 'I_k -> 'I_k -> rat) : Prop :=
  forall x, distance (sampler x) (empirical x) <= beta.

Variables (letters c : nat) (G : rat).

Hypothesis growth_at_least_one : 1 <= G.
Hypothesis letters_leave_one : (0 < letters < k)%N.
Hypothesis some_records : (0 < c)%N.
Hypothesis records_fit : (letters * c <= n)%N.

Section Sampler.

Variables (sampler : n.-tuple 'I_k -> 'I_k -> rat) (beta : rat).
Hypothesis is_law : forall x, distribution (sampler x).
Hypothesis is_private : private (@one_replaced k n) G sampler.
Hypothesis is_faithful : faithful beta sampler.

Let G_ge0 : 0 <= G. Proof. exact: le_trans ler01 growth_at_least_one. Qed.

Let j_lt : (letters < k)%N. Proof. by case/andP: letters_leave_one. Qed.
Let j_gt0 : (0 < letters)%N. Proof. by case/andP: letters_leave_one. Qed.
Let n_gt0 : (0 < n)%N. Proof. by move: records_fit some_records j_gt0; clear; nia. Qed.

(* Place i of the data: letter i/c while there are letters, and the letter z after them. *)
Let z : 'I_k := Ordinal j_lt.
Let letter_at (i : nat) : 'I_k := insubd z (i %/ c)%N.
Let base : n.-tuple 'I_k := [tuple if (i < letters * c)%N then letter_at i else z | i < n].
(* The first m records of letter y are z. *)
Let moved (y : 'I_k) (m : nat) : n.-tuple 'I_k :=
  [tuple if (y * c <= i < y * c + m)%N then z else tnth base i | i < n].
Let renamed (s : {perm 'I_k}) (x : n.-tuple 'I_k) : n.-tuple 'I_k := [tuple of map s x].

Let empirical_sum x : \sum_y empirical x y = 1.
Proof.
rewrite -mulr_suml -natr_sum.
have -> : (\sum_(y < k) count_mem y x)%N = n.
  rewrite -[RHS](size_tuple x); elim: (x : seq _) => [|y s IH]; first by rewrite big1.
  rewrite /= big_split /= IH -add1n; congr addn.
  by rewrite (bigD1 y) //= eqxx big1 // => v; rewrite eq_sym => /negbTE ->.
by rewrite mulfV // pnatr_eq0 -lt0n.
Qed.

Let above x (A : {set 'I_k}) : \sum_(y in A) (sampler x y - empirical x y) <= beta.
Proof.
apply: le_trans (is_faithful x); apply: event_le.
by rewrite empirical_sum; have [_ ->] := is_law x.
Qed.

Let below x (A : {set 'I_k}) : \sum_(y in A) (empirical x y - sampler x y) <= beta.
Proof.
apply: le_trans (is_faithful x); rewrite distanceC; apply: event_le.
by rewrite empirical_sum; have [_ ->] := is_law x.
Qed.

Let empirical_renamed s x y : empirical (renamed s x) (s y) = empirical x y.
Proof.
rewrite /empirical /= count_map; congr (_%:R / _); apply: eq_count => v /=.
by rewrite (inj_eq (@perm_inj _ s)).
Qed.

Let in_letters (y : 'I_k) (i : nat) : (y < letters)%N -> (i < letters * c)%N ->
  (letter_at i == y) = (y * c <= i < y * c + c)%N.
Proof.
move=> y_lt i_lt; have q_lt : (i %/ c < letters)%N by rewrite ltn_divLR.
rewrite -val_eqE /= val_insubd (ltn_trans q_lt j_lt).
by apply/eqP/andP => [<-|[low high]]; move: (divn_eq i c) (ltn_pmod i some_records); nia.
Qed.

Let first_card m : (m <= k)%N -> #|[set y : 'I_k | (y < m)%N]| = m.
Proof.
move=> m_le; rewrite -[RHS](card_ord m) -(card_imset predT (f := widen_ord m_le)); last first.
  by move=> i i' /(congr1 val) /= /val_inj.
congr (#|pred_of_set _|); apply/setP => y; rewrite inE; apply/idP/imsetP => [y_lt|[i _ ->]].
  by exists (Ordinal y_lt) => //; apply: val_inj.
by rewrite /= ltn_ord.
Qed.

Let S : {set 'I_k} := [set y : 'I_k | (y < letters)%N].
Let Z : {set 'I_k} := [set y : 'I_k | (letters < y)%N].

Let place (y : 'I_k) (i : nat) : y \in S -> (i < c)%N -> (y * c + i < n)%N.
Proof. by rewrite inE => y_lt i_lt; move: records_fit y_lt i_lt; clear; nia. Qed.

(* Each of the letters has c records, at least. *)
Let own_share y : y \in S -> c%:R / n%:R <= empirical base y.
Proof.
move=> yS; rewrite ler_pmul2r ?invr_gt0 ?ltr0n // ler_nat.
have -> : count_mem y base = #|[set i | tnth base i == y]|.
  by rewrite -[in LHS](map_tnth_enum base) count_map cardsE cardE size_filter -[in RHS]enumT.
pose at_place (i : 'I_c) : 'I_n := Ordinal (place yS (ltn_ord i)).
rewrite -[X in (X <= _)%N](card_ord c) -(card_imset predT (f := at_place)); last first.
  by move=> i i' /(congr1 val) /= /addnI; apply: val_inj.
apply/subset_leq_card/subsetP => _ /imsetP[i _ ->]; rewrite inE tnth_mktuple /=.
move: (yS); rewrite inE => y_lt; have i_lt := ltn_ord i.
have inside : (y * c + i < letters * c)%N by move: y_lt i_lt; clear; nia.
by rewrite inside in_letters // leq_addr ltn_add2l.
Qed.

(* Once they are moved, the letter has none, and nor have those beyond z. *)
Let emptied y e : y \in S -> e \in y |: Z -> e \notin moved y c.
Proof.
move=> yS e_in; apply/negP => /tnthP[i]; rewrite tnth_mktuple.
have z_out : e != z.
  apply: contraTneq e_in => ->; rewrite !inE ltnn orbF -val_eqE /=.
  by move: yS; rewrite inE => y_lt; apply/negP => /eqP E; move: y_lt; rewrite -E ltnn.
case: ifP => [_ E|out]; first by rewrite E eqxx in z_out.
rewrite tnth_mktuple; case: ifP => [i_lt E|_ E]; last by rewrite E eqxx in z_out.
move: e_in; rewrite !inE => /orP[/eqP ey|].
  have y_lt : (y < letters)%N by move: yS; rewrite inE.
  by have := in_letters y_lt i_lt; rewrite out -E ey eqxx.
rewrite {}E val_insubd; have q_lt : (i %/ c < letters)%N by rewrite ltn_divLR.
by rewrite (ltn_trans q_lt j_lt) ltnNge (ltnW q_lt).
Qed.

Let moved0 y : moved y 0 = base.
Proof. by apply: eq_from_tnth => i; rewrite tnth_mktuple addn0 ltnNge; case: leqP. Qed.

Let renamed_next s y m : y \in S -> (m < c)%N -> one_replaced (renamed s (moved y m.+1)) (renamed s (moved y m)).
Proof.
move=> yS m_lt; exists (Ordinal (place yS m_lt)) => i other.
have at_i m' : tnth (renamed s (moved y m')) i =
    s (if (y * c <= i < y * c + m')%N then z else tnth base i) by rewrite tnth_map tnth_mktuple.
rewrite !at_i addnS ltnS; congr (s (if _ then _ else _)).
have: (i : nat) != (y * c + m)%N by apply: contraNneq other => E; apply/eqP/val_inj.
by move: (y * c)%N (i : nat) => p q; lia.
Qed.

Let paid s y m : y \in S -> (m <= c)%N ->
  sampler (renamed s base) (s y) <= G ^+ m * sampler (renamed s (moved y m)) (s y).
Proof.
move=> yS; elim: m => [|m IH] m_le; first by rewrite moved0 expr0 mul1r.
apply: le_trans (IH (ltnW m_le)) _; rewrite exprSr -mulrA ler_wpmul2l ?exprn_ge0 //.
exact/is_private/renamed_next.
Qed.

(* Of all renamings together: what an emptied letter is left with. *)
Let left y : rat := \sum_s sampler (renamed s (moved y c)) (s y).

Let names : rat := #|{perm 'I_k}|%:R.

Let left_any y e : y \in S -> e \in y |: Z ->
  \sum_s sampler (renamed s (moved y c)) (s e) = left y.
Proof.
move=> yS e_in; rewrite (reindex_inj (mulgI (tperm y e))) /=; apply: eq_bigr => s _.
rewrite permM tpermR; congr (sampler _ _); apply: val_inj => /=; apply/eq_in_map => r r_in.
rewrite permM; case: tpermP => [E|E|//].
  by move: r_in; rewrite E (negbTE (emptied yS _)) // setU11.
by move: r_in; rewrite E (negbTE (emptied yS e_in)).
Qed.

Let beyond y : y \in S -> #|y |: Z| = (k - letters)%N.
Proof.
move=> yS; rewrite cardsU1 (_ : y \notin Z); last by move: yS; rewrite !inE -leqNgt => /ltnW.
have -> : Z = ~: [set y : 'I_k | (y < letters.+1)%N] by apply/setP => v; rewrite !inE ltnS -ltnNge.
rewrite cardsCs setCK (first_card j_lt) card_ord add1n.
by rewrite -subSn // subSS.
Qed.

Let left_small y : y \in S -> (k - letters)%:R * left y <= names * beta.
Proof.
move=> yS; rewrite -(beyond yS); apply: le_trans (_ : \sum_(s : {perm 'I_k}) beta <= _); last first.
  by rewrite sumr_const mulr_natl.
rewrite mulr_natl -sumr_const (eq_bigr _ (fun e e_in => esym (left_any yS e_in))) exchange_big /=.
apply: ler_sum => s _; have := above (renamed s (moved y c)) (s @: (y |: Z)).
rewrite big_imset /=; last by move=> e e' _ _; apply: perm_inj.
apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => e e_in.
by rewrite empirical_renamed /empirical (count_memPn (emptied yS e_in)) mul0r subr0.
Qed.

Let even_share : names * (letters%:R * (c%:R / n%:R)) <= names * beta + G ^+ c * \sum_(y in S) left y.
Proof.
have -> : names * beta = \sum_(s : {perm 'I_k}) beta by rewrite sumr_const mulr_natl.
have -> : names * (letters%:R * (c%:R / n%:R)) = \sum_(s : {perm 'I_k}) \sum_(y in S) (c%:R / n%:R).
  by rewrite !sumr_const !mulr_natl (first_card (ltnW j_lt)).
rewrite mulr_sumr [X in _ + X](eq_bigr (fun y => \sum_s G ^+ c * sampler (renamed s (moved y c)) (s y)));
  last by move=> y _; rewrite mulr_sumr.
rewrite [X in _ <= _ + X]exchange_big /= -big_split /=; apply: ler_sum => s _.
have := below (renamed s base) (s @: S).
rewrite big_imset /=; last by move=> e e' _ _; apply: perm_inj.
rewrite -ler_subl_addr; apply: le_trans; rewrite -sumrB; apply: ler_sum => y yS.
by rewrite empirical_renamed ler_add ?own_share // ler_opp2 paid.
Qed.

Lemma datasets_hard :
  letters%:R * (c%:R / n%:R) <= beta * (1 + letters%:R / (k - letters)%:R * G ^+ c).
Proof.
have names_gt0 : 0 < names by rewrite ltr0n; apply/card_gt0P; exists 1%g.
have rest_gt0 : 0 < (k - letters)%:R :> rat by rewrite ltr0n subn_gt0.
have all_left : (k - letters)%:R * (\sum_(y in S) left y) <= letters%:R * (names * beta).
  apply: le_trans (_ : \sum_(y in S) names * beta <= _); last first.
    by rewrite sumr_const (first_card (ltnW j_lt)) mulr_natl.
  by rewrite mulr_sumr; apply: ler_sum => y yS; apply: left_small.
have Gc_ge0 : 0 <= G ^+ c by apply: exprn_ge0.
have small := ler_wpmul2l Gc_ge0 all_left; have even := ler_wpmul2r (ltW rest_gt0) even_share.
rewrite -(ler_pmul2l names_gt0) -(ler_pmul2r rest_gt0).
have -> : names * (beta * (1 + letters%:R / (k - letters)%:R * G ^+ c)) * (k - letters)%:R =
    names * beta * ((k - letters)%:R + letters%:R * G ^+ c).
  rewrite -!mulrA; congr (_ * (_ * _)); rewrite mulrDl mul1r; congr (_ + _).
  by rewrite !mulrA [_ * _ * (k - letters)%:R]mulrAC divfK ?gt_eqF.
by move: small even; rat_linear.
Qed.

End Sampler.

(* The distance from the records is at least (jc/n) / (1 + j/(k-j) G^c) on some dataset. *)
Theorem limit_of_datasets sampler beta :
  (forall x, distribution (sampler x)) -> private (@one_replaced k n) G sampler ->
  faithful beta sampler ->
  letters%:R * (c%:R / n%:R) <= beta * (1 + letters%:R / (k - letters)%:R * G ^+ c).
Proof. exact: datasets_hard. Qed.

End Datasets.
