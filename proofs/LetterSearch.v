(* LS-ROO, the search: which pairs of counts need not be looked at one by one.

   A range of counts of the losing letter fits if the largest gap in it fits together with the
   worst total in it; otherwise it is split. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy LetterTable LetterSpecific.

Section Halves.

Variable fits : nat -> nat -> bool.

(* A range fits, or both of its halves do, and so on. *)
Fixpoint halves_fit (depth low high : nat) : bool :=
  fits low high ||
  if depth is depth'.+1 then
    let middle := ((low + high) %/ 2)%N in
    [&& (low < high)%N, halves_fit depth' low middle & halves_fit depth' middle.+1 high]
  else false.

(* What every range that fits shows of its counts, the search shows of all counts. *)
Lemma halves_sound lo hi (Q : nat -> Prop) :
  (forall low high b, (lo <= low)%N -> (high <= hi)%N -> (low <= b <= high)%N ->
    fits low high -> Q b) ->
  forall depth, halves_fit depth lo hi -> forall b, (lo <= b <= hi)%N -> Q b.
Proof.
move=> sound depth; suff: forall low high, (lo <= low)%N -> (high <= hi)%N ->
  halves_fit depth low high -> forall b, (low <= b <= high)%N -> Q b by apply.
elim: depth => [|depth IH] low high lo_low high_hi /=.
  by rewrite orbF => fit b b_in; apply: (sound low high).
case/orP => [fit b b_in|/and3P[low_high left right] b b_in].
  exact: (sound low high).
have [b_left|b_right] := leqP b ((low + high) %/ 2).
  by apply: IH left _ _; lia.
by apply: IH right _ _; lia.
Qed.

End Halves.

Section Search.

Variables (k : nat) (f : nat -> rat) (G : rat) (n last stop : nat).

Hypothesis table_positive : forall c, 0 < f c.
Hypothesis table_rising : forall c, f c <= f c.+1.
Hypothesis growth_at_least_one : 1 <= G.
Hypothesis table_convex : forall c, step f c <= step f c.+1.
Hypothesis table_straight : forall c, (last <= c)%N -> step f c = step f last.

(* The total if the losing letter keeps b records and the other letters are even, or crowded. *)
Definition even_total (x b : nat) : rat := f x + f b.+1 + least f (n.-1 - x - b) (k - 2).
Definition crowded_total (x b : nat) : rat := f x + f b.+1 + most f (n.-1 - x - b) (k - 2).

Definition range_total (x low high : nat) : rat :=
  if 0 < gap f x high then even_total x low
  else Num.max (crowded_total x low) (crowded_total x high).

Definition range_fits (x low high : nat) : bool :=
  let total := range_total x low high in f x.+1 * total <= G * f x * (total - gap f x high).

Definition search_fits (depth x low high : nat) : bool := halves_fit (range_fits x) depth low high.

(* From the even share on, and up to the end of the table, if some gap is positive. *)
Definition first_count (x : nat) : nat :=
  if (k <= 2)%N then (n.-1 - x)%N
  else if 0 < gap f x (n.-1 - x) then ((n - x) %/ (k - 1)).-1 else 0%N.

Definition final_count (x : nat) : nat :=
  if (k <= 2)%N then (n.-1 - x)%N else maxn (first_count x) (minn (n.-1 - x) last).

Hypothesis search_ends : (last <= stop)%N.
Hypothesis stop_grows_at_most : f stop.+1 <= G * f stop.
Hypothesis search_found_nothing :
  forall x, (x < n)%N -> (x < stop)%N ->
  exists depth, search_fits depth x (first_count x) (final_count x).

Let f_ge0 c : 0 <= f c. Proof. exact: ltW. Qed.

Let old_ge0 x : 0 <= G * f x. Proof. by rewrite mulr_ge0 // (le_trans ler01). Qed.

Let gap_le x b b' : (b <= b')%N -> gap f x b <= gap f x b'.
Proof. by move=> bb'; rewrite /gap ler_add2r; apply: step_le. Qed.

Let even_gt0 x b : 0 < even_total x b.
Proof. by rewrite ltr_paddr ?least_ge0 ?addr_gt0. Qed.

Let crowded_gt0 x b : 0 < crowded_total x b.
Proof.
rewrite ltr_paddr ?addr_gt0 // /most; case: (k - 2)%N => // m.
by rewrite addr_ge0 ?mulr_ge0 ?ler0n.
Qed.

Let fitsE x b : fits k f G n x b =
  let total := if 0 < gap f x b then even_total x b else crowded_total x b in
  (f x.+1 * total <= G * f x * (total - gap f x b)).
Proof. by rewrite /fits /worst_total /even_total /crowded_total; case: ifP. Qed.

(* Where the gap is not positive, it is enough that the table itself does not grow too fast. *)
Let no_gap x b : f x.+1 <= G * f x -> gap f x b <= 0 -> fits k f G n x b.
Proof.
move=> grows gap_le0; rewrite fitsE ltNge gap_le0 /=.
have := ler_wpmul2r (ltW (crowded_gt0 x b)) grows.
by have := ler_wpmul2l (old_ge0 x) gap_le0; rat_linear.
Qed.

Let fit_grows x total gap : 0 < total -> 0 <= gap ->
  f x.+1 * total <= G * f x * (total - gap) -> f x.+1 <= G * f x.
Proof.
move=> total_gt0 gap_ge0 fit; rewrite -(ler_pmul2r total_gt0) (le_trans fit) //.
by rewrite ler_wpmul2l // ler_subl_addr ler_addl.
Qed.

Let from_even x b total high : 0 < total -> total <= even_total x b ->
  0 < gap f x b -> gap f x b <= gap f x high ->
  f x.+1 * total <= G * f x * (total - gap f x high) -> fits k f G n x b.
Proof.
move=> total_gt0 le_total gap_gt0 le_gap fit; rewrite fitsE gap_gt0 /=.
have gap_ge0 := ltW (lt_le_trans gap_gt0 le_gap).
have := larger_total (old_ge0 x) gap_ge0 total_gt0 _ fit => /(_ (even_total x b)).
rewrite subr_ge0 le_total => /(_ isT) /le_trans; apply.
by rewrite ler_wpmul2l // ler_add2l ler_opp2.
Qed.

Lemma least_succ r m : (0 < m)%N -> least f r.+1 m = least f r m + step f (r %/ m).
Proof.
move=> m_gt0; rewrite /least.
have [full|part] := eqVneq (r %% m).+1 m.
  have -> : (r.+1 %/ m)%N = (r %/ m).+1.
    by rewrite {1}(divn_eq r m) -addnS full -mulSnr mulnK.
  have -> : (r.+1 %% m)%N = 0%N by rewrite {1}(divn_eq r m) -addnS full -mulSnr modnMl.
  have -> : m%:R = (r %% m)%:R + 1 :> rat by rewrite -mulrSr full.
  by rewrite stepE; rat_linear.
have lt_m : ((r %% m).+1 < m)%N by rewrite ltn_neqAle part ltn_pmod.
have -> : (r.+1 %/ m)%N = (r %/ m)%N.
  by rewrite {1}(divn_eq r m) -addnS divnMDl // (divn_small lt_m) addn0.
have -> : (r.+1 %% m)%N = (r %% m).+1 by rewrite {1}(divn_eq r m) -addnS modnMDl modn_small.
by rewrite mulrSr; rat_linear.
Qed.

(* The even total, as a function of what the losing letter keeps, falls up to the even share
   and rises from there. *)
Let even_succ x b : (2 < k)%N -> (x + b.+1 < n)%N ->
  even_total x b.+1 = even_total x b + step f b.+1 - step f ((n - x - b - 2) %/ (k - 2)).
Proof.
move=> k_gt2 inside; rewrite /even_total [f b.+2]stepE.
have -> : (n.-1 - x - b)%N = (n.-1 - x - b.+1).+1 by lia.
rewrite least_succ; last by lia.
have -> : (n - x - b - 2)%N = (n.-1 - x - b.+1)%N by lia.
by rat_linear.
Qed.

Local Definition share x : nat := ((n - x) %/ (k - 1)).-1.

Let even_rises x b d : (2 < k)%N -> (share x <= b)%N -> (x + (b + d) < n)%N ->
  even_total x b <= even_total x (b + d).
Proof.
move=> k_gt2 from_share; elim: d => [|d IH]; first by rewrite addn0.
rewrite addnS => inside; apply: le_trans (IH _) _; first by lia.
rewrite even_succ // -addrA ler_addl subr_ge0; apply: step_le => //.
rewrite -ltnS ltn_divLR; last by lia.
have : ((n - x) < (b + d + 2) * (k - 1))%N.
  by rewrite -ltn_divLR; [move: from_share; rewrite /share; lia | lia].
by nia.
Qed.

Let even_falls x b d : (2 < k)%N -> (b + d = share x)%N -> (x + (b + d) < n)%N ->
  even_total x (b + d) <= even_total x b.
Proof.
move=> k_gt2; elim: d b => [|d IH] b; first by rewrite addn0.
rewrite -addSnnS => to_share inside; apply: le_trans (IH _ to_share inside) _.
rewrite even_succ //; last by lia.
rewrite -addrA ger_addl subr_le0; apply: step_le => //.
rewrite leq_divRL; last by lia.
have : ((b + 2) * (k - 1) <= n - x)%N.
  by rewrite -leq_divRL; [move: to_share; rewrite /share; lia | lia].
by nia.
Qed.

(* The crowded total is largest at one of the ends of a range. *)
Let crowded_ends x low b high : (2 < k)%N -> (low <= b <= high)%N -> (x + high < n)%N ->
  crowded_total x b <= Num.max (crowded_total x low) (crowded_total x high).
Proof.
move=> k_gt2 /andP[low_b b_high] inside; rewrite le_maxr.
have succ c : (x + c.+1 < n)%N ->
    crowded_total x c.+1 = crowded_total x c + step f c.+1 - step f (n.-1 - x - c.+1).
  move=> c_inside; rewrite /crowded_total /most.
  have -> : (k - 2)%N = (k - 3).+1 by lia.
  have -> : (n.-1 - x - c)%N = (n.-1 - x - c.+1).+1 by lia.
  by move: (n.-1 - x - c.+1)%N => r; rewrite [f c.+2]stepE [f r.+1]stepE; rat_linear.
have [turned|turning] := leqP (n.-1 - x - b) b.+1; apply/orP; [right|left].
  have -> : high = (b + (high - b))%N by lia.
  have : (x + (b + (high - b)) < n)%N by lia.
  elim: (high - b)%N => [|d IH] d_inside; first by rewrite addn0.
  apply: le_trans (IH _) _; first by lia.
  rewrite addnS succ -?addnS //; last by rewrite addnS in d_inside *; lia.
  rewrite -addrA ler_addl subr_ge0; apply: step_le => //; lia.
have -> : low = (b - (b - low))%N by lia.
have : (b - low <= b)%N by lia.
elim: (b - low)%N => [|d IH] d_inside; first by rewrite subn0.
apply: le_trans (IH _) _; first by lia.
have -> : (b - d)%N = (b - d.+1).+1 by lia.
rewrite succ; last by lia.
rewrite -addrA ger_addl subr_le0; apply: step_le => //; lia.
Qed.

Let search_sound x lo hi (Q : nat -> Prop) :
  (forall low high b, (lo <= low)%N -> (high <= hi)%N -> (low <= b <= high)%N ->
    range_fits x low high -> Q b) ->
  forall depth, search_fits depth x lo hi -> forall b, (lo <= b <= hi)%N -> Q b.
Proof. exact: halves_sound. Qed.

Let step_le_last c : step f c <= step f last.
Proof.
have [/table_straight -> //|/ltnW c_last] := leqP last c.
by apply: step_le.
Qed.

Let past_the_table x b : (stop <= x)%N -> fits k f G n x b.
Proof.
move=> stop_x; apply: no_gap; last first.
  by rewrite /gap subr_le0 (table_straight (leq_trans search_ends stop_x)).
rewrite -(subnK stop_x); elim: (x - stop)%N => [|d IH]; first by rewrite add0n.
rewrite addSn stepE [X in _ <= G * X]stepE mulrDr ler_add //.
rewrite !table_straight ?ler_pemull ?subr_ge0 //; lia.
Qed.

Let two_letters x b : (k <= 2)%N -> (x < stop)%N -> (x + b).+1 = n -> fits k f G n x b.
Proof.
move=> k_le2 x_stop n_eq; have [|depth] := search_found_nothing _ x_stop; first by lia.
rewrite /first_count /final_count k_le2; have -> : (n.-1 - x)%N = b by lia.
move=> found; apply: (search_sound (Q := fits k f G n x) _ found); last by rewrite leqnn.
move=> low high c low_b high_b c_in.
have -> : low = c by lia.
have -> : high = c by lia.
by rewrite fitsE /range_fits /range_total; case: ifP; rewrite ?maxxx.
Qed.

Let some_gap x b : (2 < k)%N -> (x < stop)%N -> (x + b < n)%N ->
  0 < gap f x (n.-1 - x) -> fits k f G n x b.
Proof.
move=> k_gt2 x_stop inside some; have [|depth] := search_found_nothing _ x_stop; first by lia.
rewrite /final_count /first_count leqNgt k_gt2 /= some -/(share x).
set hi := maxn _ _ => found.
have share_le : (share x <= n.-1 - x)%N by have := leq_div (n - x) (k - 1); rewrite /share; lia.
have share_hi : (share x <= hi)%N := leq_maxl _ _.
have hi_le : (hi <= n.-1 - x)%N by rewrite geq_max share_le geq_minl.
have beyond c : (hi < c)%N -> (c <= n.-1 - x)%N -> gap f x c = gap f x hi.
  by move=> hi_c c_le; rewrite /gap (@table_straight c) 1?(@table_straight hi) //; move: hi_c c_le;
    rewrite /hi; clear; lia.
clearbody hi.
have gap_hi : 0 < gap f x hi.
  move: (hi_le); rewrite leq_eqVlt => /orP[/eqP -> //|hi_lt].
  by rewrite -(beyond (n.-1 - x)%N).
have shown c : (share x <= c <= hi)%N -> 0 < gap f x c -> f x.+1 <= G * f x /\ fits k f G n x c.
  move: c; apply: (search_sound _ found) => low high d low_ge high_le d_in fit gap_d.
  have gap_high : gap f x d <= gap f x high by apply: gap_le; case/andP: d_in.
  have gap_gt0 := lt_le_trans gap_d gap_high.
  move: fit; rewrite /range_fits /range_total gap_gt0 => fit; split.
    exact: fit_grows (even_gt0 x low) (ltW gap_gt0) fit.
  apply: from_even (even_gt0 x low) _ gap_d gap_high fit.
  have [low_d d_high] := andP d_in; rewrite -(subnKC low_d); apply: even_rises => //.
  by rewrite subnKC //; move: inside hi_le high_le d_high; clear; lia.
have [|grows fits_hi] := shown hi _ gap_hi; first by rewrite share_hi leqnn.
have [gap_b|] := ltP 0 (gap f x b); last exact: no_gap.
have [b_low|b_ge] := ltnP b (share x).
  have gap_share : gap f x b <= gap f x (share x) by apply/gap_le/ltnW.
  have [|_] := shown (share x) _ (lt_le_trans gap_b gap_share).
    by rewrite leqnn share_hi.
  rewrite fitsE (lt_le_trans gap_b gap_share) /=.
  apply: from_even => //.
  rewrite -(subnKC (ltnW b_low)); apply: even_falls => //; rewrite subnKC ?(ltnW b_low) //.
  by move: inside share_le; clear; lia.
have [b_le|b_high] := leqP b hi; first by have [|] := shown b _ gap_b; rewrite ?b_ge.
move: fits_hi; rewrite fitsE gap_hi /=; apply: from_even => //; last first.
  by rewrite beyond //; move: inside; clear; lia.
by rewrite -(subnKC (ltnW b_high)); apply: even_rises; rewrite ?subnKC ?(ltnW b_high).
Qed.

Let no_gaps x b : (2 < k)%N -> (x < stop)%N -> (x + b < n)%N ->
  gap f x (n.-1 - x) <= 0 -> fits k f G n x b.
Proof.
move=> k_gt2 x_stop inside none; have [|depth] := search_found_nothing _ x_stop; first by lia.
have gap_le0 c : (c <= n.-1 - x)%N -> gap f x c <= 0.
  by move=> c_le; apply: le_trans none; apply: gap_le.
rewrite /final_count /first_count leqNgt k_gt2 /= ltNge none /= max0n.
set hi := minn _ _ => found.
have shown c : (0 <= c <= hi)%N -> fits k f G n x c.
  move: c; apply: (search_sound _ found) => low high d _ high_le d_in.
  have gap_high : gap f x high <= 0 by apply: gap_le0; lia.
  have gap_d : gap f x d <= gap f x high by apply: gap_le; lia.
  rewrite /range_fits /range_total fitsE ltNge gap_high ltNge (le_trans gap_d) //= => fit.
  have := smaller_total (old_ge0 x) gap_high (ltW (crowded_gt0 x d)) _ fit.
  rewrite subr_ge0 crowded_ends //; last first.
    by move: inside high_le; rewrite /hi; clear; lia.
  move=> /(_ isT) /le_trans; apply.
  by rewrite ler_wpmul2l // ler_add2l ler_opp2.
have [b_le|b_high] := leqP b hi; first exact: shown.
apply: no_gap; last by apply: gap_le0; lia.
have hi_last : hi = last by lia.
have gap_last : gap f x last = 0.
  by apply/eqP; rewrite eq_le gap_le0 /=; [rewrite /gap subr_ge0 | lia].
have := shown last; rewrite fitsE gap_last ltxx => /(_ _); rewrite hi_last leqnn => /(_ isT).
by apply: fit_grows.
Qed.

(* The search looks at a few ranges for each count below stop; that settles all pairs of counts. *)
Theorem ls_roo_search : private (@replaced_of_n k n) G (@ls_roo k f).
Proof.
apply: ls_roo_replace => // x b inside pair.
have [/past_the_table|x_stop] := leqP stop x; first exact.
have [k_le2|k_gt2] := leqP k 2; first exact: two_letters (pair k_le2).
by have [some|none] := ltP 0 (gap f x (n.-1 - x)); [apply: some_gap | apply: no_gaps].
Qed.

End Search.
