import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { TandemError } from "../../base/error.ts";
import type { Scores, ScoringOptions, ScoringRows } from "../scoring-question.ts";
import { type BatchOptions, MicroBatcher } from "./micro-batcher.ts";

/**
 * Scores are the own feature's value; ids that begin with ? are unknown to "shop". Each test ends its batches.
 */
class HandScorer {
  readonly batches: (Pick<ScoringOptions, "timeoutMs" | "wanted"> & {
    readonly rows: ScoringRows;
    finish(error?: Error): void;
  })[] = [];

  score(rows: ScoringRows, { timeoutMs, wanted }: ScoringOptions): Promise<Scores> {
    return new Promise((resolve, reject) => {
      const unknown = new Map(rows.ids.flatMap((id, row) => (id.startsWith("?") ? [[row, ["shop"]] as const] : [])));
      const finish = (error?: Error): void =>
        error === undefined ? resolve({ predictions: Float64Array.from(rows.columns[0]), unknown }) : reject(error);
      this.batches.push({ rows, timeoutMs, finish, ...(wanted === undefined ? {} : { wanted }) });
    });
  }
}

function make(options: Partial<BatchOptions> = {}): {
  scorer: HandScorer;
  batcher: MicroBatcher;
  batches: [number, number][];
} {
  const scorer = new HandScorer();
  const batches: [number, number][] = [];
  const onBatch = (requests: number, ids: number): void => void batches.push([requests, ids]);
  return {
    scorer,
    batches,
    batcher: new MicroBatcher(scorer, {
      windowMs: 1,
      batchIdsMax: 100,
      queueIdsMax: 1000,
      batchesMax: 1,
      timeoutMs: 30_000,
      unknownAsMissing: false,
      onBatch,
      ...options,
    }),
  };
}

const rows = (...ids: string[]): ScoringRows => ({
  ids,
  columns: [Float32Array.from(ids, (id) => id.charCodeAt(id.length - 1))],
});
const codes = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("batches", () => {
  test("requests for other outputs form other batches, and requests for the same ones keep their order", async () => {
    const { scorer, batcher, batches } = make({ batchIdsMax: 3 });
    const margin = { kind: "margin", iterations: { begin: 0, end: 2 } } as const;
    const answers = [
      batcher.score(rows("a", "b")),
      batcher.score(rows("c"), margin),
      batcher.score(rows("d", "e")),
      batcher.score(rows("f")),
      batcher.score(rows("g"), { ...margin, iterations: { begin: 0, end: 3 } }),
      batcher.score(rows("h"), margin),
    ];
    for (let i = 0; i < 4; i++) {
      await until(() => scorer.batches.length > i);
      scorer.batches[i].finish();
    }
    expect(scorer.batches.map((batch) => batch.rows.ids.join(""))).toEqual(["ab", "ch", "def", "g"]);
    expect(scorer.batches.map(({ wanted }) => wanted?.kind)).toEqual(["prediction", "margin", "prediction", "margin"]);
    const scores = await Promise.all(answers);
    expect(scores.map(({ predictions }) => Array.from(predictions))).toEqual(
      ["ab", "c", "de", "f", "g", "h"].map(codes),
    );
    expect(batches.map(([, ids]) => ids)).toEqual([2, 2, 3, 1]);
    expect(batcher.queuedIds).toBe(0);
  });

  test("requests of one window share a batch, and each gets its own rows", async () => {
    const { scorer, batcher, batches } = make();
    const answers = [batcher.score(rows("a", "?b")), batcher.score(rows("c")), batcher.score(rows("d", "e", "?f"))];
    expect(batcher.queuedIds).toBe(6);
    await until(() => scorer.batches.length > 0);
    expect(batches).toEqual([[3, 6]]);
    expect(scorer.batches[0].rows.ids).toEqual(["a", "?b", "c", "d", "e", "?f"]);
    expect(batcher.queuedIds).toBe(0);
    scorer.batches[0].finish();
    const [first, second, third] = await Promise.all(answers);
    expect([first, second, third].map(({ predictions }) => Array.from(predictions))).toEqual([
      codes("ab"),
      codes("c"),
      codes("def"),
    ]);
    expect([first, second, third].map(({ unknown }) => [...unknown])).toEqual([[[1, ["shop"]]], [], [[2, ["shop"]]]]);
  });

  test("a full batch does not wait for its window; the rest does", async () => {
    const { scorer, batcher, batches } = make({ windowMs: 1000, batchIdsMax: 3, batchesMax: 2 });
    const answers = ["a", "b", "c", "d"].map((id) => batcher.score(rows(id)));
    expect(batches).toEqual([[3, 3]]);
    scorer.batches[0].finish();
    await Promise.all(answers.slice(0, 3));
    expect(batcher.queuedIds).toBe(1);
    await until(() => scorer.batches.length === 2);
    scorer.batches[1].finish();
    expect(Array.from((await answers[3]).predictions)).toEqual(codes("d"));
  });

  test("a request with more ids than a batch is a batch of its own", async () => {
    const { scorer, batcher, batches } = make({ batchIdsMax: 2, batchesMax: 9 });
    const answers = [batcher.score(rows("a")), batcher.score(rows("b", "c", "d")), batcher.score(rows("e"))];
    await until(() => scorer.batches.length === 3);
    expect(batches).toEqual([
      [1, 1],
      [1, 3],
      [1, 1],
    ]);
    scorer.batches.forEach((batch) => batch.finish());
    expect((await Promise.all(answers)).map(({ predictions }) => predictions.length)).toEqual([1, 3, 1]);
  });

  test("while the maximum of batches is under way requests queue up, and then share one", async () => {
    const { scorer, batcher, batches } = make();
    const first = batcher.score(rows("a"));
    await until(() => scorer.batches.length === 1);
    const others = ["b", "c", "d"].map((id) => batcher.score(rows(id)));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(scorer.batches).toHaveLength(1);
    scorer.batches[0].finish();
    await first;
    await until(() => scorer.batches.length === 2);
    expect(batches).toEqual([
      [1, 1],
      [3, 3],
    ]);
    scorer.batches[1].finish();
    await Promise.all(others);
  });
});

describe("limits", () => {
  test("a request that does not fit the queue is refused at once, and later there is room again", async () => {
    const { scorer, batcher } = make({ queueIdsMax: 3 });
    const first = batcher.score(rows("a"));
    await until(() => scorer.batches.length === 1);
    const second = batcher.score(rows("b", "c"));
    await expectError(() => batcher.score(rows("d", "e")), "OVERLOADED", /2 ids are waiting/);
    const third = batcher.score(rows("d"));
    scorer.batches[0].finish();
    await first;
    await until(() => scorer.batches.length === 2);
    const fourth = batcher.score(rows("e", "f"));
    scorer.batches[1].finish();
    await Promise.all([second, third]);
    await until(() => scorer.batches.length === 3);
    scorer.batches[2].finish();
    await fourth;
  });

  test("a request that waits too long times out, and is in no batch", async () => {
    const { scorer, batcher } = make({ timeoutMs: 500 });
    const first = batcher.score(rows("a"));
    first.catch(() => {});
    await until(() => scorer.batches.length === 1);
    expect(scorer.batches[0].timeoutMs).toBeLessThanOrEqual(500);
    await expectError(() => batcher.score(rows("b")), "TIMEOUT", /within 500 ms/);
    await expectError(() => first, "TIMEOUT");
    scorer.batches[0].finish();
    const last = batcher.score(rows("c"));
    await until(() => scorer.batches.length === 2);
    expect(scorer.batches[1].rows.ids).toEqual(["c"]);
    scorer.batches[1].finish();
    await last;
  });

  test("a batch that fails fails its own requests only", async () => {
    const { scorer, batcher } = make();
    const failing = [batcher.score(rows("a")), batcher.score(rows("b"))];
    await until(() => scorer.batches.length === 1);
    scorer.batches[0].finish(new TandemError("PARTY_LOST", "party shop is gone"));
    for (const answer of failing) await expectError(() => answer, "PARTY_LOST");
    const next = batcher.score(rows("c"));
    await until(() => scorer.batches.length === 2);
    scorer.batches[1].finish();
    expect(Array.from((await next).predictions)).toEqual(codes("c"));
  });
});
