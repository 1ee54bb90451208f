/**
 * The two training protocols, by what passive parties learn about the members of a node, and what follows from each for
 * those who bound, audit, record or explain a job. The protocols themselves are src/protocol/sent and
 * src/protocol/hidden.
 */

/**
 * - `sent`: gradients are encrypted once per round, and the instances of each node are sent to passive parties, which
 *   sum the stored ciphertexts.
 * - `hidden`: each node has gradients of its own, encrypted anew, with zeros for instances outside the node. Passive
 *   parties sum over all instances.
 */
export type Membership = "sent" | "hidden";

/** What follows from a training protocol for those who look at a job. */
export interface MembershipFacts {
  readonly name: Membership;
  /** Passive parties learn which instances are in a node: they can count them, and guess labels from them. */
  readonly membersAreSent: boolean;
  /** The active party learns how many instances are on each side of a candidate, unless there is noise. */
  readonly countsAreSent: boolean;
  /** Gradients of a round are batched and encrypted once; otherwise once per node. */
  readonly gradientsAreShared: boolean;
  /** The active party learns which candidate is which over all trees. */
  readonly candidatesAreLinked: boolean;
  /** Of a split that a passive party wins, whose sides the active party gets. */
  readonly outcomesCover: OutcomeCover;
}

/** Of a won split: outcomes of the node's members, or of all instances. */
export type OutcomeCover = "node" | "all instances";

export const membershipFacts: Readonly<Record<Membership, MembershipFacts>> = {
  sent: {
    name: "sent",
    membersAreSent: true,
    countsAreSent: true,
    gradientsAreShared: true,
    candidatesAreLinked: false,
    outcomesCover: "node",
  },
  hidden: {
    name: "hidden",
    membersAreSent: false,
    countsAreSent: false,
    gradientsAreShared: false,
    candidatesAreLinked: true,
    outcomesCover: "all instances",
  },
};

/** @param hiddenOutcomes outcomes travel by oblivious transfer, so the active party gets those of members only */
export function factsOfJob(membership: Membership, hiddenOutcomes: boolean): MembershipFacts {
  const facts = membershipFacts[membership];
  return hiddenOutcomes ? { ...facts, outcomesCover: "node" } : facts;
}
