/** One party's answers for the nodes of a level, assembled from their pieces and checked on arrival. */
import type { TandemError } from "../../base/error.ts";
import { rowStride } from "../../gbdt/split/histogram.ts";
import { type CandidateRows, noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import { type CategoryGroup, groupsFrom } from "../../scheme/candidates/category-group.ts";
import { lowerSidesFrom } from "../../scheme/candidates/lower-side.ts";
import { suppressedFrom } from "../../scheme/candidates/suppressed.ts";
import type { PassiveHistograms } from "../../wire/generated/tandem/v1/tandem_pb.ts";

/** What a party has announced, and what was agreed with it. */
export interface PartyTraits {
  readonly candidateCount: number;
  readonly isMonotone: boolean;
  /** No columns are sampled: every node has all candidates. */
  readonly takesAllColumns: boolean;
  readonly takesCategories: boolean;
}

export interface AskedNode {
  readonly node: number;
  /** The instances of the node that are summed. */
  readonly sampledCount: number;
}

export class NodeAnswers {
  readonly #tree: number;
  readonly #columns: number;
  readonly #party: PartyTraits;
  readonly #deviates: (what: string) => TandemError;
  readonly #sizes: ReadonlyMap<number, number>;
  readonly #tables: Map<number, CandidateRows>;
  /** Number of received candidates per node. */
  readonly #received: Map<number, number>;

  /**
   * @param number of sums per candidate
   * @param deviates makes the error that names the party
   */
  constructor(
    tree: number,
    asked: readonly AskedNode[],
    columns: number,
    party: PartyTraits,
    deviates: (what: string) => TandemError,
  ) {
    this.#tree = tree;
    this.#columns = columns;
    this.#party = party;
    this.#deviates = deviates;
    this.#sizes = new Map(asked.map(({ node, sampledCount }) => [node, sampledCount]));
    this.#tables = new Map(asked.map(({ node }) => [node, noCandidates]));
    this.#received = new Map(asked.map(({ node }) => [node, 0]));
  }

  /** Checks and stores a piece except its sums, which are still to be decrypted. @throws TandemError PROTOCOL_STATE */
  check(answer: PassiveHistograms): void {
    const { node, counts, candidateCount, tree } = answer;
    const first = this.#received.get(node);
    if (first === undefined || first !== answer.firstCandidate || tree !== this.#tree)
      throw this.#deviates("an answer that was not asked for");
    if (candidateCount > this.#party.candidateCount) throw this.#deviates("no candidates, or more than it has");
    if (first === 0) this.#tables.set(node, this.#emptyTable(answer));
    else if (answer.groups.length > 0) throw this.#deviates("groups of categories in the middle of an answer");
    const { lowerSides, suppressed } = this.#tables.get(node) ?? noCandidates;
    if (suppressed.length !== candidateCount || counts.length === 0 || first + counts.length > candidateCount)
      throw this.#deviates("no candidates, or more than it has");
    const size = this.#sizes.get(node) ?? 0;
    if (counts.some((count) => count > size)) throw this.#deviates("a candidate with more instances than its node");
    suppressed.set(suppressedFrom(answer.suppressed, counts), first);
    lowerSides?.set(lowerSidesFrom(answer.lowerSides, counts.length), first);
  }

  /** Where counts are not sent: an upper bound of each candidate's count; 0 where it is suppressed. */
  summedMost({ node, firstCandidate, counts }: PassiveHistograms): number[] {
    const { suppressed } = this.#tables.get(node) ?? noCandidates;
    const size = this.#sizes.get(node) ?? 0;
    // A node may be empty where the party cannot count: it is answered all the same.
    return counts.map((_, i) => (suppressed[firstCandidate + i] === 1 ? 0 : Math.max(1, size)));
  }

  /** @returns the rows of the piece: slot sums and count per candidate */
  add({ node, firstCandidate, counts }: PassiveHistograms, sums: Float64Array): Float64Array {
    const columns = this.#columns;
    const stride = rowStride(columns);
    const { rows } = this.#tables.get(node) ?? noCandidates;
    counts.forEach((count, i) => {
      const row = (firstCandidate + i) * stride;
      rows.set(sums.subarray(i * columns, (i + 1) * columns), row);
      rows[row + columns] = count;
    });
    this.#received.set(node, firstCandidate + counts.length);
    return rows.subarray(firstCandidate * stride, (firstCandidate + counts.length) * stride);
  }

  /** Per node its candidates. @throws TandemError PROTOCOL_STATE if some are missing */
  whole(): Map<number, CandidateRows> {
    for (const [node, received] of this.#received) {
      const { candidateCount, takesAllColumns } = this.#party;
      const expected = takesAllColumns ? candidateCount : (this.#tables.get(node) ?? noCandidates).suppressed.length;
      if (received !== expected) throw this.#deviates(`only ${received} of ${expected} candidates of node ${node}`);
    }
    return this.#tables;
  }

  #emptyTable(answer: PassiveHistograms): CandidateRows {
    const { candidateCount } = answer;
    return {
      rows: new Float64Array(candidateCount * rowStride(this.#columns)),
      lowerSides: this.#party.isMonotone ? new Int8Array(candidateCount) : null,
      suppressed: new Uint8Array(candidateCount),
      groups: this.#groupsOf(answer),
    };
  }

  #groupsOf({ groups, candidateCount }: PassiveHistograms): CategoryGroup[] {
    if (groups.length > 0 && !this.#party.takesCategories) throw this.#deviates("categories, which were not agreed on");
    return groupsFrom(groups, candidateCount);
  }
}
