/** A report's workers: how many there were, what went through the engine, and what was lost. Numbers only, no names. */
import { formatBytes, formatCount } from "../base/text/format.ts";
import { type Html, html } from "../base/text/html.ts";
import { engineBytes } from "../record/crew-view.ts";
import type { JobView } from "../record/job-view.ts";
import { htmlTable } from "./html-table.ts";

/** Nothing where the party had none. */
export function workersPart({ crew }: JobView): Html {
  if (crew === null) return html``;
  const { toEngine, fromEngine } = engineBytes(crew);
  const rows = [
    ["workers, when they were last looked at", formatCount(crew.summary?.workerCount ?? 0)],
    ["blocks of rows", formatCount(crew.blocks)],
    ["sent to the engine", formatBytes(toEngine)],
    ["taken from the engine", formatBytes(fromEngine)],
    ["moves of a block to another worker", formatCount(crew.moves)],
    ["workers that went", formatCount(crew.workersLost)],
    ["attempts whose work at the workers was lost", formatCount(crew.epochsLost)],
  ];
  return html`<h2>Workers</h2>
    ${htmlTable(["", "count"], rows, 1)}
    <p class="soft">
      Workers of this party held its rows in blocks. Neither their number nor their moves show in the model. Everything
      that went through the engine was sealed.
    </p>`;
}

/** Whatever was lost: a party, a worker or the engine. */
export function redonePart({ roundsSoFar: { redone } }: JobView): Html {
  if (redone === 0) return html``;
  const rounds = redone === 1 ? "1 round was lost in the middle, and" : `${formatCount(redone)} rounds were lost, and`;
  return html`<p class="soft">${rounds} done once more. The model is that of an undisturbed job.</p>`;
}
