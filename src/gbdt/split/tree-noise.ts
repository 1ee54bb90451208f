/**
 * The noise of one party's candidates in one tree (base/noise/noise-stream.ts says where it comes from). A function of
 * who is in a node alone, which the passive party and the centralised trainer both call: that is why they train the
 * same model, bit for bit.
 *
 * Noise adds up as sums do, parent = left + right: it is drawn for the root and for the smaller child of each split,
 * and the larger child's is the rest. So it does not matter whether the larger child is asked for or derived, and
 * asking for both shows nothing to average.
 *
 * It belongs to the LEFT side of a candidate; what goes right has the same with the other sign, and a node's total has
 * none. Candidates that part the bins in the same way, or in the same way turned round, have the same noise: two draws
 * for one sum could be averaged. Those that come to the same at one node only, since nobody stands between them there,
 * are not offered side by side (minimumsWithNoise).
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

/** What a party's noise is made of in one job. */
export interface PartyNoise {
  readonly secret: Uint8Array;
  readonly scale: NoiseScale;
  readonly slotCount: number;
}

/**
 * What decides the noise of a node: who is summed there, or only its number where nobody is told more. Then the larger
 * child's is derived only where the active party derives it, and a serial tells one try at a round from the next: with
 * the same noise for other people the difference of two sums would have none.
 */
export type NoiseNames =
  | { readonly by: "members" }
  | { readonly by: "number"; readonly tree: number; readonly serial: number; readonly derives: boolean };

/** A node by the instances that are summed there, ascending. */
export interface SummedNode {
  readonly id: number;
  readonly members: Uint32Array;
}

const nobody = new Uint32Array(0);

type NodeNoise = (feature: number) => Float64Array;

export class TreeNoise {
  readonly #noise: PartyNoise;
  readonly #features: readonly BinnedFeature[];
  /** Per feature and candidate: whose noise it has. */
  readonly #partitions: readonly (readonly Partition[])[];
  readonly #round: number;
  readonly #names: NoiseNames;
  readonly #nodes = new Map<number, NodeNoise>();

  /** @param round the number of the gradients */
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

  /** Learns the children of a split. The one with fewer members is drawn, on a tie the one with the lower id. */
  split(parent: number, a: SummedNode, b: SummedNode): void {
    const above = this.#nodes.get(parent);
    assert(above !== undefined, "children are told after their parent");
    const isFirst = a.members.length - b.members.length || a.id - b.id;
    const [smaller, larger] = isFirst < 0 ? [a, b] : [b, a];
    const drawn = this.#drawn(smaller);
    if (this.#names.by === "number" && !this.#names.derives) {
      this.#nodes.set(smaller.id, drawn).set(larger.id, this.#drawn(larger));
      return;
    }
    this.#nodes.set(smaller.id, drawn).set(
      larger.id,
      kept((feature) => {
        const [whole, part] = [above(feature), drawn(feature)];
        return whole.map((value, i) => value - part[i]);
      }),
    );
  }

  /** Per candidate of a feature, in the order of candidatesOf, and slot: what is added to the left side. */
  of(node: number, feature: number): Float64Array {
    let noise = this.#nodes.get(node);
    if (noise === undefined && this.#names.by === "number") {
      noise = this.#drawn({ id: node, members: nobody }); // whoever is in it
      this.#nodes.set(node, noise);
    }
    assert(noise !== undefined, "a node of this tree");
    return noise(feature);
  }

  #drawn({ id, members }: SummedNode): NodeNoise {
    const { secret, scale, slotCount } = this.#noise;
    const names = this.#names;
    const stream = new NoiseStream(
      names.by === "members"
        ? noiseKey(secret, this.#round, members)
        : numberedNoiseKey(secret, names.serial, names.tree, id),
    );
    return kept((feature) => {
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
  }
}

/** Adds noise to rows (slot sums in one or two limbs, count), one per candidate. @param sign -1 takes it away */
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
 * Where counts are hidden behind noise, nobody can tell an empty side: it must not be offered. Nor must two thresholds
 * with nobody between them, or both directions of missing values where there are none: they are one sum, with two draws
 * of noise that can be averaged.
 */
export function minimumsWithNoise(minimums: Minimums, hasNoise: boolean): Minimums {
  if (!hasNoise) return minimums;
  const { perCandidate, between = 1 } = minimums;
  return { ...minimums, perCandidate: Math.max(2, perCandidate), between: Math.max(2, between) };
}

/** Computes once per feature. */
function kept(noiseOf: NodeNoise): NodeNoise {
  const known = new Map<number, Float64Array>();
  return (feature) => {
    const noise = known.get(feature) ?? noiseOf(feature);
    known.set(feature, noise);
    return noise;
  };
}
