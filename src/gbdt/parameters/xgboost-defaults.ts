/** Defaults that differ from XGBoost's, with reasons, for docs/parameters.md and docs/xgboost.md. */
import { type TrainingParameters, trainingParameters } from "./training-parameters.ts";

interface OtherDefault {
  readonly name: keyof TrainingParameters;
  readonly theirs: string;
  readonly why: string;
}

const otherDefaults: readonly OtherDefault[] = [
  { name: "objective", theirs: "reg:squarederror", why: "most jobs are binary classification" },
  { name: "num_round", theirs: "10", why: "10 rounds of depth 3 are few" },
  {
    name: "max_depth",
    theirs: "6",
    why: "each level up to doubles the sums to encrypt and send, and sums over fewer instances reveal more",
  },
  {
    name: "max_bin",
    theirs: "256",
    why: "every bin is a sum that is encrypted and sent: 256 cost eight times as much, and finer sums reveal more",
  },
  { name: "base_score", theirs: "0.5; estimated since 2.0", why: "`auto` estimates it as XGBoost 2.0 does" },
  { name: "seed", theirs: "0", why: "random draws differ from XGBoost's with any seed" },
];

/** A Markdown table; to train as XGBoost does, set its values. */
export function defaultsTable(): string {
  const rows = otherDefaults.map(
    ({ name, theirs, why }) => `| \`${name}\` | ${String(trainingParameters[name].default)} | ${theirs} | ${why} |`,
  );
  return ["| parameter | ours | XGBoost's | why |", "|---|---|---|---|", ...rows].join("\n");
}
