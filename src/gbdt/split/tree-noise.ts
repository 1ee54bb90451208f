/**
 * The noise of one party's candidates in one tree (its source is base/noise/noise-stream.ts). A function of the members
 * of a node alone, which the passive party and the centralised trainer both call, so that they train the same model,
 * bit for bit.
 *
 * Noise adds up as sums do, parent = left + right: it is drawn for the root and for the smaller child of each split,
 * and the larger child's is the difference. So it does not matter whether the larger child is requested or derived, and
 * requesting both gives nothing to average.
 *
 * It belongs to the LEFT side of a candidate; the right side has the negated noise, and a node's total has none.
 * Candidates that partition the bins in the same way, or with sides swapped, have the same noise: two draws for one sum
 * could be averaged. Candidates that coincide at one node only, because no instance is between them there, are not
 * offered together (minimumsWithNoise).
 */
import { assert } from "../../base/assert.ts";
import { discreteGaussian } from "../../base/noise/discrete-gaussian.ts";
import type { NoiseScale } from "../../base/noise/noise-scale.ts";
import { noiseKey, NoiseStream, numberedNoiseKey } from "../../base/noise/noise-stream.ts";
import { highLimb } from "../../base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "./binning.ts";
import { candidateCount } from "./candidate.ts";
import { distinctPartitions, type Partition } from "./distinct-partitions.ts";
import type { Minimums } from "./offered-candidates.ts";

/** The source of a party's noise in one job. */
export interface PartyNoise {
  readonly secret: Uint8Array;
  readonly scale: NoiseScale;
  readonly slotCount: number;
}

/**
 * What the noise of a node is keyed by: its summed members, or only its id if members are hidden. Then the larger
 * child's is derived only if the active party derives it, and a node is answered for one set of gradients only: with
 * the same noise for other members the difference of two sums would be exact.
 */
export type NoiseNames =
  | { readonly by: "members" }
  | { readonly by: "number"; readonly tree: number; readonly derives: boolean };

/** A node by the instances that are summed there, ascending. */
export interface SummedNode {
  readonly id: number;
  readonly members: Uint32Array;
}

/** The noise in the sums of one feature's candidates, at one node. */
export interface CandidateNoise {
  /** Per candidate and slot, of the left side. */
  readonly left: Float64Array;
  /** How many draws each value is the sum of. */
  readonly draws: number;
}

const noMembers = new Uint32Array(0);

interface NodeNoise {
  /** Per candidate and slot. */
  readonly of: (feature: number) => Float64Array;
  /** How many draws each value is the sum of. */
  readonly draws: number;
}

export class TreeNoise {
  readonly #noise: PartyNoise;
  readonly #features: readonly BinnedFeature[];
  /** Per feature and candidate: the candidate whose noise it shares. */
  readonly #partitions: readonly (readonly Partition[])[];
  readonly #round: number;
  readonly #names: NoiseNames;
  readonly #nodes = new Map<number, NodeNoise>();

  /** @param round the index of the gradients */
  constructor(
    noise: PartyNoise,
    features: readonly BinnedFeature[],
    round: number,
    root: SummedNode,
    names: NoiseNames = { by: "members" },
  ) {
    this.#names = names;
    this.#noise = noise;
    this.#features = features;
    this.#partitions = features.map(distinctPartitions);
    this.#round = round;
    this.#nodes.set(root.id, this.#drawn(root));
  }

  /** Where noise is keyed by node ids: the root asks what an earlier one did, and gets the same noise. */
  repeatRoot(id: number, tree: number): void {
    this.#nodes.set(id, this.#drawn({ id, members: noMembers }, tree));
  }

  /** Registers the children of a split. Noise is drawn for the one with fewer members, on a tie the lower id. */
  split(parent: number, a: SummedNode, b: SummedNode): void {
    const above = this.#nodes.get(parent);
    assert(above !== undefined, "children are registered after their parent");
    const isFirst = a.members.length - b.members.length || a.id - b.id;
    const [smaller, larger] = isFirst < 0 ? [a, b] : [b, a];
    const drawn = this.#drawn(smaller);
    if (this.#names.by === "number" && !this.#names.derives) {
      this.#nodes.set(smaller.id, drawn).set(larger.id, this.#drawn(larger));
      return;
    }
    this.#nodes.set(smaller.id, drawn).set(larger.id, {
      of: kept((feature) => {
        const [whole, part] = [above.of(feature), drawn.of(feature)];
        return whole.map((value, i) => value - part[i]);
      }),
      draws: above.draws + drawn.draws,
    });
  }

  /** Per candidate of a feature, in the order of candidatesOf, and slot: the noise of the left side. */
  of(node: number, feature: number): Float64Array {
    return this.#at(node).of(feature);
  }

  candidates(node: number, feature: number): CandidateNoise {
    const { of, draws } = this.#at(node);
    return { left: of(feature), draws };
  }

  #at(node: number): NodeNoise {
    let noise = this.#nodes.get(node);
    if (noise === undefined && this.#names.by === "number") {
      noise = this.#drawn({ id: node, members: noMembers }); // independent of its members
      this.#nodes.set(node, noise);
    }
    assert(noise !== undefined, "the node belongs to this tree");
    return noise;
  }

  /** @param tree whose noise it is, where that is keyed by node ids; left out: this tree's */
  #drawn({ id, members }: SummedNode, tree?: number): NodeNoise {
    const { secret, scale, slotCount } = this.#noise;
    const names = this.#names;
    const stream = new NoiseStream(
      names.by === "members"
        ? noiseKey(secret, this.#round, members)
        : numberedNoiseKey(secret, tree ?? names.tree, id),
    );
    const of = kept((feature) => {
      const noise = new Float64Array(candidateCount(this.#features[feature]) * slotCount);
      this.#partitions[feature].forEach(({ first, sign }, candidate) => {
        for (let slot = 0; slot < slotCount; slot++) {
          stream.seek(feature, candidate, slot);
          noise[candidate * slotCount + slot] =
            first === candidate
              ? discreteGaussian(scale.sigma, scale.drawnMax, stream.draw)
              : sign * noise[first * slotCount + slot];
        }
      });
      return noise;
    });
    return { of, draws: 1 };
  }
}

/** Adds noise to rows (slot sums in one or two limbs, count), one per candidate. @param sign -1 subtracts it */
export function addNoise(rows: Float64Array, stride: number, noise: Float64Array, sign: 1 | -1): void {
  const slotCount = noise.length / (rows.length / stride);
  const isLimbed = stride - 1 > slotCount;
  for (let i = 0; i < noise.length; i++) {
    const row = Math.floor(i / slotCount) * stride;
    const slot = i % slotCount;
    const value = sign * noise[i];
    if (!isLimbed) {
      rows[row + slot] += value;
      continue;
    }
    const high = Math.floor(value / highLimb);
    rows[row + 2 * slot] += high;
    rows[row + 2 * slot + 1] += value - high * highLimb;
  }
}

/**
 * If counts are hidden by noise, the active party cannot detect an empty side: it must not be offered. Nor must two
 * thresholds with no instance between them, or both directions of missing values if there are none: they have the same
 * sum with two draws of noise, which can be averaged.
 */
export function minimumsWithNoise(minimums: Minimums, hasNoise: boolean): Minimums {
  if (!hasNoise) return minimums;
  const { perCandidate, between = 1 } = minimums;
  return { ...minimums, perCandidate: Math.max(2, perCandidate), between: Math.max(2, between) };
}

/** Computes once per feature. */
function kept(noiseOf: NodeNoise["of"]): NodeNoise["of"] {
  const known = new Map<number, Float64Array>();
  return (feature) => {
    const noise = known.get(feature) ?? noiseOf(feature);
    known.set(feature, noise);
    return noise;
  };
}
