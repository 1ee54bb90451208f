/**
 * Companies as they are deployed, each with its own page: `tandem train --dashboard` and `tandem party --dashboard` as
 * processes over real TLS, watched in a real browser. Each page shows its own party's data only, and a hidden page is
 * sent nothing.
 */
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lockFolder } from "../src/base/files/process-lock.ts";
import { expectAccessible, findBrowser, launchBrowser, openDashboard } from "./support/browser.ts";
import { scratchDirectory } from "./support/command.ts";
import { startTandem, tandem } from "./world/tandem-process.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import type { Company, ProcessWorld } from "./world/processes.ts";
import { figure, minutes, openView, picture, printedAddress, stateShown } from "./support/dashboard-page.ts";

const browserPath = findBrowser();
const views = ["overview", "quality", "encoding", "trees", "disclosure", "jobs"];

async function everything(page: Page): Promise<string> {
  let seen = "";
  for (const view of views) {
    await openView(page, view);
    for (const summary of await page.locator("summary").all()) await summary.click();
    seen += await page.locator("body").innerText();
    for (const summary of await page.locator("summary").all()) await summary.click();
  }
  return seen;
}

describe.skipIf(browserPath === null)("deployed companies, each with its page", () => {
  const root = scratchDirectory();
  const worlds = testWorlds();
  let browser: Browser;
  let world: ProcessWorld;
  beforeAll(async () => {
    browser = await launchBrowser(browserPath ?? "");
    const people = makePeople(500, "watched");
    world = await worlds.found({ bank: { people, columns: [0, 1, 2] }, shop: { people, columns: [3, 4, 5] } });
  });
  afterAll(() => browser?.close());

  test("both live; validation curves and early stopping on the active party's page alone", async () => {
    const { bank, shop } = world;
    const party = startTandem(["party", "-c", world.writePassive(shop, { policy: { max_trees: 300 } }), "--dashboard"]);
    try {
      const port = await party.port();
      const passive = await openDashboard(
        browser,
        readFileSync(join(shop.folder, "jobs", "dashboard.url"), "utf8").trim(),
      );
      await passive.page.getByText("This party waits for a job.").waitFor();
      await expectAccessible(passive.page, "a party that waits");

      // Overfits soon: the best round comes early, and many more are tried after it.
      const changes = {
        insecure_key_bits: 512,
        data: { validation_fraction: 0.25 },
        training: { num_round: 200, max_depth: 4, max_bin: 16, eta: 0.6, early_stopping_rounds: 25 },
      };
      const config = world.writeActive("spring", changes, { ports: { shop: port } });
      const job = startTandem(["train", "-c", config, "--dashboard", "--json"]);
      const [, url] = await job.errorMatches(/dashboard: (\S+)\n/);
      const active = await openDashboard(browser, url);
      await Promise.all([stateShown(active.page, "training"), stateShown(passive.page, "training")]);
      await passive.page.locator(".timeline .bar").first().waitFor();
      expect(await passive.page.locator(".parties .party-name").allTextContents()).toEqual(["bank", "shop (you)"]);
      await active.page.locator(".legend", { hasText: "validation" }).waitFor({ timeout: minutes });

      await Promise.all([stateShown(active.page, "finished"), stateShown(passive.page, "finished")]);
      const { page } = active;
      const grown = Number((await figure(page, "trees")).split(" / ")[0]);
      const label = await page.getByRole("img", { name: /after each tree/ }).getAttribute("aria-label");
      const [, kept] = /best: (\d+) kept, at tree \1; stopped early, at tree (\d+)$/.exec(label ?? "") ?? [];
      expect(Number(kept)).toBe(grown - 25);
      expect(await page.locator(".figure", { hasText: `trees, the best ${kept} kept` }).count()).toBe(1);
      await page.getByRole("region", { name: "Learning" }).locator("summary").click();
      const table = page.locator("table", { hasText: "Metrics after each tree" });
      expect(await table.locator("thead th").allTextContents()).toEqual([
        "tree",
        "training auc",
        "training ks",
        "training logloss",
        "validation auc",
        "validation ks",
        "validation logloss",
      ]);
      expect(await table.locator("tbody tr").count()).toBe(grown);
      // The last metric decides: the round that was kept is the best of all.
      const losses = (await table.locator("tbody td:last-child").allTextContents()).map(Number);
      expect(losses.indexOf(Math.min(...losses)) + 1).toBe(Number(kept));
      await page.getByRole("region", { name: "Learning" }).locator("summary").click();
      // The metric by which it stopped is the one that is shown.
      await page.getByRole("img", { name: /^logloss after each tree/ }).waitFor();
      await picture(page, "early-stopping");
      await openView(page, "trees");
      expect(await page.getByRole("combobox", { name: "Tree" }).locator("option").count()).toBe(Number(kept));
      active.expectClean();
      await active.context.close();

      const { exitCode, stdout } = await job.finished;
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ trees: Number(kept) });
      const seen = await everything(passive.page);
      const stream = await passive.page.evaluate(async () => (await fetch("/api/job?viewer=shop&job=spring")).text());
      expect(seen).toContain("shop_3");
      // The general text on what a job may reveal is the same for every job.
      for (const text of [seen, stream.replaceAll(/"disclosures":\[.*?\}\]/gs, "")]) {
        expect(text).not.toMatch(/bank_\d|\bauc\b|logloss|validation|"(weight|gain)"/);
        expect(secretsOf(bank, shop).filter((secret) => text.includes(secret))).toEqual([]);
      }
      passive.expectClean();
      await passive.context.close();
    } finally {
      party.child.kill("SIGTERM");
    }
    expect((await party.finished).stderr).not.toContain("token");
  });

  test("both reports: the active party's has curves, the passive party's its own splits only", async () => {
    const { bank, shop } = world;
    const reportOf = async (company: Company): Promise<string> => {
      const { exitCode, stdout } = await tandem("report", join(company.folder, "jobs", "spring"));
      expect(exitCode).toBe(0);
      return readFileSync(stdout.trim(), "utf8");
    };
    const active = await reportOf(bank);
    expect(active).toContain("stopped early");
    expect(active).toMatch(/best: \d+ kept/);
    expect(active).toContain("validation rows");
    expect(active).toContain('class="parties"');
    const passive = await reportOf(shop);
    expect(passive).toContain('class="parties"');
    expect(passive).toContain("shop_3");
    expect(passive).not.toMatch(/bank_\d|\bauc\b|logloss|validation|stopped early|fraction of gain/);
    expect(secretsOf(bank, shop).filter((secret) => passive.includes(secret))).toEqual([]);
  });

  test("a hidden page is sent nothing, and catches up when it is visible again", async () => {
    const recorded = join(world.bank.folder, "jobs", "spring");
    const folder = join(root, "watched", "spring");
    mkdirSync(folder, { recursive: true });
    const lines = readFileSync(join(recorded, "events.jsonl"), "utf8").trimEnd().split("\n");
    const firstTree = lines.findIndex((line) => line.includes('"type":"tree"')) + 1;
    const events = join(folder, "events.jsonl");
    writeFileSync(events, `${lines.slice(0, firstTree).join("\n")}\n`);
    const release = await lockFolder(folder); // as the process of a running job does
    const server = startTandem(["dashboard", join(root, "watched")]);
    try {
      const watched = await openDashboard(browser, await printedAddress(server));
      const { page } = watched;
      await stateShown(page, "training");
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      await page.evaluate(`
          Object.defineProperty(document, "hidden", { configurable: true, value: true });
          document.dispatchEvent(new Event("visibilitychange"));
        `);
      const before = await page.locator("main").innerText();
      appendFileSync(events, `${lines.slice(firstTree).join("\n")}\n`);
      cpSync(join(recorded, "own.jsonl"), join(folder, "own.jsonl"));
      await page.waitForTimeout(1500);
      expect(requests).toEqual([]);
      expect(await page.locator("main").innerText()).toBe(before);
      await page.evaluate(
        'Reflect.deleteProperty(document, "hidden"); document.dispatchEvent(new Event("visibilitychange"));',
      );
      await stateShown(page, "finished");
      // It resumed from its position: nothing was sent twice.
      expect(new URL(requests.find((url) => url.includes("/api/stream")) ?? "").searchParams.get("from")).toMatch(
        /^[1-9]\d*\.0$/,
      );
      expect(await figure(page, "trees")).toMatch(/^\d+ \/ 200$/);
      watched.expectClean();
      await watched.context.close();
    } finally {
      server.child.kill("SIGTERM");
      await release();
    }
  });
});

/** Thresholds of one party as text; values that also occur in the other party's table are left out. */
function secretsOf(of: Company, to: Company): string[] {
  const values = new Set(
    readFileSync(join(to.folder, "data.csv"), "utf8")
      .split(/[,\n]/)
      .filter((cell) => cell !== "")
      .map((cell) => Math.fround(Number(cell))),
  );
  const share = readFileSync(join(of.folder, "jobs", "spring", "share.json"), "utf8");
  const found = [...share.matchAll(/"threshold":(-?[\d.]{6,})/g)]
    .map(([, threshold]) => threshold)
    .filter((threshold) => !values.has(Math.fround(Number(threshold))));
  expect(found.length).toBeGreaterThan(5);
  return found;
}
