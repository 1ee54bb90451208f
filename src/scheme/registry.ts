/**
 * The schemes by name. Configs, policies and handshakes name one.
 *
 * Another scheme is registered before a party is started; no other code depends on it.
 */
import { TandemError } from "../base/error.ts";
import { membershipFacts } from "../base/membership.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import { curve } from "./curve/curve.ts";
import { lattice } from "./lattice/lattice.ts";
import { paillier } from "./paillier/paillier.ts";
import type { Scheme, SchemeParameters } from "./scheme.ts";

const schemes = new Map<string, Scheme>([paillier, curve, lattice].map((scheme) => [scheme.name, scheme]));

export const defaultScheme = paillier.name;

/** @returns a function that unregisters the scheme */
export function registerScheme(scheme: Scheme): () => void {
  schemes.set(scheme.name, scheme);
  return () => void schemes.delete(scheme.name);
}

/** The names that configs and policies may use. */
export function schemeNames(): readonly string[] {
  return [...schemes.keys()];
}

export function isScheme(name: string): boolean {
  return schemes.has(name);
}

/** @throws TandemError USAGE if there is no scheme of this name */
export function schemeNamed(name: string): Scheme {
  const scheme = schemes.get(name);
  if (scheme === undefined) {
    throw new TandemError("USAGE", `unknown scheme '${name}'${suggestion(name, schemeNames())}`);
  }
  return scheme;
}

/** The scheme of a job. Centralised training has one too, since it uses the same grid without encryption. */
export interface SchemeChoice {
  readonly scheme: string;
  readonly schemeParameters: SchemeParameters;
}

/** @throws TandemError USAGE for an unknown scheme, KEY_TOO_SHORT for a short key without the insecure option */
export function chooseScheme(
  name: string,
  options: { readonly keyBits: number; readonly insecureKey: boolean },
): SchemeChoice {
  return { scheme: name, schemeParameters: schemeNamed(name).parameters(options) };
}

/** A warning about the cipher for the event that describes a job, if there is one. */
export function schemeWarning({ scheme, schemeParameters }: SchemeChoice): { readonly warning?: string } {
  const warning = schemeNamed(scheme).warning(schemeParameters);
  return warning === null ? {} : { warning };
}

/** Bits of one plaintext of the job, which determine the layout of gradients. */
export function plaintextBitsOf({ scheme, schemeParameters }: SchemeChoice): number {
  return schemeNamed(scheme).plaintextBitsMax(schemeParameters);
}

/** Whether counts are not sent: because of noise, or because members or sums are hidden. */
export function hidesCounts(
  { scheme }: Pick<SchemeChoice, "scheme">,
  noise: object | null,
  hidesSums: boolean,
): boolean {
  return noise !== null || hidesSums || !membershipFacts[schemeNamed(scheme).membership].countsAreSent;
}

/** A scheme's parameters under their config names: `key_bits`. */
export function configNames(parameters: SchemeParameters): Readonly<Record<string, number>> {
  const named = Object.entries(parameters).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}
