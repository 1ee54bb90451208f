/** The option that chooses a cipher. Its choices are listed here, since loading the ciphers is slow. */
import { Option } from "commander";
import type { SchemeChoice } from "../scheme/registry.ts";

export const schemeChoices = ["paillier", "curve", "lattice"] as const;

export function schemeOption(): Option {
  return new Option("--scheme <name>", "the cipher: docs/curve.md, docs/lattice.md (experimental)")
    .choices(schemeChoices)
    .default(schemeChoices[0]);
}

/** What a job was encrypted with: the scheme's name, and the length of its key where it has one. */
export interface SchemeFacts {
  readonly scheme: string;
  readonly keyBits?: number;
}

export function toSchemeFacts({ scheme, schemeParameters }: SchemeChoice): SchemeFacts {
  return { scheme, ...schemeParameters };
}
