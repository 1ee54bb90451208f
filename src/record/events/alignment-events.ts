/** Private set intersection before a job. */
import * as z from "zod/mini";
import type { Immutable } from "../../base/immutable.ts";
import { formatCount } from "../../base/text/format.ts";
import { event } from "../event.ts";
import { count, number, text } from "../fields.ts";
import { info } from "../log-line.ts";

/** Ids that the active party shares with one passive party: known to the active party only. */
const pairwiseCounts = z.object({ peer: text, idCount: count, sharedCount: count });

export type PairwiseCounts = Immutable<z.infer<typeof pairwiseCounts>>;

export const alignmentEvents = {
  aligning: event(
    { peer: text, job: text, ownIdCount: count, peerIdCount: count },
    {
      log: ({ peer, job, ownIdCount, peerIdCount }) =>
        info(`aligning ${ownIdCount} ids with the ${peerIdCount} of ${peer} for job ${job}`, {
          peer,
          job,
          ownIdCount,
          peerIdCount,
        }),
      terminal: {
        of: "own",
        line: ({ party, peer, ownIdCount }) => `${party}: aligning ${formatCount(ownIdCount)} ids with ${peer}`,
      },
      fold: (view) => {
        view.state = "aligning";
        view.failure = null;
      },
    },
  ),
  "alignment-progress": event(
    { done: number, total: number },
    {
      fold: (view, { done, total }) => {
        view.alignment = { ...view.alignment, done, total };
      },
    },
  ),
  aligned: event(
    {
      job: text,
      peer: z.exactOptional(text),
      commonCount: count,
      pairwise: z.exactOptional(z.array(pairwiseCounts)),
    },
    {
      log: ({ peer = null, job, commonCount }) =>
        info(`aligned for job ${job}: ${commonCount} in common`, { peer, job, commonCount }),
      terminal: {
        of: "own",
        line: ({ party, commonCount }) => `${party}: ${formatCount(commonCount)} people are common to all parties`,
      },
      fold: (view, { at, commonCount, pairwise = [] }) => {
        view.alignment = { done: 1, total: 1, commonCount, at, pairwise };
        if (view.state === "aligning") view.state = "aligned";
      },
    },
  ),
  /** At a passive party. Has no log line: that the caller was lost or refused is logged already. */
  "alignment-failed": event(
    { peer: text, job: text, code: text, message: text },
    {
      fold: (view, { code, message }) => {
        view.failure = { code, message };
        view.state = "failed";
      },
    },
  ),
};
