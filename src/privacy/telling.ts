/** What a scheme tells of nodes, as far as disclosures and attacks differ by it. */
export interface Telling {
  /** Passive parties are not told who is in a node; candidates are linked over all trees, and no count is told. */
  readonly hidesMembers: boolean;
  /** Whom a split that a passive party wins tells a side of: the node's members, or everybody of the job. */
  readonly outcomesOf: "members" | "everybody";
}

/** Who does not know a node's members answers for everybody, unless outcomes travel by oblivious transfer. */
export function tellingOf({
  hidesMembers,
  hiddenOutcomes = false,
}: Pick<Telling, "hidesMembers"> & { readonly hiddenOutcomes?: boolean }): Telling {
  return { hidesMembers, outcomesOf: hidesMembers && !hiddenOutcomes ? "everybody" : "members" };
}
