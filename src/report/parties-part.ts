/** A report's parties: who took part, how many bytes went each way, and who spent how much time on what. */
import { formatBytes, formatSeconds } from "../base/text/format.ts";
import { type Html, html } from "../base/text/html.ts";
import type { PhaseSpan } from "../record/events/training-events.ts";
import { featuresOf, phaseWords } from "../record/job-facts.ts";
import type { JobView } from "../record/job-view.ts";
import { htmlTable } from "./html-table.ts";
import { partiesPicture, partyColour, phasesPicture } from "./job-pictures.ts";

export function partiesPart(view: JobView): Html {
  const rows = view.parties.map((party) => [
    html`<span class="dot" style="background:${partyColour(view, party.name)}"></span>${party.name}`,
    party.role,
    featuresOf(view, party)?.toString() ?? "",
    formatBytes(party.sentBytes),
    formatBytes(party.receivedBytes),
  ]);
  return html`<h2>Parties</h2>
    <figure class="parties">${partiesPicture(view)}</figure>
    ${htmlTable(["party", "role", "features that take part", "sent", "received"], rows, 2)}
    <p class="soft">
      Bytes are the payload of training messages between this party and the others. They travel under TLS 1.3, with
      certificates on both sides.
    </p>`;
}

export function timePart(view: JobView): Html {
  const { result, totals } = view;
  const spans = view.spans.current.length > 0 ? view.spans.current : view.spans.previous;
  const seconds = [...totals].flatMap(([party, byPhase]) =>
    [...byPhase].map(([phase, ms]) => [party, phaseWords[phase], (ms / 1000).toFixed(2)]),
  );
  const wall = Object.entries(result?.phasesMs ?? {}).map(([name, ms]) => [name, (ms / 1000).toFixed(3)]);
  return html`<h2>Time</h2>
    ${spans.length === 0 ? "" : treePhases(view, spans)}
    ${titledTable("All trees, seconds per party and phase", ["party", "phase", "seconds"], seconds, 2)}
    ${titledTable("Elapsed time at this party", ["phase", "seconds"], wall, 1)} ${processUse(view)}`;
}

function treePhases(view: JobView, spans: readonly PhaseSpan[]): Html {
  return html`<figure>
    <figcaption>Tree ${spans[0].tree + 1}, phase by phase</figcaption>
    ${phasesPicture(view, spans)}
  </figure>`;
}

/** Nothing if it has no rows. */
function titledTable(title: string, head: readonly string[], rows: readonly string[][], textColumns: number): Html {
  if (rows.length === 0) return html``;
  return html`<h3>${title}</h3>
    ${htmlTable(head, rows, textColumns)}`;
}

function processUse({ result, passiveResult }: JobView): Html {
  const use = result ?? passiveResult;
  if (use === null) return html``;
  return html`<p class="soft">
    This party's process used ${formatSeconds(use.cpuSeconds)} of CPU time and at most ${formatBytes(use.peakRssBytes)}
    of memory.
  </p>`;
}
