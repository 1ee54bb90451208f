/** Trials with numbers of a test's choosing, as if they had been run. */
import type { TrialOutcome, Repeat, TrialSpec } from "../../lab/trials/trial.ts";
import { ablationTrials, paperSettingPairs } from "../../lab/reproduce/ablation.ts";
import { keysSweep } from "../../lab/reproduce/keys.ts";
import { MeasuredTrials } from "../../lab/trials/measured-trials.ts";
import { roundsSweep } from "../../lab/reproduce/rounds.ts";
import { samplesSweep } from "../../lab/reproduce/samples.ts";
import type { Scale } from "../../lab/reproduce/scale.ts";

export type Doctor = (repeat: Repeat, spec: TrialSpec) => TrialOutcome;

/** What a repeat looks like in which everything the paper claims is true. */
export function modelRepeat({ codec, trees, trainRows }: TrialSpec): Repeat {
  const w = codec === "batched" ? 1 : 2;
  return {
    totalSeconds: w === 1 ? 60 : 100,
    secondsPerTree: w === 1 ? 1.1 : 2,
    cpuSeconds: w * 100,
    metrics: { train: { auc: 0.8, ks: 0.45 }, test: { auc: 0.78 + w / 10_000, ks: 0.43 + w / 1000 } },
    counts: {
      encryptions: w * trees * trainRows,
      additions: w * 1e6,
      decryptions: 100,
      gradientCiphertexts: w * trees * trainRows,
      candidateCiphertexts: w * 560,
    },
    bytes: { activeToPassive: w * 1e6 + 1000, passiveToActive: 5000 },
    resolutions: w === 1 ? [9.3e-4, 9.3e-4] : [2 ** -36, 2 ** -38],
    model: `${codec}-${trees}-${trainRows}`,
    commit: "abc",
  };
}

/** All trials of a scale. */
export function measuredTrials(scale: Scale, doctor: Doctor = (repeat) => ({ repeat })): MeasuredTrials {
  const pairs = [keysSweep(scale), samplesSweep(scale), roundsSweep(scale)].flatMap(({ points }) => points);
  const specs = [...pairs, ...paperSettingPairs(scale)].flatMap(({ batched, unbatched }) => [batched, unbatched]);
  const trials = new MeasuredTrials();
  for (const spec of [...ablationTrials(scale), ...specs]) trials.add(spec, [doctor(modelRepeat(spec), spec)]);
  return trials;
}
