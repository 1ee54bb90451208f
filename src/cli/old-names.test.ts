/** Options that had another name in 0.1: the old one still works, and the help does not show it. */
import { expect, test } from "vitest";
import { benchCommand } from "../../lab/cli/bench.ts";
import { demoCommand } from "./demo.ts";
import { serveCommand } from "./serve.ts";
import { simulateCommand } from "./simulate.ts";

test.each([
  [demoCommand, "--runs", "--records"],
  [simulateCommand, "--runs", "--records"],
  [serveCommand, "--rounds", "--batches"],
  [benchCommand, "--rounds", "--repeats"],
])("of %o: %s is %s", (make, old, name) => {
  const command = make();
  expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining([old, name]));
  expect(command.helpInformation()).toContain(`${name} <`);
  expect(command.helpInformation()).not.toContain(`${old} <`);
});
