/** This party's own workers: what each holds and is doing, and which of them the party waits for. */
import { formatBytes, formatCount } from "../../src/base/text/format.ts";
import { awaitedWords, type CrewView, engineBytes } from "../../src/record/crew-view.ts";
import { isUnderWay, type JobView } from "../../src/record/job-view.ts";
import { Card, Figure, Nothing, Table } from "./card.tsx";

const doingWords = {
  idle: "idle",
  reading: "reading a block",
  replaying: "replaying a log",
  loading: "loading",
  summing: "summing",
  hindered: "in trouble; see its log",
} as const;

/** On the page, with the names of machines. */
export function Workers({ view, crew }: { readonly view: JobView; readonly crew: CrewView }) {
  const { summary } = crew;
  const isOver = !isUnderWay(view.state);
  const awaited = summary === null || isOver ? null : awaitedWords(summary);
  return (
    <Card title="Workers" wide aside={awaited === null ? null : <span class="hint">{awaited}</span>}>
      {summary === null ? (
        <Nothing>The first look at the workers is a matter of seconds.</Nothing>
      ) : (
        <>
          <CrewFigures crew={crew} redone={view.roundsSoFar.redone} />
          <div class="crew-table">
            <Table
              caption="Workers"
              head={["worker", "now", "threads", "memory", "blocks"]}
              textColumns={2}
              rows={summary.workers.map(({ worker, doing, threads, memoryBytes, blocks }) => [
                worker,
                isOver ? "–" : doingWords[doing],
                formatCount(threads),
                formatBytes(memoryBytes),
                formatCount(blocks),
              ])}
            />
          </div>
          {summary.workerCount > summary.workers.length && (
            <p class="note">and {formatCount(summary.workerCount - summary.workers.length)} more</p>
          )}
        </>
      )}
    </Card>
  );
}

/** Numbers only: a report names no machine. */
export function CrewFigures({ crew, redone }: { readonly crew: CrewView; readonly redone: number }) {
  const { toEngine, fromEngine } = engineBytes(crew);
  const { blocks, freeBlocks, workerCount } = crew.summary ?? { blocks: crew.blocks, freeBlocks: 0, workerCount: 0 };
  return (
    <div class="figures crew-figures">
      <Figure value={formatCount(workerCount)} label={crew.workersLost === 0 ? "workers" : lostLabel(crew)} />
      <Figure value={`${formatCount(blocks - freeBlocks)} / ${formatCount(blocks)}`} label="blocks held" />
      <Figure value={formatBytes(toEngine)} label="to the engine" />
      <Figure value={formatBytes(fromEngine)} label="from the engine" />
      <Figure value={formatCount(crew.moves)} label={crew.moves === 1 ? "block moved" : "blocks moved"} />
      <Figure value={formatCount(redone)} label={redone === 1 ? "round redone" : "rounds redone"} />
      {crew.epochsLost > 0 && (
        <Figure
          value={formatCount(crew.epochsLost)}
          label={`attempt${crew.epochsLost === 1 ? "" : "s"} whose work at the workers was lost`}
        />
      )}
    </div>
  );
}

function lostLabel({ workersLost }: CrewView): string {
  return `workers; ${formatCount(workersLost)} went`;
}
