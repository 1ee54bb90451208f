/** The Python package's own tests, where python3 has what they need. */
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";

const needed = ["pandas", "pyarrow", "pytest"];
const found = spawnSync("python3", ["-c", `import ${needed.join(", ")}`]).status === 0;

test.skipIf(!found)(`tests of python/${found ? "" : ` (python3 lacks ${needed.join(", ")})`}`, async () => {
  const run = promisify(execFile)("python3", ["-m", "pytest", "-p", "no:cacheprovider"], {
    cwd: packagePath("python"),
    env: { ...process.env, PYTHONPATH: "src", TANDEM_NODE: process.execPath, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(/^\d+ passed/m);
  expect(stdout).not.toMatch(/\b(failed|error)/);
});
