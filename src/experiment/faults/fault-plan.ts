/**
 * What goes wrong in a simulated world, and where: every decision is drawn from a hash over the seed and the place
 * (which party, which attempt, which call, which message), so that a seed fails in the same way again however the event
 * loop happens to order things.
 */
import { createHash } from "node:crypto";

/** Kinds of trouble, as they are counted. */
export const faultKinds = [
  "request lost",
  "answer lost",
  "stream cut",
  "connection lost",
  "half-open connection",
  "duplicate",
  "late duplicate",
  "delay",
  "passive crash at a call",
  "passive crash at a write",
  "passive crash after a write",
  "active crash at a call",
  "active crash at a write",
  "active crash after a write",
  "party down",
  "slow write",
] as const;

export type FaultKind = (typeof faultKinds)[number];
export type Place = readonly (string | number)[];

export class FaultPlan {
  readonly seed: number;
  readonly counts: Record<FaultKind, number>;
  /** 0 for a world without trouble; most seeds have some, a few have a lot. */
  readonly #intensity: number;

  constructor(seed: number, undisturbed = false) {
    this.seed = seed;
    this.counts = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Record<FaultKind, number>;
    this.#intensity = undisturbed ? 0 : 0.3 + 1.5 * this.draw("intensity") ** 3;
  }

  /** Uniform in [0, 1). */
  draw(...place: Place): number {
    return (
      createHash("sha256")
        .update(`${this.seed}/${place.join("/")}`)
        .digest()
        .readUIntBE(0, 6) /
      2 ** 48
    );
  }

  /** A whole number from 0 to max. */
  upTo(max: number, ...place: Place): number {
    return Math.floor(this.draw(...place) * (max + 1));
  }

  /** How many ticks a write takes; now and then many, while other connections come and go. */
  writeTicks(...place: Place): number {
    return this.upTo(this.happens("slow write", 0.04, ...place) ? 3000 : 2, "write", ...place);
  }

  /** Whether something goes wrong here, with this share of all such places at intensity 1. */
  happens(kind: FaultKind, share: number, ...place: Place): boolean {
    const happens = this.draw(kind, ...place) < share * this.#intensity;
    if (happens) this.counts[kind]++;
    return happens;
  }
}
