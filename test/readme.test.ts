/** The commands of README.md, run as they stand there. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import { scratchDirectory } from "./support/command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const run = promisify(execFile);

/** The code block of a page, in a language, that contains a text. */
function block(page: string, language: string, text: string): string {
  const blocks = [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)].filter(
    ([, found, code]) => found === language && code.includes(text),
  );
  expect(blocks, `one ${language} block with '${text}'`).toHaveLength(1);
  return blocks[0][2];
}

const directory = scratchDirectory();
const random = new SeededRandom("readme");
const names = ["ID", "LIMIT_BAL", "AGE", "PAY_0", "PAY_2", "BILL_AMT1", "PAY_AMT1", "default"];
const rows = Array.from({ length: 20 }, (_, i) => {
  const values = Array.from({ length: 6 }, () => Math.round(random.normal() * 100));
  return [i + 1, ...values, values[0] + values[2] + 50 * random.normal() > 0 ? 1 : 0].join(",");
});
writeFileSync(join(directory, "credit.csv"), `${[names.join(","), ...rows].join("\n")}\n`);

test("the simulate command", async () => {
  const command = block(readme, "sh", "tandem simulate").replaceAll(
    "npx tandem",
    `"${process.execPath}" "${join(root, "bin", "tandem.js")}"`,
  );
  const { stdout } = await run("sh", ["-c", command], { cwd: directory });
  expect(stdout).toContain("federated equals centralised?  yes");
});
