/** The declaration of a parameter: its kind, default, bounds and help. */

export interface NumberSpec {
  readonly kind: "number" | "integer";
  readonly default: number;
  /** XGBoost's aliases. */
  readonly aliases?: readonly string[];
  /** Words that are allowed instead of a number. */
  readonly words?: readonly string[];
  /** A different default for some objectives, or presets of the table. */
  readonly defaultOf?: Readonly<Record<string, number | string>>;
  readonly min?: number;
  readonly max?: number;
  /** The minimum itself is not allowed. */
  readonly minExclusive?: boolean;
  /** Nor the maximum. */
  readonly maxExclusive?: boolean;
  /** If the objective does not use it, it is rejected with this advice; left out: a warning says that it is not used.
   * */
  readonly refusedElsewhere?: string;
  readonly help: string;
}

export interface ChoiceSpec<C extends string> {
  readonly kind: "choice";
  readonly default: C;
  readonly choices: readonly C[];
  /** XGBoost's choices that are not supported: why, and what to do. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly help: string;
}

export interface SwitchSpec {
  readonly kind: "switch";
  readonly default: boolean;
  /** As in NumberSpec. */
  readonly defaultOf?: Readonly<Record<string, boolean>>;
  /** 0 and 1 are accepted too, as in XGBoost. */
  readonly bits?: boolean;
  readonly help: string;
}

export interface ListSpec<C extends string, P extends string = string> {
  readonly kind: "list";
  readonly default: readonly C[];
  readonly choices: readonly C[];
  /** The choices that may have a number: error@0.7. */
  readonly numbered: readonly P[];
  readonly help: string;
}

/** One number, or several. */
export interface NumbersSpec {
  readonly kind: "numbers";
  readonly default: readonly number[];
  /** Both exclusive. */
  readonly above: number;
  readonly below: number;
  readonly countMax: number;
  readonly help: string;
}

export type ParameterSpec = NumbersSpec | NumberSpec | ChoiceSpec<string> | SwitchSpec | ListSpec<string>;

export function choice<const C extends string>(
  choices: readonly C[],
  fallback: NoInfer<C>,
  help: string,
): ChoiceSpec<C> {
  return { kind: "choice", choices, default: fallback, help };
}

export function list<const C extends string, const P extends C>(
  choices: readonly C[],
  numbered: readonly P[],
  help: string,
): ListSpec<C, P> {
  return { kind: "list", choices, numbered, default: [], help };
}

/** Whether an item of a list is one of its choices, or one of the numbered with a number. */
export function isItemOf({ choices, numbered }: Pick<ListSpec<string>, "choices" | "numbered">, item: string): boolean {
  const [name, number, ...more] = item.split("@");
  if (number === undefined) return choices.includes(item);
  return numbered.includes(name) && more.length === 0 && /^\d+(\.\d+)?$/.test(number);
}

type ValueOf<S> = S extends {
  kind: "list";
  choices: readonly (infer C)[];
  numbered: readonly (infer P extends string)[];
}
  ? readonly (C | `${P}@${string}`)[]
  : S extends { choices: readonly (infer C)[] }
    ? C
    : S extends NumbersSpec
      ? readonly number[]
      : S extends SwitchSpec
        ? boolean
        : S extends { words: readonly (infer W)[] }
          ? number | W
          : number;

/** The values that a table describes. */
export type ValuesOf<T> = { -readonly [K in keyof T]: ValueOf<T[K]> };

export type ParameterValue = number | string | boolean | readonly string[] | readonly number[];

/** Other names of a parameter. */
export function aliasesOf(spec: ParameterSpec): readonly string[] {
  return "aliases" in spec ? (spec.aliases ?? []) : [];
}

/** "an integer from 1 to 16", for messages and help. */
export function describeBounds(spec: ParameterSpec): string {
  if (spec.kind === "choice") return spec.choices.join("|");
  if (spec.kind === "list")
    return `a list of ${spec.choices.map((name) => (spec.numbered.includes(name) ? `${name}[@n]` : name)).join("|")}`;
  if (spec.kind === "switch") return spec.bits === true ? "true or false, 1 or 0" : "true or false";
  if (spec.kind === "numbers") return `up to ${spec.countMax} numbers above ${spec.above} and below ${spec.below}`;
  const noun = spec.kind === "integer" ? "an integer" : "a number";
  const low = spec.min === undefined ? "" : spec.minExclusive === true ? ` above ${spec.min}` : ` from ${spec.min}`;
  const high =
    spec.max === undefined ? "" : spec.maxExclusive === true ? ` and below ${spec.max}` : ` up to ${spec.max}`;
  const words = spec.words === undefined ? "" : ` or ${spec.words.join("|")}`;
  return noun + low + high + words;
}
