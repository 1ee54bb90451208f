import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { StoredProgress } from "./progress.ts";
import { noProgress, type OwnSplit, type PassiveProgress, AnsweredSplits } from "./answered-splits.ts";

const place = { tree: 0, node: 0, feature: 1, featureName: "job", defaultLeft: true };
const members = Uint32Array.of(1, 2, 3);
const leftMembers = Uint8Array.of(0b101);

test("a node that was split by category sets is split so again, or not at all, also after a restart", async () => {
  let stored: PassiveProgress = noProgress;
  const store = async (progress: PassiveProgress): Promise<void> =>
    void (stored = JSON.parse(JSON.stringify(progress)) as PassiveProgress);
  const split: OwnSplit = { ...place, categories: ["baker", "smith"] };
  await new AnsweredSplits(new StoredProgress(noProgress, store)).keep([{ split, members, leftMembers }]);
  const restarted = new AnsweredSplits(new StoredProgress(stored, store));
  await restarted.keep([{ split, members, leftMembers }]);
  expect(restarted.splits).toEqual([split]);
  for (const other of [
    { ...place, categories: ["baker"] },
    { ...place, categories: ["smith", "baker"] },
    { ...place, threshold: 2 },
  ]) {
    await expectError(
      () => restarted.keep([{ split: other, members, leftMembers }]),
      "PROTOCOL_STATE",
      /already split differently/,
    );
  }
  expect(stored.splits).toEqual([split]);
});
