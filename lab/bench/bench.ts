/**
 * All figures of `tandem bench` in one run, with everything needed to read them: machine, cores, kernel, seed, commit.
 */
import { selectKernel } from "../../src/crypto/paillier/index.ts";
import { benchArithmetic, type Figure } from "./arithmetic.ts";
import { benchAblation } from "./ablation.ts";
import type { BenchPart } from "./bench-parts.ts";
import { benchCurve } from "./curve.ts";
import { benchHiddenSums } from "./hidden-sums.ts";
import { benchLattice } from "./lattice.ts";
import { benchNoise } from "./noise.ts";
import { benchReading } from "./reading.ts";
import { benchRelay } from "./relay.ts";
import { benchRelease } from "./release.ts";
import { benchResolution } from "./resolution.ts";
import { benchScoringMasked } from "./scoring-masked.ts";
import { benchServing } from "./serving.ts";
import { benchTraining, defaultTable } from "./training.ts";
import { benchWan, benchWanTable } from "./wan.ts";
import { type Machine, thisCommit, thisMachine } from "./machine.ts";

export interface BenchOptions {
  readonly only: BenchPart | "all";
  readonly data: string | null;
  readonly seed: number;
  readonly repeats: number;
  readonly quick: boolean;
  readonly onFigure: (figure: Figure) => void;
  readonly onProgress: (what: string) => void;
}

export interface BenchReport {
  readonly machine: Machine;
  readonly seed: number;
  readonly repeats: number;
  readonly quick: boolean;
  readonly data: string;
  readonly commit: string;
  readonly figures: Readonly<Record<string, Figure & { readonly met: boolean | null }>>;
  /** Figures that this machine cannot measure, and why. */
  readonly leftOut: readonly string[];
}

export async function runBench(options: BenchOptions): Promise<BenchReport> {
  const kernel = selectKernel();
  const figures: Record<string, Figure & { met: boolean | null }> = {};
  const leftOut: string[] = [];
  const collect = (figure: Figure): void => {
    figures[figure.name] = { ...figure, met: isMet(figure) };
    options.onFigure(figure);
  };
  const wants = (part: BenchPart): boolean => options.only === "all" || options.only === part;
  const training = { data: options.data, seed: options.seed, quick: options.quick, onProgress: options.onProgress };
  if (wants("arithmetic")) {
    options.onProgress("arithmetic");
    await benchArithmetic({ kernel, repeats: options.repeats, seed: options.seed, quick: options.quick }, collect);
  }
  if (wants("training")) await benchTraining(training, collect);
  if (wants("ablation")) await benchAblation(await defaultTable(training), training, collect);
  if (wants("noise")) await benchNoise(await defaultTable(training), training, collect);
  if (wants("hidden-sums")) await benchHiddenSums(await defaultTable(training), training, collect);
  if (wants("serving")) await benchServing(training, collect);
  if (wants("scoring-masked")) await benchScoringMasked({ ...training, repeats: options.repeats }, collect);
  if (wants("lattice")) await benchLattice(training, collect);
  if (wants("curve")) await benchCurve(training, collect);
  const own = { repeats: options.repeats, onLeftOut: (what: string) => void leftOut.push(what) };
  if (wants("reading")) await benchReading({ ...training, ...own }, collect);
  if (wants("relay")) await benchRelay({ ...training, repeats: options.repeats }, collect);
  if (wants("wan")) await benchWan(training, collect);
  // Minutes per cell: not with all others.
  if (options.only === "wan-table") await benchWanTable(training, collect);
  if (wants("resolution")) await benchResolution(training, collect);
  if (wants("workers")) {
    const { benchWorkers } = await import("./workers.ts"); // it imports the certificate library
    await benchWorkers({ ...training, ...own }, collect);
  }
  if (wants("release")) await benchRelease({ ...training, ...own }, collect);
  return {
    machine: thisMachine(),
    seed: options.seed,
    repeats: options.repeats,
    quick: options.quick,
    data: options.data === null ? "generated" : "public data where there, otherwise generated",
    commit: thisCommit(),
    figures,
    leftOut,
  };
}

/** Null where there is no bar. */
export function isMet({ value, bar }: Figure): boolean | null {
  if (bar === undefined) return null;
  return "atLeast" in bar ? value >= bar.atLeast : value <= bar.atMost;
}
