/** Jobs between companies over TLS, opened and checked afterwards: honest jobs pass, and a deviating party is named. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { diskStorage } from "../src/base/files/storage.ts";
import type { ActiveConfig, ActiveConfigInput } from "../src/party/config/config.ts";
import { runCrossValidation } from "../src/party/active/cross-validation.ts";
import { runActive } from "../src/party/active/run.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { allShortcuts } from "../src/scheme/shortcuts.ts";
import { readEvidence, readTreeEvidence, writeEvidence } from "../src/store/evidence-files.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, outcomeOf } from "../src/verify/findings.ts";
import { type Opening, readOpening, writeOpening } from "../src/verify/opening.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { ActiveChanges, PassiveChanges, ProcessWorld } from "./world/processes.ts";

const worlds = testWorlds();
let world: ProcessWorld;
beforeAll(async () => {
  const people = makePeople(120, "verified");
  world = await worlds.found({
    bank: { people, columns: [0, 1] },
    shop: { people: shuffled(people, "shop"), columns: [2, 3] },
    telecom: { people: shuffled(people, "telecom"), columns: [4, 5] },
  });
});

interface Changes {
  readonly active?: ActiveChanges;
  readonly passive?: PassiveChanges;
}

interface Ran {
  /** Of all parties, the bank's first. */
  readonly configs: readonly string[];
  open(): Promise<Opening[]>;
}

/** @param run what the bank does; trains unless it says otherwise */
async function ran(
  job: string,
  { active = {}, passive = {} }: Changes = {},
  run: (config: ActiveConfig) => Promise<unknown> = (config) => runActive(config, () => {}),
): Promise<Ran> {
  await world.startAll(passive);
  await run(await world.activeConfig(job, active));
  const configs = [
    join(world.bank.folder, `active-${job}.json`),
    ...world.shops.map(({ folder }) => join(folder, "passive.json")),
  ];
  return { configs, open: () => world.openings(job) };
}

const expectHolds = async (openings: readonly Opening[], trees: number): Promise<void> => {
  const verdict = await checkOpenings(openings, { pins: world.pins, trees: null });
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([]);
  expect(verdict.trees.map(({ state }) => state)).toEqual(new Array(trees).fill("as agreed"));
};

test.each<{ readonly name: string; readonly changes: Changes }>([
  { name: "plain", changes: {} },
  {
    name: "sampled",
    changes: {
      active: {
        training: { subsample: 0.7, colsample_bytree: 0.7, colsample_bynode: 0.8, local_rounds: 1, num_round: 3 },
      },
    },
  },
  { name: "noisy", changes: { active: { privacy: { answer_noise: 2, max_thresholds: 3 } } } },
])("an honest job holds: $name", async ({ name, changes }) => {
  const { open } = await ran(`honest-${name}`, changes);
  await expectHolds(await open(), 2);
});

test("folds of a cross-validation pass too", async () => {
  const { open } = await ran("folds", {}, (config) => runCrossValidation(config, { folds: 3 }, () => {}));
  await expectHolds(await open(), 6);
});

test("an interrupted job passes, with a passive party one tree ahead", async () => {
  const training = { num_round: 3 };
  const { open } = await ran("broken", { active: { training } }, async (config) => {
    const tear = tornWorld(1);
    await expect(runActive({ ...config, patience_seconds: 0 }, () => {}, tear.world)).rejects.toThrow("torn");
    expect(tear.torn).toBe(1);
    await runActive(config, () => {});
  });
  await expectHolds(await open(), 3);
});

test("a job with the curve scheme, a tree of which is redone, is as agreed", async () => {
  const changes: Changes = {
    active: { scheme: "curve", insecure_key_bits: undefined },
    passive: { policy: { schemes: ["curve"] } },
  };
  const { open } = await ran("curve", changes, async (config) => {
    const tear = tornWorld(0, "before");
    await expect(runActive({ ...config, patience_seconds: 0 }, () => {}, tear.world)).rejects.toThrow("torn");
    await runActive(config, () => {});
  });
  await expectHolds(await open(), 2);
});

test("a job with hidden sums, which lower the resolution, can be opened; its comparisons are not checked", async () => {
  const { open } = await ran("hidden-sums", { active: { privacy: { hidden_sums: true }, training: { max_depth: 2 } } });
  const verdict = await checkOpenings(await open(), { pins: world.pins, trees: null });
  expect([deviations(verdict), outcomeOf(verdict)]).toEqual([[], "incomplete"]);
});

test("a job with hidden outcomes has other messages when a tree is redone, and no party is blamed for it", async () => {
  const changes: Changes = {
    active: { scheme: "lattice", insecure_key_bits: undefined, privacy: { hidden_outcomes: true } },
    passive: { policy: { schemes: ["lattice"] } },
  };
  const { open } = await ran("redone", changes, async (config) => {
    const attempt = (tear: ReturnType<typeof tornWorld>) =>
      expect(runActive({ ...config, patience_seconds: 0 }, () => {}, tear.world)).rejects.toThrow("torn");
    await attempt(tornWorld(0));
    await attempt(tornWorld(0, "before"));
  });
  const openings = await open();
  const [bank, shop] = openings;
  expect(bank.trees[0].pairs["shop"].link).not.toBe(shop.trees[0].pairs["bank"].link);
  const verdict = await checkOpenings(openings, { pins: world.pins, trees: null });
  expect([deviations(verdict), outcomeOf(verdict)]).toEqual([[], "incomplete"]);
});

/** The bank's process ends at the end of a tree: before shop receives the request, or after it has stored the tree. */
function tornWorld(tree: number, when: "before" | "after" = "after") {
  const state = { torn: 0 };
  const world: ActiveWorld = {
    ...realWorld,
    connect: async (config, watchOf) => {
      const [first, ...others] = await realWorld.connect(config, watchOf);
      const finishTree: typeof first.finishTree = async (finished, options) => {
        const isTorn = finished.tree === tree;
        if (!isTorn) return first.finishTree(finished, options);
        if (when === "after") await first.finishTree(finished, options);
        state.torn++;
        throw new Error("torn");
      };
      return [{ ...first, finishTree }, ...others];
    },
  };
  return {
    world,
    get torn() {
      return state.torn;
    },
  };
}

test("a party that commits to something else in the middle of a job is refused, by either side", async () => {
  const { bank } = world;
  const { configs } = await ran("recommitted", { active: { training: { num_round: 3 } } }, async (config) => {
    await expect(runActive(config, () => {}, tornWorld(1).world)).rejects.toThrow("torn");
    const path = join(bank.folder, "jobs", "recommitted", "evidence.json");
    const kept = readFileSync(path);
    const evidence = await readEvidence(join(bank.folder, "jobs", "recommitted"), diskStorage);
    if (evidence === null) throw new Error("the bank has committed");
    const folder = join(bank.folder, "jobs", "recommitted");
    await writeEvidence(folder, { ...evidence, own: { ...evidence.own, commitment: "ab".repeat(32) } }, diskStorage);
    await expectError(
      () => runActive(config, () => {}),
      "HANDSHAKE_MISMATCH",
      /commitment: party bank has committed to something else/,
    );
    await writeEvidence(
      folder,
      { ...evidence, peers: { ...evidence.peers, shop: evidence.peers["telecom"] } },
      diskStorage,
    );
    await expectError(
      () => runActive(config, () => {}),
      "HANDSHAKE_MISMATCH",
      /commitment: party shop has committed to something else/,
    );
    writeFileSync(path, kept);
    await runActive(config, () => {});
  });
  expect(configs.length).toBe(3);
});

test("the command writes openings that only their owner can read, checks them, and names who deviated", async () => {
  const { configs } = await ran("command");
  const paths = [world.bank, ...world.shops].map(({ name }) => join(world.root, `${name}.opening`));
  for (const [i, config] of configs.entries()) {
    const { stderr } = await tandemHere("verify-job", "open", "-c", config, "--job", "command", "--out", paths[i]);
    expect(stderr.includes("PRIVATE KEY")).toBe(i === 0);
    expect(statSync(paths[i]).mode & 0o777).toBe(0o600);
  }
  const pins = [
    ["--pin", `bank=${join(world.bank.folder, "certificate.pem")}`],
    ...world.shops.map(({ name, fingerprint }) => ["--pin", `${name}=${fingerprint}`]),
  ].flat();
  const check = ["verify-job", "check", ...paths, ...pins];
  const held = await tandemHere(...check);
  expect([held.exitCode, held.stdout]).toEqual([
    0,
    expect.stringMatching(/trees 0 to 1: as agreed\n\nAs agreed: everything that the parties signed was checked\./),
  ]);
  const chosen = await tandemHere(...check, "--trees", "1", "--json");
  expect([chosen.exitCode, JSON.parse(chosen.stdout)]).toEqual([
    4,
    expect.objectContaining({
      outcome: "incomplete",
      trees: [expect.objectContaining({ state: "plain" }), expect.objectContaining({ state: "as agreed" })],
      notChecked: [expect.stringMatching(/^the ciphertexts of 1 tree/)],
    }),
  ]);
  const opening = await readOpening(paths[1]);
  const [first, ...rest] = opening.trees;
  const { bank: pair } = first.pairs;
  const forged = { ...first, pairs: { bank: { ...pair, theirs: pair.own } } };
  await writeOpening(paths[1], { ...opening, trees: [forged, ...rest] });
  const invalid = await tandemHere(...check);
  expect([invalid.exitCode, invalid.stdout]).toEqual([
    3,
    expect.stringMatching(/tree 0: shop: the signature of bank in its evidence is invalid[\s\S]*shop deviated\.\n$/),
  ]);
  await writeOpening(paths[1], { ...opening, trees: opening.trees.slice(0, 1) });
  const cut = await tandem(...check);
  expect([cut.exitCode, cut.stdout]).toEqual([
    3,
    expect.stringMatching(/evidence: tree 1: shop: it has signed this tree with bank[\s\S]*shop deviated\.\n$/),
  ]);
});

test("other data, or another config, than in the job cannot be opened", async () => {
  const { configs, open } = await ran("changed");
  const data = join(world.bank.folder, "data.csv");
  const before = readFileSync(data, "utf8");
  onTestFinished(() => writeFileSync(data, before));
  writeFileSync(data, before.replaceAll("defaulter", "~").replaceAll("payer", "defaulter").replaceAll("~", "payer"));
  await expectError(open, "CHECKPOINT", /'labels' is not what the party has committed to/);
  writeFileSync(data, before);
  const config = JSON.parse(readFileSync(configs[0], "utf8")) as ActiveConfigInput;
  writeFileSync(configs[0], JSON.stringify({ ...config, training: { ...config.training, eta: 0.9 } }));
  await expectError(open, "CHECKPOINT", /'training.eta' is not what the party has committed to/);
});

test("without stored evidence a job cannot be opened, and no secret of it is left", async () => {
  const changes = { directory: "jobs", verifiable: false };
  const { open } = await ran("closed", { active: { output: changes }, passive: { output: changes } });
  await expectError(open, "FILE_UNREADABLE", /output.verifiable: false/);
  for (const { folder } of [world.bank, world.shop]) {
    const kept = await readEvidence(join(folder, "jobs", "closed"), diskStorage);
    expect(kept).toMatchObject({ opened: null, aligned: null });
    const tree = await readTreeEvidence(join(folder, "jobs", "closed"), 0, diskStorage);
    for (const pair of Object.values(tree?.pairs ?? {})) expect(Object.keys(pair)).toEqual(signedFields);
  }
});

test("a job without all shortcuts, which an auditor would take for a deviation, cannot be opened", async () => {
  const shortcuts = { ...allShortcuts, ownerEncryption: false };
  const { open } = await ran("textbook", { active: { training: { num_round: 1 } } }, (config) =>
    runActive({ ...config, job: { ...config.job, shortcuts } }, () => {}),
  );
  await expectError(open, "FILE_UNREADABLE", /as an experiment/);
});

const signedFields = ["link", "entries", "own", "theirs"];
