/**
 * `tandem vet` between real parties over TLS: what it finds equals the same in one place, bit for bit, with every
 * scheme; what it reveals is what the policy allows, is counted, and ends at the budget.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { codecWith, resolveParameters } from "../src/base/parameters/parameters.ts";
import { stabilityIndex } from "../src/base/statistics/stability-index.ts";
import { binFeature, type BinnedFeature } from "../src/gbdt/split/binning.ts";
import { binCategories } from "../src/gbdt/split/category-binning.ts";
import { minimumsOfJob } from "../src/gbdt/split/job-minimums.ts";
import { type ColumnBin, oneHotBelow } from "../src/gbdt/vet/column-bins.ts";
import { columnFigures } from "../src/gbdt/vet/column-figures.ts";
import { exactCounts, vetColumns, VettedSums, vettingGradients } from "../src/gbdt/vet/vet-sums.ts";
import { runVetting, vettingConfig, vettingTraining } from "../src/party/active/vetting.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { quantiserOfJob } from "../src/party/job-grid.ts";
import { noiseSecretFrom } from "../src/party/noise-secret.ts";
import { resolveJob } from "../src/party/resolve-job.ts";
import { privacyParameters } from "../src/privacy/defences/defences.ts";
import { revealedFacts } from "../src/record/revealed.ts";
import { readRecord } from "../src/record/stored-record.ts";
import type { VettedColumn, Vetting } from "../src/record/vetting/vetting.ts";
import { streamOf } from "../src/wire/every-call.ts";
import { ActiveNodeSchema } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople, type Person, shuffled } from "./world/people.ts";
import type { ActiveChanges, PassiveChanges, ProcessWorld } from "./world/processes.ts";

const worlds = testWorlds();
const everyone = makePeople(700, "vetting");
const inBank = everyone.slice(0, 400);
const inShop = everyone.slice(50);
const common = everyone.slice(50, 400);
const bins = 5;
const towns = ["Ulm", "Bonn", "Jena", ""];
const townOf = ({ id }: Person): string => towns[Number(id.slice(2, -1)) % towns.length];

const shopTable = (people: readonly Person[]) => ({
  header: ["id", "spend", "visits", "town", "constant"],
  rows: people.map((person) => [person.id, person.values[2], person.values[3], townOf(person), "1"]),
});

async function founded(passive: PassiveChanges = {}): Promise<ProcessWorld> {
  const world = await worlds.found({
    bank: { people: shuffled(inBank, "bank"), columns: [0, 1] },
    shop: shopTable(shuffled(inShop, "shop")),
  });
  await world.startAll({
    ...passive,
    policy: { vetting: "named", schemes: ["paillier", "curve", "lattice"], ...passive.policy },
  });
  return world;
}

async function vetted(world: ProcessWorld, name: string, changes: ActiveChanges = {}): Promise<Vetting> {
  const config = await world.activeConfig(name, { data: { test_fraction: undefined }, ...changes });
  return (await runVetting(vettingConfig(config, name, bins), () => {})).vetting;
}

const keyOf = (scheme: string): ActiveChanges => (scheme === "paillier" ? {} : { insecure_key_bits: undefined });
const numbers = (people: readonly Person[], column: number): Float32Array =>
  Float32Array.from(people, ({ values }) => (values[column] === "" ? Number.NaN : Number(values[column])));
const codes = (people: readonly Person[]): Float32Array =>
  Float32Array.from(people, (person) => (townOf(person) === "" ? Number.NaN : towns.indexOf(townOf(person))));

const inOnePlace: Readonly<Record<string, BinnedFeature>> = {
  bank_0: binFeature("bank_0", numbers(common, 0), bins),
  bank_1: binFeature("bank_1", numbers(common, 1), bins),
  spend: binFeature("spend", numbers(common, 2), bins),
  visits: binFeature("visits", numbers(common, 3), bins),
  town: binCategories("town", codes(common), towns, oneHotBelow),
  constant: binFeature("constant", new Float32Array(common.length).fill(1), bins),
};
const labels = Float64Array.from(common, ({ label }) => Number(label === "defaulter"));
const counts = exactCounts(labels);
const { total } = new VettedSums(counts);

/** Without what bins are called. */
const figuresOf = ({ iv, auc, ks, missingShare, ...column }: VettedColumn) => ({
  iv,
  auc,
  ks,
  missingShare,
  bins: column.bins.map(({ label: _label, from: _from, below: _below, ...bin }) => bin),
});

function expected(bins: readonly ColumnBin[]) {
  const { iv, auc, ks, missingShare, bins: found } = columnFigures(bins, total);
  return { iv, auc, ks, missingShare, bins: found.map(({ parts: _parts, ...bin }) => bin) };
}

test("every scheme: all columns of both parties are worth what they are worth in one place, bit for bit", async () => {
  const world = await founded();
  for (const scheme of ["paillier", "curve", "lattice"]) {
    const found = await vetted(world, `vet-${scheme}`, { scheme, ...keyOf(scheme) });
    expect([found.people, found.events, found.others]).toEqual([common.length, total.events, ["shop"]]);
    expect(new Set(found.columns.map(({ name }) => name))).toEqual(new Set(Object.keys(inOnePlace)));
    for (const column of found.columns) {
      const [bins] = vetColumns([inOnePlace[column.name ?? ""]], counts);
      expect(figuresOf(column), `${scheme}: ${column.name}`).toEqual(expected(bins));
    }
    expect(found.columns.at(-1)).toMatchObject({ name: "constant", iv: 0, auc: 0.5, ks: 0 });
  }
  // Nothing that could be scored with, at either party, and nothing unfinished.
  for (const company of [world.bank, world.shop])
    expect(existsSync(world.path(company, "vet-curve", "share.json"))).toBe(false);
  await expectError(() => vetted(world, "vet-curve"), "HANDSHAKE_MISMATCH", /shop has finished a job named vet-curve/);
});

test("minimums join bins, as in one place", async () => {
  const world = await founded({ policy: { min_instances_per_candidate: 90 } });
  const privacy = { min_people_share: 0.1 };
  const found = await vetted(world, "vet", { privacy });
  const minimums = minimumsOfJob({ perNode: 1, perCandidate: 90 }, { answer_noise: 0, ...privacy }, common.length);
  for (const column of found.columns) {
    const rules = column.party === "shop" ? { minimums } : {};
    const [bins] = vetColumns([inOnePlace[column.name ?? ""]], counts, rules);
    expect(figuresOf(column), String(column.name)).toEqual(expected(bins));
  }
  const [spend, town] = ["spend", "town"].map((wanted) => found.columns.find(({ name }) => name === wanted));
  expect(spend?.bins.length).toBeLessThan(bins + 1);
  expect(Math.min(...(town?.bins.map(({ people }) => people) ?? []))).toBeGreaterThanOrEqual(80);
});

test("noise: sums are those in one place with the party's noise, and figures say their error", async () => {
  const world = await worlds.found(
    { bank: { people: inBank, columns: [0] }, shop: shopTable(inShop) },
    { experiment: () => ({ noiseSecret: "vetting" }) },
  );
  await world.startAll({
    policy: { vetting: "named", schemes: ["paillier", "lattice"], privacy: { answer_noise: 10 } },
  });
  await expectError(() => vetted(world, "exact"), "POLICY", /answer_noise: 0 requested, at least 10 needed/);
  for (const scheme of ["paillier", "lattice"]) {
    const found = await vetted(world, `noisy-${scheme}`, { scheme, ...keyOf(scheme), privacy: { answer_noise: 10 } });
    const theirs = found.columns.filter(({ party }) => party === "shop").toSorted((a, b) => a.number - b.number);
    const job = {
      ...resolveJob({}),
      vetting: true as const,
      scheme,
      privacy: resolveParameters(privacyParameters, { answer_noise: 10 }),
    };
    const gradients = quantiserOfJob({
      ...job,
      training: vettingTraining(bins),
      codec: codecWith({ resolution_bits: 4 }),
    })(vettingGradients(labels));
    const oracle = vetColumns(
      theirs.map(({ name }) => inOnePlace[name ?? ""]),
      gradients,
      {
        minimums: minimumsOfJob(
          { perNode: 1, perCandidate: 1 },
          { answer_noise: 10, min_people_share: 0 },
          common.length,
        ),
        membership: scheme === "lattice" ? "hidden" : "sent",
        noiseSecret: noiseSecretFrom("vetting"),
      },
    );
    for (const [i, column] of theirs.entries()) {
      expect(figuresOf(column).bins).toEqual(expected(oracle[i]).bins);
      expect(column.stability).toBeNull();
      if (column.name !== "constant") expect(column.ivError).toBeGreaterThan(0);
    }
    const own = found.columns.find(({ party }) => party === "bank");
    expect(own).toMatchObject({ ivError: 0, ivBias: 0 });
  }
});

test("drift, names and records: what the owner allows, with dates at both parties", async () => {
  const world = await founded();
  const config = await world.activeConfig("vet", { data: { test_fraction: undefined } });
  const { vetting: named } = await runVetting(vettingConfig(config, "vet", bins), () => {});
  const spend = named.columns.find(({ name }) => name === "spend");
  const { thresholds } = inOnePlace["spend"];
  const counted = (of: readonly Person[]): number[] => {
    const found = new Array<number>(bins + 2).fill(0);
    for (const value of numbers(of, 2)) {
      const bin = thresholds.findIndex((threshold) => value < threshold);
      found[Number.isNaN(value) ? bins : bin < 0 ? bins - 1 : bin]++;
    }
    return found;
  };
  const index = stabilityIndex(counted(inShop.slice(350)), counted(common));
  expect(spend?.stability).toBeCloseTo(index, 3);
  const ofBank = named.columns.find(({ name }) => name === "bank_0");
  expect(ofBank?.stability).toBeNull(); // only 50 of the bank's people are not common

  await world.startAll({ policy: { vetting: "unnamed" } });
  const unnamed = await vetted(world, "unnamed");
  const theirs = unnamed.columns.filter(({ party }) => party === "shop");
  expect(theirs.map(({ name }) => name)).toEqual([null, null, null, null]);
  expect(JSON.stringify(unnamed)).not.toMatch(/spend|visits|town|Ulm/);
  const ivs = (all: readonly VettedColumn[]): number[] => all.map(({ iv }) => iv);
  expect(ivs(unnamed.columns)).toEqual(ivs(named.columns));
  // The owner knows which column has which number.
  const list = readFileSync(world.path(world.shop, "unnamed", "vetted-columns.csv"), "utf8")
    .trim()
    .split("\n")
    .slice(1);
  for (const line of list) {
    const [number, name] = line.split(",");
    const { iv } = named.columns.find((column) => `"${column.name}"` === name) ?? {};
    expect(theirs.find((column) => column.number === Number(number))?.iv).toBe(iv);
  }
  await world.parties[0].stop();
  for (const job of ["vet", "unnamed"])
    for (const { folder } of [world.bank, world.shop]) {
      const { view, own } = await readRecord(join(folder, "jobs", job));
      expect(view.state).toBe("finished");
      const said = revealedFacts(view, own.revealed).map((fact) => `${fact.learner}: ${fact.words}`);
      // A record has the vettings before and after it.
      const bins =
        "bank: how many people, and how many with its label, are in each bin of 4 columns of shop, by a vetting";
      expect(said.filter((words) => words.startsWith("bank: how many"))).toEqual([
        `${bins}, with the names of the columns`,
        `${bins}; the columns had no names`,
      ]);
      expect([...view.ledgers.values()][0]).toMatchObject({
        vettedColumns: 4,
        vettedNames: job === "vet" ? 4 : 0,
        splitOutcomes: 0,
      });
    }
});

test("a policy refuses vettings by default, and ends them at the budget, over restarts and losses", async () => {
  const world = await founded();
  await world.startAll({ policy: {} });
  await expectError(() => vetted(world, "one"), "POLICY", /vetting: .*not allowed \('vetting: unnamed' in its policy/);
  await world.startAll({ policy: { vetting: "unnamed", privacy: { hidden_sums: true } } });
  await expectError(() => vetted(world, "two"), "POLICY", /hidden_sums is demanded/);

  await world.startAll({ policy: { vetting: "unnamed", budget: { vettings: 2 } } });
  await vetted(world, "three");
  // The sums are taken, and the connection is lost before the end: it counts.
  const torn: ActiveWorld = {
    ...realWorld,
    sleep: () => Promise.reject(new TandemError("PARTY_LOST", "given up")),
    connect: async (config, watchOf) => {
      const [peer] = await realWorld.connect(config, watchOf);
      return [{ ...peer, finishTree: () => Promise.reject(new TandemError("PARTY_LOST", "torn")) }];
    },
  };
  const config = await world.activeConfig("four", { data: { test_fraction: undefined } });
  await expectError(() => runVetting(vettingConfig(config, "four", bins), () => {}, torn), "PARTY_LOST", /given up/);
  await world.startAll({ policy: { vetting: "unnamed", budget: { vettings: 2 } } });
  await expectError(
    () => vetted(world, "five"),
    "POLICY",
    /budget of shop for this partner does not allow this job: vettings: 2 used, 1 requested, 2 allowed/,
  );
  // Other jobs are not vettings.
  await world.train("spring", { training: { enable_categorical: true } });
});

test("where a person approves, the request is a vetting, whatever word an active party has for it", async () => {
  const world = await founded();
  const [party] = await world.startAll({ policy: { vetting: "unnamed", approval: "required" } });
  const asked = vetted(world, "vet");
  const { request, work } = await party.seen("request-waits");
  expect(work).toBe("vetting");
  const shop = ["-c", join(world.shop.folder, "passive.json")];
  const { stdout } = await tandemHere("requests", ...shop);
  expect(stdout).toContain("the sums of up to 5 bins of every column from up to 400 rows");
  expect(stdout).toContain("in a vetting, which candidates belong to one column");
  expect(stdout).not.toMatch(/names of its columns|side of each instance/);
  await tandemHere("approve", request, ...shop);
  expect((await asked).columns).toHaveLength(6);
  const disguised: ActiveWorld = {
    ...realWorld,
    connect: async (config, watchOf) => {
      const [peer] = await realWorld.connect(config, watchOf);
      return [{ ...peer, request: (given) => peer.request({ ...given, work: "training" }) }];
    },
  };
  const config = await world.activeConfig("two", { data: { test_fraction: undefined } });
  await expectError(
    () => runVetting(vettingConfig(config, "two", bins), () => {}, disguised),
    "HANDSHAKE_MISMATCH",
    /work: training is not what the parameters ask for/,
  );
});

test("a malicious active party gets no side of a person by a vetting, and no other node", async () => {
  const world = await founded();
  const refused: string[] = [];
  const greedy: ActiveWorld = {
    ...realWorld,
    connect: async (config, watchOf) => {
      const [peer] = await realWorld.connect(config, watchOf);
      const tried = async (ask: () => AsyncIterable<unknown>): Promise<void> => {
        try {
          for await (const answer of ask()) refused.push(`answered: ${JSON.stringify(answer)}`);
        } catch (error) {
          refused.push(error instanceof TandemError ? error.message : String(error));
        }
      };
      const decision = { node: 0, named: { case: "candidate" as const, value: 0 } };
      const child = { tree: 0, node: 1, members: { parent: 0, sibling: 2, members: new Uint8Array(44) } };
      const finishTree: typeof peer.finishTree = async (finished, options) => {
        await tried(() => peer.splits({ tree: 0, decisions: [decision] }, options));
        await tried(() => peer.order({ tree: 0, nodes: [0] }, options));
        await tried(() => peer.histograms(streamOf(create(ActiveNodeSchema, child)), options));
        await tried(() => peer.predict({ startInstances: true, firstRow: 0, rowCount: 10 }, options));
        return peer.finishTree(finished, options);
      };
      return [{ ...peer, finishTree }];
    },
  };
  const config = await world.activeConfig("vet", { data: { test_fraction: undefined } });
  const { vetting } = await runVetting(vettingConfig(config, "vet", bins), () => {}, greedy);
  expect(vetting.columns).toHaveLength(6);
  expect(refused).toEqual([
    expect.stringContaining("no call 'splits'"),
    expect.stringContaining("no call 'order'"),
    expect.stringContaining("node 1 was requested in a vetting, which has the root only"),
    expect.stringContaining("no call 'predict'"),
  ]);
});

/** As docs/leakage.md states. */
test("a crafted label finds one person's bin in every column, unless there is noise", async () => {
  const victim = common[17];
  const people = everyone.map((person) => ({ ...person, label: person === victim ? "defaulter" : "payer" }));
  const world = await worlds.found({
    bank: { people: people.slice(0, 400), columns: [0] },
    shop: shopTable(inShop),
  });
  await world.startAll({ policy: { vetting: "named" } });
  const exact = await vetted(world, "exact");
  const spend = exact.columns.find(({ name }) => name === "spend");
  const found = spend?.bins.findIndex(({ events }) => events === 1) ?? -1;
  expect(inOnePlace["spend"].bins[17]).toBe(found);
  const noisy = await vetted(world, "noisy", { privacy: { answer_noise: 10 } });
  const events = noisy.columns.find(({ name }) => name === "spend")?.bins.map((bin) => bin.events) ?? [];
  expect(Math.max(...events.map(Math.abs))).toBeGreaterThan(2);
});

test("labels, weights and defences that a vetting has no use for are refused by name", async () => {
  const world = await founded();
  const refusals = [
    [{ training: { objective: "reg:squarederror" } }, /two classes, and the config's objective is reg:squarederror/],
    [{ data: { weight: "bank_1" } }, /counts people, and does not weigh them/],
    [{ privacy: { hidden_sums: true } }, /needs the sums of every column, which hidden_sums keeps/],
  ] as const;
  for (const [changes, message] of refusals) await expectError(() => vetted(world, "no", changes), "USAGE", message);
  // A preset hides sums in training, and adds noise to those of a vetting.
  const { job } = await world.activeConfig("guarded", { privacy: "guarded" });
  expect(job.privacy).toMatchObject({ hidden_sums: true, answer_noise: 0 });
  const changed = await world.activeConfig("changed", { privacy: { preset: "guarded", outcome_bits: 3 } });
  expect(vettingConfig(changed, "v", bins).job.privacy).toEqual({
    ...job.privacy,
    outcome_bits: 3,
    hidden_sums: false,
    answer_noise: 5,
  });
});
