/** Writes docs/parameters.md from the built parameter tables. */
import { writeFileSync } from "node:fs";
import { parameterPage } from "../dist/base/parameter-page.js";

writeFileSync(new URL("../docs/parameters.md", import.meta.url), parameterPage());
