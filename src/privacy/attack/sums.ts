/**
 * A1 and A2 together: links the candidates, takes their sums apart, and says what its owner would find of each column.
 * The attack sees the transcript only; the owner's bins are used afterwards, to name and to check what it found.
 */
import type { PossibleBins } from "./possible-bins.ts";
import { type Family, familiesOf } from "./linkage.ts";
import { type LinkedGroup, type LinkedSet, linkRows } from "./linked-rows.ts";
import { familyTask, groupTask, partsOf, type PeelTask } from "./parts.ts";
import { peel, type PeelGround, peelGround } from "./peel.ts";
import type { OwnSide } from "./recorder.ts";
import type { Transcript } from "./transcript.ts";

export interface SumsAttack {
  /** Candidates that could be followed from tree to tree. */
  readonly linked: number;
  /** Everything was looked at before the deadline. */
  readonly isComplete: boolean;
}

export interface AttackClock {
  /** Milliseconds that are left. */
  left(): number;
  /** @param share of the work that is done */
  progress(share: number): void;
}

/** A feature's unnamed parts, and what is possible of them. */
interface Piece {
  readonly task: PeelTask;
  /** Per part the owner's view: its feature and bins. */
  readonly sides: () => readonly OwnSide[];
}

/**
 * Narrows what outcomes have left.
 * @param sideAt what the owner knows of a position in a tree
 * @param atOnce how many features to work on at the same time
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
  const families = familiesOf(rows, leavesOutBin ? featureCount - rows.groups.length : 0);
  const sideOf = (set: LinkedSet): OwnSide => sideAt(rows.firstTree, set.positions[0]);
  const pieces: Piece[] = [
    ...families.map((family) => ({ task: familyTask(rows, family), sides: () => familySides(family, sideOf) })),
    ...rows.groups.map((group) => ({ task: groupTask(rows, group), sides: () => groupSides(group, sideOf) })),
  ];
  const ground = peelGround(rows);
  const left = await peelAll(ground, pieces, clock, atOnce);
  const unfinished = left.length === 0 ? left : await peelAll(ground, left, clock, atOnce);
  for (const piece of pieces) conclude(piece, possible);
  const linked = rows.sets.length + rows.groups.reduce((sum, { parts }) => sum + parts.length, 0);
  return { linked, isComplete: unfinished.length === 0 };
}

/** @returns those that the time was too short for; what contradicts itself is as it was before */
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
      const before = piece.task.possible.slice();
      const end = await peel(ground, piece.task, clock.left() / waiting);
      if (end === "time over") unfinished.push(piece);
      if (end === "contradiction") piece.task.possible.set(before);
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

/** A group's candidates are its categories; the one that is summed over the others is turned round here. */
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
  for (let person = 0; person * words < parts.length; person++) {
    const bits = parts.subarray(person * words, (person + 1) * words);
    const key = bits.join();
    let mask = masks.get(key);
    if (mask === undefined) {
      const allowed = own.filter((_, part) => ((bits[part >>> 5] >>> (part & 31)) & 1) === 1);
      mask = possible[feature].mask(
        Array.from(own[0].bins, (_, bin) => (allowed.some((side) => side.bins[bin] === 1) ? 1 : 0)),
      );
      masks.set(key, mask);
    }
    possible[feature].narrow(person, mask);
  }
}
