/** Whether an alignment that is offered may begin. */
import { type Normalisation, normalisationNames } from "../../psi/normalise.ts";
import { TandemError } from "../../base/error.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import { requireActiveVersion } from "../../wire/version.ts";
import type { PassiveConfig } from "../config/config.ts";
import { checkIdCount, checkJobName, checkValidationFile } from "../policy.ts";

/** @throws TandemError that names what is wrong with the offer, or what the policy forbids */
export function checkOffer(offer: ActiveAlignmentOffer, { name, policy, data }: PassiveConfig): void {
  requireActiveVersion(offer.protocolVersion, name);
  checkJobName(offer.job, name);
  checkValidationFile(offer.validationFile, data.validation_path, name);
  checkIdCount(offer.activeIdCount, policy, name);
}

/** In the order in which the active party applies them. */
export function knownNormalisations({ normalisations }: ActiveAlignmentOffer, name: string): Normalisation[] {
  return normalisations.map((given) => {
    const known = normalisationNames.find((candidate) => candidate === given);
    if (known === undefined)
      throw new TandemError("HANDSHAKE_MISMATCH", `normalise: the active party names one that ${name} does not know`);
    return known;
  });
}
