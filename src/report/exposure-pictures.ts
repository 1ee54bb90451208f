/**
 * The pictures of an exposure as SVG: a bar per column, and the gauge of sums. Each part has a pattern of its own, so
 * that nobody needs to tell colours apart.
 */
import { formatPerPerson } from "../base/text/format.ts";
import { html, type Html } from "../base/text/html.ts";
import type { Exposure } from "../record/exposure.ts";
import { columnWords, type ExposureKind, exposureKinds, kindWords, toldWords } from "../record/exposure-facts.ts";
import type { SumsSpent } from "../record/spending-facts.ts";
import { placeBars, placeGauge } from "./exposure-layout.ts";
import { shortened } from "./tree-layout.ts";

const fills: Readonly<Record<ExposureKind, string>> = {
  outcomes: "#E69F00",
  sums: "url(#told-by-sums)",
  scoring: "url(#told-by-scoring)",
  unknown: "#e4e4df",
};

/** Once per page: every picture refers to them. */
export const exposurePatterns = html`<svg width="0" height="0" aria-hidden="true" style="position:absolute">
  <defs>
    <pattern id="told-by-sums" width="5" height="5" patternUnits="userSpaceOnUse">
      <rect width="5" height="5" fill="#b3261e" />
      <rect width="1" height="5" fill="#ffffff" />
    </pattern>
    <pattern id="told-by-scoring" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="7" height="7" fill="#ffffff" />
      <rect width="3" height="7" fill="#7a5c00" />
    </pattern>
  </defs>
</svg>`;

const [left, width, lane] = [190, 640, 26];

export function exposureBars({ columns, people, learner }: Exposure): Html {
  const bars = placeBars(columns);
  const height = bars.length * lane + 30;
  return html`<svg
    viewBox="0 0 1000 ${height}"
    role="img"
    aria-label="bits of each column that ${learner} could compute"
  >
    ${exposureKinds.map(
      (kind, i) =>
        html`<rect x="${i * 240}" y="2" width="22" height="14" fill="${fills[kind]}" stroke="#8a8f98" /><text
            x="${i * 240 + 29}"
            y="14"
            class="soft"
            >${kindWords[kind]}</text
          >`,
    )}
    ${bars.map(({ column, parts }, i) => {
      const top = i * lane + 32;
      return html`<g
        ><title>${columnWords(column, people)}</title
        ><text x="0" y="${top + 13}">${shortened(column.name, 24)}</text> ${parts.map(
          ({ kind, from, to }) =>
            html`<rect
              x="${left + from * width}"
              y="${top}"
              width="${(to - from) * width}"
              height="17"
              fill="${fills[kind]}"
              stroke="#fff"
            />`,
        )}<text x="1000" y="${top + 13}" text-anchor="end" class="soft">${toldWords(column)}</text></g
      >`;
    })}
  </svg>`;
}

export function gaugePicture({ title, sumsPerPerson, limit }: SumsSpent): Html {
  const { at, isBeyond, marks, limitAt } = placeGauge(sumsPerPerson, limit);
  const [from, length] = [8, 540];
  const x = (part: number): number => from + part * length;
  const line = (part: number, top: number, bottom: number, dash: string): Html =>
    html`<line
      x1="${x(part)}"
      y1="${top}"
      x2="${x(part)}"
      y2="${bottom}"
      stroke="#1b1e23"
      stroke-width="1.5"
      stroke-dasharray="${dash}"
    />`;
  return html`<svg
    viewBox="0 0 560 84"
    style="max-width:560px;margin:0"
    role="img"
    aria-label="${title}: ${formatPerPerson(sumsPerPerson)}"
  >
    <rect x="${from}" y="24" width="${length}" height="18" rx="3" fill="#e4e4df" />
    <rect x="${from}" y="24" width="${at * length}" height="18" rx="3" fill="#b3261e" />
    ${isBeyond ? html`<path d="M${x(1)} 20 l10 13 l-10 13 z" fill="#b3261e" />` : ""}
    ${marks.map(
      ({ at: place, value, word }) =>
        html`${line(place, 20, 48, "none")}<text x="${x(place)}" y="64" text-anchor="middle" class="soft">${value}</text
          ><text x="${x(place)}" y="80" text-anchor="middle" class="soft">${word}</text>`,
    )}
    ${
      limitAt === null
        ? ""
        : html`${line(limitAt, 18, 46, "3 3")}<text
              x="${x(limitAt)}"
              y="14"
              text-anchor="${limitAt > 0.8 ? "end" : limitAt < 0.1 ? "start" : "middle"}"
              class="soft"
              >your limit ${formatPerPerson(limit ?? 0)}</text
            >`
    }
  </svg>`;
}
