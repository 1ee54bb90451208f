/**
 * A1 and A2 together: links the candidates, solves their sums, and narrows the possible bins of each column. The attack
 * uses the transcript only; the owner's bins are used afterwards, to name and check the result.
 */
import type { PossibleBins } from "./possible-bins.ts";
import { type Family, familiesOf } from "./linkage.ts";
import { type LinkedGroup, type LinkedRows, type LinkedSet, linkRows } from "./linked-rows.ts";
import { familyTask, groupTask, partMask, partsOf, type PeelTask } from "./parts.ts";
import { peel, type PeelGround, peelGround } from "./peel.ts";
import type { OwnSide } from "./recorder.ts";
import type { Transcript } from "./transcript.ts";

export interface SumsAttack {
  /** Candidates that could be linked from tree to tree. */
  readonly linked: number;
  /** The search was finished before the deadline. */
  readonly isComplete: boolean;
}

export interface AttackClock {
  /** Milliseconds left. */
  left(): number;
  /** @param share of the work done */
  progress(share: number): void;
}

/** A feature's unnamed parts, and which are possible per instance. */
interface Piece {
  readonly task: PeelTask;
  /** Per part the owner's view: its feature and bins. */
  readonly sides: () => readonly OwnSide[];
}

/**
 * Narrows the bins that outcomes leave possible.
 * @param sideAt what the owner knows about a position in a tree
 * @param atOnce features to work on concurrently
 */
export async function attackSums(
  transcript: Transcript,
  possible: readonly PossibleBins[],
  sideAt: (tree: number, position: number) => OwnSide,
  clock: AttackClock,
  atOnce: number,
): Promise<SumsAttack> {
  const rows = linkRows(transcript);
  if (rows.nodes.length === 0) return { linked: 0, isComplete: true };
  const { featureCount, leavesOutBin } = transcript.job;
  const sideOf = ({ positions }: LinkedSet): OwnSide => {
    const tree = positions.findLastIndex((position) => position >= 0);
    return sideAt(rows.trees[tree], positions[tree]);
  };
  const ground = peelGround(rows);
  const groups = rows.groups.map((group) => ({
    task: groupTask(rows, group),
    sides: () => groupSides(group, sideOf),
  }));
  let unfinished = await peelTwice(ground, groups, clock, atOnce);
  let narrowed = rows;
  for (let before = Infinity; ;) {
    const families = familiesOf(narrowed, leavesOutBin ? featureCount - rows.groups.length : 0);
    if (families.length >= before) break;
    before = families.length;
    const pieces = families.map((family) => ({
      family,
      task: familyTask(narrowed, family),
      sides: () => familySides(family, sideOf),
    }));
    unfinished = [...unfinished, ...(await peelTwice(ground, pieces, clock, atOnce))];
    for (const piece of pieces) conclude(piece, possible);
    // Proven members of a set refute more relations to other sets: families may grow.
    narrowed = { ...rows, sets: pieces.flatMap(({ family, task }) => provenSets(family, task)) };
  }
  for (const piece of groups) conclude(piece, possible);
  return { linked: linkedCandidates(rows), isComplete: unfinished.length === 0 };
}

/** Candidates in the tree that has most of them: one whose link is lost between two trees is two sets. */
function linkedCandidates({ trees, sets, groups }: LinkedRows): number {
  const perTree = trees.map((_, tree) => sets.filter(({ positions }) => positions[tree] >= 0).length);
  return Math.max(0, ...perTree) + groups.reduce((sum, { parts }) => sum + parts.length, 0);
}

/** The sets of a family, with their proven members as outcomes. */
function provenSets(family: Family, { words, possible }: PeelTask): LinkedSet[] {
  const parts = partsOf(family);
  return family.sets.map((set, i) => {
    const mask = partMask(parts[i], words);
    const [inside, outside]: [number[], number[]] = [[], []];
    for (let instance = 0; instance * words < possible.length; instance++) {
      let [within, beyond] = [0, 0];
      for (let w = 0; w < words; w++) {
        within |= possible[instance * words + w] & mask[w];
        beyond |= possible[instance * words + w] & ~mask[w];
      }
      if (beyond === 0) inside.push(instance);
      else if (within === 0) outside.push(instance);
    }
    return { ...set, outcomes: [{ inside: Uint32Array.from(inside), outside: Uint32Array.from(outside) }] };
  });
}

/** Pieces that are not finished at first get the time that the others have left. */
async function peelTwice(
  ground: PeelGround,
  pieces: readonly Piece[],
  clock: AttackClock,
  atOnce: number,
): Promise<Piece[]> {
  const left = await peelAll(ground, pieces, clock, atOnce);
  return left.length === 0 ? left : peelAll(ground, left, clock, atOnce);
}

/** @returns the pieces that ran out of time; contradictory pieces are reset to everything possible */
async function peelAll(
  ground: PeelGround,
  pieces: readonly Piece[],
  clock: AttackClock,
  atOnce: number,
): Promise<Piece[]> {
  const unfinished: Piece[] = [];
  let [begun, done] = [0, 0];
  const work = async (): Promise<void> => {
    for (let piece = pieces[begun++]; piece !== undefined; piece = pieces[begun++]) {
      const waiting = Math.ceil((pieces.length - begun + 1) / atOnce);
      const end = await peel(ground, piece.task, clock.left() / waiting);
      if (end === "time over") unfinished.push(piece);
      if (end === "contradiction") piece.task.possible.fill(0xffffffff);
      clock.progress(++done / pieces.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return unfinished;
}

function familySides(family: Family, sideOf: (set: LinkedSet) => OwnSide): OwnSide[] {
  const whole = family.sets.map(sideOf);
  const parts = partsOf(family);
  const own = whole.map(({ feature, bins }, set) => {
    const inner = parts[set].filter((part) => part !== set);
    return { feature, bins: bins.map((isIn, bin) => (inner.some((part) => whole[part].bins[bin] === 1) ? 0 : isIn)) };
  });
  const [{ feature, bins }] = whole;
  return [...own, { feature, bins: bins.map((_, bin) => (whole.some((side) => side.bins[bin] === 1) ? 0 : 1)) }];
}

/** A group's candidates are its categories; one of them is sent as the sum of the others, and inverted here. */
function groupSides({ parts }: LinkedGroup, sideOf: (set: LinkedSet) => OwnSide): OwnSide[] {
  return parts.map((part, place) => {
    const { feature, bins } = sideOf(part);
    return { feature, bins: bins.map((_, bin) => (bin === place ? 1 : 0)) };
  });
}

function conclude({ task, sides }: Piece, possible: readonly PossibleBins[]): void {
  const own = sides();
  const { feature } = own[0];
  const { words, possible: parts } = task;
  const masks = new Map<string, Uint32Array>();
  for (let instance = 0; instance * words < parts.length; instance++) {
    const bits = parts.subarray(instance * words, (instance + 1) * words);
    const key = bits.join();
    let mask = masks.get(key);
    if (mask === undefined) {
      const allowed = own.filter((_, part) => ((bits[part >>> 5] >>> (part & 31)) & 1) === 1);
      mask = possible[feature].mask(
        Array.from(own[0].bins, (_, bin) => (allowed.some((side) => side.bins[bin] === 1) ? 1 : 0)),
      );
      masks.set(key, mask);
    }
    possible[feature].narrow(instance, mask);
  }
}
