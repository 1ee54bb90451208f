import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { TandemError } from "../base/error.ts";
import { bitmapFrom } from "../wire/bitmap.ts";
import { PassiveOutcomesSchema } from "../wire/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer, ScoringRequest } from "../wire/scoring-peer.ts";
import { protocolVersion } from "../wire/version.ts";
import type { ActiveShare } from "../store/share-files.ts";
import { Scorer } from "./scorer.ts";
import type { OutputKind } from "./wanted.ts";

const leaf = (weight: number) => ({ kind: "leaf", weight, cover: 1, count: 1 }) as const;
/** One split, of shop1; shop2 has none. */
const share: ActiveShare = {
  name: "bank",
  job: "spring",
  model: "5".repeat(64),
  objective: "reg:squarederror",
  baseMargin: 0,
  passiveNames: ["shop1", "shop2"],
  trees: [[{ kind: "split", left: 1, right: 2, gain: 1, cover: 2, count: 2, rule: { owner: 1 } }, leaf(1), leaf(2)]],
};

/** Knows ids that do not begin with ?, and sends those that begin with L to the left. */
class Shop implements ScoringPeer {
  readonly name: string;
  readonly asked: ScoringRequest[] = [];
  readonly #idsMax: number;
  readonly #failures: TandemError[];

  constructor(name: string, idsMax = 100, failures: TandemError[] = []) {
    this.name = name;
    this.#idsMax = idsMax;
    this.#failures = failures;
  }

  maskOpen(): never {
    throw new Error("the model is not masked");
  }

  maskStep(): never {
    throw new Error("the model is not masked");
  }

  tags(): never {
    throw new Error("nothing is explained");
  }

  contributions(): never {
    throw new Error("no contributions are sent");
  }

  async score(request: ScoringRequest) {
    this.asked.push(request);
    const failure = this.#failures.shift();
    if (failure !== undefined) throw failure;
    const { ids, unknownAsMissing } = request;
    const known = bitmapFrom(ids.length, (i) => !ids[i].startsWith("?"));
    const left = bitmapFrom(ids.length, (i) => ids[i].startsWith("L") || (unknownAsMissing && ids[i].startsWith("?")));
    return create(PassiveOutcomesSchema, { protocolVersion, known, splitCount: 1, left, idsMax: this.#idsMax });
  }
}

const strict = { unknownAsMissing: false, timeoutMs: 10_000 };
const lost = (): TandemError => new TandemError("PARTY_LOST", "party shop1 is gone");

test("a score for every known id; unknown ones are listed and have NaN", async () => {
  const scorer = new Scorer(share, [new Shop("shop1"), new Shop("shop2")]);
  const { predictions, unknown } = await scorer.score({ ids: ["La", "?b", "c"], columns: [] }, strict);
  expect(Array.from(predictions)).toEqual([1, Number.NaN, 2]);
  expect([...unknown]).toEqual([[1, ["shop1"]]]);
  const lenient = await scorer.score({ ids: ["La", "?b", "c"], columns: [] }, { ...strict, unknownAsMissing: true });
  expect(Array.from(lenient.predictions)).toEqual([1, 1, 2]);
  expect([...lenient.unknown.keys()]).toEqual([1]);
});

test("a party without splits is not asked", async () => {
  const [first, second] = [new Shop("shop1"), new Shop("shop2")];
  const scorer = new Scorer(share, [first, second]);
  await scorer.score({ ids: ["a"], columns: [] }, strict);
  expect(await scorer.ready(1000)).toEqual([{ party: "shop1", trouble: null }]);
  expect(scorer.partyNames).toEqual(["shop1"]);
  expect(second.asked).toEqual([]);
});

test("batches respect a party's limit, which is asked for once", async () => {
  const shop = new Shop("shop1", 4);
  const scorer = new Scorer(share, [shop, new Shop("shop2")]);
  const ids = Array.from({ length: 10 }, (_, i) => (i % 3 === 0 ? `L${i}` : `${i}`));
  const { predictions } = await scorer.score({ ids, columns: [] }, strict);
  expect(Array.from(predictions)).toEqual(ids.map((id) => (id.startsWith("L") ? 1 : 2)));
  expect(shop.asked.map((request) => request.ids.length)).toEqual([0, 4, 4, 2]);
  await scorer.score({ ids, columns: [] }, strict);
  expect(shop.asked.slice(4).map((request) => request.ids.length)).toEqual([4, 4, 2]);
});

test("lost questions are retried until the time-out, refused ones are not", async () => {
  const answers: string[] = [];
  const onQuestion = ({ error }: { error: TandemError | null }): void => void answers.push(error?.code ?? "answered");
  const patient = new Scorer(share, [new Shop("shop1", 9, [lost(), lost()]), new Shop("shop2")], { onQuestion });
  expect(Array.from((await patient.score({ ids: ["La"], columns: [] }, strict)).predictions)).toEqual([1]);
  expect(answers).toEqual(["PARTY_LOST", "PARTY_LOST", "answered", "answered"]);
  const refused = new Shop("shop1", 9, [new TandemError("POLICY", "no")]);
  await expectError(
    () => new Scorer(share, [refused, new Shop("shop2")]).score({ ids: ["a"], columns: [] }, strict),
    "POLICY",
  );
  expect(refused.asked).toHaveLength(1);
  const gone = new Shop("shop1", 9, Array.from({ length: 100 }, lost));
  await expectError(
    () => new Scorer(share, [gone, new Shop("shop2")]).score({ ids: ["a"], columns: [] }, { ...strict, timeoutMs: 1 }),
    "PARTY_LOST",
  );
  expect(gone.asked).toHaveLength(1);
});

test("margins, leaves and some of the rounds", async () => {
  const logistic: ActiveShare = { ...share, objective: "binary:logistic" };
  const scorer = new Scorer(logistic, [new Shop("shop1"), new Shop("shop2")]);
  const rows = { ids: ["La", "?b", "c"], columns: [] };
  const of = async (kind: OutputKind, begin = 0, end = 0): Promise<number[]> => {
    const { predictions } = await scorer.score(rows, { ...strict, wanted: { kind, iterations: { begin, end } } });
    return Array.from(predictions);
  };
  expect(await of("margin")).toEqual([1, Number.NaN, 2]);
  expect(await of("margin", 1, 1)).toEqual([0, Number.NaN, 0]);
  expect(await of("leaf")).toEqual([1, Number.NaN, 2]);
  expect(await of("prediction", 0, 1)).toEqual([1 / (1 + Math.exp(-1)), Number.NaN, 1 / (1 + Math.exp(-2))]);
  await expectError(() => of("margin", 0, 2), "USAGE", /the model has 1/);
});

test("masked scoring: outputs that would reveal an outcome are refused before any party is asked", async () => {
  const shop = new Shop("shop1");
  const scorer = new Scorer({ ...share, maskedScoring: true }, [shop, new Shop("shop2")]);
  const rows = { ids: ["a"], columns: [] };
  const wanted = [
    { kind: "leaf", iterations: { begin: 0, end: 0 } },
    { kind: "margin", iterations: { begin: 0, end: 1 } },
    { kind: "contributions", iterations: { begin: 0, end: 0 } },
    { kind: "party_contributions", iterations: { begin: 0, end: 0 } },
  ] as const;
  for (const one of wanted)
    await expectError(() => scorer.score(rows, { ...strict, wanted: one }), "USAGE", /masked_scoring/);
  expect(scorer.outputs({ kind: "margin", iterations: { begin: 0, end: 0 } }).names).toEqual(["margin"]);
  expect(shop.asked).toEqual([]);
});
