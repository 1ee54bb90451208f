import { beforeAll, describe, expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { expectError } from "../../test/support/expect-error.ts";
import { trainFederated, trainInOnePlace } from "../../test/support/in-memory-job.ts";
import { rowsOf, sharesOf, TablePeer } from "../../test/support/scored-model.ts";
import { randomTable } from "../../test/support/tables.ts";
import { generateKey, type PrivateKey, selectKernel } from "../crypto/paillier/index.ts";
import { predictContributions } from "../gbdt/explain/contributions.ts";
import type { Model } from "../gbdt/tree/model.ts";
import { lattice } from "../scheme/lattice/lattice.ts";
import { PassiveTagsSchema } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { protocolVersion } from "../wire/version.ts";
import { Scorer } from "./scorer.ts";
import { ownContributions } from "./received-contributions.ts";
import type { OutputKind } from "./wanted.ts";
import { type TestTable } from "../../test/world/simulated.ts";

const all = { begin: 0, end: 0 };
const table = randomTable("explained", { rows: 120, features: [2, 3, 2], missingFraction: 0.1 });
let key: PrivateKey;
let model: Model;

beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
  model = await trainInOnePlace({ table, training: { num_round: 6, max_depth: 5 }, key });
});

function scored(given = model, of: TestTable = table) {
  const { activeShare, passiveShares } = sharesOf(given, 2);
  const peers = passiveShares.map((share, i) => new TablePeer(share, of, i + 1));
  const scorer = new Scorer(activeShare, peers);
  const score = async (kind: OutputKind, sends = false, iterations = all): Promise<Float64Array> => {
    const options = {
      unknownAsMissing: false,
      timeoutMs: 10_000,
      wanted: { kind, iterations },
      sendsContributions: sends,
    };
    return (await scorer.score(rowsOf(scorer, of), options)).predictions;
  };
  return { scorer, peers, score };
}

const sums = (values: Float64Array, width: number): number[] =>
  Array.from({ length: values.length / width }, (_, i) =>
    values.subarray(i * width, (i + 1) * width).reduce((sum, value) => sum + value, 0),
  );

test.each(["paillier", "lattice"])(
  "a model that parties trained (%s) is explained as where all columns are in one place",
  async (scheme) => {
    const job = { table, training: { num_round: 2, max_depth: 3 }, kernel: selectKernel(), key };
    const trained = await trainFederated(scheme === "lattice" ? { ...job, scheme: lattice } : job);
    const peers = trained.passiveShares.map((share, i) => new TablePeer(share, table, i + 1));
    const scorer = new Scorer(trained.activeShare, peers);
    const wanted = { kind: "contributions", iterations: all } as const;
    const { predictions } = await scorer.score(rowsOf(scorer, table), {
      unknownAsMissing: false,
      timeoutMs: 10_000,
      wanted,
    });
    const expected = await predictContributions(trained.model, table.parties, table.labels.length);
    const width = scorer.outputs({ kind: "contributions", iterations: all }).perRow;
    scorer.features.forEach((name, column) => {
      for (let row = 0; row < table.labels.length; row++)
        expect(predictions[row * width + column]).toBe(expected[row * 8 + Number(name.replace("p0f", ""))]);
    });
    for (let row = 0; row < table.labels.length; row++)
      [expected.subarray(row * 8 + 2, row * 8 + 5), expected.subarray(row * 8 + 5, row * 8 + 7)].forEach((own, i) => {
        const total = own.reduce((sum, value) => sum + value, 0);
        expect(predictions[row * width + scorer.features.length + i]).toBeCloseTo(total, 13);
      });
  },
);

test("own features by name, a total per passive party and the bias, which sum up to the margin", async () => {
  const { scorer, score } = scored();
  const { names } = scorer.outputs({ kind: "contributions", iterations: all });
  expect(names).toEqual([...scorer.features, "party:passive-1", "party:passive-2", "bias"]);
  const margins = await score("margin");
  for (const kind of ["contributions", "party_contributions"] as const)
    sums(await score(kind), names.length).forEach((sum, row) => expect(sum).toBeCloseTo(margins[row], 12));
});

test("with base margins the bias differs by instance, and base margins are no feature", async () => {
  const { scorer: plain, peers } = scored();
  const { activeShare } = sharesOf(model, 2);
  const scorer = new Scorer({ ...activeShare, takesBaseMargin: true, baseMarginColumn: "offset" }, peers);
  const rows = rowsOf(plain, table);
  const offsets = Float32Array.from(rows.ids, (_, row) => row / 8);
  const score = async (kind: OutputKind): Promise<Float64Array> => {
    const options = { unknownAsMissing: false, timeoutMs: 10_000, wanted: { kind, iterations: all } };
    return (await scorer.score({ ...rows, columns: [...rows.columns, offsets] }, options)).predictions;
  };
  const { names } = scorer.outputs({ kind: "contributions", iterations: all });
  expect(names).toEqual(plain.outputs({ kind: "contributions", iterations: all }).names);
  const [values, margins] = [await score("contributions"), await score("margin")];
  sums(values, names.length).forEach((sum, row) => expect(sum).toBeCloseTo(margins[row], 12));
  const biasOf = (row: number): number => values[(row + 1) * names.length - 1];
  expect(biasOf(8) - biasOf(0)).toBeCloseTo(1, 12);
});

test("a party as one feature needs no tags, and gives other values where its features interact", async () => {
  const { peers, score } = scored();
  for (const peer of peers)
    peer.tags = () => {
      throw new Error("no tags are asked for");
    };
  const values = await score("party_contributions");
  const exact = await scored().score("contributions");
  const largest = Math.max(...values.map((value, i) => Math.abs(value - exact[i])));
  expect(largest).toBeGreaterThan(1e-4);
  expect(largest).toBeLessThan(0.5);
});

test("tags are asked for once, with the first explanation", async () => {
  const { peers, score } = scored();
  let asked = 0;
  const [peer] = peers;
  const { tags } = peer;
  peer.tags = () => (asked++, tags.call(peer));
  await score("prediction");
  expect(asked).toBe(0);
  await score("contributions");
  await score("contributions");
  expect(asked).toBe(1);
});

describe("a party that cheats with tags", () => {
  test("changes values between parties, and never their sum", async () => {
    const { scorer, peers, score } = scored();
    const honest = await scored().score("contributions");
    peers[0].tags = async () =>
      create(PassiveTagsSchema, { protocolVersion, tags: peers[0].share.splits.map(() => 0) });
    const values = await score("contributions");
    expect(Array.from(values)).not.toEqual(Array.from(honest));
    const width = scorer.outputs({ kind: "contributions", iterations: all }).perRow;
    sums(values, width).forEach((sum, i) => expect(sum).toBeCloseTo(sums(honest, width)[i], 12));
  });

  test("is refused for tags of other splits, in another encoding, or of another version", async () => {
    const { peers, score } = scored();
    const count = peers[0].share.splits.length;
    for (const tags of [
      [],
      Array.from({ length: count + 1 }, () => 0),
      Array.from({ length: count }, (_, i) => i + 1),
    ]) {
      peers[0].tags = async () => create(PassiveTagsSchema, { protocolVersion, tags });
      await expectError(() => score("contributions"), "PROTOCOL_STATE", /party passive-1 sent tags/);
    }
    peers[0].tags = async () => create(PassiveTagsSchema, { protocolVersion: 1 });
    await expectError(() => score("contributions"), "HANDSHAKE_MISMATCH", /version 1/);
  });
});

describe("contributions sent to a party", () => {
  test.each([
    ["one output", {}],
    ["interleaved trees", { objective: "multi:softprob", num_class: 3 }],
    [
      "leaves with a weight per class",
      { objective: "multi:softprob", num_class: 3, multi_strategy: "multi_output_tree" },
    ],
  ] as const)("is what XGBoost would give each of them: %s", async (_, training) => {
    const classes = { ...table, labels: table.labels.map((label, row) => ("num_class" in training ? row % 3 : label)) };
    const given = await trainInOnePlace({ table: classes, training: { num_round: 3, max_depth: 4, ...training }, key });
    const { peers, score } = scored(given, classes);
    peers[0].takes = true;
    await score("contributions", true);
    expect(peers[1].received).toEqual([]);
    const [{ ids, values, outputCount, treesPerRound }] = peers[0].received;
    expect(ids).toHaveLength(120);
    const received = ownContributions(peers[0].share.splits, { outputCount, treesPerRound }, values, ids.length);
    const expected = await predictContributions(given, classes.parties, classes.labels.length);
    const width = 8;
    received.names.forEach((name, i) => {
      const [, feature, output = "0"] = /^p1f(\d)(?:_(\d))?$/.exec(name) ?? [];
      for (let row = 0; row < 120; row++)
        expect(received.values[row * received.names.length + i]).toBeCloseTo(
          expected[(row * outputCount + Number(output)) * width + 2 + Number(feature)],
          12,
        );
    });
  });

  test("none where only some rounds are explained, or the active party does not send them", async () => {
    const { peers, score } = scored();
    for (const peer of peers) peer.takes = true;
    await score("contributions");
    await score("contributions", true, { begin: 0, end: 2 });
    await score("party_contributions", true);
    await score("prediction", true);
    expect(peers.flatMap(({ received }) => received)).toEqual([]);
  });
});

describe("own contributions, from the score alone", () => {
  test("without interactions between parties they are the plain contributions, and others their totals", async () => {
    const stumps = await trainInOnePlace({ table, training: { num_round: 12, max_depth: 1 }, key });
    const { scorer, peers, score } = scored(stumps);
    expect(scorer.partyNames).toHaveLength(2);
    const exact = await score("contributions");
    for (const peer of peers)
      peer.tags = () => {
        throw new Error("no tags are asked for");
      };
    const own = await score("own_contributions");
    const { names } = scorer.outputs({ kind: "own_contributions", iterations: all });
    expect(names).toEqual([...scorer.features, "others", "bias"]);
    const [wide, width] = [names.length + 1, names.length];
    const count = scorer.features.length;
    for (let row = 0; row < table.labels.length; row++) {
      const [of, whole] = [own.subarray(row * width, (row + 1) * width), exact.subarray(row * wide, (row + 1) * wide)];
      for (let i = 0; i < count; i++) expect(of[i]).toBeCloseTo(whole[i], 12);
      expect(of[count]).toBeCloseTo(whole[count] + whole[count + 1], 12);
      expect(of[count + 1]).toBeCloseTo(whole[count + 2], 12);
    }
  });

  test("otherwise own features come before the others: the sum is the margin, and the bias is the same", async () => {
    const { score } = scored();
    const [own, exact, margins] = [
      await score("own_contributions"),
      await score("contributions"),
      await score("margin"),
    ];
    const [width, wide] = [own.length / margins.length, exact.length / margins.length];
    sums(own, width).forEach((sum, row) => expect(sum).toBeCloseTo(margins[row], 12));
    expect(own[width - 1]).toBeCloseTo(exact[wide - 1], 12);
    const differs = margins.some((_, row) => Math.abs(own[row * width] - exact[row * wide]) > 1e-3);
    expect(differs).toBe(true);
    const part = { begin: 0, end: 2 };
    const [few, fewMargins] = [await score("own_contributions", false, part), await score("margin", false, part)];
    sums(few, width).forEach((sum, row) => expect(sum).toBeCloseTo(fewMargins[row], 12));
  });
});
