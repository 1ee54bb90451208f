/** Pictures of a search over parameters, as SVG made by hand: bars of what mattered, and dots of values and scores. */
import { type Html, html } from "../base/text/html.ts";
import type { TrialOutcome, TuneOutcome } from "../gbdt/tune/outcome.ts";
import type { Searched } from "../gbdt/tune/search-space.ts";

const blue = "#0072B2";
const orange = "#E69F00";

export function mattersChart(matters: TuneOutcome["matters"]): Html {
  const [row, left, width] = [26, 170, 560];
  const height = row * matters.length + 8;
  const most = Math.max(0.01, ...matters.map(({ share }) => share));
  const bars = matters.map(({ parameter, share }, i) => {
    const y = i * row + 4;
    const long = ((width - left - 60) * share) / most;
    return html`<text x="${left - 10}" y="${y + 15}" text-anchor="end">${parameter}</text>
      <rect x="${left}" y="${y}" width="${long.toFixed(1)}" height="${row - 6}" fill="${blue}"></rect>
      <text class="soft" x="${(left + long + 8).toFixed(1)}" y="${y + 15}">${Math.round(100 * share)} %</text>`;
  });
  const words = matters.map(({ parameter, share }) => `${parameter} ${Math.round(100 * share)} %`).join(", ");
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="What mattered: ${words}">${bars}</svg>`;
}

/** Trials stand in their order: the best first, and drawn last. */
export function valuesChart(trials: readonly TrialOutcome[], name: Searched): Html {
  const [width, height, left, right, top, bottom] = [440, 220, 62, 14, 10, 34];
  const dots = trials.flatMap((trial) => {
    const value = trial.parameters[name];
    return value === undefined || !Number.isFinite(trial.early) ? [] : [{ ...trial, value }];
  });
  const x = scaleOf(dots.map(({ value }) => value));
  const y = scaleOf(dots.map(({ early }) => early));
  const place = ({ value, early }: { readonly value: number; readonly early: number }): [number, number] => [
    left + x.share(value) * (width - left - right),
    height - bottom - y.share(early) * (height - top - bottom),
  ];
  const marks = dots.toReversed().map((dot) => {
    const [cx, cy] = place(dot).map((at) => at.toFixed(1));
    const isBest = dot === dots[0];
    if (isBest)
      return html`<rect
        x="-6"
        y="-6"
        width="12"
        height="12"
        fill="${orange}"
        transform="translate(${cx} ${cy}) rotate(45)"
      ></rect>`;
    if (dot.trial === 0)
      return html`<circle cx="${cx}" cy="${cy}" r="6" fill="none" stroke="${blue}" stroke-width="2"></circle>`;
    return html`<circle cx="${cx}" cy="${cy}" r="4" fill="${blue}" fill-opacity="0.6"></circle>`;
  });
  const base = height - bottom;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Scores by ${name}">
    <line x1="${left}" y1="${base}" x2="${width - right}" y2="${base}" stroke="#c8c8c2"></line>
    <line x1="${left}" y1="${top}" x2="${left}" y2="${base}" stroke="#c8c8c2"></line>
    <text class="soft" x="${left}" y="${height - 12}">${short(x.low)}</text>
    <text class="soft" x="${width - right}" y="${height - 12}" text-anchor="end">${short(x.high)}</text>
    <text class="soft" x="${left - 8}" y="${base}" text-anchor="end">${short(y.low)}</text>
    <text class="soft" x="${left - 8}" y="${top + 12}" text-anchor="end">${short(y.high)}</text>
    ${marks}
  </svg>`;
}

/** Where a value stands between the lowest and the highest; in the logarithm where they are far apart. */
function scaleOf(values: readonly number[]) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const isLog = low > 0 && high / low > 8;
  const at = (value: number): number => (isLog ? Math.log(value) : value);
  return { low, high, share: (value: number) => (high === low ? 0.5 : (at(value) - at(low)) / (at(high) - at(low))) };
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
