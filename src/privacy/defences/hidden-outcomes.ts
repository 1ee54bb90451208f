/** Outcomes of a node's instances only, where a scheme hides which these are: scheme/outcomes. */
import type { SwitchDefence } from "./defence.ts";

export const hiddenOutcomes = {
  parameter: {
    kind: "switch",
    default: false,
    defaultOf: { guarded: true, strict: true },
    help: "send the sides of a node's instances only, where a scheme hides which instances these are",
  },
  phrase: () => "hidden outcomes",
  lowers: "what split outcomes reveal",
  lowersOf: "people outside the node",
  // Without transfers the active party would get outcomes of instances outside the node.
  appliesTo: ({ outcomesCover }) => outcomesCover === "all instances",
  refusal: (scheme) =>
    `the scheme ${scheme} reveals the instances of each node to passive parties, which send the sides of these only. ` +
    "There is nothing to hide: leave it out",
  // An audit measures what is revealed of instances of the node.
  audit: "none",
} as const satisfies SwitchDefence;
