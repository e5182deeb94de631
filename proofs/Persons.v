(* The person rule: of each person's records one counts, chosen by a public rule.

   Privacy does not rest on how the rule chooses; it may be a hash of a public salt. *)

From dproo Require Import Preamble Rational Privacy.

Section Persons.

Variables (person : finType) (R : Type) (k : nat).
Variable rule : person -> R -> seq R -> 'I_k.

(* All records of every person there might be; one who has none is not in the data. *)
Definition files := {ffun person -> seq R}.

Definition vote (p : person) (records : seq R) : option 'I_k :=
  if records is r :: others then Some (rule p r others) else None.

Definition votes (d : files) : counts k := [ffun y => (\sum_p (vote p (d p) == Some y))%N].

(* Anything may happen to all records of one person. *)
Definition changed_person (p : person) (d d' : files) : Prop := forall q, q != p -> d' q = d q.

Lemma votes_changed p d d' :
  changed_person p d d' ->
  exists rest, forall e, e = d \/ e = d' ->
  votes e = if vote p (e p) is Some a then add rest a else rest.
Proof.
move=> changed; exists [ffun y => (\sum_(q | q != p) (vote q (d q) == Some y))%N] => e e_is.
have same y : (\sum_(q | q != p) (vote q (e q) == Some y) =
               \sum_(q | q != p) (vote q (d q) == Some y))%N.
  by apply: eq_bigr => q q_p; case: e_is => ->; rewrite ?changed.
case vote_p: (vote p (e p)) => [a|]; apply/ffunP => y;
  rewrite ?addE !ffunE (bigD1 p) //= vote_p same //=.
by rewrite addnC eq_sym.
Qed.

Variables (T : Type) (G : rat) (sampler : counts k -> T -> rat).

(* All records of a person are replaced by others. *)
Definition replaced_person (d d' : files) : Prop :=
  exists p, [/\ changed_person p d d', (0 < size (d p))%N & (0 < size (d' p))%N].

(* A person comes with all records, or leaves. *)
Definition add_remove_person (d d' : files) : Prop :=
  exists p, changed_person p d d' /\ (size (d p) = 0%N \/ size (d' p) = 0%N).

Theorem persons_replace :
  private (@replaced k) G sampler -> private replaced_person G (sampler \o votes).
Proof.
move=> private_sampler d d' [p [changed d_p d'_p]] t /=.
have [rest votesE] := votes_changed changed.
rewrite (votesE d (or_introl erefl)) (votesE d' (or_intror erefl)).
case: (d p) d_p => // r s _; case: (d' p) d'_p => // r' s' _ /=.
by apply: private_sampler; exists rest, (rule p r' s'), (rule p r s).
Qed.

Hypothesis sampler_nonnegative : forall c t, 0 <= sampler c t.
Hypothesis growth_at_least_one : 1 <= G.

Theorem persons_add_remove :
  private (@add_remove k) G sampler -> private add_remove_person G (sampler \o votes).
Proof.
move=> private_sampler d d' [p [changed none]] t /=.
have [rest votesE] := votes_changed changed.
have same : sampler rest t <= G * sampler rest t by rewrite ler_pemull.
rewrite (votesE d (or_introl erefl)) (votesE d' (or_intror erefl)).
case: (d p) none => [|r s] none /=; case: (d' p) none => [|r' s'] none //=.
- by apply: private_sampler; left; exists (rule p r' s').
- by apply: private_sampler; right; exists (rule p r s).
- by case: none.
Qed.

End Persons.
