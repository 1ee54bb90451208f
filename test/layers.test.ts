/** The direction of imports: the real tree passes, and the check is shown to fail on every kind of wrong import. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

interface LayerCheck {
  readonly layers: Readonly<Record<string, readonly string[]>>;
  readonly folderOnly: readonly string[];
  checkLayers(root: string): { violations: string[]; moduleCount: number; importCount: number };
  importsOf(text: string): { specifier: string; line: number }[];
}

const projectRoot = fileURLToPath(new URL("..", import.meta.url));
const script = join(projectRoot, "scripts", "check-layers.mjs");
const { layers, folderOnly, checkLayers, importsOf } = (await import(pathToFileURL(script).href)) as LayerCheck;

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tandem-layers-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe("the real tree", () => {
  it("has no wrong import", () => {
    const { violations, moduleCount, importCount } = checkLayers(projectRoot);
    expect(violations).toEqual([]);
    expect(moduleCount).toBeGreaterThan(10);
    expect(importCount).toBeGreaterThan(moduleCount);
    expect(execFileSync(process.execPath, [script], { encoding: "utf8" })).toBe("");
  });

  it("has the modules that only their folder may import", () => {
    for (const path of folderOnly) expect(existsSync(join(projectRoot, "src", path))).toBe(true);
  });

  it("has only known folders, and fails with one wrong import planted", () => {
    for (const name of readdirSync(join(projectRoot, "src")))
      expect(Object.keys(layers)).toContain(name.replace(/(\.test)?\.ts$/, ""));
    cpSync(join(projectRoot, "src"), join(root, "src"), { recursive: true });
    plant("src/gbdt/planted.ts", '\nimport { PublicKey } from "../crypto/keys.ts";\n');
    const run = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
    expect(run.stderr).toBe("src/gbdt/planted.ts:2 may not import src/crypto/keys.ts (gbdt -> crypto)\n");
    expect(run.status).toBe(1);
  });
});

describe("a small tree", () => {
  beforeEach(() => {
    plant("src/base/error.ts", "export class TandemError extends Error {}\n");
    plant("src/gbdt/tree.ts", 'import { TandemError } from "../base/error.ts";\nexport { TandemError };\n');
    plant("src/crypto/key.ts", 'import { randomFillSync } from "node:crypto";\n');
  });

  it("passes as it is", () => {
    expect(checkLayers(root)).toEqual({ violations: [], moduleCount: 3, importCount: 2 });
  });

  it.each([
    ["static", 'import { key } from "../crypto/key.ts";', 1],
    ["type only", 'import type { Key } from "../crypto/key.ts";', 1],
    ["for its side effect", "\nimport '../crypto/key.ts';", 2],
    [
      "over several lines, with a comment inside",
      'import {\n  a, // it\'s; "fine"\n  b,\n} from "../crypto/key.ts";',
      4,
    ],
    ["second on a line", 'import "../base/error.ts"; import * as key from "../crypto/key.ts";', 1],
    ["export from", '\n\nexport { key } from "../crypto/key.ts";', 3],
    ["export type from", 'export type { Key } from "../crypto/key.ts";', 1],
    ["export all", 'export * from "../crypto/key.ts";', 1],
    ["export all as", 'export * as key from "../crypto/key.ts";', 1],
    ["dynamic", 'export async function f() {\n  return await import("../crypto/key.ts");\n}', 2],
    ["dynamic with a template", "const key = await import(`../crypto/key.ts`);", 1],
    ["in a type", 'let key: typeof import("../crypto/key.ts");', 1],
    ["require", 'const key = require("../crypto/key.ts");', 1],
    ["by a roundabout path", 'import { key } from "./../../src/crypto/key.ts";', 1],
  ])("fails on a wrong import: %s", (_, text, line) => {
    plant("src/gbdt/wrong.ts", `${text}\n`);
    expect(checkLayers(root).violations).toEqual([
      `src/gbdt/wrong.ts:${line} may not import src/crypto/key.ts (gbdt -> crypto)`,
    ]);
  });

  it("does not take comments, strings and other packages for imports", () => {
    const text = [
      "/**",
      ' * import { key } from "../crypto/key.ts" would be wrong; so would import("../crypto/key.ts")',
      " */",
      '// import { key } from "../crypto/key.ts";',
      'import { parse } from "yaml";',
      "export const a = 1;",
      "export { a as from };",
      'const message = `import it from "../crypto/key.ts"`;',
    ];
    expect(importsOf(text.join("\n"))).toEqual([{ specifier: "yaml", line: 5 }]);
  });

  it("fails on upward imports from generated code, the library and a relative path out of src", () => {
    plant("src/protocol/generated/tandem/wire_pb.ts", 'import { x } from "../../../transport/rpc.ts";\n');
    plant("src/api/index.ts", 'export { main } from "../cli/main.ts";\nexport * from "../gbdt/tree.ts";\n');
    plant("src/party/run.ts", 'import { train } from "@tandem-vfl/tandem";\nimport "../../test/fixture.ts";\n');
    expect(checkLayers(root).violations).toEqual([
      "src/api/index.ts:1 may not import src/cli/main.ts (api -> cli)",
      "src/party/run.ts:1 may not import src/api/index.ts (party -> api)",
      "src/party/run.ts:2 may not import test/fixture.ts (party -> outside src)",
      "src/protocol/generated/tandem/wire_pb.ts:1 may not import src/transport/rpc.ts (protocol -> transport)",
    ]);
  });

  it("treats a nested folder as a layer of its own, if the table lists it", () => {
    plant("src/protocol/active/role.ts", 'import "../phase.ts";\nimport "../passive/role.ts";\n');
    plant("src/protocol/passive/role.ts", 'import "../../scheme/candidates/plan.ts";\nimport "../../crypto/key.ts";\n');
    plant("src/scheme/candidates/plan.ts", 'import "../paillier/active.ts";\n');
    plant("src/scheme/paillier/active.ts", 'import "../candidates/plan.ts";\nimport "../scheme.ts";\n');
    expect(checkLayers(root).violations).toEqual([
      "src/protocol/active/role.ts:2 may not import src/protocol/passive/role.ts (protocol/active -> protocol/passive)",
      "src/protocol/passive/role.ts:2 may not import src/crypto/key.ts (protocol/passive -> crypto)",
      "src/scheme/candidates/plan.ts:1 may not import src/scheme/paillier/active.ts (scheme/candidates -> scheme)",
    ]);
  });

  it("lets views import records only: components import no party, and parties no component", () => {
    plant("web/views/card.tsx", 'import "../../src/record/job-view.ts";\nimport "../../src/party/run.ts";\n');
    plant("src/party/run.ts", 'import "../../web/views/card.tsx";\n');
    plant("src/dashboard/server.ts", 'import "../../web/report/reports.js";\n');
    expect(checkLayers(root).violations).toEqual([
      "src/party/run.ts:1 may not import web/views/card.tsx (party -> web)",
      "web/views/card.tsx:2 may not import src/party/run.ts (web -> party)",
    ]);
  });

  it("assigns the halves of a training protocol to their roles", () => {
    plant("src/protocol/hidden/active.ts", 'import "../active/role.ts";\nimport "./passive-nodes.ts";\n');
    plant("src/protocol/hidden/passive-nodes.ts", 'import "./terms.ts";\nimport "../passive/role.ts";\n');
    plant("src/protocol/hidden/terms.ts", 'import "../passive/role.ts";\n');
    expect(checkLayers(root).violations).toEqual([
      "src/protocol/hidden/active.ts:2 may not import src/protocol/hidden/passive-nodes.ts " +
        "(protocol/active -> protocol/passive)",
      "src/protocol/hidden/terms.ts:1 may not import src/protocol/passive/role.ts (protocol -> protocol/passive)",
    ]);
  });

  it("lets a layer that may import base import its folders, which may not import each other", () => {
    plant("src/base/files/disk.ts", 'import "../error.ts";\nimport "../text/format.ts";\n');
    plant("src/base/parameters/table.ts", 'import "../text/format.ts";\n');
    plant("src/base/assert.ts", 'import "./files/disk.ts";\n');
    plant("src/gbdt/grow.ts", 'import "../base/files/disk.ts";\nimport "../base/text/format.ts";\n');
    expect(checkLayers(root).violations).toEqual([
      "src/base/assert.ts:1 may not import src/base/files/disk.ts (base -> base/files)",
      "src/base/files/disk.ts:2 may not import src/base/text/format.ts (base/files -> base/text)",
    ]);
  });

  it("lets tests reach everything below party, and nothing above", () => {
    plant(
      "src/gbdt/tree.test.ts",
      'import "../crypto/key.ts";\nimport "../store/share.ts";\nimport "../party/run.ts";\n',
    );
    expect(checkLayers(root).violations).toEqual([
      "src/gbdt/tree.test.ts:3 may not import src/party/run.ts (gbdt -> party)",
    ]);
  });

  it("keeps a module to its folder, from tests and from the layer's other folders too", () => {
    plant("src/crypto/paillier/kernel.ts", 'import "./resident-bytes.ts";\n');
    plant("src/crypto/paillier/kernel.test.ts", 'import "./resident-bytes.ts";\n');
    plant("src/crypto/lattice/kernel.ts", 'import "../paillier/resident-bytes.ts";\n');
    plant("src/scheme/active.ts", 'import type { A } from "../crypto/paillier/resident-bytes.ts";\n');
    plant("src/scheme/active.test.ts", 'import "../crypto/paillier/resident-bytes.ts";\n');
    expect(checkLayers(root).violations).toEqual([
      "src/crypto/lattice/kernel.ts:1 may not import src/crypto/paillier/resident-bytes.ts (only its folder may)",
      "src/scheme/active.test.ts:1 may not import src/crypto/paillier/resident-bytes.ts (only its folder may)",
      "src/scheme/active.ts:1 may not import src/crypto/paillier/resident-bytes.ts (only its folder may)",
    ]);
  });

  it("fails on unknown folders and loose files", () => {
    plant("src/utils/strings.ts", 'import "../base/error.ts";\n');
    plant("src/gbdt/more.ts", 'import "../utils/strings.ts";\n');
    plant("src/loose.ts", "export {};\n");
    expect(checkLayers(root).violations).toEqual([
      "src/loose.ts: not a known layer; scripts/check-layers.mjs says what each may import",
      "src/utils: not a known layer; scripts/check-layers.mjs says what each may import",
      "src/gbdt/more.ts:1 may not import src/utils/strings.ts (gbdt -> utils)",
      "src/utils/strings.ts:1 may not import src/base/error.ts (utils -> base)",
    ]);
  });
});

describe("a tree that cannot be judged", () => {
  it("fails without src, without modules and without imports", () => {
    expect(checkLayers(root).violations).toEqual([
      `src: no modules found under ${join(root, "src")}; nothing was checked`,
    ]);
    mkdirSync(join(root, "src", "base"), { recursive: true });
    expect(checkLayers(root).violations).toEqual([
      `src: no modules found under ${join(root, "src")}; nothing was checked`,
    ]);
    plant("src/base/a.ts", "export const a = 1;\n");
    const run = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
    expect(run.stderr).toBe("src: no imports found in 1 modules; nothing was checked\n");
    expect(run.status).toBe(1);
  });
});
