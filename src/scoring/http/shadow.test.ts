import { expect, test } from "vitest";
import type { SecureRandom } from "../../base/random.ts";
import type { PredictResponse } from "./messages.ts";
import { type JobAnswer, Shadow, type ShadowLine, type ShadowOptions } from "./shadow.ts";

const answerOf = (job: string, ...predictions: PredictResponse["predictions"]): JobAnswer => ({
  job,
  response: { model: "m", predictions },
});
const people = (count: number): PredictResponse["predictions"] =>
  Array.from({ length: count }, (_, i) => ({ id: `p${i}`, prediction: i }));

function made(options: Partial<ShadowOptions> = {}) {
  const [lines, lost, troubles]: [ShadowLine[], string[], unknown[]] = [[], [], []];
  let drawn = 0;
  const shadow = new Shadow({
    share: 1,
    random: {
      fill: <T extends Uint8Array>(target: T): T => {
        new DataView(target.buffer).setUint32(0, (drawn++ % 4) * 2 ** 30);
        return target;
      },
    } as SecureRandom,
    answer: () => Promise.resolve(answerOf("summer", { id: "p0", prediction: 0.5 })),
    write: (line) => lines.push(line),
    onLost: (reason) => lost.push(reason),
    onTrouble: (error) => troubles.push(error),
    now: () => 7,
    ...options,
  });
  return { shadow, lines, lost, troubles };
}

const ticks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
/** Until all that began has ended. */
async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await ticks();
}

test("both scores of a person, and the error of one who has none", async () => {
  const errors = { id: "p1", error: { code: "ID_UNKNOWN", message: "unknown to shop" } } as const;
  const { shadow, lines } = made({
    answer: () => Promise.resolve(answerOf("summer", { id: "p0", prediction: 0.5 }, errors)),
  });
  shadow.take({ ids: ["p0", "p1"] }, answerOf("spring", ...people(2)));
  await settled();
  expect(lines).toEqual([
    { at: 7, id: "p0", model: "spring", prediction: 0, shadow: "summer", shadowPrediction: 0.5 },
    { at: 7, id: "p1", model: "spring", prediction: 1, shadow: "summer", error: "ID_UNKNOWN" },
  ]);
});

test("a shadow that never answers holds back nothing: what does not fit is dropped", async () => {
  const { shadow, lines, lost } = made({ answer: () => new Promise(() => {}) });
  for (let i = 0; i < 12; i++) shadow.take({ ids: [] }, answerOf("spring", ...people(1000)));
  await settled();
  expect([lines.length, lost.length, new Set(lost)]).toEqual([0, 2000, new Set(["dropped"])]);
});

test("a share of the requests is drawn, and only whole scores are compared", async () => {
  const { shadow, lines } = made({ share: 0.5 });
  for (let i = 0; i < 8; i++) shadow.take({ ids: ["p0"] }, answerOf("spring", ...people(1)));
  await settled();
  expect(lines).toHaveLength(4);
  for (const body of [{ output: "margin" }, { iteration_range: [0, 1] }, null, "x"])
    shadow.take(body, answerOf("spring", ...people(1)));
  shadow.take({}, answerOf("spring", { id: "p0", contributions: { age: 1 } }));
  await settled();
  expect(lines).toHaveLength(4);
});

test("a failing shadow is counted by its code; an unwritable file ends it, reported once", async () => {
  const failing = made({ answer: () => Promise.reject(new Error("a bug")) });
  failing.shadow.take({}, answerOf("spring", ...people(1)));
  await settled();
  expect([failing.lost, failing.lines[0].error]).toEqual([["INTERNAL"], "INTERNAL"]);
  const full = made({
    write: () => {
      throw new Error("disk full");
    },
  });
  for (let i = 0; i < 3; i++) full.shadow.take({}, answerOf("spring", ...people(1)));
  await settled();
  expect(full.troubles).toHaveLength(1);
});
