/**
 * Replays a job in one process, from the openings of all parties: the same roles, with schemes that do not encrypt, or
 * with the real ones where all their randomness follows from opened seeds. After each tree its messages are compared
 * with the signed ones.
 */
import { create } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { FoldTurns } from "../gbdt/boost/fold-turns.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { recordedPeer } from "../protocol/active/recorded-peer.ts";
import { ActiveRole } from "../protocol/active/role.ts";
import type { Job } from "../protocol/job.ts";
import { agreedParameters } from "../protocol/job-parameters.ts";
import { decodeEntries } from "../protocol/chain/entries.ts";
import { PassiveRole } from "../protocol/passive/role.ts";
import { schemeSeedOf } from "../party/scheme-seed.ts";
import { schemeNamed } from "../scheme/registry.ts";
import type { ActiveScheme, PassiveScheme } from "../scheme/scheme.ts";
import type { SchemeReplay } from "../scheme/sent-scheme.ts";
import { bytesFrom, doublesFrom, fromHex, rowsFrom } from "../store/stored-numbers.ts";
import { connectInMemory } from "../transport/in-memory.ts";
import { passiveService } from "../transport/passive-service.ts";
import { PassiveTreeStoredSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../wire/peer.ts";
import { peerText } from "../wire/peer-text.ts";
import type { TreeVerdict } from "./findings.ts";
import { featureFrom, jobIn, type Opening, rowsIn } from "./opening.ts";
import { secretsIn } from "./open-job.ts";
import { ReplayedEvents } from "./replayed-events.ts";
import { Ciphertexts, type RoundCheck } from "./ciphertexts.ts";
import { checkSignedNodes, type SignedNode, type SignedNodeAnswer } from "./signed-nodes.ts";
import { checkTree, type TreeToCheck } from "./tree-check.ts";

export type ActiveOpening = Opening & { readonly active: NonNullable<Opening["active"]> };

/** Ends the replay: the remaining trees are not compared. */
class Over extends Error {}

export interface ReplayOptions {
  /** Trees whose ciphertexts are compared too. */
  readonly isChosen: (tree: number) => boolean;
  readonly onTree?: (verdict: TreeVerdict) => void;
}

export interface Replayed {
  readonly found: readonly TreeVerdict[];
  /** Why not all trees were replayed; null: they were, or one deviates. */
  readonly failure: string | null;
}

/**
 * Up to the first tree that deviates: later ones depend on it.
 * @param passives in the active party's order
 */
export async function replayJob(
  active: ActiveOpening,
  passives: readonly Opening[],
  { isChosen, onTree }: ReplayOptions,
): Promise<Replayed> {
  const { hidden_sums: hidesSums } = jobIn(active.job, active.active).privacy;
  const halves = hidesSums ? null : await halvesOf(active);
  const found: TreeVerdict[] = [];
  const add = (verdict: TreeVerdict): boolean => {
    found.push(verdict);
    onTree?.(verdict);
    return verdict.finding === null;
  };
  if (halves === null) return { found, failure: noReplay(active) };
  try {
    const job = new Replay(active, passives, halves);
    const last = await job.run(async (tree) => add(await judged(job, tree, isChosen(tree.tree))));
    const next = found.some(({ finding }) => finding !== null) ? undefined : job.signedAfter(last);
    if (next !== undefined) add(surplus(active, next));
    return { found, failure: null };
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
    return { found, failure: `the remaining trees: the replay failed (${error.code}: ${error.message})` };
  } finally {
    halves.close();
  }
}

/** Both sides of the scheme. */
interface Halves {
  /** Compares ciphertexts; null: all messages follow from the openings. */
  readonly sent: SchemeReplay | null;
  readonly active: ActiveScheme;
  passive(opening: Opening): PassiveScheme;
  close(): void;
}

/** Null: the scheme cannot be replayed. */
async function halvesOf({ active, opened: { facts } }: ActiveOpening): Promise<Halves | null> {
  const scheme = schemeNamed(active.scheme);
  const secret = await scheme.readSecret(String(facts["key"]));
  const options = { seed: fromHex(String(facts["seed"])) };
  if (scheme.membership === "sent") {
    const sent = scheme.replay?.(secret, options);
    return sent === undefined
      ? null
      : { sent, active: sent.active, passive: () => sent.passive(), close: () => sent.close() };
  }
  const hidden = scheme.replay?.(secret, options);
  if (hidden === undefined) return null;
  const open: { close?(): void }[] = [hidden.active];
  return {
    sent: null,
    active: hidden.active,
    passive({ opened }) {
      const half = hidden.passive(schemeSeedOf(secretsIn(opened.facts).permutationSecret));
      open.push(half);
      return half;
    },
    close: () => open.forEach((half) => half.close?.()),
  };
}

function noReplay({ job, active }: ActiveOpening): string {
  const what = jobIn(job, active).privacy.hidden_sums
    ? "comparisons of hidden sums cannot be recomputed: their oblivious transfers draw new keys"
    : `messages of the ${peerText(active.scheme)} scheme cannot be checked by this version`;
  return `no tree: ${what}. Only commitments, signatures and chains of digests were checked`;
}

/** The active party decides when training is over. */
function surplus({ name }: ActiveOpening, tree: number): TreeVerdict {
  return { tree, state: "deviates", finding: { party: name, tree, what: "it was begun after training was over" } };
}

async function judged(job: Replay, kept: TreeToCheck["tree"], isChosen: boolean): Promise<TreeVerdict> {
  const { tree } = kept;
  const toCheck = job.toCheck(kept);
  const { ciphertexts } = toCheck;
  const isFinished = Object.keys(kept.pairs).length > 0;
  if (ciphertexts === null) return judgedWhole(job, toCheck, isFinished);
  const light = isChosen || !isFinished ? null : (await checkTree(toCheck, false)).finding;
  if (!isChosen && isFinished && light === null) return { tree, state: "plain", finding: null };
  const sent = await ciphertexts.sentDeviate(toCheck, job.sentGradients(tree));
  if (sent !== null) return { tree, state: "deviates", finding: sent };
  if (!isFinished) return { tree, state: "begun", finding: null };
  // Ciphertexts may show which party deviated.
  const { finding: found, notStored } = await checkTree(toCheck, true);
  const finding = found ?? light;
  return { tree, state: finding !== null ? "deviates" : notStored.length > 0 ? "plain" : "as agreed", finding };
}

/** All messages are compared, whichever trees are chosen. */
async function judgedWhole(job: Replay, toCheck: TreeToCheck, isFinished: boolean): Promise<TreeVerdict> {
  const { tree } = toCheck.tree;
  const finished = isFinished ? (await checkTree(toCheck, true)).finding : null;
  const finding = finished ?? checkSignedNodes(toCheck, job.signedNodes(tree), job.signedAnswers(tree));
  if (finding !== null) return { tree, state: "deviates", finding };
  if (!isFinished) return { tree, state: "begun", finding };
  return { tree, state: toCheck.opaque.length > 0 ? "plain" : "as agreed", finding };
}

class Replay {
  readonly #active: ActiveOpening;
  readonly #passives: readonly Opening[];
  readonly #halves: Halves;
  readonly #job: Job<never>;
  readonly #events = new ReplayedEvents();
  #round: RoundCheck | null = null;
  #setUpLayout: GradientLayout | null = null;
  readonly #opaque: string[] = [];

  constructor(active: ActiveOpening, passives: readonly Opening[], halves: Halves) {
    this.#active = active;
    this.#passives = passives;
    this.#halves = halves;
    this.#job = jobIn(active.job, active.active);
  }

  toCheck(tree: TreeToCheck["tree"]): TreeToCheck {
    const { hidden_outcomes: isHidden } = this.#job.privacy;
    return {
      active: this.#active.name,
      tree,
      replayed: this.#events,
      ciphertexts: this.#ciphertexts(),
      // Oblivious transfers draw new keys in every attempt.
      isOpaque: (kind) => isHidden && (kind === "choices" || kind === "outcome"),
      opaque: this.#opaque,
    };
  }

  #ciphertexts(): Ciphertexts | null {
    const { sent } = this.#halves;
    if (sent === null) return null;
    if (this.#round === null || this.#setUpLayout === null) throw new Error("no round has begun");
    const { labels } = this.#active.active;
    const terms = { setUpLayout: this.#setUpLayout, people: doublesFrom(labels).length };
    return new Ciphertexts(sent, this.#round, terms);
  }

  /** What the active party signed with gradients of this tree, or of the gradient round that begins with it. */
  sentGradients(tree: number) {
    return this.#passives.flatMap(({ name: peer, gradients }) =>
      gradients
        .filter((signed) => signed.tree === tree)
        .map(({ node, digest, entries = "" }) => ({ peer, tree, node, digest: fromHex(digest), entries })),
    );
  }

  signedNodes(tree: number): readonly SignedNode[] {
    return this.sentGradients(tree).flatMap(({ node, entries, ...signed }) =>
      node === null ? [] : [{ ...signed, node, entries: decodeEntries(bytesFrom(entries)) }],
    );
  }

  /** What passive parties signed with their answers. */
  signedAnswers(tree: number): readonly SignedNodeAnswer[] {
    const { firstTree, trees, answers } = this.#active;
    const before = trees.find((other) => other.tree === tree - 1)?.pairs ?? {};
    return answers
      .filter((answer) => answer.tree === tree && (tree === firstTree || before[answer.peer] !== undefined))
      .map(({ peer, node, before, entries }) => ({
        peer,
        node,
        entries: [before, entries].flatMap((part) => decodeEntries(bytesFrom(part))),
      }));
  }

  /** The first signed tree after this one; undefined: none. */
  signedAfter(tree: number): number | undefined {
    const trees = [this.#active.trees, ...this.#passives.map(({ gradients }) => gradients)].flat();
    return trees
      .map((signed) => signed.tree)
      .sort((a, b) => a - b)
      .find((signed) => signed > tree);
  }

  /**
   * @param look called with each signed tree, the last of which may be unfinished; returns false to stop
   * @returns the last tree of the replay
   */
  async run(look: (tree: TreeToCheck["tree"]) => Promise<boolean>): Promise<number> {
    let last = this.#active.firstTree - 1;
    const { role, folds } = this.#role(async (tree) => {
      if (tree < this.#active.firstTree) return;
      last = tree;
      const kept = this.#active.trees.find((other) => other.tree === tree) ?? { tree, pairs: {} };
      const isFinished = Object.keys(kept.pairs).length > 0;
      if (!isFinished && this.sentGradients(tree).length === 0) throw new Over();
      this.#beginRound(kept);
      if (!(await look(kept)) || !isFinished) throw new Over();
      this.#events.clear();
    });
    try {
      await role.join();
      if (folds === null) await role.train();
      else await role.crossValidate(folds);
    } catch (error) {
      if (!(error instanceof Over)) throw error;
    }
    return last;
  }

  /** Gradients are sent with the first tree of a gradient round. */
  #beginRound(kept: TreeToCheck["tree"]): void {
    const round = this.#halves.sent?.active.round ?? null;
    const signed = new Map<string, Uint8Array>();
    for (const [peer, { entries }] of Object.entries(kept.pairs)) {
      const gradients = decodeEntries(bytesFrom(entries)).find(({ kind }) => kind === "gradients");
      if (gradients !== undefined) signed.set(peer, gradients.digest);
    }
    if (round !== null && (this.#round === null || this.#round.round !== round)) this.#round = { round, signed };
  }

  #role(treeFinished: (tree: number) => Promise<void>) {
    const { name, features, active, opened, firstTree } = this.#active;
    const job = this.#job;
    const { training } = job;
    const rows = rowsIn(active);
    const folds = active.folds.length === 0 ? null : new FoldTurns(training, rows, active.folds.map(rowsFrom));
    const agreed = agreedParameters({ ...job, training: folds?.whole ?? training });
    const idsDigest = fromHex(String(opened.facts["ids"]));
    const peers = this.#passives.map((passive) => {
      const own = new PassiveRole({
        name: passive.name,
        agreed,
        idsDigest,
        features: passive.features.map(featureFrom),
        instanceCount: rows.count,
        ...secretsIn(passive.opened.facts),
        scheme: this.#halves.passive(passive),
        lookUp: () => null,
        observer: {},
      });
      const peer = echoing(connectInMemory(passive.name, passiveService(own.answers)));
      return recordedPeer(peer, this.#events.recordOf(passive.name, firstTree));
    });
    const role = new ActiveRole({
      name,
      job,
      features: features.map(featureFrom),
      rows,
      ...(folds === null ? {} : { folds }),
      samplingSecret: String(opened.facts["sampling"]),
      jobId: fromHex(this.#active.run.split("/")[0]),
      idsDigest,
      scheme: this.#halves.active,
      peers,
      observer: {
        layoutProven: (layout) => (this.#setUpLayout = layout),
        treeFinished,
      },
      now: () => 0,
    });
    return { role, folds };
  }
}

/** A role alone sends no digest at the end of a tree: this one returns the active party's. */
function echoing(peer: PassivePeer): PassivePeer {
  return {
    ...peer,
    finishTree: async (finished, options) => {
      await peer.finishTree(finished, options);
      return create(PassiveTreeStoredSchema, { digest: finished.digest ?? new Uint8Array(0) });
    },
  };
}
