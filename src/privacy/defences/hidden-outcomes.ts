/** Outcomes of a node's people only, where a scheme hides who they are: scheme/outcomes. */
import type { SwitchDefence } from "./defence.ts";

export const hiddenOutcomes = {
  parameter: {
    kind: "switch",
    default: false,
    defaultOf: { guarded: true, strict: true },
    help: "tell which side a node's people fall on, and nobody else's, where a scheme hides who is in a node",
  },
  phrase: () => "hidden outcomes",
  lowers: "what split outcomes reveal",
  lowersOf: "people outside the node",
  // Without transfers the active party would get outcomes of instances outside the node.
  appliesTo: ({ outcomesCover }) => outcomesCover === "all instances",
  refusal: (scheme) =>
    `the scheme ${scheme} tells passive parties who is in a node, and they tell the sides of these people only. ` +
    "There is nothing to hide: leave it out",
  // An audit asks about people of the node.
  audit: "none",
} as const satisfies SwitchDefence;
