/**
 * Unpacks the artefacts of a release, to look at them.
 *
 *   node scripts/unpack-fixtures.mjs test/fixtures/v0.6 <new folder>
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { unbundle } from "./fixtures/bundle.mjs";

const [, , release, folder] = process.argv;
if (folder === undefined) throw new Error("usage: node scripts/unpack-fixtures.mjs <release> <new folder>");
unbundle(readFileSync(join(release, "artefacts.json.gz")), folder);
