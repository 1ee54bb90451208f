/** Jobs of the tests: small ones, unless a test asks for more. Nothing is refused here: that is what roles are for. */
import { type CodecParameters, codecWith } from "../../src/base/parameters/parameters.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { resolveSections } from "../../src/party/resolve-job.ts";
import type { Job } from "../../src/protocol/job.ts";
import { paillier } from "../../src/scheme/paillier/paillier.ts";
import { allShortcuts, type Shortcuts } from "../../src/scheme/shortcuts.ts";
import type { Scheme } from "../../src/scheme/scheme.ts";

export interface GivenTestJob {
  readonly training?: Partial<TrainingParameters> | undefined;
  readonly codec?: Partial<CodecParameters> | undefined;
  readonly shortcuts?: Partial<Shortcuts> | undefined;
  /** Default: none. */
  readonly defences?: Partial<Defences> | undefined;
  /** Default: Paillier. */
  readonly scheme?: Pick<Scheme, "name" | "parameters"> | undefined;
  readonly key?: { readonly publicKey: { readonly bits: number } } | undefined;
  readonly interactionGroups?: string | undefined;
}

export function testJob(given: GivenTestJob, name = "test"): Job<never> {
  const { training, codec, shortcuts, defences, scheme = paillier, key, interactionGroups = "" } = given;
  return {
    name,
    ...resolveSections({
      training: { num_round: 3, max_depth: 3, max_bin: 16, min_child_weight: 0, ...training },
      privacy: defences,
    }),
    codec: codecWith(codec),
    shortcuts: { ...allShortcuts, ...shortcuts },
    scheme: scheme.name,
    schemeParameters: scheme.parameters({ keyBits: key?.publicKey.bits ?? 2048, insecureKey: true }),
    interactionGroups,
    start: null,
  };
}
