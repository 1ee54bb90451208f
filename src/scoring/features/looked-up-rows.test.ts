import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { noConstraints } from "../../data/feature-constraints.ts";
import type { FeatureLookup, FoundRows, LookupRequest } from "../../data/lookup/lookup.ts";
import type { DataConfig } from "../../party/config/data-config.ts";
import { unknownRow } from "../../protocol/passive/split-outcomes.ts";
import { LookedUpRows } from "./looked-up-rows.ts";

const data: DataConfig = {
  id: "id",
  features: "all",
  missing: ["-1"],
  categorical: [],
  ...noConstraints,
  normalise: ["lowercase"],
  duplicates: "refuse",
};
const wanted = { features: ["a", "b"], categorical: ["b"] };

/** Notes what it is asked. */
class Table implements FeatureLookup {
  readonly field = "scoring.features.http";
  readonly asked: LookupRequest[] = [];
  readonly #answer: (request: LookupRequest) => Promise<FoundRows>;

  constructor(answer: (request: LookupRequest) => Promise<FoundRows>) {
    this.#answer = answer;
  }

  find(request: LookupRequest): Promise<FoundRows> {
    this.asked.push(request);
    return this.#answer(request);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get askedIds(): readonly (readonly string[])[] {
    return this.asked.map(({ ids }) => ids);
  }
}

const table = (...rows: (string | null)[][]): Table =>
  new Table(() => Promise.resolve({ names: ["b", "other", "id", "a"], rows }));
const bounds = { timeoutMs: 1000, cache: { seconds: 10, people: 3 } };
const plain = { ...bounds, cache: { seconds: 0, people: 1 } };

test("cells are read as a table's: numbers, missing values, categories, normalised ids, in any order", async () => {
  const lookup = table(["k", "x", "P2", "-1"], [null, "x", "P1", "0.1"], ["1", "x", "other", "text"]);
  const rows = await new LookedUpRows(data, lookup, plain).rows(wanted, ["p1", "P2", "p3", "p1", ""], "bank");
  expect(lookup.asked).toEqual([{ ids: ["p1", "p2", "p3"], id: "id", features: ["a", "b"] }]);
  const [a, b] = [rows.column("a"), rows.column("b")];
  expect([a[rows.rowOf("p1")], b[rows.rowOf("p1")], a[rows.rowOf("p2")]]).toEqual([Math.fround(0.1), NaN, NaN]);
  expect(rows.names("b")?.[b[rows.rowOf("p2")]]).toBe("k");
  for (const id of ["p3", "other", ""]) expect(rows.rowOf(id)).toBe(unknownRow);
});

test("no ids, or none that is held: there are no rows, and the source was asked", async () => {
  const lookup = table();
  const rows = new LookedUpRows(data, lookup, bounds);
  expect((await rows.rows(wanted, [], "bank")).column("a")).toHaveLength(0);
  expect((await rows.rows(wanted, ["x"], "bank")).rowOf("x")).toBe(unknownRow);
  expect(lookup.askedIds).toEqual([[], ["x"]]);
});

test("two rows of a person, text among numbers, a column that is not there", async () => {
  const read = (...rows: (string | null)[][]) =>
    new LookedUpRows(data, table(...rows), plain).rows(wanted, ["p1"], "bank");
  await expectError(() => read(["k", "", "p1", "1"], ["k", "", "P1", "1"]), "ID_DUPLICATE", /same id/);
  await expectError(() => read(["k", "", "p1", "tall"]), "CELL_UNPARSABLE", /answer of scoring\.features\.http, row 1/);
  await expectError(
    () => new LookedUpRows(data, table(), plain).rows({ features: ["c"], categorical: [] }, ["p1"], "bank"),
    "COLUMN_UNKNOWN",
    /the answer of scoring\.features\.http/,
  );
});

test("the cache has people with and without a row, for a time, and of each asker alone", async () => {
  let now = 0;
  const lookup = table(["k", "", "p1", "1"], ["k", "", "p2", "2"]);
  const rows = new LookedUpRows(data, lookup, bounds, () => now);
  const ask = (ids: readonly string[], asker = "bank") => rows.rows(wanted, ids, asker);
  for (let again = 0; again < 2; again++) {
    const found = await ask(["p1", "none"]);
    expect([found.column("a")[found.rowOf("p1")], found.rowOf("none")]).toEqual([1, unknownRow]);
  }
  expect(lookup.askedIds).toEqual([["p1", "none"]]);
  await ask(["p1", "none"], "another bank");
  expect(lookup.askedIds.slice(1)).toEqual([["p1", "none"]]);
  // Three people at most: the bank's oldest made room.
  await ask(["none", "p1", "p2"]);
  expect(lookup.askedIds.slice(2)).toEqual([["p1", "p2"]]);
  now = 10_000;
  await ask(["p2"]);
  expect(lookup.askedIds.at(-1)).toEqual(["p2"]);
  expect(lookup.askedIds).toHaveLength(4);
});

test("a lookup without an answer is given up and aborted", async () => {
  let stopped = false;
  const silent: FeatureLookup = {
    field: "scoring.features.postgres",
    find: (_request, signal) =>
      new Promise(() => signal.addEventListener("abort", () => (stopped = true), { once: true })),
    close: () => Promise.resolve(),
  };
  await expectError(
    () => new LookedUpRows(data, silent, { ...plain, timeoutMs: 10 }).rows(wanted, ["p1"], "bank"),
    "FILE_UNREADABLE",
    /^scoring\.features\.postgres: there was no answer within 10 ms$/,
  );
  expect(stopped).toBe(true);
});
