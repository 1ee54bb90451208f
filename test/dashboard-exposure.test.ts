/** The Exposure view in a real browser, of jobs that were audited and of one that was not. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Dashboard, startDashboard } from "../src/dashboard/server.ts";
import { JobRecord } from "../src/record/job-record.ts";
import { expectAccessible, findBrowser, launchBrowser, openDashboard } from "./support/browser.ts";
import { partOf } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import { openView, picture } from "./support/dashboard-page.ts";
import { columnExposure, labelExposure, recordActive, recordPassive } from "./support/exposed-job.ts";

const browserPath = findBrowser();
const screens = [
  { width: 1280, dark: false },
  { width: 1280, dark: true },
  { width: 390, dark: false },
] as const;

describe.skipIf(browserPath === null)("the Exposure view in a browser", () => {
  const records = scratchDirectory();
  let browser: Browser;
  let dashboard: Dashboard;
  beforeAll(async () => {
    recordPassive(join(records, "retailer"), "audited", { exposure: columnExposure });
    recordPassive(join(records, "retailer"), "unaudited", { exposure: null, isGuarded: true });
    recordActive(join(records, "bank"), "audited", { exposure: labelExposure });
    const viewers = ["retailer", "bank"].map((name) => ({ name, directory: join(records, name), job: "audited" }));
    dashboard = await startDashboard({ viewers, host: "127.0.0.1", port: 0 });
    browser = await launchBrowser(browserPath ?? "");
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
  });

  const opened = async (viewer: string, job: string, { width, dark }: (typeof screens)[number] = screens[0]) => {
    const watched = await openDashboard(browser, dashboard.url, { width, dark });
    await openView(watched.page, `exposure?viewer=${viewer}&job=${job}`);
    await watched.page.getByRole("heading", { name: "Exposure", level: 1 }).waitFor();
    return watched;
  };
  const widthOf = (page: Page): Promise<number> => page.evaluate<number>("document.documentElement.scrollWidth");

  test.each(partOf(screens, 0, 2))("accessible, and not wider than the screen: $width, dark $dark", async (screen) => {
    for (const [viewer, job, card] of [
      ["retailer", "audited", "What bank could compute of your columns"],
      ["retailer", "unaudited", "Your columns"],
      ["bank", "audited", "What retailer could guess of your labels"],
    ] as const) {
      const watched = await opened(viewer, job, screen);
      await watched.page.getByRole("region", { name: card }).first().waitFor();
      const summaries = await watched.page.locator("summary").all();
      for (const summary of summaries) await summary.click();
      await expect.poll(() => watched.page.locator("details[open] table").count()).toBe(summaries.length);
      await expectAccessible(watched.page, `${viewer}, ${job}`);
      expect(await widthOf(watched.page)).toBeLessThanOrEqual(screen.width);
      if (viewer === "retailer" && job === "audited") {
        for (const summary of summaries) await summary.click();
        await picture(watched.page, `exposure${screen.dark ? "-dark" : ""}${screen.width === 390 ? "-390" : ""}`);
      }
      watched.expectClean();
      await watched.context.close();
    }
  });

  test("a passive party: bars in proportion to bits, counts on hover and in a table, the gauge", async () => {
    const { page, context, expectClean } = await opened("retailer", "audited");
    const lane = page.locator(".revealed-lane", { hasText: /^AGE/ });
    await lane.waitFor();
    expect(await lane.getAttribute("title")).toContain("for 2,250 with sums");
    const widths = await lane.locator(".revealed").evaluateAll((parts) => parts.map((part) => part.clientWidth));
    const track = await lane.locator(".revealed-track").evaluate((element) => element.clientWidth);
    // AGE holds the most bits: its parts fill the line, but for the seams between them.
    const expected = [1.1, 0.5, 1.7, 1.42].map((bits) => (bits / 4.72) * track);
    for (const [i, width] of widths.entries()) expect(Math.abs(width - expected[i])).toBeLessThan(3);
    expect(widths).toHaveLength(4);

    // By keyboard: the table behind the picture.
    await page.locator("summary", { hasText: "As a table" }).focus();
    await page.keyboard.press("Enter");
    const row = page
      .getByRole("region", { name: "What is revealed of each column" })
      .locator("tr", { hasText: /^AGE/ });
    await expect.poll(() => row.locator("td").allTextContents()).toContain("2,250 (10%)");

    expect(await page.locator(".gauge").getAttribute("aria-label")).toBe(
      "Exact sums per person, all jobs with bank: 0.031; little at 0.02, half at 0.05, all at 0.1; your limit 0.040",
    );
    const spent = page.getByRole("region", { name: "What else the partner has had" });
    expect(await spent.locator("tr", { hasText: "people scored" }).innerText()).toMatch(/7,500[^]*your limit 10,000/);
    await openView(page, "disclosure");
    expect(await page.locator(".lead").innerText()).toContain("0.031 per person, reveal some of it");
    expectClean();
    await context.close();
  });

  test("the active party: a curve between chance and the model; nothing of other parties' columns", async () => {
    const { page, context, expectClean } = await opened("bank", "audited");
    await page.getByRole("img", { name: /AUC of the best guess of your labels by retailer/ }).waitFor();
    expect(await page.locator("main").innerText()).toContain(
      "Of the riskiest tenth by the model it finds 61%; guessing finds 10%.",
    );
    expect(await page.locator(".gauge").count()).toBe(0);
    for (const { name } of columnExposure.columns) expect(await page.content()).not.toContain(name);
    expectClean();
    await context.close();
  });

  test("without an audit: how to make one, and the gauge; what an audit finds appears by itself", async () => {
    const { page, context, expectClean } = await opened("retailer", "unaudited");
    const main = page.locator("main");
    await expect.poll(() => main.innerText()).toContain("No audit of this job yet. Run tandem audit --job <folder>.");
    expect(await main.innerText()).toContain("No exact sums of all candidates were sent.");
    expect(await main.innerText()).toContain(
      "(privacy: guarded): noise of deviation 5 in sums, at least 1% of the people",
    );
    const record = new JobRecord(join(records, "retailer", "unaudited"));
    record.own({ kind: "exposure", exposures: [{ ...columnExposure, noise: { sigma: 10, bitsPerColumnMax: 0.02 } }] });
    record.close();
    await expect.poll(() => main.innerText(), { timeout: 120_000 }).toContain("at most 0.02 bits per column");
    // The status text is rate-limited.
    await expect
      .poll(() => page.getByRole("status").innerText(), { timeout: 120_000 })
      .toContain("finished and audited");
    expectClean();
    await context.close();
  });
});
