/** Companies with configs, certificates and files of their own: PSI, consecutive jobs, refusals, logs. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { logTo } from "../src/record/log.ts";
import { runActive, runAlignment } from "../src/party/active/run.ts";
import { Progress } from "../src/cli/terminal/progress.ts";
import { expectError } from "./support/expect-error.ts";
import { onePlaceModel } from "./support/joined-tables.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import { foundCompany, type PassiveChanges, type ProcessWorld } from "./world/processes.ts";

const worlds = testWorlds();
const people = makePeople(240, "services");

/** A bank that holds ids 0 to 199, and companies that hold other ranges, each in an order of its own. */
const world = (passiveCount: number): Promise<ProcessWorld> => worlds.found(bankAndShops(passiveCount, people));

describe("align, then train", () => {
  test.each([1, 3])(
    "%i passive parties with other ids in other orders: the model of the joined table",
    async (passiveCount) => {
      const made = await world(passiveCount);
      const running = await made.startAll();
      const config = await made.activeConfig("first");
      const events: PartyEvent[] = [];
      await runActive(config, (event) => events.push(event));
      expect(firstDifference(await made.model("first"), await onePlaceModel(made, config))).toBeNull();
      const commonCount = 200 - 20 - 5 * (passiveCount - 1);
      expect(events.find((event) => event.type === "aligned")).toMatchObject({ commonCount });
      for (const party of running)
        expect(party.events.find((event) => event.type === "aligned")).toMatchObject({ commonCount });
      const predictions = readFileSync(join(made.bank.folder, "jobs", "first", "predictions.csv"), "utf8")
        .trim()
        .split("\n");
      expect(predictions).toHaveLength(1 + Math.round(commonCount / 4));
    },
  );

  test("a test table of its own, and ids that are the same only after normalisation", async () => {
    const made = await world(1);
    const { shop } = made;
    const data = join(shop.folder, "data.csv");
    writeFileSync(data, readFileSync(data, "utf8").replaceAll(/^zq/gm, " ZQ"));
    const lines = readFileSync(join(made.bank.folder, "data.csv"), "utf8").trim().split("\n");
    writeFileSync(join(made.bank.folder, "test.csv"), `${[lines[0], ...lines.slice(151)].join("\n")}\n`);
    writeFileSync(join(made.bank.folder, "data.csv"), `${lines.slice(0, 151).join("\n")}\n`);
    const normalise: ["lowercase"] = ["lowercase"];
    await made.startAll({
      data: { path: "data.csv", id: "id", features: { all_but: [] }, normalise },
    });
    const source = {
      path: "data.csv",
      id: "id",
      features: "all" as const,
      label: "outcome",
      positive: "defaulter",
      test_fraction: undefined,
      test_path: "test.csv",
    };
    const different = await made.activeConfig("different", { data: source });
    await expectError(
      () => runActive(different, () => {}),
      "HANDSHAKE_MISMATCH",
      /party shop0.*normalises ids differently: .*; here it is trim, lowercase/,
    );
    await made.train("same", { data: { ...source, normalise } });
    const count =
      readFileSync(join(made.bank.folder, "jobs", "same", "aligned.csv"), "utf8")
        .trim()
        .split("\n").length - 1;
    expect(count).toBe(180);
    expect(readFileSync(join(made.bank.folder, "jobs", "same", "aligned.csv"), "utf8")).toMatch(
      /^id,file,row\nzq\d+x,(test_)?path,\d+\n/,
    );
  });

  test("PSI alone: each party stores its own aligned rows, readable by itself only", async () => {
    const made = await world(2);
    await made.startAll();
    const out = join(made.bank.folder, "rows.csv");
    const { aligned } = await runAlignment(await made.activeConfig("only"), out, () => {});
    expect(aligned.pairwise).toEqual([
      { peer: "shop0", idCount: 210, sharedCount: 180 },
      { peer: "shop1", idCount: 200, sharedCount: 175 },
    ]);
    const rowsOf = (path: string): string[][] =>
      readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(","));
    const lists = [out, ...made.shops.map(({ folder }) => join(folder, "jobs", "only-alignment", "aligned.csv"))];
    for (const [i, path] of lists.entries()) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const data = readFileSync(join([made.bank, ...made.shops][i].folder, "data.csv"), "utf8").split("\n");
      for (const [id, row] of rowsOf(path)) expect(data[Number(row)].split(",")[0]).toBe(id);
      expect(rowsOf(path).map(([id]) => id)).toEqual(rowsOf(lists[0]).map(([id]) => id));
    }
    // The parties are free again at once.
    await made.train("after");
  });

  test("no common ids: every party learns that, and the job is refused", async () => {
    const made = await world(1);
    const { shop } = made;
    const data = join(shop.folder, "data.csv");
    writeFileSync(data, readFileSync(data, "utf8").replaceAll(/^zq/gm, "other"));
    const running = await made.startAll();
    await expectError(() => made.train("empty"), "ID_MISMATCH", /no id is common to all parties \(0 with shop0\)/);
    expect(running[0].events.find((event) => event.type === "aligned")).toMatchObject({ commonCount: 0 });
  });

  test("without PSI the files must have the same ids", async () => {
    const made = await world(1);
    await made.startAll();
    await expectError(() => made.train("unaligned", { align: false }), "ID_MISMATCH", /shop0.*align the data first/);
  });
});

describe("one job after the other", () => {
  test("two jobs in a row, data that changed in between, and the same name twice", async () => {
    const made = await world(1);
    const running = await made.startAll();
    await made.train("monday");
    const data = join(made.shop.folder, "data.csv");
    writeFileSync(data, `${readFileSync(data, "utf8").trim().split("\n").slice(0, -20).join("\n")}\n`);
    const config = await made.activeConfig("tuesday");
    await runActive(config, () => {});
    expect(firstDifference(await made.model("tuesday"), await onePlaceModel(made, config))).toBeNull();
    const [party] = running;
    expect(party.events.filter((event) => event.type === "job-ended")).toMatchObject([
      { job: "monday", failure: null },
      { job: "tuesday", failure: null },
    ]);
    await expectError(() => made.train("monday"), "USAGE", /monday holds a finished job/);
    const elsewhere = await made.activeConfig("monday", { output: { directory: "elsewhere" } });
    await expectError(
      () => runActive(elsewhere, () => {}),
      "HANDSHAKE_MISMATCH",
      /shop0 has finished a job named monday already/,
    );
  });

  test("an active party that fails or disconnects does not block the next one", async () => {
    const made = await world(2);
    await made.startAll();
    const passives = [made.shop, { ...made.shops[1], fingerprint: "0".repeat(64) }];
    await expectError(
      () => made.train("wrong", {}, { passives }),
      "CERTIFICATE",
      /shows another certificate than shop1's pinned one: it is not the pinned one/,
    );
    await made.train("right");
  });
});

describe("admission", () => {
  /** One world for all policies: none of them admits a job. */
  let policed: Promise<ProcessWorld> | undefined;
  let policies = 0;

  test.skipIf(process.platform === "win32")(
    "a private key readable by other users is refused before any connection",
    async () => {
      const made = await world(1);
      const careless = made.shop;
      chmodSync(join(careless.folder, "key.pem"), 0o640);
      await expectError(() => made.start(careless), "FILE_UNREADABLE", /chmod 600 '.*key\.pem'/);
      const tls = { certificate: "certificate.pem", key: "key.pem", insecure_key_file: true };
      await made.start(careless, { tls });
      await runAlignment(await made.activeConfig("careless"), join(made.root, "careless.csv"), () => {});
    },
  );

  test("a certificate that is not pinned is rejected, and its fingerprint logged", async () => {
    const made = await world(1);
    const holding = { people: people.slice(0, 200), columns: [1] };
    const unpinned = await foundCompany(made.root, "unpinned", holding, "active");
    const running = await made.startAll();
    const error = await expectError(
      () => made.train("in", { patience_seconds: 2 }, { active: unpinned }),
      "CERTIFICATE",
      /shop0/,
    );
    expect(error.message).toMatch(/^shop0 answers, and does not know this party's certificate\. shop0 must pin/);
    expect((await running[0].seen("turned-away")).why).toContain(unpinned.fingerprint);
  });

  test.each([
    [{ max_trees: 1 }, {}, /num_round: 2 requested, at most 1 allowed/],
    [{ max_depth: 2 }, {}, /max_depth: 3 requested, at most 2 allowed/],
    [{}, { training: { max_depth: 0, max_leaves: 5 } }, /max_depth: no limit requested, at most 10 allowed/],
    [{ insecure_min_key_bits: 512 }, {}, /key_bits: 256 requested, at least 512 allowed/],
    [{ insecure_min_key_bits: undefined }, {}, /key_bits: 256 requested, at least 2048 allowed/],
    [{ min_instances: 136 }, {}, /instances: 135 training rows, at least 136 allowed/],
    [{ max_active_ids: 199 }, {}, /ids: 200 brought, at most 199 allowed/],
    [
      { max_trees: 1, max_depth: 1 },
      {},
      /num_round: 2 requested, at most 1 allowed; max_depth: 3 requested, at most 1 allowed/,
    ],
  ])("policy %j", async (policy, changes, says) => {
    const made = await (policed ??= world(1));
    const running = await made.startAll({ policy });
    const job = `greedy-${policies++}`;
    const { message } = await expectError(() => made.train(job, changes), "POLICY", says);
    // Refused after PSI, a key is stored: its owner is informed of it, and the partner is not.
    const folder = join(made.bank.folder, "jobs", job);
    const informs = message.includes(`${folder} holds the private key of this job, which has encrypted nothing yet`);
    expect(informs).toBe(existsSync(join(folder, "checkpoint.json")));
    expect(JSON.stringify(running[0].events)).not.toContain(folder);
    for (const company of [made.bank, made.shop])
      expect(existsSync(made.path(company, job, "share.json")), company.name).toBe(false);
    expect(running[0].events.find((event) => event.type === "refused")).toMatchObject({
      peer: "bank",
      code: "POLICY",
    });
  });
});

test("a passive party applies its minimums, which the active party is not sent", async () => {
  const made = await world(1);
  const splitsWith = async (job: string, policy: PassiveChanges["policy"]) => {
    await made.startAll({ policy });
    await made.train(job);
    return (await made.model(job)).trees.flatMap((tree) =>
      tree.flatMap((node) =>
        node.kind === "split" && node.rule.owner === 1 ? [Math.min(tree[node.left].count, tree[node.right].count)] : [],
      ),
    );
  };
  expect(Math.min(...(await splitsWith("free", {})))).toBeLessThan(20);
  const bound = await splitsWith("bound", { min_instances_per_candidate: 20 });
  expect(bound.length).toBeGreaterThan(0);
  expect(Math.min(...bound)).toBeGreaterThanOrEqual(20);
  expect(await splitsWith("silent", { min_instances_per_node: 1000 })).toEqual([]);
});

test("no log of either side has an id, a value, a label, a threshold or a key in it", async () => {
  const made = await world(1);
  const running = await made.startAll();
  const activeEvents: PartyEvent[] = [];
  let text = "";
  const write = (more: string): void => void (text += more);
  const progress = new Progress({
    mode: "live",
    activeName: "bank",
    screen: { write, columns: () => 80, colours: false, now: Date.now },
  });
  await made.train(
    "logged",
    {},
    {
      onEvent(event) {
        activeEvents.push(event);
        progress.handle(event);
      },
    },
  );
  await expectError(() => made.train("greedy", { training: { num_round: 5000 } }), "POLICY");
  for (const terminal of [true, false]) {
    const log = logTo({ level: "debug", terminal, write, now: () => new Date(0) });
    for (const event of [...running[0].events, ...activeEvents]) log(event);
  }
  for (const event of activeEvents)
    if (event.type !== "active-result" && event.type !== "layout" && event.type !== "tree")
      write(JSON.stringify(event));
  expect(text).toContain("tree 2 of 2 finished");
  expect(text).toContain("num_round: 5000 requested");
  const withoutFingerprints = text.replaceAll(/(certificate |"fingerprint":")[0-9a-f]{64}\b/g, "$1");
  expect(withoutFingerprints).not.toMatch(/zq\d|defaulter|payer|PRIVATE|[A-Za-z0-9+/]{40,}/);
  const shares = await made.model("logged");
  const thresholds = JSON.stringify(shares).matchAll(/"threshold":(-?[\d.e-]{4,})/g);
  const secrets = [...thresholds].map(([, threshold]) => threshold.slice(0, 7));
  expect(secrets.length).toBeGreaterThan(0);
  for (const secret of secrets) expect(text).not.toContain(secret);
  for (const { values } of people.slice(0, 40))
    for (const value of values) if (value.length > 5) expect(text).not.toContain(value);
});
