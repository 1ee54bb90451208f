/**
 * Checks that an active party's hello matches what the passive party has agreed to: parameters, ids, and number of
 * trees.
 */
import { TandemError } from "../../base/error.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import {
  firstTreeOf,
  fitsStoredTrees,
  type FlatParameters,
  flatParameters,
  receivedParameters,
} from "../job-parameters.ts";
import type { PassiveJob } from "./job.ts";
import { peerText } from "../../wire/peer-text.ts";
import { requireActiveVersion } from "../../wire/version.ts";

/**
 * @param trees how many this party has stored
 * @param begun the first tree of the latest round: no earlier round is redone
 * @throws TandemError HANDSHAKE_MISMATCH, ID_MISMATCH or CHECKPOINT naming what differs
 */
export function checkHello(hello: ActiveHello, job: PassiveJob, trees: number, begun: number): void {
  requireActiveVersion(hello.protocolVersion, job.name);
  const proposed = flatParameters(receivedParameters(hello.parameters, job.name));
  const agreed = flatParameters(job.agreed);
  const shown = (value: FlatParameters[string] | undefined): string =>
    value === undefined ? "nothing" : peerText(String(value));
  for (const field of new Set([...Object.keys(agreed), ...Object.keys(proposed)])) {
    if (proposed[field] === agreed[field]) continue;
    throw new TandemError(
      "HANDSHAKE_MISMATCH",
      `${peerText(field)}: the active party proposes ${shown(proposed[field])}, ` +
        `${job.name} has agreed to ${shown(agreed[field])}`,
    );
  }
  if (hello.instanceCount !== job.instanceCount || Buffer.compare(hello.idsDigest, job.idsDigest) !== 0) {
    throw new TandemError(
      "ID_MISMATCH",
      `${job.name} does not hold the same ids in the same order as the active party; align the data first`,
    );
  }
  // This party stores trees before the active party stores their round: after a lost connection it may be up to a round
  // ahead.
  const fits =
    job.finished === true
      ? trees === Math.max(hello.trees, firstTreeOf(job.agreed))
      : fitsStoredTrees(job.agreed, hello.trees, trees);
  if (!fits || Math.max(hello.trees, firstTreeOf(job.agreed)) < begun) {
    throw new TandemError(
      "CHECKPOINT",
      `${job.name} has stored ${trees} trees of this job and the active party ${hello.trees}: ` +
        "they do not belong together. Begin anew under another name",
    );
  }
}
