/** The Workers card of a party's own page, in a real browser. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lockFolder, type Release } from "../src/base/files/process-lock.ts";
import { type Dashboard, startDashboard } from "../src/dashboard/server.ts";
import { JobRecord } from "../src/record/job-record.ts";
import { expectAccessible, findBrowser, launchBrowser, openDashboard } from "./support/browser.ts";
import { scratchDirectory } from "./support/command.ts";
import { beginCrewedJob, busyCrew } from "./support/crewed-job.ts";
import { openView, picture, stateShown } from "./support/dashboard-page.ts";
import { labelExposure, recordActive } from "./support/exposed-job.ts";

const browserPath = findBrowser();
const screens = [
  { width: 1280, dark: false },
  { width: 1280, dark: true },
  { width: 390, dark: false },
] as const;

describe.skipIf(browserPath === null)("the Workers card in a browser", () => {
  const records = scratchDirectory();
  let browser: Browser;
  let dashboard: Dashboard;
  let record: JobRecord;
  let release: Release;
  beforeAll(async () => {
    record = beginCrewedJob(join(records, "retailer", "spring"), "spring");
    release = await lockFolder(join(records, "retailer"));
    recordActive(join(records, "bank"), "spring", { exposure: labelExposure });
    const viewers = ["retailer", "bank"].map((name) => ({ name, directory: join(records, name), job: "spring" }));
    dashboard = await startDashboard({ viewers, host: "127.0.0.1", port: 0 });
    browser = await launchBrowser(browserPath ?? "");
  });
  afterAll(async () => {
    record?.close();
    await release?.();
    await browser?.close();
    await dashboard?.close();
  });

  test("accessible, and not wider than the screen, in both themes and on a narrow one", async () => {
    const { page, context, expectClean } = await openDashboard(browser, dashboard.url);
    const card = page.locator(".card", { has: page.getByRole("heading", { name: "Workers", exact: true }) });
    await card.locator("tbody tr").first().waitFor();
    for (const { width, dark } of screens) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
      await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe(dark ? "dark" : "light");
      await expectAccessible(page, `${width}, ${dark}`);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await picture(page, `workers${dark ? "-dark" : ""}${width === 390 ? "-390" : ""}`);
    }
    expectClean();
    await context.close();
  });

  test("a job whose process is gone is interrupted, on its page and in the list", async () => {
    const killed = new JobRecord(join(records, "bank", "killed"), () => 1000);
    const begun = { ownIdCount: 5, peerIdCount: 7, party: "bank", peer: "retailer", job: "killed" };
    killed.event({ type: "aligning", ...begun });
    killed.close();
    const { page, context, expectClean } = await openDashboard(browser, dashboard.url);
    await openView(page, "overview?viewer=bank&job=killed");
    await stateShown(page, "interrupted");
    await page.getByText("no process is working on it any more").waitFor();
    expect(await page.locator(".state-aligning").count()).toBe(0);
    await openView(page, "jobs?viewer=bank");
    await page.locator("tr", { hasText: "killed" }).locator(".state-interrupted").waitFor();
    expectClean();
    await context.close();
  });

  test("blocks per worker, the workers that a level waits for, moves and bytes, live; on no other page", async () => {
    const { page, context, expectClean } = await openDashboard(browser, dashboard.url);
    const card = page.locator(".card", { has: page.getByRole("heading", { name: "Workers", exact: true }) });
    const row = (name: string): Promise<string[]> =>
      card.locator("tr", { hasText: name }).locator("td").allTextContents();
    const figures = async (): Promise<string[]> =>
      (await card.locator(".figure").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    await card.locator("tbody tr").nth(3).waitFor();
    expect(await row("node-b")).toEqual(["replaying a log", "16", "5.20 GB", "5"]);
    expect(await card.locator(".hint").innerText()).toBe(
      "waiting 7 s for node-a-03f1c2d4 (2 blocks), node-b-77aa0912 (1 block)",
    );
    expect(await figures()).toEqual([
      "4 workers",
      "15 / 16 blocks held",
      "5.10 GB to the engine",
      "630 MB from the engine",
      "1 block moved",
      "0 rounds redone",
    ]);

    const party = "retailer";
    record.event({ type: "worker-lost", party, worker: "node-a-03f1c2d4", blocks: 5 });
    record.event({ type: "epoch-lost", party, code: "ENGINE_LOST" });
    record.event({ type: "joined", party, peer: "bank", featureCount: 100, job: "spring" });
    record.event({ type: "crew-opened", party, blocks: 16, rowsPerBlock: 655_360 });
    const workers = busyCrew.workers.slice(1);
    record.event({ type: "crew-progress", party, crew: { ...busyCrew, workers, workerCount: 3, awaited: null } });
    await expect
      .poll(figures, { timeout: 120_000 })
      .toEqual([
        "3 workers; 1 went",
        "15 / 16 blocks held",
        "10.2 GB to the engine",
        "1.26 GB from the engine",
        "1 block moved",
        "1 round redone",
        "1 attempt whose work at the workers was lost",
      ]);
    expect(await card.locator(".hint").count()).toBe(0);
    expect(await card.locator("tbody tr").count()).toBe(3);

    await openView(page, "overview?viewer=bank&job=spring");
    await page.getByRole("heading", { name: "Learning curve" }).waitFor();
    expect(await card.count()).toBe(0);
    expect(await page.content()).not.toContain("node-b");
    expectClean();
    await context.close();
  });
});
