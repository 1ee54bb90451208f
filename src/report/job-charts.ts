/** A job's curves as SVG, drawn by ECharts without a browser. */
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { ScoreCurves } from "../gbdt/metric/score-curves.ts";
import { Html } from "../base/text/html.ts";
import { type Mark, fractionsOf } from "../record/job-facts.ts";
import type { RoundMetrics } from "../record/job-view.ts";

echarts.use([LineChart, BarChart, GridComponent, LegendComponent, MarkLineComponent, SVGRenderer]);

const size = { width: 560, height: 280 };
const blue = "#0072B2";
const orange = "#E69F00";
const grey = "#565d68";

type Point = readonly [number, number];
type Option = Record<string, unknown>;

interface Line {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly Point[];
  readonly dashed?: boolean;
}

interface Axes {
  readonly x: string;
  readonly xRange?: Point;
  readonly yRange?: Point;
  /** Tree numbers are whole. */
  readonly wholeX?: boolean;
  readonly marks?: readonly Mark[];
}

export function learningChart(rounds: readonly RoundMetrics[], metric: string, marks: readonly Mark[]): Html {
  const points = (of: (round: RoundMetrics) => number | null | undefined): Point[] =>
    rounds.flatMap((round) => {
      const value = of(round) ?? Number.NaN; // a metric that does not exist is null in a record
      return Number.isNaN(value) ? [] : [[round.tree + 1, value] as const];
    });
  const lines: Line[] = [{ name: "training", colour: blue, points: points(({ train }) => train[metric]) }];
  const validation = points((round) => round.validation?.[metric]);
  if (validation.length > 0) lines.push({ name: "validation", colour: orange, points: validation, dashed: true });
  return lineChart(lines, { x: "tree", wholeX: true, marks });
}

export function rocChart({ roc }: ScoreCurves): Html {
  return lineChart(
    [
      { name: "model", colour: blue, points: roc },
      {
        name: "guessing",
        colour: grey,
        points: [
          [0, 0],
          [1, 1],
        ],
        dashed: true,
      },
    ],
    { x: "false positive rate", xRange: [0, 1], yRange: [0, 1] },
  );
}

export function ksChart({ cumulative, ksAt }: ScoreCurves): Html {
  return lineChart(
    [
      { name: "label 0", colour: blue, points: cumulative.map(([score, negatives]) => [score, negatives]) },
      {
        name: "label 1",
        colour: orange,
        points: cumulative.map(([score, , positives]) => [score, positives]),
        dashed: true,
      },
    ],
    { x: "score", yRange: [0, 1], marks: [{ at: ksAt.score, text: `KS ${ksAt.ks.toFixed(4)}` }] },
  );
}

/** How well labels can be guessed after each tree, between chance and the model. */
export function labelChart(guesses: readonly Point[], modelAuc: number, yRange: Point): Html {
  const level = (auc: number): Point[] => guesses.map(([tree]) => [tree, auc]);
  return lineChart(
    [
      { name: "best guess", colour: orange, points: guesses },
      { name: "the model", colour: blue, points: level(modelAuc), dashed: true },
      { name: "chance", colour: grey, points: level(0.5), dashed: true },
    ],
    { x: "tree", wholeX: true, yRange },
  );
}

/** Of each label by itself: of the rarer one nothing would be seen otherwise. */
export function scoreChart({ histogram }: ScoreCurves): Html {
  const { min, max } = histogram;
  const [negatives, positives] = [histogram.negatives, histogram.positives].map(fractionsOf);
  const width = (max - min) / negatives.length;
  const categories = negatives.map((_, i) => (min + (i + 0.5) * width).toPrecision(2));
  const bars = (name: string, colour: string, data: readonly number[]): object => ({
    type: "bar",
    name,
    data: [...data],
    itemStyle: { color: colour },
    barGap: "0%",
    barCategoryGap: "15%",
  });
  return drawn({
    ...frame(["label 0", "label 1"]),
    xAxis: { ...axisStyle("score"), type: "category", data: categories },
    yAxis: { ...axisStyle(""), type: "value" },
    series: [bars("label 0", blue, negatives), bars("label 1", orange, positives)],
  });
}

function lineChart(lines: readonly Line[], axes: Axes): Html {
  const { xRange, yRange, marks = [] } = axes;
  return drawn({
    ...frame(lines.map(({ name }) => name)),
    xAxis: {
      ...axisStyle(axes.x),
      type: "value",
      scale: true,
      ...(xRange === undefined ? {} : { min: xRange[0], max: xRange[1] }),
      ...(axes.wholeX === true ? { minInterval: 1, min: "dataMin", max: "dataMax" } : {}),
    },
    yAxis: {
      ...axisStyle(""),
      type: "value",
      scale: true,
      ...(yRange === undefined ? {} : { min: yRange[0], max: yRange[1] }),
    },
    series: lines.map(({ name, colour, points, dashed }, i) => ({
      type: "line",
      name,
      data: points.map(([x, y]) => [x, y]),
      showSymbol: points.length < 30,
      symbolSize: 5,
      lineStyle: { color: colour, width: 2, type: dashed === true ? "dashed" : "solid" },
      itemStyle: { color: colour },
      ...(i === 0 && marks.length > 0 ? { markLine: markLine(marks) } : {}),
    })),
  });
}

/** The first is named above its line, the next along it: they may stand close together. */
function markLine(marks: readonly Mark[]): Option {
  const data = marks.map(({ at, text }, i) => ({
    xAxis: at,
    label: { formatter: text, color: grey, position: i === 0 ? "end" : "insideEndTop" },
  }));
  return { symbol: "none", silent: true, lineStyle: { color: grey, type: "dashed" }, data };
}

function frame(names: readonly string[]): Option {
  return {
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif" },
    legend: {
      data: [...names],
      top: 0,
      right: 20,
      icon: "roundRect",
      itemWidth: 14,
      itemHeight: 8,
      itemGap: 24,
      textStyle: { color: grey },
    },
    grid: { left: 48, right: 28, top: 40, bottom: 44 },
  };
}

function axisStyle(name: string): Option {
  return {
    name,
    nameLocation: "middle",
    nameGap: 24,
    nameTextStyle: { color: grey },
    axisLabel: { color: grey },
    splitLine: { lineStyle: { color: "#e6e6e2" } },
  };
}

function drawn(option: Option): Html {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, ...size });
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return new Html(svg);
}
