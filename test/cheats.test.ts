/** Every catalogued deviation against real parties: it is refused with a code, or learns nothing. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { allCheats } from "./world/cheats/all-cheats.ts";
import { Arena } from "./world/cheats/arena.ts";
import { type Cheat, isStopped } from "./world/cheats/cheat.ts";

const arena = new Arena(mkdtempSync(join(tmpdir(), "tandem-cheats-")));
afterAll(() => arena.close());

async function expectStopped(cheat: Cheat): Promise<void> {
  const what = await cheat.run(arena);
  expect(isStopped(cheat, what), JSON.stringify(what)).toBe(true);
}

const named = (cheats: readonly Cheat[]) => cheats.map((cheat) => [cheat.name, cheat] as const);

test.each(named(allCheats))("%s", (_name, cheat) => expectStopped(cheat));
