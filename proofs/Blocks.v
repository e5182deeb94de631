(* Several records at once: one letter from each of several disjoint parts of the data.

   Blocks are parts that chance made; a record stays in its block when it is replaced. Groups are
   parts that a public column makes; a record may move from one to another. *)

From dproo Require Import Preamble Rational Privacy.

(* One factor of a product grows by G at most, and the others stay. *)
Lemma one_factor (I : finType) (G : rat) (i : I) (v w : I -> rat) :
  (forall j, 0 <= v j) -> (forall j, j != i -> w j = v j) -> w i <= G * v i ->
  \prod_j w j <= G * \prod_j v j.
Proof.
move=> v_ge0 same grows; rewrite (bigD1 i) //= [X in _ <= G * X](bigD1 i) //= mulrA.
by rewrite (eq_bigr v) // ler_wpmul2r // prodr_ge0.
Qed.

Section Blocks.

(* Place i of the dataset holds letter d i and is in block part i. *)
Variables (n k s : nat) (G : rat).
Variable chance : {ffun 'I_n -> 'I_s} -> rat.
Variable sampler : {ffun 'I_n -> 'I_s} -> 'I_s -> counts k -> 'I_k -> rat.

Implicit Types (d : {ffun 'I_n -> 'I_k}) (part : {ffun 'I_n -> 'I_s}).

Definition block part (b : 'I_s) d : counts k :=
  [ffun y => (\sum_(i | part i == b) (d i == y))%N].

Definition blocks_release d (letters : {ffun 'I_s -> 'I_k}) : rat :=
  \sum_part chance part * \prod_b sampler part b (block part b d) (letters b).

(* Replaced in a block of known size. *)
Definition replaced_place d d' : Prop := exists i, forall j, j != i -> d' j = d j.

Hypothesis chances_nonnegative : forall part, 0 <= chance part.
Hypothesis samplers_nonnegative : forall part b c y, 0 <= sampler part b c y.
Hypothesis samplers_private : forall part b,
  private (@replaced_of_n k #|[set i | part i == b]|) G (sampler part b).

Lemma block_split part d i :
  exists2 rest, block part (part i) d = add rest (d i) &
  forall d', (forall j, j != i -> d' j = d j) -> block part (part i) d' = add rest (d' i).
Proof.
exists [ffun y => (\sum_(j | (part j == part i) && (j != i)) (d j == y))%N] => [|d' same];
  apply/ffunP => y; rewrite addE !ffunE (bigD1 i) ?eqxx //= addnC [y == _]eq_sym //.
by congr addn; apply: eq_bigr => j /andP[_ j_i]; rewrite same.
Qed.

Lemma block_records part b d : records (block part b d) = #|[set i | part i == b]|.
Proof.
rewrite /records; under eq_bigr do rewrite ffunE.
rewrite exchange_big /= -sum1dep_card; apply: eq_bigr => i _.
by rewrite (bigD1 (d i)) //= eqxx big1 // => y; rewrite eq_sym => /negbTE ->.
Qed.

Theorem blocks_replace : private replaced_place G blocks_release.
Proof.
move=> d d' [i same] letters; rewrite mulr_sumr; apply: ler_sum => part _.
rewrite mulrCA ler_wpmul2l //; apply: (@one_factor _ G (part i)) => // [b b_i|].
  congr (sampler _ _ _ _); apply/ffunP => y; rewrite !ffunE.
  by apply: eq_bigr => j /eqP part_j; rewrite same //; apply: contraNneq b_i => <-; rewrite part_j.
apply: samplers_private; split; last exact: block_records.
have [rest -> after] := block_split part d i.
by exists rest, (d' i), (d i); rewrite after.
Qed.

End Blocks.

Section Groups.

Variables (g k : nat) (G : rat) (sampler : 'I_g -> counts k -> 'I_k -> rat).

(* The counts of every group. *)
Definition grouped := {ffun 'I_g -> counts k}.

Definition groups_release (d : grouped) (letters : {ffun 'I_g -> 'I_k}) : rat :=
  \prod_b sampler b (d b) (letters b).

Definition in_one_group (near : counts k -> counts k -> Prop) (d d' : grouped) : Prop :=
  exists2 b, near (d b) (d' b) & forall b', b' != b -> d' b' = d b'.

Hypothesis samplers_nonnegative : forall b c y, 0 <= sampler b c y.

(* A record of one group costs what it costs in that group. *)
Theorem groups_private near :
  (forall b, private near G (sampler b)) -> private (in_one_group near) G groups_release.
Proof.
move=> samplers_private d d' [b near_b same] letters; apply: (@one_factor _ G b) => //.
  by move=> b' b'_b; rewrite same.
exact: samplers_private.
Qed.

(* A record that leaves one group and enters another costs twice as much. *)
Theorem groups_moved :
  0 <= G -> (forall b, private (@add_remove k) G (sampler b)) ->
  private (within (in_one_group (@add_remove k)) 2) (G ^+ 2) groups_release.
Proof. by move=> G_ge0 samplers_private; apply/group_privacy => //; apply: groups_private. Qed.

End Groups.
