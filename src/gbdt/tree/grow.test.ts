/** How large a tree can become, from either limit. */
import { expect, test } from "vitest";
import { treeSizeMax } from "./grow.ts";

test.each([
  [
    { maxDepth: 1, maxLeaves: 0 },
    { nodes: 3, pairs: 0 },
  ],
  [
    { maxDepth: 3, maxLeaves: 0 },
    { nodes: 15, pairs: 3 },
  ],
  [
    { maxDepth: 3, maxLeaves: 4 },
    { nodes: 7, pairs: 2 },
  ],
  [
    { maxDepth: 3, maxLeaves: 100 },
    { nodes: 15, pairs: 3 },
  ],
  [
    { maxDepth: 0, maxLeaves: 24 },
    { nodes: 47, pairs: 22 },
  ],
  [
    { maxDepth: 0, maxLeaves: 2 },
    { nodes: 3, pairs: 0 },
  ],
  [
    { maxDepth: 5, maxLeaves: 1 },
    { nodes: 1, pairs: 0 },
  ],
])("%o", (limits, size) => expect(treeSizeMax(limits)).toEqual(size));
