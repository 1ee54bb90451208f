/**
 * The active party's split search: its own features, and the candidates received from passive parties. Totals, gains
 * and tie order are those of gbdt/split/centralised-search.ts, and therefore the splits are the same, bit for bit.
 *
 * Only the smaller child of each pair is requested; its sibling is the parent minus it, in integers (exact). Both are
 * requested without subtraction, and where nodes of a tree may have different columns.
 *
 * @reveals passive: which instances go left and right at every split whose children are split further
 */
import { assert } from "../../base/assert.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { betterSplit, type PartySplit } from "../../gbdt/split/best-split.ts";
import { partition as partitionByBin } from "../../gbdt/split/candidate.ts";
import type { TreeGain, TreeGains } from "../../gbdt/split/gain.ts";
import { interactionsBelow } from "../../gbdt/split/interactions.ts";
import type { GrowingNode, NodePair, SplitOutcome, SplitSearch } from "../../gbdt/tree/grow.ts";
import { toSplitRule } from "../../gbdt/tree/tree.ts";
import { OwnSearch } from "../../gbdt/split/own-search.ts";
import { SentTotals } from "../../gbdt/split/sent-totals.ts";
import { partition } from "../../wire/bitmap.ts";
import { bestOfCandidates, type BestCandidates } from "../../scheme/candidates/best-candidates.ts";
import type { ActiveRule, TreeTask } from "./federated-tree.ts";
import { type CandidateRows, noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import { AskedNodes, type SessionQuestion } from "./asked-nodes.ts";
import { HiddenSums, type OwnedNode } from "./hidden-sums.ts";
import type { AskedNode, SumsCheck } from "./membership.ts";
import type { PeerSession } from "./peer-session.ts";
import type { SplitAnswer } from "./split-decision.ts";
import { siblingRows } from "../../scheme/candidates/suppressed.ts";
import { checkCategories } from "./small-categories.ts";
import { requestWonSplits, type WonNode } from "./won-splits.ts";

/** An own split, or candidates of a passive party that tie for the best gain. */
type FederatedSplit =
  | (PartySplit & { readonly kind: "own" })
  | (BestCandidates & { readonly kind: "peer"; readonly peer: number });

type RowsByPeer = readonly CandidateRows[];

export class FederatedSearch implements SplitSearch<ActiveRule, FederatedSplit> {
  readonly #task: TreeTask;
  /** Of passive parties' sums. */
  readonly #gain: TreeGain;
  readonly #sentTotals: SentTotals;
  readonly #own: OwnSearch;
  /** Candidates of the nodes whose children may be requested. */
  readonly #rows = new Map<number, RowsByPeer>();
  /** Number of noise draws in the sums of nodes whose noise is derived (gbdt/split/tree-noise.ts). */
  readonly #draws = new Map<number, number>();
  readonly #asked: AskedNodes;
  /** Null with noise, and in local rounds. */
  readonly #sumsCheck: SumsCheck | null;
  /** Null: sums are sent. */
  readonly #hiddenSums: HiddenSums | null;

  constructor(task: TreeTask, gains: TreeGains) {
    this.#task = task;
    this.#gain = gains.sent;
    this.#sentTotals = new SentTotals(task.gradients);
    this.#asked = new AskedNodes(task);
    this.#own = new OwnSearch(task, gains.own);
    const isChecked = task.gradients.noise === undefined && task.sessions.length > 0;
    this.#sumsCheck = isChecked ? task.membership.sumsCheck() : null;
    this.#hiddenSums = task.hidesSums ? new HiddenSums(task, gains.sent, this.#sentTotals) : null;
  }

  async root(root: GrowingNode): Promise<FederatedSplit | null> {
    const { sharedRoot } = this.#task.round;
    if (sharedRoot !== null && sharedRoot.length === this.#task.sessions.length) {
      const own = await this.#own.root(root);
      return this.#best(root, own, sharedRoot);
    }
    this.#asked.openRoot(root);
    const node = { node: root, pair: null };
    if (this.#hiddenSums !== null) {
      const shared = this.#askShares([node], this.#hiddenSums);
      const own = await this.#own.root(root);
      const [found] = await shared([{ ...node, own }]);
      return this.#best(root, own, found);
    }
    const asked = this.#ask([node]);
    asked.catch(() => {}); // it is awaited below
    const own = await this.#own.root(root);
    const rows = (await asked).map((byNode) => byNode.get(root.id) ?? noCandidates);
    sharedRoot?.push(...rows);
    this.#checkCategories(root, rows);
    return this.#best(root, own, rows);
  }

  /** Requests the smaller child of each pair, or both, from every party, and derives the others. */
  async children(pairs: readonly NodePair[]): Promise<(FederatedSplit | null)[]> {
    const derives = this.#task.subtraction || this.#task.round.derivesAlways;
    const subtraction = derives && this.#task.sampler.isFixedPerTree;
    this.#asked.open(pairs);
    const wanted = pairs.flatMap((pair) => {
      const nodes = bySize(pair).map((node) => ({ node, pair }));
      return subtraction ? nodes.slice(0, 1) : nodes;
    });
    const nodes = pairs.flatMap(({ left, right }) => [left, right]);
    if (this.#hiddenSums !== null) {
      const shared = this.#askShares(wanted, this.#hiddenSums);
      const own = await this.#own.children(pairs);
      const rows = await shared(nodes.map((node, i) => ({ node, pair: pairs[i >>> 1], own: own[i] })));
      const found: (FederatedSplit | null)[] = [];
      for (const [i, node] of nodes.entries()) found.push(await this.#best(node, own[i], rows[i]));
      for (const { parent } of pairs) this.#rows.delete(parent.id);
      return found;
    }
    const asked = this.#ask(wanted);
    asked.catch(() => {});
    const own = await this.#own.children(pairs);
    const byPeer = await asked;
    // Noise that is keyed by members is derived where sums are requested, too.
    if (subtraction || !this.#task.round.derivesAlways)
      for (const pair of pairs) this.#draws.set(bySize(pair)[1].id, this.#drawsAt(pair.parent) + 1);
    const rows = nodes.map((node, i): RowsByPeer => {
      const pair = pairs[i >>> 1]; // left and right of each pair, in order
      const [smaller] = bySize(pair);
      const parentRows = this.#rows.get(pair.parent.id) ?? [];
      return byPeer.map((byNode, peer) =>
        this.#asked.isClosed(peer, node.id)
          ? noCandidates
          : (byNode.get(node.id) ??
            siblingRows(parentRows[peer], byNode.get(smaller.id) ?? noCandidates, this.#task.sessions[peer].name)),
      );
    });
    const found: (FederatedSplit | null)[] = [];
    for (const [i, node] of nodes.entries()) found.push(await this.#best(node, own[i], rows[i]));
    for (const { parent } of pairs) this.#rows.delete(parent.id);
    return found;
  }

  /** Each winning party is asked once. */
  async split(
    chosen: readonly { readonly node: GrowingNode; readonly found: FederatedSplit }[],
  ): Promise<SplitOutcome<ActiveRule>[]> {
    const { sessions, features } = this.#task;
    const won = sessions.map((): WonNode[] => []);
    for (const { node, found } of chosen) {
      if (found.kind !== "peer") continue;
      const rows = this.#rows.get(node.id)?.[found.peer] ?? noCandidates;
      const { id, instances, sampled, interactions } = node;
      const summed = { id, instances, sampled, interactions, totals: this.#sentTotals.of(node) };
      won[found.peer].push({ node: summed, tied: found.tied, rows, draws: this.#drawsAt(node) });
    }
    const answers = await Promise.all(
      sessions.map(async (session, peer) =>
        won[peer].length === 0 ? new Map<number, SplitAnswer>() : requestWonSplits(session, this.#task, won[peer]),
      ),
    );
    return chosen.map(({ node, found }) => {
      if (found.kind === "own") {
        const feature = features[found.feature];
        return {
          rule: toSplitRule(0, found.feature, feature, found.candidate),
          monotone: feature.monotone ?? 0,
          below: interactionsBelow(node.interactions, 0, found.feature, feature.groups),
          ...partitionByBin(feature, found.candidate, node.instances),
        };
      }
      const answer = answers[found.peer].get(node.id);
      assert(answer !== undefined, "every decision is answered");
      const { inside, outside } = partition(node.instances, answer.leftMembers);
      const owner = found.peer + 1;
      const groups = this.#task.isGrouped ? answer.groups : undefined;
      const below = interactionsBelow(node.interactions, owner, -1, groups);
      return { rule: { owner }, monotone: answer.monotone, below, left: inside, right: outside };
    });
  }

  /** Per session and node its candidates. */
  #ask(nodes: readonly AskedNode[]): Promise<Map<number, CandidateRows>[]> {
    const { tree, layout, decrypting } = this.#task;
    return this.#askEach(nodes, (session, question) => session.histograms(tree, layout, question, decrypting));
  }

  /**
   * Requests shares of sums.
   * @returns what compares them, with the best of this party's own columns: a level's nodes in one batch
   */
  #askShares(
    wanted: readonly AskedNode[],
    hiddenSums: HiddenSums,
  ): (nodes: readonly OwnedNode[]) => Promise<RowsByPeer[]> {
    const { tree, layout, waiting, decrypting } = this.#task;
    const slot = this.#gain.slot;
    const asked = this.#askEach(wanted, (session, question) =>
      session.shares(tree, layout, question, decrypting, slot),
    );
    asked.catch(() => {}); // it is awaited below
    return async (nodes) => {
      const received = await asked;
      return waiting.during(() =>
        hiddenSums.candidates(nodes, received, (session, node) => this.#asked.isClosed(session, node)),
      );
    };
  }

  #askEach<T>(
    nodes: readonly AskedNode[],
    ask: (session: PeerSession, question: SessionQuestion) => Promise<Map<number, T>>,
  ): Promise<Map<number, T>[]> {
    const { waiting, sessions, round } = this.#task;
    const questions = this.#asked.questions(nodes);
    return Promise.all(
      sessions.map((session, i) =>
        round.ask(i, async () =>
          questions[i].nodes.length === 0 ? new Map<number, T>() : waiting.during(() => ask(session, questions[i])),
        ),
      ),
    );
  }

  /** The best split of a node over all parties: the active party wins ties, then passives in config order. */
  async #best(node: GrowingNode, own: PartySplit | null, rows: RowsByPeer): Promise<FederatedSplit | null> {
    this.#rows.set(node.id, rows);
    let best: FederatedSplit | null = own && { kind: "own", ...own };
    for (const [peer, ofPeer] of rows.entries()) {
      if (isSliceOver()) await nextSlice();
      const fault = this.#sumsCheck?.fault(ofPeer, node) ?? null;
      if (fault !== null) throw this.#task.sessions[peer].deviates(fault);
      const draws = this.#task.gradients.noise === undefined ? 0 : this.#drawsAt(node);
      const found = bestOfCandidates(ofPeer, this.#sentTotals.of(node), this.#gain, node.bounds, draws);
      best = betterSplit<FederatedSplit>(best, found && { kind: "peer", peer, ...found });
    }
    return best;
  }

  #drawsAt({ id }: GrowingNode): number {
    return this.#draws.get(id) ?? 1;
  }

  #checkCategories({ sampled }: GrowingNode, rows: RowsByPeer): void {
    const { sessions, categoryPeopleMin, gradients } = this.#task;
    rows.forEach((ofPeer, peer) =>
      checkCategories(ofPeer, sampled.length, categoryPeopleMin, gradients.hidesCounts ?? false, sessions[peer].name),
    );
  }
}

function bySize({ left, right }: NodePair): [GrowingNode, GrowingNode] {
  return left.sampled.length <= right.sampled.length ? [left, right] : [right, left];
}
