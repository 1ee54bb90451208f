import { expect, test } from "vitest";
import { type EndpointOptions, PredictEndpoint } from "./predict-endpoint.ts";

const unread: EndpointOptions["ownRows"] = { rows: () => Promise.reject(new Error("nothing is looked up")) };

function endpoint(outputs: number[], naming: EndpointOptions["naming"]): PredictEndpoint {
  return new PredictEndpoint({
    model: "m",
    ...(naming === undefined ? {} : { naming }),
    party: "bank",
    features: [],
    categoryNames: [],
    contributionNames: () => [],
    requiredColumn: null,
    normalise: [],
    requestIdsMax: 10,
    unknownAsMissing: false,
    ownRows: unread,
    batcher: { score: async () => ({ predictions: Float64Array.from(outputs), unknown: new Map() }) },
    onRow: () => {},
  });
}

test("an answer has the names of classes, and each entry the likeliest one", async () => {
  const classes = ["no", "perhaps", "yes"];
  const several = endpoint([0.2, 0.3, 0.5, 0.6, 0.4, 0], { cutOff: 0.5, classes });
  expect(await several.answer({ ids: ["a", "b"] })).toEqual({
    model: "m",
    classes,
    predictions: [
      { id: "a", prediction: [0.2, 0.3, 0.5], class: "yes" },
      { id: "b", prediction: [0.6, 0.4, 0], class: "no" },
    ],
  });
  const two = endpoint([0.75], { cutOff: 0.5, classes: ["no", "yes"] });
  expect((await two.answer({ ids: ["a"] })).predictions).toEqual([{ id: "a", prediction: 0.75, class: "yes" }]);
});

test("without names of classes there are numbers only", async () => {
  expect(await endpoint([0.75], undefined).answer({ ids: ["a"] })).toEqual({
    model: "m",
    predictions: [{ id: "a", prediction: 0.75 }],
  });
});

test("an id without a base margin gets its own error, and no party is asked about it", async () => {
  const asked: Float32Array[][] = [];
  const offset = new PredictEndpoint({
    model: "5".repeat(64),
    party: "bank",
    features: ["income", "log_exposure"],
    categoryNames: [null, null],
    contributionNames: () => [],
    requiredColumn: { place: 1, name: "log_exposure", isUsable: (value) => value > -1 },
    normalise: [],
    requestIdsMax: 9,
    unknownAsMissing: true,
    ownRows: { rows: () => Promise.reject(new Error("rows were given")) },
    batcher: {
      score: async ({ ids, columns }) => {
        asked.push([...columns]);
        return { predictions: new Float64Array(ids.length).fill(0.25), unknown: new Map() };
      },
    },
    onRow() {},
  });
  const { predictions } = await offset.answer({
    rows: [
      { id: "a", features: { income: null, log_exposure: -0.5 } },
      { id: "b", features: { income: 3, log_exposure: null } },
      { id: "c", features: { income: 3, log_exposure: -2 } },
    ],
  });
  expect(predictions).toEqual([
    { id: "a", prediction: 0.25 },
    { id: "b", error: { code: "CELL_UNPARSABLE", message: "'log_exposure', the base margin, is missing" } },
    { id: "c", error: { code: "CELL_UNPARSABLE", message: "'log_exposure', the base margin, is missing" } },
  ]);
  expect(asked).toEqual([[Float32Array.of(NaN), Float32Array.of(-0.5)]]);
});
