/**
 * What goes wrong in a simulated world, and where: every decision is drawn from a hash over the seed and the place
 * (which party, which attempt, which call, which message), so that a seed has the same faults at the same places
 * however the event loop happens to order things.
 *
 * Which places a job comes to is not the same in every run: ciphertexts are computed on real threads and tables are
 * read from a real disk. How many ticks pass meanwhile differs, and with it which answers are stored at once and what a
 * late copy finds. A seed that failed may have to be replayed a few times.
 */
import { createHash } from "node:crypto";
import { lineFaults } from "../crews/memory-lines.ts";
import { shareMax, type Stretch } from "./exposure.ts";

/** Kinds of faults, as they are counted. */
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

/** Of a party's workers and the engine between, where it has some. */
export const crewFaultKinds = [
  "worker killed",
  "worker stopped for a while",
  "engine forgot everything",
  ...lineFaults,
] as const;

export type FaultKind = (typeof faultKinds)[number] | (typeof crewFaultKinds)[number];

/** After these the attempt under way is over. */
const fatalKinds: ReadonlySet<FaultKind> = new Set<FaultKind>([
  "request lost",
  "answer lost",
  "stream cut",
  "connection lost",
  "passive crash at a call",
  "passive crash at a write",
  "passive crash after a write",
  "active crash at a call",
  "active crash at a write",
  "active crash after a write",
  "engine forgot everything",
]);

export type Place = readonly (string | number)[];

export class FaultPlan {
  readonly seed: number;
  readonly counts: Record<FaultKind, number>;
  /** What all shares are multiplied with: 0 in a world without trouble. Most seeds have some, a few have a lot. */
  readonly share: number;
  #calls = 0;
  #faults = 0;

  /** @param scale for what a job is open to; 0: nothing goes wrong */
  constructor(seed: number, scale: number) {
    this.seed = seed;
    this.counts = Object.fromEntries([...faultKinds, ...crewFaultKinds].map((kind) => [kind, 0])) as Record<
      FaultKind,
      number
    >;
    this.share = scale * (0.3 + (shareMax - 0.3) * this.draw("intensity") ** 3);
  }

  /** What the world was open to since the last time, whatever became of it. */
  takeStretch(): Stretch {
    const stretch = { calls: this.#calls, faults: this.#faults };
    this.#calls = 0;
    this.#faults = 0;
    return stretch;
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

  /** Whether something goes wrong here, with this share of all such places where shares are taken as they are. */
  happens(kind: FaultKind, share: number, ...place: Place): boolean {
    if (kind === "request lost") this.#calls++; // every call may lose it
    if (fatalKinds.has(kind)) this.#faults -= Math.log(1 - shareMax * share) / shareMax;
    const happens = this.draw(kind, ...place) < share * this.share;
    if (happens) this.counts[kind]++;
    return happens;
  }
}
