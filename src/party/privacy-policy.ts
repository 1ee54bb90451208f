/** The defences that a passive party's policy demands: a job with a weaker one is refused. */
import { TandemError } from "../base/error.ts";
import { resolveParameters } from "../base/parameters/parameters.ts";
import type { Defence } from "../privacy/defences/defence.ts";
import {
  appliesTo,
  formsOf,
  defenceNames,
  type DefenceName,
  type Defences,
  defences,
  isOn,
  isWeaker,
  presetOf,
  type PrivacyParameters,
  privacyParameters,
} from "../privacy/defences/defences.ts";
import type { AgreedParameters } from "../protocol/job-parameters.ts";
import { schemeNamed } from "../scheme/registry.ts";

type Brought = Pick<AgreedParameters, "scheme" | "defences">;

/** One phrase for each defence that is weaker than the policy's. */
export function weakerDefences({ scheme, defences: brought }: Brought, demanded: PrivacyParameters): readonly string[] {
  return defenceNames
    .filter((name) => isWeaker(name, brought[name], demanded[name]) && isDemanded(scheme, name))
    .map((name) => ({ name, other: replacementOf(name, demanded) }))
    .filter(({ other }) => other === null || !brought[other])
    .map(({ name, other }) => weakerText(name, brought[name], demanded[name], other));
}

/** What a job may have in place of a demanded defence: a policy that names a preset accepts either form of it. */
function replacementOf(name: DefenceName, demanded: PrivacyParameters): "hidden_sums" | null {
  const { replacedBy }: Defence = defences[name];
  if (replacedBy === undefined) return null;
  const isOfPreset = formsOf(demanded.privacy).some((form) => form[name] === demanded[name]);
  return demanded[replacedBy] || isOfPreset ? replacedBy : null;
}

function weakerText(
  name: DefenceName,
  brought: number | boolean,
  demanded: number | boolean,
  other: string | null,
): string {
  const defence: Defence = defences[name];
  if (!("stricter" in defence)) return `${name}: off asked, it must be on`;
  return defence.stricter === "higher"
    ? `${name}: ${brought} requested, at least ${demanded} needed${other === null ? "" : `, or ${other}`}`
    : `${name}: ${isOn(brought) ? brought : "no limit"} requested, at most ${demanded} allowed`;
}

/** A scheme that lacks what a demanded defence needs is refused; one that has nothing to hide is not. */
function isDemanded(scheme: string, name: DefenceName): boolean {
  return appliesTo(name, schemeNamed(scheme).membership);
}

function hasUseFor(scheme: string, name: DefenceName): boolean {
  const { membership, masksSums = false } = schemeNamed(scheme);
  return appliesTo(name, membership, masksSums);
}

/**
 * Presets bring every defence, for the schemes that have a use for it.
 * @throws TandemError USAGE if one is asked for by itself, with another scheme
 */
export function checkDefences({ privacy, ...asked }: PrivacyParameters, scheme: string): void {
  const fromPreset = resolveParameters(privacyParameters, { privacy });
  for (const name of defenceNames) {
    if (!isOn(asked[name]) || isOn(fromPreset[name]) || hasUseFor(scheme, name)) continue;
    const { refusal }: Defence = defences[name];
    throw new TandemError("USAGE", `${name}: ${refusal?.(scheme) ?? `the scheme ${scheme} has no use for it`}`);
  }
}

/** For a record: those that the scheme has a use for. */
export function recordedDefences<D extends Defences>(values: D, scheme: string): Partial<D> {
  const left = new Set<string>(defenceNames.filter((name) => !hasUseFor(scheme, name)));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !left.has(name))) as Partial<D>;
}

/** What the active party can write into its config if its defences are too weak; otherwise empty. */
export function presetHint(brought: Brought, demanded: PrivacyParameters): string {
  const preset = presetOf(demanded);
  return preset === null || weakerDefences(brought, demanded).length === 0
    ? ""
    : `. 'privacy: ${preset}' in the active party's config brings the defences that are needed`;
}
