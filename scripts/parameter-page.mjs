/** Writes docs/parameters.md from the parameter tables, and the tables of docs/objectives.md from the declarations. */
import { readFileSync, writeFileSync } from "node:fs";
import { importSources } from "./import-sources.mjs";

const [{ parameterPage }, { withObjectiveTables }] = await importSources(
  "lab/reference/parameter-page.ts",
  "lab/reference/objective-tables.ts",
);
writeFileSync(new URL("../docs/parameters.md", import.meta.url), parameterPage());
const objectives = new URL("../docs/objectives.md", import.meta.url);
writeFileSync(objectives, withObjectiveTables(readFileSync(objectives, "utf8")));
