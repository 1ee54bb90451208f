/**
 * The one table of hyper-parameters: name, default, bounds, help. Config validation, command line help and the
 * reference page are made from it; no default stands anywhere else. Names are XGBoost's where XGBoost has the thing.
 */
import { TandemError } from "./error.ts";

interface NumberSpec {
  readonly kind: "number" | "integer";
  readonly default: number;
  /** Other names that XGBoost knows it by. */
  readonly aliases?: readonly string[];
  /** Words that are allowed instead of a number. */
  readonly words?: readonly string[];
  /** Another default where the objective has one of its own. */
  readonly defaultOf?: Readonly<Record<string, number>>;
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
  readonly default: boolean;
  readonly help: string;
}

interface ListSpec<C extends string> {
  readonly kind: "list";
  readonly default: readonly C[];
  readonly choices: readonly C[];
  readonly help: string;
}

export type ParameterSpec = NumberSpec | ChoiceSpec<string> | SwitchSpec | ListSpec<string>;

function choice<const C extends string>(choices: readonly C[], fallback: NoInfer<C>, help: string): ChoiceSpec<C> {
  return { kind: "choice", choices, default: fallback, help };
}

function list<const C extends string>(choices: readonly C[], help: string): ListSpec<C> {
  return { kind: "list", choices, default: [], help };
}

export const trainingParameters = {
  objective: choice(
    ["binary:logistic", "reg:squarederror", "reg:pseudohubererror", "count:poisson", "multi:softprob"],
    "binary:logistic",
    "what the trees learn",
  ),
  num_class: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 1000,
    help: "multi:softprob: number of classes; labels are 0 to num_class - 1",
  },
  multi_strategy: choice(
    ["one_output_per_tree", "multi_output_tree"],
    "one_output_per_tree",
    "multi:softprob: a tree per class and round, or one tree per round with a weight per class in each leaf",
  ),
  num_round: {
    kind: "integer",
    default: 50,
    min: 1,
    max: 100_000,
    aliases: ["n_estimators"],
    help: "rounds of boosting: trees, or with multi:softprob trees per class",
  },
  max_depth: {
    kind: "integer",
    default: 3,
    min: 0,
    max: 16,
    help: "levels of splits in a tree; 0 for no limit but max_leaves",
  },
  max_leaves: { kind: "integer", default: 0, min: 0, max: 65536, help: "leaves of a tree at most; 0 for no limit" },
  grow_policy: choice(
    ["depthwise", "lossguide"],
    "depthwise",
    "split level by level, or always the node with the highest gain",
  ),
  eta: {
    kind: "number",
    default: 0.3,
    min: 0,
    max: 1,
    minExclusive: true,
    aliases: ["learning_rate"],
    help: "learning rate: shrinks every leaf",
  },
  lambda: { kind: "number", default: 1, min: 0, aliases: ["reg_lambda"], help: "L2 regularisation of leaf weights" },
  alpha: { kind: "number", default: 0, min: 0, aliases: ["reg_alpha"], help: "L1 regularisation of leaf weights" },
  gamma: {
    kind: "number",
    default: 0,
    min: 0,
    aliases: ["min_split_loss"],
    help: "smallest gain (without the 1/2 of eq. 3) that splits a node",
  },
  min_child_weight: { kind: "number", default: 1, min: 0, help: "smallest sum of hessians on each side of a split" },
  max_delta_step: {
    kind: "number",
    default: 0,
    min: 0,
    defaultOf: { "count:poisson": 0.7 },
    help: "largest leaf weight before shrinking; 0 for no limit",
  },
  scale_pos_weight: {
    kind: "number",
    default: 1,
    min: 0,
    minExclusive: true,
    help: "binary:logistic: weight of instances with label 1",
  },
  sampling_method: choice(
    ["uniform", "goss"],
    "uniform",
    "which instances a tree learns from: drawn evenly, or those with large gradients and some of the rest",
  ),
  subsample: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "sampling_method uniform: share of the instances that a tree learns from",
  },
  top_rate: {
    kind: "number",
    default: 0.2,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "sampling_method goss: share of instances with the largest gradients",
  },
  other_rate: {
    kind: "number",
    default: 0.1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "sampling_method goss: share of instances drawn from the rest",
  },
  colsample_bytree: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "share of each party's features that a tree may use",
  },
  colsample_bylevel: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "share of a tree's features that a level may use",
  },
  colsample_bynode: {
    kind: "number",
    default: 1,
    min: 0,
    max: 1,
    minExclusive: true,
    help: "share of a level's features that a node may use",
  },
  huber_slope: {
    kind: "number",
    default: 1,
    min: 0,
    minExclusive: true,
    help: "reg:pseudohubererror: where the loss turns from squared to absolute",
  },
  max_bin: { kind: "integer", default: 32, min: 2, max: 1024, help: "quantile bins per feature" },
  enable_categorical: {
    kind: "switch",
    default: false,
    help: "take columns of text, and those that a party names in data.categorical, as categories",
  },
  max_cat_to_onehot: {
    kind: "integer",
    default: 4,
    min: 1,
    max: 4096,
    help: "features with fewer categories than this are split one category against the rest, others into two sets of categories",
  },
  max_cat_threshold: {
    kind: "integer",
    default: 64,
    min: 1,
    max: 4096,
    help: "sets of categories: how many are tried from either end of their order",
  },
  base_score: {
    kind: "number",
    default: 0.5,
    words: ["auto"],
    help: "prediction before the first tree; auto: one Newton step from a margin of 0",
  },
  local_rounds: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 100_000,
    help: "rounds, from the first, in which only the active party's own features may split: passive parties see nothing of them",
  },
  eval_metric: list(
    ["auc", "aucpr", "ks", "logloss", "error", "rmse", "mae", "poisson-nloglik", "mlogloss", "merror"],
    "what is reported, and the last of them decides early stopping; without it what fits the objective",
  ),
  early_stopping_rounds: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 100_000,
    help: "stop when the validation set has not improved for so many rounds, and keep the best; 0 for never",
  },
  seed: { kind: "integer", default: 7, min: 0, max: 4294967295, help: "fixes everything but the cryptographic nonces" },
} as const satisfies Record<string, ParameterSpec>;

export const codecParameters = {
  codec: choice(["batched", "unbatched"], "batched", "g and h in one ciphertext (the paper) or two (SecureBoost)"),
  layout: choice(
    ["auto", "paper"],
    "auto",
    "slot layout: derived with a proof of no overflow, or the paper's literal parameters",
  ),
  resolution_bits: {
    kind: "integer",
    default: 24,
    min: 4,
    max: 44,
    help: "layout auto: gradients are rounded to bound * 2^-bits",
  },
  shift: { kind: "number", default: -10, max: 0, help: "layout paper: s, subtracted from every value" },
  alpha: {
    kind: "number",
    default: 20,
    min: 0,
    minExclusive: true,
    help: "layout paper: shifted values are truncated to [0, alpha]",
  },
  alpha_max: {
    kind: "number",
    default: 1e6,
    min: 0,
    minExclusive: true,
    help: "layout paper: [0, alpha_max] maps to [0, 2^r)",
  },
  r: { kind: "integer", default: 30, min: 1, max: 50, help: "layout paper: information bits of a slot" },
  padding: { kind: "integer", default: 2, min: 1, max: 16, help: "overflow protection bits above each slot" },
} as const satisfies Record<string, ParameterSpec>;

type ValueOf<S> = S extends { kind: "list"; choices: readonly (infer C)[] }
  ? readonly C[]
  : S extends { choices: readonly (infer C)[] }
    ? C
    : S extends SwitchSpec
      ? boolean
      : S extends { words: readonly (infer W)[] }
        ? number | W
        : number;
type ValuesOf<T> = { -readonly [K in keyof T]: ValueOf<T[K]> };

/** What makes the arithmetic cheaper. Each can be switched off, and none changes the model. */
export const speedParameters = {
  packing: { kind: "switch", default: true, help: "return several candidate sums in one ciphertext" },
  subtraction: {
    kind: "switch",
    default: true,
    help: "derive the larger sibling from its parent instead of summing it",
  },
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
  window_ms: {
    kind: "number",
    default: 2,
    min: 0,
    max: 1000,
    help: "how long the first request of a batch waits for others",
  },
  batch_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "ids that travel together in one round" },
  rounds: { kind: "integer", default: 4, min: 1, max: 64, help: "rounds under way at a time" },
  queue_ids: {
    kind: "integer",
    default: 10_000,
    min: 1,
    max: 10_000_000,
    help: "ids that may wait; further requests are turned away",
  },
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
  const aliases = new Map(
    Object.entries(table).flatMap(([name, spec]) => aliasesOf(spec).map((alias) => [alias, name])),
  );
  const named = new Map<string, unknown>();
  for (const [wanted, value] of Object.entries(given)) {
    const name = Object.hasOwn(table, wanted) ? wanted : aliases.get(wanted);
    if (name === undefined) {
      throw new TandemError(
        "USAGE",
        `unknown parameter '${wanted}'; did you mean '${nearestName(wanted, [...Object.keys(table), ...aliases.keys()])}'?`,
      );
    }
    if (value === undefined) continue;
    if (named.has(name)) throw new TandemError("USAGE", `parameter ${name} is given twice, once by another name`);
    named.set(name, value);
  }
  const resolved: Record<string, ParameterValue> = {};
  for (const [name, spec] of Object.entries(table)) {
    const value = named.get(name);
    resolved[name] = value === undefined ? defaultFor(spec, resolved["objective"]) : checkedValue(name, spec, value);
  }
  return resolved as ValuesOf<T>;
}

export type ParameterValue = number | string | boolean | readonly string[];

/** Other names of a parameter. */
export function aliasesOf(spec: ParameterSpec): readonly string[] {
  return "aliases" in spec ? (spec.aliases ?? []) : [];
}

function defaultFor(spec: ParameterSpec, objective: unknown): ParameterValue {
  if (!("defaultOf" in spec) || typeof objective !== "string") return spec.default;
  return spec.defaultOf?.[objective] ?? spec.default;
}

function checkedValue(name: string, spec: ParameterSpec, value: unknown): ParameterValue {
  if (spec.kind === "list") {
    const items: readonly unknown[] =
      typeof value === "string" ? value.split(",").map((item) => item.trim()) : Array.isArray(value) ? value : [value];
    const good = items.filter((item): item is string => typeof item === "string" && spec.choices.includes(item));
    if (good.length === items.length) return good;
    throw new TandemError("USAGE", `parameter ${name} must be ${describeBounds(spec)}; got '${String(value)}'`);
  }
  if (spec.kind === "switch") {
    if (typeof value === "boolean") return value;
    throw new TandemError("USAGE", `parameter ${name} must be true or false; got '${String(value)}'`);
  }
  if (spec.kind === "choice") {
    if (typeof value === "string" && spec.choices.includes(value)) return value;
    throw new TandemError(
      "USAGE",
      `parameter ${name} must be one of ${spec.choices.join(", ")}; got '${String(value)}'`,
    );
  }
  const text = typeof value === "string" ? value.trim() : value;
  if (typeof text === "string" && spec.words?.includes(text) === true) return text;
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
  if (spec.kind === "list") return `a list of ${spec.choices.join("|")}`;
  if (spec.kind === "switch") return "true or false";
  const noun = spec.kind === "integer" ? "an integer" : "a number";
  const low = spec.min === undefined ? "" : spec.minExclusive === true ? ` above ${spec.min}` : ` from ${spec.min}`;
  const high = spec.max === undefined ? "" : ` up to ${spec.max}`;
  const words = spec.words === undefined ? "" : ` or ${spec.words.join("|")}`;
  return noun + low + high + words;
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
