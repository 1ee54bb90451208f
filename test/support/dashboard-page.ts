/**
 * What the tests of the dashboard's page do with it: wait, look, and with TANDEM_SCREENSHOTS=1 take docs/screenshots.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { TandemProcess } from "../world/tandem-process.ts";

export const pictures = process.env["TANDEM_SCREENSHOTS"] === "1";
/** Pictures are of a larger job, and may be taken on a machine that is busy. */
export const minutes = (pictures ? 6 : 2) * 60_000;
export const screenshots = fileURLToPath(new URL("../../docs/screenshots/", import.meta.url));

/** The pictures whose files are called otherwise than their view. */
const fileNames: Readonly<Record<string, string>> = { encoding: "codec", jobs: "runs" };

export async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  mkdirSync(screenshots, { recursive: true });
  await page.evaluate("document.activeElement?.blur()");
  await page.screenshot({ path: join(screenshots, `${fileNames[name] ?? name}.png`), fullPage: true });
}

export async function openView(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = "#/${view}"`);
  await page.locator("main .card").first().waitFor();
}

export const stateShown = (page: Page, name: string): Promise<void> =>
  page.locator(`.status .state-${name}`).waitFor({ timeout: 3 * minutes });

/** A number in the line of figures. */
export async function figure(page: Page, label: string): Promise<string> {
  return page.locator(".figure", { hasText: label }).first().locator(".figure-value").innerText();
}

/** The first line on standard output: where `tandem dashboard` says its address. */
export function printedAddress(command: TandemProcess): Promise<string> {
  return new Promise((resolve) => command.child.stdout?.once("data", (text: string) => resolve(text.trim())));
}
