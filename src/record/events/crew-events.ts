/** A party's workers and the engine between them. */
import * as z from "zod/mini";
import { crewSummary } from "../../crew/crew-summary.ts";
import { blocksWord, type CrewView, engineBytes, noCrew } from "../crew-view.ts";
import { event } from "../event.ts";
import { count, text } from "../fields.ts";
import type { JobView } from "../job-view.ts";
import { info, warn } from "../log-line.ts";

export const crewEvents = {
  "engine-awaited": event(
    { why: text },
    {
      isOfJob: false,
      log: ({ why }) => warn(`waiting for the engine: ${why}`, { message: why }),
      terminal: { of: "own" },
    },
  ),
  "workers-awaited": event(
    { workers: count, wanted: count },
    {
      log: ({ workers, wanted }) =>
        info(`waiting for workers: ${workers} of ${wanted} have joined`, { workers, wanted }),
      terminal: { of: "own" },
    },
  ),
  "crew-opened": event(
    { blocks: count, rowsPerBlock: count },
    {
      log: ({ blocks, rowsPerBlock }) =>
        info(`its workers have ${blocks} ${blocks === 1 ? "block" : "blocks"} of up to ${rowsPerBlock} rows`, {
          blocks,
          rowsPerBlock,
        }),
      fold: (view, { blocks, rowsPerBlock }) =>
        change(view, (crew) => {
          const { toEngine, fromEngine } = engineBytes(crew); // each attempt counts from zero
          return { blocks, rowsPerBlock, summary: null, earlier: { toEngine, fromEngine } };
        }),
    },
  ),
  "tasks-opened": event(
    { workers: count },
    {
      log: ({ workers }) =>
        info(`its ${workers === 1 ? "worker does" : `${workers} workers do`} its encryption and decryption`, {
          workers,
        }),
      terminal: {
        of: "own",
        line: ({ party, workers }) =>
          workers === 1
            ? `${party}: a worker encrypts and decrypts`
            : `${party}: ${workers} workers encrypt and decrypt`,
      },
    },
  ),
  "worker-joined": event(
    { worker: text, threads: count },
    {
      log: ({ worker, threads }) =>
        info(`worker ${worker} joined, with ${threads} ${threads === 1 ? "thread" : "threads"}`, { worker, threads }),
      counter: { name: "tandem_crew_workers_joined_total", help: "Workers that joined." },
    },
  ),
  /** It ended, or stopped responding; `blocks` is what it held last. */
  "worker-lost": event(
    { worker: text, blocks: count },
    {
      log: ({ worker, blocks }) => warn(`lost worker ${worker}; it held ${blocksWord(blocks)}`, { worker, blocks }),
      fold: (view) => change(view, ({ workersLost }) => ({ workersLost: workersLost + 1 })),
      counter: {
        name: "tandem_crew_workers_lost_total",
        help: "Workers that left or were lost.",
      },
    },
  ),
  "block-moved": event(
    {
      block: count,
      moves: count,
      /** Its new holder. */
      worker: z.exactOptional(text),
    },
    {
      log: ({ block, moves, worker }) =>
        warn(`block ${block} moved to another worker${worker === undefined ? "" : `, ${worker}`}`, {
          block,
          moves,
          worker: worker ?? null,
        }),
      fold: (view) => change(view, ({ moves }) => ({ moves: moves + 1 })),
      counter: { name: "tandem_crew_block_moves_total", help: "Blocks that moved to another worker." },
    },
  ),
  "crew-progress": event(
    { crew: crewSummary },
    { fold: (view, { crew: summary }) => change(view, () => ({ blocks: summary.blocks, summary })) },
  ),
  "epoch-lost": event(
    { code: text },
    {
      log: ({ code }) => warn(`this attempt's work at the workers is lost (${code})`, { code }),
      fold: (view) => change(view, ({ epochsLost }) => ({ epochsLost: epochsLost + 1 })),
      counter: {
        name: "tandem_crew_epochs_lost_total",
        help: "Attempts whose work at the workers was lost.",
      },
    },
  ),
};

function change(view: JobView, changed: (crew: CrewView) => Partial<CrewView>): void {
  const crew = view.crew ?? noCrew;
  view.crew = { ...crew, ...changed(crew) };
}
