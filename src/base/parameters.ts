/**
 * The one table of hyper-parameters: name, default, bounds, help. Config validation, command line help and the
 * reference page are made from it; no default stands anywhere else. Names are XGBoost's where XGBoost has the thing.
 */
import { TandemError } from "./error.ts";

interface NumberSpec {
  readonly kind: "number" | "integer";
  readonly default: number;
  readonly min?: number;
  readonly max?: number;
  /** The minimum itself is not allowed. */
  readonly minExclusive?: boolean;
  readonly help: string;
}

interface ChoiceSpec<C extends string> {
  readonly kind: "choice";
  readonly default: C;
  readonly choices: readonly C[];
  readonly help: string;
}

interface SwitchSpec {
  readonly kind: "switch";
  readonly default: true;
  readonly help: string;
}

export type ParameterSpec = NumberSpec | ChoiceSpec<string> | SwitchSpec;

function choice<const C extends string>(choices: readonly C[], fallback: NoInfer<C>, help: string): ChoiceSpec<C> {
  return { kind: "choice", choices, default: fallback, help };
}

export const trainingParameters = {
  objective: choice(["binary:logistic", "reg:squarederror"], "binary:logistic", "what the trees learn"),
  num_round: { kind: "integer", default: 50, min: 1, max: 100_000, help: "number of trees" },
  max_depth: { kind: "integer", default: 3, min: 1, max: 16, help: "levels of splits in a tree" },
  eta: { kind: "number", default: 0.3, min: 0, max: 1, minExclusive: true, help: "learning rate: shrinks every leaf" },
  lambda: { kind: "number", default: 1, min: 0, help: "L2 regularisation of leaf weights" },
  gamma: { kind: "number", default: 0, min: 0, help: "smallest gain (without the 1/2 of eq. 3) that splits a node" },
  min_child_weight: { kind: "number", default: 1, min: 0, help: "smallest sum of hessians on each side of a split" },
  max_bin: { kind: "integer", default: 32, min: 2, max: 1024, help: "quantile bins per feature" },
  base_score: { kind: "number", default: 0.5, help: "prediction before the first tree" },
  seed: { kind: "integer", default: 7, min: 0, max: 4294967295, help: "fixes everything but the cryptographic nonces" },
} as const satisfies Record<string, ParameterSpec>;

export const codecParameters = {
  codec: choice(["batched", "unbatched"], "batched", "g and h in one ciphertext (the paper) or two (SecureBoost)"),
  layout: choice(["auto", "paper"], "auto", "slot layout: derived with a proof of no overflow, or the paper's literal parameters"),
  resolution_bits: { kind: "integer", default: 24, min: 4, max: 44, help: "layout auto: gradients are rounded to bound * 2^-bits" },
  shift: { kind: "number", default: -10, max: 0, help: "layout paper: s, subtracted from every value" },
  alpha: { kind: "number", default: 20, min: 0, minExclusive: true, help: "layout paper: shifted values are truncated to [0, alpha]" },
  alpha_max: { kind: "number", default: 1e6, min: 0, minExclusive: true, help: "layout paper: [0, alpha_max] maps to [0, 2^r)" },
  r: { kind: "integer", default: 30, min: 1, max: 50, help: "layout paper: information bits of a slot" },
  padding: { kind: "integer", default: 2, min: 1, max: 16, help: "overflow protection bits above each slot" },
} as const satisfies Record<string, ParameterSpec>;

type ValuesOf<T> = { -readonly [K in keyof T]: T[K] extends { choices: readonly (infer C)[] } ? C : T[K] extends SwitchSpec ? boolean : number };

/** What makes the arithmetic cheaper. Each can be switched off, and none changes the model. */
export const speedParameters = {
  packing: { kind: "switch", default: true, help: "return several candidate sums in one ciphertext" },
  subtraction: { kind: "switch", default: true, help: "derive the larger sibling from its parent instead of summing it" },
  joint_bins: { kind: "switch", default: true, help: "sum groups of features in joint bins first" },
  skip_bin: { kind: "switch", default: true, help: "leave each feature's most frequent bin out of the sums" },
  encryption: choice(
    ["full", "short", "textbook"],
    "full",
    "obfuscators: full-size exponents with the key owner's fixed-base tables; short exponents (Damgard-Jurik-Nielsen, one more assumption); or textbook r^n",
  ),
} as const satisfies Record<string, ParameterSpec>;

/** What a scoring server takes, and how it batches. */
export const servingParameters = {
  window_ms: { kind: "number", default: 2, min: 0, max: 1000, help: "how long the first request of a batch waits for others" },
  batch_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "ids that travel together in one round" },
  rounds: { kind: "integer", default: 4, min: 1, max: 64, help: "rounds under way at a time" },
  queue_ids: { kind: "integer", default: 10_000, min: 1, max: 10_000_000, help: "ids that may wait; further requests are turned away" },
  timeout_ms: { kind: "integer", default: 5000, min: 10, max: 600_000, help: "how long a request may take" },
  request_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "people of one request" },
  request_bytes: { kind: "integer", default: 8_388_608, min: 1024, max: 1_073_741_824, help: "size of one request" },
} as const satisfies Record<string, ParameterSpec>;

export type TrainingParameters = ValuesOf<typeof trainingParameters>;
export type CodecParameters = ValuesOf<typeof codecParameters>;
export type SpeedParameters = ValuesOf<typeof speedParameters>;
export type ServingParameters = ValuesOf<typeof servingParameters>;

/**
 * Checks given values against a table and fills in defaults.
 * @throws TandemError USAGE naming the parameter, its bounds and, for an unknown one, the nearest name
 */
export function resolveParameters<T extends Record<string, ParameterSpec>>(
  table: T,
  given: Readonly<Record<string, unknown>>,
): ValuesOf<T> {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(table, name)) {
      throw new TandemError("USAGE", `unknown parameter '${name}'; did you mean '${nearestName(name, Object.keys(table))}'?`);
    }
  }
  const resolved: Record<string, number | string | boolean> = {};
  for (const [name, spec] of Object.entries(table)) {
    const value = given[name];
    resolved[name] = value === undefined ? spec.default : checkedValue(name, spec, value);
  }
  return resolved as ValuesOf<T>;
}

function checkedValue(name: string, spec: ParameterSpec, value: unknown): number | string | boolean {
  if (spec.kind === "switch") {
    if (typeof value === "boolean") return value;
    throw new TandemError("USAGE", `parameter ${name} must be true or false; got '${String(value)}'`);
  }
  if (spec.kind === "choice") {
    if (typeof value === "string" && spec.choices.includes(value)) return value;
    throw new TandemError("USAGE", `parameter ${name} must be one of ${spec.choices.join(", ")}; got '${String(value)}'`);
  }
  const text = typeof value === "string" ? value.trim() : value;
  const number = typeof text === "string" && text !== "" ? Number(text) : text;
  const low = spec.min ?? -Infinity;
  const good =
    typeof number === "number" &&
    Number.isFinite(number) &&
    (spec.kind === "number" || Number.isInteger(number)) &&
    (spec.minExclusive === true ? number > low : number >= low) &&
    number <= (spec.max ?? Infinity);
  if (good) return number;
  throw new TandemError("USAGE", `parameter ${name} must be ${describeBounds(spec)}; got '${String(value)}'`);
}

/** "an integer from 1 to 16", for messages and help. */
export function describeBounds(spec: ParameterSpec): string {
  if (spec.kind === "choice") return spec.choices.join("|");
  if (spec.kind === "switch") return "true or false";
  const noun = spec.kind === "integer" ? "an integer" : "a number";
  const low = spec.min === undefined ? "" : spec.minExclusive === true ? ` above ${spec.min}` : ` from ${spec.min}`;
  const high = spec.max === undefined ? "" : ` up to ${spec.max}`;
  return noun + low + high;
}

/** The candidate with the smallest edit distance. */
export function nearestName(name: string, candidates: readonly string[]): string {
  let best = candidates[0] ?? "";
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitute, previous[j] + 1, current[j - 1] + 1));
    }
    previous = current;
  }
  return previous[b.length];
}
