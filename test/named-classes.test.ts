/** Class names as labels, between real parties: the model equals that of numbered classes, and carries the names. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { runActive } from "../src/party/active/run.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { mergeShares } from "../src/store/merge-shares.ts";
import { readActiveShare, readPassiveShare } from "../src/store/share-files.ts";
import { withUsedFeatures } from "../src/store/xgboost/used-features.ts";
import { xgboostModel } from "../src/store/xgboost/export.ts";
import { partOf } from "./support/campaign.ts";
import { expectError } from "./support/expect-error.ts";
import {
  threeClasses,
  type TrainedWorld,
  TrainedWorlds,
  trainingPredictions,
  type WorldChanges,
  writeInput,
} from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();
const names = ["Late", "never", "à temps"];
const numbered = threeClasses("one_output_per_tree");
const [{ num_class: _, ...training }] = [numbered.active?.training ?? {}];
const label: WorldChanges["label"] = (person) => names[Number(numbered.label?.(person))];

function sharesOf({ bank, shops: [shop] }: TrainedWorld) {
  const path = (folder: string): string => join(folder, "jobs", "spring", "share.json");
  return Promise.all([readActiveShare(path(bank.folder)), readPassiveShare(path(shop.folder))]);
}

test("names are numbered in sorted order, without num_class", async () => {
  const named = await worlds.train(1, {
    active: { ...numbered.active, training },
    label,
  });
  const [active, passive] = await sharesOf(named);
  const [plain] = await sharesOf(await worlds.train(1, numbered));
  expect(active.classes).toEqual(names);
  expect(plain.classes).toBeUndefined();
  expect(active.trees).toEqual(plain.trees);

  const heads = (path: string): string => readFileSync(path, "utf8").split("\n")[0];
  const columns = "prediction_Late,prediction_never,prediction_à temps,class";
  expect(heads(join(named.bank.folder, "jobs", "spring", "predictions.csv"))).toBe(`id,label,${columns}`);
  const ids = [...trainingPredictions(named).keys()];
  const output = join(named.bank.folder, "scores.csv");
  const input = writeInput(named, "rows.csv", ids);
  await runPredict(named.config, { model: "spring", input, output, unknown: "refuse", onProgress: () => {} });
  expect(heads(output)).toBe(`id,${columns}`);
  const rows = readFileSync(output, "utf8").trim().split("\n").slice(1);
  for (const row of rows) {
    const [, ...cells] = row.split(",");
    const likeliest = [...names.keys()].reduce((best, k) => (Number(cells[k]) > Number(cells[best]) ? k : best), 0);
    expect(cells[3]).toBe(names[likeliest]);
  }

  const { model, features } = withUsedFeatures(mergeShares(active, [passive]), 2);
  expect(xgboostModel(model, features).learner.attributes).toEqual({ classes: JSON.stringify(names) });

  // A warm start needs the same classes in the same order.
  const events: PartyEvent[] = [];
  const called = (name: string) => ({ ...named.config.job, name });
  const next = { ...named.config, job: called("summer"), warm_start: { model: "spring" } };
  await runActive(next, (event) => events.push(event));
  expect(events.find(({ type }) => type === "job")).toMatchObject({
    parameters: { classes: names.join(", "), num_class: 3 },
  });
  const moved = { ...next, job: called("autumn"), data: { ...next.data, classes: names.toReversed() } };
  await expectError(() => runActive(moved, () => {}), "USAGE", /warm start: .*other classes/);
  const { data } = named.config;
  const path = join(named.bank.folder, "wrong.csv");
  writeFileSync(path, readFileSync(String(data.path), "utf8").replace("never", "sometimes"));
  const strange = { ...named.config, job: called("winter"), data: { ...data, path, classes: names } };
  await expectError(() => runActive(strange, () => {}), "LABEL_INVALID", /wrong\.csv, line \d+, .*none of the classes/);
});

/** A disk that is full when the first round is stored and the second is not. */
const fullDisk: ActiveWorld = {
  ...realWorld,
  storage: {
    ...realWorld.storage,
    append: (path, contents) => {
      if (path.endsWith("checkpoint.json")) throw new TandemError("FILE_UNWRITABLE", "the disk is full");
      return realWorld.storage.append(path, contents);
    },
  },
};

test.each(partOf(["paillier", "lattice"], 0, 2))(
  "an interrupted job with class names resumes like any other (%s)",
  async (scheme) => {
    const ofScheme = scheme === "lattice" ? { scheme, insecure_key_bits: undefined } : {};
    const active = { ...numbered.active, training, ...ofScheme };
    const world = await worlds.train(1, {
      active,
      passive: { policy: { schemes: [scheme] } },
      label,
    });
    const config = await world.activeConfig("broken", active);
    await expectError(() => runActive(config, () => {}, fullDisk), "FILE_UNWRITABLE", /full/);
    const events: PartyEvent[] = [];
    await runActive(config, (event) => events.push(event));
    expect(events.find(({ type }) => type === "resumed")).toMatchObject({ trees: 3 });
    const folderOf = (job: string): string => join(world.bank.folder, "jobs", job);
    const [whole, broken] = await Promise.all(
      ["spring", "broken"].map((job) => readActiveShare(join(folderOf(job), "share.json"))),
    );
    expect(broken.classes).toEqual(names);
    expect(broken.trees).toEqual(whole.trees);
    expect(readFileSync(join(folderOf("broken"), "predictions.csv"), "utf8")).toBe(
      readFileSync(join(folderOf("spring"), "predictions.csv"), "utf8"),
    );
  },
);
