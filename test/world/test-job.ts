/** Jobs of the tests: small ones, unless a test asks for more. Nothing is refused here: that is what roles are for. */
import type { CodecParameters, SpeedParameters } from "../../src/base/parameters/parameters.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { resolveSections } from "../../src/party/resolve-job.ts";
import type { Job } from "../../src/protocol/job.ts";
import { paillier } from "../../src/scheme/paillier/paillier.ts";
import type { Scheme } from "../../src/scheme/scheme.ts";

export interface GivenTestJob {
  readonly training?: Partial<TrainingParameters> | undefined;
  readonly codec?: Partial<CodecParameters> | undefined;
  readonly speed?: Partial<SpeedParameters> | undefined;
  /** Default: none. */
  readonly defences?: Partial<Defences> | undefined;
  /** Default: Paillier. */
  readonly scheme?: Pick<Scheme, "name" | "parameters"> | undefined;
  readonly key?: { readonly publicKey: { readonly bits: number } } | undefined;
  readonly interactionGroups?: string | undefined;
}

export function testJob(given: GivenTestJob, name = "test"): Job<never> {
  const { training, codec, speed, defences, scheme = paillier, key, interactionGroups = "" } = given;
  return {
    name,
    ...resolveSections({
      training: { num_round: 3, max_depth: 3, max_bin: 16, min_child_weight: 0, ...training },
      codec,
      speed,
      privacy: defences,
    }),
    scheme: scheme.name,
    schemeParameters: scheme.parameters({ keyBits: key?.publicKey.bits ?? 2048, insecureKey: true }),
    interactionGroups,
    start: null,
  };
}
