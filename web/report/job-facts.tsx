/** Parts of a report that the page does not have: the times of the whole job, and its parameters and versions. */
import { formatBytes, formatCount, formatSeconds } from "../../src/base/text/format.ts";
import { phaseWords, resumedWords, rowsName } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Card, Table } from "../views/card.tsx";
import { Timeline } from "../views/timeline.tsx";

/** Of the active party's result; these overlap the phases of trees. */
const elapsedWords: Readonly<Record<string, string>> = {
  keygen: "making the key",
  handshake: "agreeing on the job",
  setUp: "preparing the tables",
  encrypt: "encrypting gradients",
  aggregate: "waiting for sums",
  decrypt: "decrypting sums",
  training: "training, all of it",
};

interface ViewProps {
  readonly view: JobView;
}

export function Time({ view }: ViewProps) {
  const { result, passiveResult, totals } = view;
  const spans = view.spans.current.length > 0 ? view.spans.current : view.spans.previous;
  const seconds = [...totals].flatMap(([party, byPhase]) =>
    [...byPhase].map(([phase, ms]) => [party, phaseWords[phase], (ms / 1000).toFixed(2)]),
  );
  const elapsed = Object.entries(result?.phasesMs ?? {}).map(([name, ms]) => [
    elapsedWords[name] ?? name,
    (ms / 1000).toFixed(2),
  ]);
  const use = result ?? passiveResult;
  return (
    <>
      <div class="grid">
        {spans.length > 0 && (
          <Card title={`Tree ${spans[0].tree + 1}, phase by phase`} wide>
            <Timeline view={view} spans={spans} before={[]} />
          </Card>
        )}
        {seconds.length > 0 && (
          <Card title="All trees, seconds per party and phase">
            <Table caption="Seconds of all trees" head={["party", "phase", "seconds"]} rows={seconds} textColumns={2} />
          </Card>
        )}
        {elapsed.length > 0 && (
          <Card title="Elapsed time at this party">
            <Table caption="Elapsed time" head={["phase", "seconds"]} rows={elapsed} />
          </Card>
        )}
      </div>
      {use !== null && (
        <p class="note">
          This party's process used {formatSeconds(use.cpuSeconds)} of CPU time and at most{" "}
          {formatBytes(use.peakRssBytes)} of memory.
        </p>
      )}
    </>
  );
}

/** After the loss of a party, a worker or the engine. */
export function Redone({ view }: ViewProps) {
  const { redone } = view.roundsSoFar;
  if (redone === 0) return null;
  const rounds = redone === 1 ? "1 round was interrupted and" : `${formatCount(redone)} rounds were interrupted and`;
  return <p class="note">{rounds} repeated. The model is that of an uninterrupted job.</p>;
}

export function JobParameters({ view, dataDigest }: ViewProps & { readonly dataDigest: string | null }) {
  const { parameters, data, versions, kernel } = view;
  return (
    <>
      <dl>
        {Object.entries(parameters).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{String(value) || "–"}</dd>
          </div>
        ))}
      </dl>
      <h3>Versions</h3>
      <p class="mono">
        {versions === null
          ? "–"
          : `tandem ${versions.tandem}, protocol ${versions.protocol}, Node ${versions.node}` +
            (kernel === null ? "" : `, ${kernel} kernel`)}
      </p>
      <h3>Data</h3>
      {data === null ? (
        <p>–</p>
      ) : (
        <>
          <p>
            {formatCount(data.trainRows)} {rowsName(view)} with {formatCount(data.featureCount)} own features;{" "}
            {formatCount(data.testRows)} test rows. SHA-256 of the former:
          </p>
          <p class="mono">{dataDigest ?? "–"}</p>
        </>
      )}
      {view.resumed > 0 && <p>The job was stopped and {resumedWords(view)}.</p>}
    </>
  );
}
