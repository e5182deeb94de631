(* Values found privately: those that enough people have, each with a noisy count.

   Every value has a secret threshold of its own: minimum + t, t < size, with a chance in proportion
   to w t. A value whose c records reach its threshold is published, together with c less the
   threshold; of any other value nothing is. A person has up to g records. The k values are those of
   two neighbours; one that nobody has is never published. *)

From mathcomp.zify Require Import zify.
From dproo Require Import Preamble Rational Privacy.

(* No neighbour makes any event likelier than G times its probability, and delta more. *)
Definition approximate (D O : Type) (near : D -> D -> Prop) (G delta : rat)
    (P : D -> pred O -> rat) : Prop :=
  forall d d', near d d' -> forall event, P d' event <= G * P d event + delta.

Section Keep.

Variables (k size minimum g : nat) (w : nat -> rat) (G : rat).

Notation thresholds := {ffun 'I_k -> 'I_size}.
Notation output := {ffun 'I_k -> option nat}.

Definition total : rat := \sum_(t < size) w t.

(* The chance of the first s thresholds, which is that of the last s too. *)
Definition first (s : nat) : rat := (\sum_(t < s) w t) / total.

Definition drawn (T : thresholds) : rat := \prod_y (w (T y) / total).

Definition published (c : counts k) (T : thresholds) : output :=
  [ffun y => if (minimum + T y <= c y)%N then Some (c y - (minimum + T y))%N else None].

Definition keep (c : counts k) (event : pred output) : rat :=
  \sum_(T | event (published c T)) drawn T.

Definition together (c d : counts k) : counts k := [ffun y => (c y + d y)%N].

(* A person comes with up to g records, or leaves; or has up to g others instead. *)
Definition person_added (c c' : counts k) : Prop :=
  exists d, (records d <= g)%N /\ c' = together c d.

Definition person_added_or_removed (c c' : counts k) : Prop :=
  person_added c c' \/ person_added c' c.

Definition person_replaced (c c' : counts k) : Prop :=
  exists rest, person_added rest c /\ person_added rest c'.

Section Unseen.

Hypothesis nothing_unseen : (0 < minimum)%N.

Theorem keep_unseen (c : counts k) (T : thresholds) y : c y = 0%N -> published c T y = None.
Proof. by move=> none; rewrite ffunE none; case: leqP => //; lia. Qed.

End Unseen.

Hypothesis growth_at_least_one : 1 <= G.
Hypothesis some_weight : (0 < size)%N.
Hypothesis weights_positive : forall t, (t < size)%N -> 0 < w t.
Hypothesis weights_rise_at_most : forall t, (t.+1 < size)%N -> w t.+1 <= G * w t.
Hypothesis weights_fall_at_most : forall t, (t.+1 < size)%N -> w t <= G * w t.+1.
Hypothesis weights_mirrored : forall t, (t < size)%N -> w t = w (size - t.+1)%N.
Hypothesis weights_rising_for_a_person : forall t, (t.+1 < g)%N -> w t <= w t.+1.
Hypothesis person_within_weights : (g <= size)%N.

Let G_ge0 : 0 <= G. Proof. exact: le_trans ler01 growth_at_least_one. Qed.

Let total_gt0 : 0 < total.
Proof.
rewrite /total (bigD1 (Ordinal some_weight)) //= ltr_paddr ?weights_positive //.
by apply: sumr_ge0 => t _; apply/ltW/weights_positive.
Qed.

Let chance_ge0 (t : 'I_size) : 0 <= w t / total.
Proof. by rewrite divr_ge0 // ltW // weights_positive. Qed.

Let drawn_ge0 T : 0 <= drawn T. Proof. exact: prodr_ge0. Qed.

Let keep_ge0 c event : 0 <= keep c event. Proof. exact: sumr_ge0. Qed.

Lemma chances_sum : \sum_(t < size) w t / total = 1.
Proof. by rewrite -mulr_suml mulfV // gt_eqF. Qed.

Lemma drawn_sum : \sum_T drawn T = 1.
Proof. by rewrite -(bigA_distr_bigA (fun _ (t : 'I_size) => w t / total)) /= big1 // => y _; exact: chances_sum. Qed.

(* By s steps a weight changes by G^s at most. *)
Lemma far t s : (t + s < size)%N -> w (t + s)%N <= G ^+ s * w t /\ w t <= G ^+ s * w (t + s)%N.
Proof.
elim: s => [|s IH]; first by rewrite addn0 expr0 !mul1r.
rewrite addnS => in_range; have [up down] := IH (ltnW in_range); split.
  by rewrite exprS -mulrA (le_trans (weights_rise_at_most in_range)) // ler_wpmul2l.
by rewrite exprSr -mulrA (le_trans down) // ler_wpmul2l ?exprn_ge0 // weights_fall_at_most.
Qed.

(* From c to c': the threshold that would have published the same. *)
Section Shift.

Variables c c' : counts k.

Definition steps (y : 'I_k) : nat := (c y - c' y + (c' y - c y))%N.

Definition fits (y : 'I_k) : pred 'I_size := fun t => (c' y <= t + c y < c' y + size)%N.

Definition shift (T : thresholds) : thresholds := [ffun y => insubd (T y) (T y + c y - c' y)%N].

Lemma shiftE (T : thresholds) y : fits y (T y) -> shift T y = (T y + c y - c' y)%N :> nat.
Proof. by rewrite /fits ffunE val_insubd => ok; rewrite ifT //; lia. Qed.

Definition good (T : thresholds) := T \in family fits.

Lemma goodP (T : thresholds) y : good T -> fits y (T y). Proof. by move=> /familyP/(_ y). Qed.

Lemma shift_published T : good T -> published c (shift T) = published c' T.
Proof.
move=> ok; apply/ffunP => y; have fit := goodP y ok; rewrite [LHS]ffunE [RHS]ffunE (shiftE fit).
move: fit; rewrite /fits => fit; case: ifP => one; case: ifP => two //; try lia.
by congr Some; lia.
Qed.

Lemma shift_drawn T : good T -> drawn T <= G ^+ (\sum_y steps y) * drawn (shift T).
Proof.
move=> ok; rewrite /drawn -prodrXr -big_split; apply: ler_prod => y _ /=.
rewrite chance_ge0 /= mulrA ler_pmul2r ?invr_gt0 //.
have fit := goodP y ok; rewrite (shiftE fit); move: fit; rewrite /fits /steps => fit.
have lt := ltn_ord (T y); case: (leqP (c' y) (c y)) => order.
  have [_] := @far (T y) (c y - c' y) ltac:(lia).
  by rewrite -addnBA // (_ : (c' y - c y = 0)%N) ?addn0; last lia.
have back : (T y + c y - c' y + (c' y - c y))%N = T y by lia.
have none : (c y - c' y)%N = 0%N by lia.
by have [] := @far (T y + c y - c' y)%N (c' y - c y)%N; rewrite back ?none ?ltn_ord.
Qed.

Lemma shift_injective : {in good &, injective shift}.
Proof.
move=> T U T_ok U_ok same; apply/ffunP => y; apply/val_inj.
have : shift T y = shift U y :> nat by rewrite same.
have T_fit := goodP y T_ok; have U_fit := goodP y U_ok.
rewrite (shiftE T_fit) (shiftE U_fit) /=; by move: T_fit U_fit; rewrite /fits; lia.
Qed.

Lemma unfit y : (steps y <= size)%N -> \sum_(t | ~~ fits y t) w t / total = first (steps y).
Proof.
move=> few; rewrite -mulr_suml; congr (_ / _).
rewrite -(big_mkord xpredT w) (big_nat_widen _ _ size) // big_mkord.
case: (leqP (c' y) (c y)) => order.
  rewrite (reindex_inj rev_ord_inj) /=; apply: eq_big => t.
    by have := ltn_ord t; rewrite /steps /fits /=; lia.
  by rewrite -weights_mirrored.
by apply: eq_bigl => t; have := ltn_ord t; rewrite /steps /fits /=; lia.
Qed.

Lemma keep_changed event : (forall y, steps y <= size)%N ->
  keep c' event <=
    G ^+ (\sum_y steps y) * keep c event + (1 - \prod_y (1 - first (steps y))).
Proof.
move=> few; rewrite /keep (bigID (mem good)) /=; apply: ler_add.
  apply: le_trans (_ : \sum_(T | event (published c' T) && good T)
      G ^+ (\sum_y steps y) * drawn (shift T) <= _).
    by apply: ler_sum => T /andP[_ /shift_drawn].
  rewrite -mulr_sumr ler_wpmul2l ?exprn_ge0 //.
  pose A := [set T | event (published c' T) && good T].
  have -> : \sum_(T | event (published c' T) && good T) drawn (shift T) =
            \sum_(T in shift @: A) drawn T.
    rewrite big_imset /=; first by apply: eq_bigl => T; rewrite inE.
    by move=> T U; rewrite !inE => /andP[_ T_ok] /andP[_ U_ok]; apply: shift_injective.
  rewrite [leRHS](bigID (mem (shift @: A))) /= -[leLHS]addr0; apply: ler_add; last exact: sumr_ge0.
  rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_bigl => T.
  apply/idP/idP => [|/andP[]//]; move=> in_A; rewrite in_A andbT.
  by move: in_A => /imsetP[U]; rewrite inE => /andP[happens ok ->]; rewrite shift_published.
have -> : \prod_y (1 - first (steps y)) = \sum_(T | good T) drawn T.
  rewrite -(bigA_distr_big_dep _ (fun _ (t : 'I_size) => w t / total)).
  apply: eq_bigr => y _; rewrite -unfit // -chances_sum (bigID (fits y)) /=; exact: addrK.
rewrite -drawn_sum (bigID (mem good) xpredT) /= addrAC subrr add0r.
rewrite [leRHS](bigID (fun T => event (published c' T))) /=.
under [leLHS]eq_bigl do rewrite andbC.
by rewrite ler_addl sumr_ge0.
Qed.

End Shift.

Lemma first_ge0 s : (s <= size)%N -> 0 <= first s.
Proof.
move=> le; rewrite divr_ge0 ?(ltW total_gt0) //; apply: sumr_ge0 => t _.
by apply/ltW/weights_positive; have := ltn_ord t; lia.
Qed.

Lemma first_le1 s : (s <= size)%N -> first s <= 1.
Proof.
move=> le; rewrite ler_pdivr_mulr // mul1r /total -!(big_mkord xpredT w).
rewrite (@big_cat_nat _ _ _ s 0 size) //= ler_addl big_nat; apply: sumr_ge0 => t /andP[_ lt].
exact/ltW/weights_positive.
Qed.

Lemma rising t u : (t <= u < g)%N -> w t <= w u.
Proof.
elim: u => [|u IH]; first by rewrite leqn0 => /andP[/eqP->].
rewrite leq_eqVlt => /andP[/orP[/eqP->//|le] lt]; apply: le_trans (weights_rising_for_a_person lt).
by apply: IH; lia.
Qed.

(* The chance of the first thresholds is convex, as far as a person goes. *)
Lemma first_add a b : (a + b <= g)%N -> first a + first b <= first (a + b).
Proof.
move=> le; rewrite -mulrDl ler_pmul2r ?invr_gt0 // -!(big_mkord xpredT w).
rewrite [leRHS](@big_cat_nat _ _ _ a) ?leq_addr //= ler_add2l.
rewrite -{1}[a]add0n big_addn addKn !big_nat; apply: ler_sum => t /andP[_ lt].
by apply: rising; lia.
Qed.

Lemma first_mono a b : (a <= b <= g)%N -> first a <= first b.
Proof.
move=> /andP[le lt]; rewrite -(subnKC le); apply: le_trans (first_add _); last lia.
by rewrite ler_addl first_ge0; lia.
Qed.

(* Over values that change by g steps together. *)
Lemma product_first (s : 'I_k -> nat) (A : pred 'I_k) :
  (\sum_(y | A y) s y <= g)%N -> 1 - first g <= \prod_(y | A y) (1 - first (s y)).
Proof.
rewrite -!(big_filter _ A); move: [seq y <- _ | A y] => r le.
apply: le_trans (_ : 1 - first (\sum_(y <- r) s y) <= _).
  by rewrite ler_add2l ler_opp2 first_mono ?le ?leqnn.
suff : 1 - first (\sum_(y <- r) s y) <= \prod_(y <- r) (1 - first (s y)) <= 1 by case/andP.
elim: r le => [|y r IH]; first by rewrite !big_nil /first big_ord0 mul0r subr0 lexx.
rewrite !big_cons => le; have /andP[low high] := IH (leq_trans (leq_addl _ _) le).
have one := leq_trans (leq_trans (leq_addr _ _) le) person_within_weights.
have others := leq_trans (leq_trans (leq_addl _ _) le) person_within_weights.
have ge0 := first_ge0 one; have le1 := first_le1 one; have sum := first_add le.
have rest0 : 0 <= 1 - first (\sum_(j <- r) s j) by rewrite subr_ge0 first_le1.
have restg0 := first_ge0 others.
move: low high ge0 le1 sum rest0 restg0.
move: (first (s y)) (first (\sum_(j <- r) s j)) (first (s y + _)%N) (\prod_(j <- r) _) => a b ab p.
move=> low high a0 a1 sum b1 b0; apply/andP; split.
  apply: le_trans (_ : (1 - a) * (1 - b) <= _); last by rewrite ler_wpmul2l // subr_ge0.
  have := mulr_ge0 a0 b0; move: sum; rat_linear.
rewrite mulr_ile1 // ?subr_ge0 //; last by rewrite ger_addl oppr_le0.
exact: le_trans b1 low.
Qed.

Lemma within_g (s : 'I_k -> nat) y : (\sum_z s z <= g)%N -> (s y <= size)%N.
Proof.
by rewrite (bigD1 y) //= => le; apply: leq_trans (leq_trans (leq_addr _ _) le) person_within_weights.
Qed.

Theorem keep_add_remove : approximate person_added_or_removed (G ^+ g) (first g) keep.
Proof.
move=> c c' near event.
have few : (\sum_y steps c c' y <= g)%N.
  by case: near => [] [d [le ->]]; apply: leq_trans le; apply: leq_sum => y _;
    rewrite /steps ffunE; lia.
apply: le_trans (keep_changed event (fun y => within_g y few)) _; apply: ler_add.
  by rewrite ler_wpmul2r // ler_weexpn2l.
by rewrite ler_subl_addr -ler_subl_addl product_first.
Qed.

(* What leaves and what enters change the counts by g steps each. *)
Theorem keep_replace :
  approximate person_replaced (G ^+ (2 * g)) (1 - (1 - first g) ^+ 2) keep.
Proof.
move=> c c' [rest [[d [d_le cE]] [d' [d'_le c'E]]]] event.
have gain : (\sum_(y | (c y <= c' y)%N) steps c c' y <= g)%N.
  apply: leq_trans d'_le; rewrite /records [leqRHS](bigID (fun y => (c y <= c' y)%N)) /=.
  apply: leq_trans (leq_addr _ _); apply: leq_sum => y.
  by rewrite /steps cE c'E !ffunE; lia.
have loss : (\sum_(y | ~~ (c y <= c' y)%N) steps c c' y <= g)%N.
  apply: leq_trans d_le; rewrite /records [leqRHS](bigID (fun y => (c y <= c' y)%N)) /= addnC.
  apply: leq_trans (leq_addr _ _); apply: leq_sum => y.
  by rewrite /steps cE c'E !ffunE; lia.
have few y : (steps c c' y <= size)%N.
  by case: (boolP (c y <= c' y)%N) => side; [move: gain|move: loss]; rewrite (bigD1 y) //=; lia.
apply: le_trans (keep_changed event few) _; apply: ler_add.
  rewrite ler_wpmul2r // ler_weexpn2l //.
  by rewrite mul2n -addnn (bigID (fun y => (c y <= c' y)%N)) leq_add.
rewrite ler_add2l ler_opp2 expr2 (bigID (fun y => (c y <= c' y)%N)) /=.
have ge0 : 0 <= 1 - first g by rewrite subr_ge0 first_le1.
by apply: ler_pmul => //; apply: product_first.
Qed.

End Keep.
