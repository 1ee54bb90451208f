/** Writes docs/parameters.md from the parameter tables. */
import { writeFileSync } from "node:fs";
import { importSources } from "./import-sources.mjs";

const [{ parameterPage }] = await importSources("src/cli/reference/parameter-page.ts");
writeFileSync(new URL("../docs/parameters.md", import.meta.url), parameterPage());
