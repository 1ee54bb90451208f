import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { AttemptCrew } from "./attempt-crew.ts";
import { nothing } from "./block.ts";
import type { Blocks } from "./crew.ts";

const job = { scheme: "any", terms: nothing, rowCount: 0, columns: { bins: [], binCounts: new Uint32Array(0) } };

function crewOf(): { crew: AttemptCrew; opened: (blocks: Blocks) => void; blocks: Blocks; closed: () => number } {
  let closed = 0;
  let opened: (blocks: Blocks) => void = () => {};
  const crew = new AttemptCrew({ open: () => new Promise((resolve) => (opened = resolve)) });
  const blocks = { close: async () => void closed++ } as unknown as Blocks;
  return { crew, opened: (given) => opened(given), blocks, closed: () => closed };
}

test("blocks that open after the attempt has ended are closed at once", async () => {
  const { crew, opened, blocks, closed } = crewOf();
  const opening = crew.open(job);
  crew.end();
  opened(blocks);
  await expectError(() => opening, "PROTOCOL_STATE", /the attempt is over/);
  expect(closed()).toBe(1);
});

test("blocks that open before the attempt ends are used by it", async () => {
  const { crew, opened, blocks, closed } = crewOf();
  const opening = crew.open(job);
  opened(blocks);
  expect(await opening).toBe(blocks);
  crew.end();
  expect(closed()).toBe(0);
});
