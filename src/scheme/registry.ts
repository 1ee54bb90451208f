/**
 * The schemes that there are, by name. A config, a policy and a handshake name one; whoever needs it finds it here.
 *
 * Another scheme is registered before a party is started; nothing else has to know of it.
 */
import { TandemError } from "../base/error.ts";
import { membershipFacts } from "../base/membership.ts";
import { lattice } from "./lattice/lattice.ts";
import { paillier } from "./paillier/paillier.ts";
import type { Scheme, SchemeParameters } from "./scheme.ts";

const schemes = new Map<string, Scheme>([paillier, lattice].map((scheme) => [scheme.name, scheme]));

export const defaultScheme = paillier.name;

/** @returns forgets the scheme again */
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

/** @throws TandemError USAGE if there is none of this name */
export function schemeNamed(name: string): Scheme {
  const scheme = schemes.get(name);
  if (scheme === undefined) {
    throw new TandemError("USAGE", `there is no scheme '${name}'; there is ${schemeNames().join(", ")}`);
  }
  return scheme;
}

/** What a job says of its scheme, whoever trains it: also without any encryption, on the same grid. */
export interface SchemeChoice {
  readonly scheme: string;
  readonly schemeParameters: SchemeParameters;
}

/** @throws TandemError USAGE for an unknown scheme, KEY_TOO_SHORT for a key that needs the word insecure */
export function chooseScheme(
  name: string,
  options: { readonly keyBits: number; readonly insecureKey: boolean },
): SchemeChoice {
  return { scheme: name, schemeParameters: schemeNamed(name).parameters(options) };
}

/** For the event that says what a job is: nothing, or a warning about its cipher. */
export function warningOf({ scheme, schemeParameters }: SchemeChoice): { readonly warning?: string } {
  const warning = schemeNamed(scheme).warning(schemeParameters);
  return warning === null ? {} : { warning };
}

/** Bits that one plaintext of the job can hold: the layout of gradients follows from it. */
export function plaintextBitsOf({ scheme, schemeParameters }: SchemeChoice): number {
  return schemeNamed(scheme).plaintextBitsMax(schemeParameters);
}

/** Counts are not sent, because of noise or because members are hidden. */
export function hidesCounts({ scheme }: Pick<SchemeChoice, "scheme">, noise: object | null): boolean {
  return noise !== null || !membershipFacts[schemeNamed(scheme).membership].countsAreSent;
}

/** A scheme's parameters under the names that they have in a config: `key_bits`. */
export function configNames(parameters: SchemeParameters): Readonly<Record<string, number>> {
  const named = Object.entries(parameters).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(named) as Record<string, number>;
}
