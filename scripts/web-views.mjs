/** What a bundle of src/ needs beyond TypeScript, because reports are made of the page's components (web/views). */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** For rolldown's option `transform`. */
export const preactJsx = { jsx: { runtime: "automatic", importSource: "preact" } };

const suffix = "?raw";

/** `import text from "./some.css?raw"`, as Vite has it. */
export const rawStyles = {
  name: "raw-styles",
  resolveId: (id, importer) => (id.endsWith(`.css${suffix}`) ? `\0${join(dirname(importer), id)}` : null),
  load: (id) =>
    id.startsWith("\0") && id.endsWith(suffix)
      ? `export default ${JSON.stringify(readFileSync(id.slice(1, -suffix.length), "utf8"))};`
      : null,
};
