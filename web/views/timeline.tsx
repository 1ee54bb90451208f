/** The phases of one tree as bars, one line per party and phase. It shows which party waits for which. */
import { formatMilliseconds, formatSeconds } from "../../src/base/text/format.ts";
import { type Phase, phases } from "../../src/protocol/phase.ts";
import { phaseWords } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Behind, Nothing, Table } from "./card.tsx";
import { partyColour } from "./party-colour.ts";

type Span = JobView["spans"]["current"][number];

/** Thousandths of the line; a shorter one would not be seen. */
const barWidthMin = 2;

interface Line {
  readonly party: string;
  readonly phase: Phase;
  readonly spans: readonly Span[];
  readonly totalMs: number;
}

/**
 * @param before of the tree before: while a tree grows, its lines are there already and its bars grow at the same scale
 */
export function Timeline({
  view,
  spans,
  before,
}: {
  readonly view: JobView;
  readonly spans: readonly Span[];
  readonly before: readonly Span[];
}) {
  if (spans.length === 0)
    return (
      <Nothing>
        {view.state === "finished"
          ? "This job has no record of its phases."
          : "Phases appear here when the first tree begins."}
      </Nothing>
    );
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to), from + 1, from + durationOf(before));
  const lines = linesOf(view, spans, before);
  return (
    <>
      <div class="timeline" aria-hidden="true">
        {lines.map((line, i) => (
          <div
            key={`${line.party} ${line.phase}`}
            class={i > 0 && lines[i - 1].party !== line.party ? "lane first" : "lane"}
            style={{ color: partyColour(view, line.party) }}
          >
            <span class="lane-party">{i === 0 || lines[i - 1].party !== line.party ? line.party : ""}</span>
            <span class="lane-phase">{phaseWords[line.phase]}</span>
            <span class="lane-track">
              <svg viewBox="0 0 1000 1" preserveAspectRatio="none">
                <path class="bar" d={barsOf(line.spans, from, to)} />
              </svg>
            </span>
            <span class="lane-time">{formatMilliseconds(line.totalMs)}</span>
          </div>
        ))}
        <div class="lane axis">
          <span />
          <span />
          <span class="lane-track ticks">
            {[0, 0.25, 0.5, 0.75, 1].map((part) => (
              <span key={part} class="tick" style={{ left: `${part * 100}%` }}>
                {to - from < 1000 ? formatMilliseconds((to - from) * part) : formatSeconds(((to - from) * part) / 1000)}
              </span>
            ))}
          </span>
          <span />
        </div>
      </div>
      <Behind
        table={() => (
          <Table
            caption="Time per party and phase"
            head={["party", "phase", "seconds", "fraction of the tree"]}
            textColumns={2}
            rows={lines.map((line) => [
              line.party,
              phaseWords[line.phase],
              (line.totalMs / 1000).toFixed(2),
              `${Math.round((line.totalMs / (to - from)) * 100)}%`,
            ])}
          />
        )}
      />
    </>
  );
}

/** All bars of a line as one shape: dozens of elements would cost a layout with every update. */
function barsOf(spans: readonly Span[], from: number, to: number): string {
  const scale = 1000 / (to - from);
  return spans
    .map((span) => {
      const left = ((span.from - from) * scale).toFixed(1);
      const width = Math.max(barWidthMin, (span.to - span.from) * scale).toFixed(1);
      return `M${left} 0h${width}v1H${left}z`;
    })
    .join("");
}

function durationOf(spans: readonly Span[]): number {
  return spans.length === 0 ? 0 : Math.max(...spans.map(({ to }) => to)) - Math.min(...spans.map(({ from }) => from));
}

function linesOf(view: JobView, spans: readonly Span[], before: readonly Span[]): Line[] {
  const parties = [...view.parties].sort((a, b) => Number(b.role === "active") - Number(a.role === "active"));
  return parties.flatMap(({ name }) =>
    phases.flatMap((phase): Line[] => {
      const own = spans.filter((span) => span.party === name && span.phase === phase);
      const known = own.length > 0 || before.some((span) => span.party === name && span.phase === phase);
      return !known
        ? []
        : [{ party: name, phase, spans: own, totalMs: own.reduce((sum, { from, to }) => sum + to - from, 0) }];
    }),
  );
}
