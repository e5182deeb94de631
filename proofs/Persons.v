(* The person rule: of each person's records one counts, chosen by a public rule.

   Privacy does not rest on how the rule chooses; it may be a hash of a public salt. What is
   private for the kept records, be it one letter, a row or a table, is private for people. *)

From dproo Require Import Preamble Rational Privacy Rows.

Section Persons.

Variables (person : finType) (R : Type) (rule : person -> R -> seq R -> R).

(* All records of every person there might be; one who has none is not in the data. *)
Definition files := {ffun person -> seq R}.

Definition kept_of (p : person) (records : seq R) : option R :=
  if records is r :: others then Some (rule p r others) else None.

Definition kept (d : files) : seq R := pmap (fun p => kept_of p (d p)) (enum person).

Definition people (d : files) : nat := #|[set p | (0 < size (d p))%N]|.

(* Anything may happen to all records of one person. *)
Definition changed_person (p : person) (d d' : files) : Prop := forall q, q != p -> d' q = d q.

Lemma kept_changed p d d' :
  changed_person p d d' ->
  exists before after, forall e, e = d \/ e = d' ->
  kept e = before ++ seq_of_opt (kept_of p (e p)) ++ after.
Proof.
move=> changed; have := enum_uniq person; have := mem_enum person p.
rewrite inE /kept => /splitPr[s s']; rewrite cat_uniq /= => /and3P[_ out /andP[out' _]].
exists (pmap (fun q => kept_of q (d q)) s), (pmap (fun q => kept_of q (d q)) s') => e e_is.
have same (s1 : seq person) : p \notin s1 ->
    pmap (fun q => kept_of q (e q)) s1 = pmap (fun q => kept_of q (d q)) s1.
  move=> not_in; apply: eq_in_pmap => q q_in; case: e_is => -> //; rewrite changed //.
  by apply: contraNneq not_in => <-.
have p_out : p \notin s by move: out; rewrite negb_or => /andP[].
by rewrite pmap_cat /= !same //; case: (kept_of p (e p)).
Qed.

Lemma size_kept d : size (kept d) = people d.
Proof.
rewrite /kept size_pmap /people cardsE cardE size_filter -[in RHS]enumT.
by apply: eq_count => p; rewrite /= unfold_in /kept_of; case: (d p).
Qed.

Variables (T : Type) (G : rat) (n : nat) (release : seq R -> T -> rat).

(* All records of one of n people are replaced by others. *)
Definition replaced_person (d d' : files) : Prop :=
  exists p, [/\ changed_person p d d', (0 < size (d p))%N, (0 < size (d' p))%N & people d = n].

(* A person comes with all records, or leaves; there are never more than n. *)
Definition add_remove_person (d d' : files) : Prop :=
  exists p, [/\ changed_person p d d', size (d p) = 0%N \/ size (d' p) = 0%N,
                (people d <= n)%N & (people d' <= n)%N].

Theorem persons_replace :
  private (@replaced_record_of_n R n) G release -> private replaced_person G (release \o kept).
Proof.
move=> is_private d d' [p [changed d_p d'_p n_people]] t /=.
apply: is_private; split; last by rewrite size_kept.
have [before [after keptE]] := kept_changed changed.
rewrite (keptE d (or_introl erefl)) (keptE d' (or_intror erefl)).
case: (d p) d_p => // r s _; case: (d' p) d'_p => // r' s' _ /=.
by exists before, after, (rule p r s), (rule p r' s').
Qed.

Hypothesis release_nonnegative : forall d t, 0 <= release d t.
Hypothesis growth_at_least_one : 1 <= G.

Theorem persons_add_remove :
  private (@add_remove_record_up_to R n) G release ->
  private add_remove_person G (release \o kept).
Proof.
move=> is_private d d' [p [changed none below below']] t /=.
have [before [after keptE]] := kept_changed changed.
have sizes : (size (kept d) <= n)%N /\ (size (kept d') <= n)%N by rewrite !size_kept.
move: sizes; rewrite (keptE d (or_introl erefl)) (keptE d' (or_intror erefl)) => - [size_d size_d'].
have same e : release e t <= G * release e t by rewrite ler_pemull.
move: none size_d size_d'; case: (d p) => [|r s]; case: (d' p) => [|r' s'] /= none size_d size_d' //.
- by apply: is_private; split=> //; left; exists before, after, (rule p r' s').
- by apply: is_private; split=> //; right; exists before, after, (rule p r s).
- by case: none.
Qed.

End Persons.
