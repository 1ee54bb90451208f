/** Every named way to cheat, played against real parties: it is refused with a code, or learns nothing. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { allCheats } from "../src/experiment/cheats/all-cheats.ts";
import { Arena } from "../src/experiment/cheats/arena.ts";
import { type Cheat, isStopped } from "../src/experiment/cheats/cheat.ts";

/** Cheats that still work. A test that begins to pass has to go from this list. */
const stillWork: readonly string[] = [
  "3 a lost connection, and then other members of the same node",
  "4 many trees with one set of gradients",
  "5 members that are not those of the party's own split",
  "5 the same ciphertexts for many people",
  "11 a modulus whose factors divide the order of the group",
  "1 a person's gradient in place of each sum, to see who ties",
  "9 ids that it has guessed, to see whom the active party holds",
  "12 a category for each person",
  "13 answers to pings, and to no call",
  "8 one party's alignment passed on to another",
  "10 guessed ids, by aligning again and again",
  "14 predictions after the end, of a party that does not score",
  "6 connections that say nothing, as many as the party takes",
];

const arena = new Arena(mkdtempSync(join(tmpdir(), "tandem-cheats-")));
afterAll(() => arena.close());

const works = (cheat: Cheat): boolean => stillWork.includes(cheat.name);

async function expectStopped(cheat: Cheat): Promise<void> {
  const what = await cheat.run(arena);
  expect(isStopped(cheat, what), JSON.stringify(what)).toBe(true);
}

const named = (cheats: readonly Cheat[]) => cheats.map((cheat) => [cheat.name, cheat] as const);

test.each(named(allCheats.filter((cheat) => !works(cheat))))("%s", (_name, cheat) => expectStopped(cheat));
test.fails.each(named(allCheats.filter(works)))("%s", (_name, cheat) => expectStopped(cheat));

test("the list has no cheat that is none", () => {
  expect(stillWork.filter((name) => !allCheats.some((cheat) => cheat.name === name))).toEqual([]);
});
