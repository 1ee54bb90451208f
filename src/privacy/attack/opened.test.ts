/** What the best candidates of all nodes tell: the attack on sums, where sums are sent and where they are hidden. */
import { describe, expect, test } from "vitest";
import { attackedJob, type AttackedJob } from "../../../test/support/attacked-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { membershipFacts } from "../../base/membership.ts";
import type { PartyExposure } from "./audit-result.ts";
import { exposureOf } from "./exposure.ts";
import { openedBits, openedCounts, openedOf } from "./opened.ts";

const people = 240;
// The third party wins nodes in which the second one's best is opened too.
const table = randomTable("opened", { rows: people, features: [1, 3, 3] });
const training = { num_round: 12, max_depth: 3, max_bin: 10, min_child_weight: 0 };

function exposed(job: AttackedJob, hiddenSumBits: number | null): Promise<PartyExposure> {
  const { features, transcript, recorder } = job;
  return exposureOf(
    {
      name: "passive",
      features,
      instances: job.people,
      transcript,
      splits: recorder.splits,
      sideAt: (tree, position) => recorder.sideAt(tree, position),
      noise: null,
      opened: hiddenSumBits === null ? null : openedOf(transcript, hiddenSumBits),
      tellsScoring: false,
      membership: recorder.party.membership ?? membershipFacts.sent,
    },
    { left: () => 3_000, progress() {} },
    1,
  );
}

describe.each(["sent", "hidden"] as const)("members are %s", (membership) => {
  test("the attack finds nearly all bins from exact sums, and no more than the bound from opened ones", async () => {
    const exact = await exposed(await attackedJob(table, training, [], {}, membership), null);
    const job = await attackedJob(table, training, [], { hidden_sums: true }, membership);
    const hidden = await exposed(job, 18);
    const [fromSums, fromOpened] = [exact, hidden].map(({ left }) => left.outcomes - left.sums);
    // Positive control: where sums are sent the attack works.
    expect(fromSums).toBeGreaterThan(0.3);
    const bound = openedBits(job.transcript, 18) / people;
    expect(fromOpened).toBeLessThanOrEqual(bound);
    expect(fromOpened).toBeLessThan(fromSums / 20);
    expect([exact.wrong, hidden.wrong]).toEqual([0, 0]);
    expect(hidden.columns.reduce((sum, { sumsBound }) => sum + (sumsBound ?? NaN), 0)).toBeLessThanOrEqual(
      bound + 1e-9,
    );
  });

  test("of each node one candidate at most is opened, and none that does not beat the active party's", async () => {
    const { transcript } = await attackedJob(table, training, [], { hidden_sums: true }, membership);
    const nodes = transcript.trees.flatMap((tree) => tree.nodes);
    const { opened, lost } = openedCounts(transcript);
    for (const { suppressed, won } of nodes) {
      const shown = suppressed.filter((isSuppressed) => isSuppressed === 0).length;
      expect(shown).toBeLessThanOrEqual(1);
      if (won !== null) expect(shown).toBe(1);
    }
    expect(opened).toBeLessThan(nodes.length);
    expect(lost).toBeGreaterThan(0);
  });
});

test("the bound counts each node once, and sums of nodes that the party did not split", () => {
  const node = { id: 0, parent: -1, instances: new Uint32Array(0), summed: new Uint32Array(0), groups: [] };
  const won = { candidates: [], sets: [], left: new Uint32Array(0), leftOfAll: null };
  const rows = new Float64Array(0);
  const gradients = { instanceCount: 0, grids: [], columns: [] };
  const nodes = [
    { ...node, rows, suppressed: Uint8Array.of(1, 1, 1), won: null },
    { ...node, rows, suppressed: Uint8Array.of(1, 0, 1), won },
    { ...node, rows, suppressed: Uint8Array.of(1, 0, 1), won: null },
  ];
  const job = { featureCount: 1, takesAllColumns: true, isLinked: true, leavesOutBin: false };
  expect(openedBits({ instanceCount: 0, job, predictions: [], trees: [{ tree: 0, gradients, nodes }] }, 20)).toBe(47);
});
