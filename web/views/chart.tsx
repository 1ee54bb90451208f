/**
 * Lines or bars over an axis, the same in a browser and in a report. The curves are an SVG that stretches to the width
 * there is; everything written is HTML above it, so that text keeps its size on a narrow screen and on paper.
 */
import { type Axis, placeOn, type Range, roundAxis, tightAxis } from "./axis.ts";

export interface Series {
  readonly label: string;
  /** A custom property of the style sheet. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly dash?: "dashed" | "dotted";
}

interface Band {
  readonly label: string;
  readonly colour: string;
  readonly low: readonly number[];
  readonly high: readonly number[];
}

interface ChartProps {
  readonly label: string;
  readonly x: readonly number[];
  readonly series: readonly Series[];
  readonly xLabel: string;
  readonly yRange?: Range;
  readonly xRange?: Range;
  /** Vertical marks, such as the round that was kept. They may lie close together: each label is below the last. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[];
  /** Ticks at integers only. */
  readonly wholeX?: boolean;
  /** An area between two lines, such as an interval; drawn behind them. */
  readonly band?: Band;
  /** Bars of this width, in units of x, that begin at x. */
  readonly barWidth?: number;
}

/** More points than this would run into each other. */
const dotsMax = 30;
/** Units of the stretched picture, in either direction. */
const scale = 1000;

export function Chart({ label, x, series, xLabel, marks = [], ...props }: ChartProps) {
  const { xRange, yRange, wholeX = false, barWidth, band } = props;
  const values = [...series.flatMap((line) => line.values), ...(band === undefined ? [] : [...band.low, ...band.high])];
  const across = tightAxis(x, xRange, wholeX);
  const up =
    yRange === undefined ? roundAxis(barWidth === undefined ? values : [0, ...values]) : tightAxis([], yRange, false);
  const hasDots = barWidth === undefined && x.length < dotsMax;
  return (
    <div class="chart" role="img" aria-label={label}>
      <p class="legend">
        {series.map(({ label: name, colour, dash }) => (
          <span key={name} style={{ color: `var(${colour})` }}>
            <span class={barWidth === undefined ? `key ${dash ?? ""}` : "key bar-key"} />
            <span class="legend-name">{name}</span>
          </span>
        ))}
        {band !== undefined && (
          <span style={{ color: `var(${band.colour})` }}>
            <span class="key band-key" />
            <span class="legend-name">{band.label}</span>
          </span>
        )}
      </p>
      <div class="plot">
        {up.ticks.map(({ value, text }) => (
          <span key={text} class="y-tick" style={{ bottom: percent(placeOn(up, value)) }}>
            {text}
          </span>
        ))}
        <svg viewBox={`0 0 ${scale} ${scale}`} preserveAspectRatio="none">
          <path class="grid-lines" d={gridOf(across, up)} />
          {band !== undefined && (
            <path class="band" style={{ color: `var(${band.colour})` }} d={bandOf(x, band, across, up)} />
          )}
          {series.map(({ label: name, colour, values: line, dash }) => (
            <g key={name} style={{ color: `var(${colour})` }}>
              {barWidth === undefined ? (
                <path class={`curve ${dash ?? ""}`} d={curveOf(x, line, across, up)} />
              ) : (
                <path class="bars" d={barsOf(x, line, barWidth, across, up)} />
              )}
              {hasDots && dash !== "dotted" && !isLevel(line) && <path class="dots" d={dotsOf(x, line, across, up)} />}
            </g>
          ))}
        </svg>
        {marks.map(({ at, text }, i) => (
          <span key={text} class="chart-mark" style={{ left: percent(placeOn(across, at)) }}>
            <span class={placeOn(across, at) > 0.6 ? "before" : ""} style={{ top: `${i * 1.3}em` }}>
              {text}
            </span>
          </span>
        ))}
        {across.ticks.map(({ value, text }) => (
          <span key={text} class="x-tick" style={{ left: percent(placeOn(across, value)) }}>
            {text}
          </span>
        ))}
      </div>
      <p class="x-label">{xLabel}</p>
    </div>
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)}%`;
}

function gridOf(across: Axis, up: Axis): string {
  const lines = up.ticks.map(({ value }) => `M0 ${fromTop(up, value)}H${scale}`);
  return [...lines, ...across.ticks.map(({ value }) => `M${fromLeft(across, value)} 0V${scale}`)].join("");
}

/** Interrupted where there is no value. */
function curveOf(x: readonly number[], values: Series["values"], across: Axis, up: Axis): string {
  let isDrawing = false;
  return values
    .map((value, i) => {
      const command = isDrawing ? "L" : "M";
      isDrawing = isNumber(value);
      return isNumber(value) ? `${command}${fromLeft(across, x[i])} ${fromTop(up, value)}` : "";
    })
    .join("");
}

/** Along its upper line, and back along its lower one. */
function bandOf(x: readonly number[], { low, high }: Band, across: Axis, up: Axis): string {
  const point = (value: number, i: number): string => `${fromLeft(across, x[i])} ${fromTop(up, value)}`;
  return `M${[...high.map(point), ...low.map(point).toReversed()].join("L")}z`;
}

/** Lines of no length: their round ends are dots that do not stretch with the picture. */
function dotsOf(x: readonly number[], values: Series["values"], across: Axis, up: Axis): string {
  return values
    .map((value, i) => (isNumber(value) ? `M${fromLeft(across, x[i])} ${fromTop(up, value)}h.001` : ""))
    .join("");
}

function barsOf(x: readonly number[], values: Series["values"], width: number, across: Axis, up: Axis): string {
  const [gap, bottom] = [width / 20, fromTop(up, 0)];
  return values
    .map((value, i) => {
      if (!isNumber(value) || value === 0) return "";
      const [left, right] = [fromLeft(across, x[i] + gap), fromLeft(across, x[i] + width - gap)];
      return `M${left} ${bottom}V${fromTop(up, value)}H${right}V${bottom}z`;
    })
    .join("");
}

/** A line to compare with. */
function isLevel(values: Series["values"]): boolean {
  return values.length > 1 && values.every((value) => value === values[0]);
}

function isNumber(value: number | null): value is number {
  return value !== null && Number.isFinite(value);
}

function fromLeft(axis: Axis, value: number): string {
  return (placeOn(axis, value) * scale).toFixed(1);
}

function fromTop(axis: Axis, value: number): string {
  return ((1 - placeOn(axis, value)) * scale).toFixed(1);
}
