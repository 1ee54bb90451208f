/** Deviations of a bank or a shop in jobs that hide the members of nodes (verified-job.ts). */
import type { QuantisedGradients } from "../../src/base/gradients/quantised-gradients.ts";
import type { HiddenActive, HiddenNode, HiddenPassive } from "../../src/scheme/hidden-scheme.ts";
import { leavingWhen, overridden } from "./deviating-parties.ts";
import type { FailedAttempt } from "./verified-job.ts";

export type Place = Pick<HiddenNode, "tree" | "node">;

/** The bank gives a sampled instance other gradients. @param isMarked the nodes where it does */
export const markingAt =
  (isMarked: (place: Place) => boolean, amount = 1) =>
  (scheme: HiddenActive): HiddenActive =>
    overridden(scheme, {
      seal: (node) => {
        const [marked] = node.sampled;
        if (!isMarked(node) || marked === undefined) return scheme.seal(node);
        const columns = node.gradients.columns.map((column) =>
          column.map((value, i) => (i === marked ? (value > 0 ? value - amount : value + amount) : value)),
        );
        return scheme.seal({ ...node, gradients: { ...node.gradients, columns } as QuantisedGradients });
      },
    });

/** The bank leaves an instance of the node out. */
export const omittingAt =
  (isMarked: (place: Place) => boolean) =>
  (scheme: HiddenActive): HiddenActive =>
    overridden(scheme, {
      seal: (node) => scheme.seal(isMarked(node) ? { ...node, sampled: node.sampled.subarray(1) } : node),
    });

/** Shop adds another noise than its secret draws. @param isChanged the nodes where it does */
export const otherNoise =
  (isChanged: (place: Place) => boolean) =>
  (scheme: HiddenPassive): HiddenPassive =>
    overridden(scheme, {
      take: async (messages) => {
        const taken = await scheme.take(messages);
        return {
          ...taken,
          sums: (task, request) => {
            const { node, noise } = task;
            const isThis = isChanged({ tree: request.tree, node });
            return taken.sums(
              isThis && noise !== null ? { ...task, noise: noise.map((value) => -value) } : task,
              request,
            );
          },
        };
      },
    });

/** The bank reads the answers about nodes below the root of a tree, and leaves. */
export function leavingBelow(tree: number): Required<Pick<FailedAttempt, "peer" | "fails">> {
  return leavingWhen((request) => request.tree === tree && request.node !== 0);
}
