import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { checkTags, featureTags } from "./feature-tags.ts";

const split = (tree: number, node: number, featureName: string) => ({ tree, node, featureName });

test("tags are numbered anew in every tree, and encode the grouping of splits only", () => {
  const splits = [
    split(1, 0, "b"),
    split(0, 2, "b"),
    split(0, 0, "a"),
    split(1, 3, "b"),
    split(0, 5, "a"),
    split(1, 1, "c"),
  ];
  expect(featureTags(splits)).toEqual([0, 1, 0, 0, 1, 0]);
  const renamed = splits.map((one) => ({ ...one, featureName: one.featureName === "a" ? "z" : one.featureName }));
  expect(featureTags(renamed)).toEqual(featureTags(splits));
});

test("tags are accepted in their one valid encoding only", async () => {
  const trees = [0, 0, 0, 3, 3];
  for (const good of [
    [0, 1, 0, 0, 1],
    [0, 0, 0, 0, 0],
    [0, 1, 2, 0, 0],
  ])
    expect(() => checkTags("shop", good, trees)).not.toThrow();
  const wrong: [readonly number[], RegExp][] = [
    [[0, 1, 0, 0], /tags of 4 splits; our share of the model has 5/], // of fewer splits than it has
    [[0, 1, 0, 0, 1, 0], /tags of 6 splits/], // of splits that are not its own
    [[], /tags of 0 splits/],
    [[1, 0, 0, 0, 0], /not numbered from 0/],
    [[0, 2, 1, 0, 0], /not numbered from 0/], // a name hidden in the numbers
    [[0, 1, 0, 1, 2], /not numbered from 0/], // linked across trees
    [[0, 1, 0, 0, 4_294_967_295], /not numbered from 0/],
  ];
  for (const [tags, message] of wrong)
    await expectError(() => checkTags("shop", tags, trees), "PROTOCOL_STATE", message);
});
