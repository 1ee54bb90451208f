/**
 * Figures as SVG, drawn by echarts without a browser. Light background, a palette that colour-blind readers can tell
 * apart (Okabe and Ito), and marks of different shape besides the colours.
 */
import { BarChart, type BarSeriesOption, LineChart, type LineSeriesOption } from "echarts/charts";
import {
  GridComponent,
  type GridComponentOption,
  LegendComponent,
  type LegendComponentOption,
  TitleComponent,
  type TitleComponentOption,
} from "echarts/components";
import { type ComposeOption, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { BarPanel, LinePanel, ResultFigure } from "../reproduce/outcome.ts";

use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

type Options = ComposeOption<
  BarSeriesOption | LineSeriesOption | GridComponentOption | LegendComponentOption | TitleComponentOption
>;

export const fontFamily = "Inter";
const fonts = `${fontFamily}, system-ui, sans-serif`;
const ink = "#222222";
const faint = "#d9d9d9";
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
/** The first is a ring, so that a line under another one still shows. */
const symbols = ["emptyCircle", "rect", "triangle", "diamond"];
const symbolSizes = [11, 6, 7, 8];

const panelWidth = 470;
const height = 360;
const margin = { left: 66, right: 24, top: 84, bottom: 62 };

export function figureSvg({ panels }: ResultFigure): string {
  const count = panels.length;
  const width = panelWidth * count + (count === 1 ? 90 : 0);
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption(optionsOf(panels, width / count));
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

function optionsOf(panels: ResultFigure["panels"], width: number): Options {
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))];
  const lone = names.length === 1;
  return {
    animation: false,
    backgroundColor: "#ffffff",
    color: palette,
    textStyle: { fontFamily: fonts, color: ink },
    title: panels.map(({ title }, i) => ({
      text: title,
      left: width * i + margin.left + (width - margin.left - margin.right) / 2,
      top: 8,
      textAlign: "center",
      textStyle: { fontFamily: fonts, fontSize: 15, fontWeight: "normal", color: ink },
    })),
    legend: {
      show: !lone,
      data: names,
      top: 34,
      left: "center",
      itemGap: 30,
      itemWidth: 22,
      itemHeight: 12,
      textStyle: { fontFamily: fonts, fontSize: 12, color: ink },
    },
    grid: panels.map((_, i) => ({
      left: width * i + margin.left,
      width: width - margin.left - margin.right,
      top: margin.top,
      height: height - margin.top - margin.bottom,
    })),
    xAxis: panels.map((panel, i) => xAxisOf(panel, i)),
    yAxis: panels.map((panel, i) => yAxisOf(panel, i)),
    series: panels.flatMap((panel, i): (BarSeriesOption | LineSeriesOption)[] =>
      panel.kind === "bars" ? bars(panel, i) : lines(panel, i, names),
    ),
  };
}

interface Extent {
  readonly min: number;
  readonly max: number;
}

const axisText = { fontFamily: fonts, fontSize: 12, color: ink };

function xAxisOf(panel: BarPanel | LinePanel, gridIndex: number) {
  const shared = {
    gridIndex,
    name: panel.xTitle,
    nameLocation: "middle",
    nameGap: 34,
    nameTextStyle: axisText,
    axisLine: { show: true, lineStyle: { color: ink } },
  } as const;
  if (panel.kind === "bars") {
    const long = panel.categories.some((category) => category.length > 12);
    const axisLabel = { ...axisText, interval: 0, fontSize: long ? 10.5 : 12, width: 84, overflow: "break" } as const;
    return { ...shared, type: "category" as const, data: [...panel.categories], axisTick: { show: false }, axisLabel };
  }
  const axisLabel = { ...axisText, hideOverlap: true, formatter: (value: number) => tick(value, panel.xLog) };
  return { ...shared, type: panel.xLog ? "log" : "value", scale: true, splitLine: { show: false }, axisLabel } as const;
}

function yAxisOf(panel: BarPanel | LinePanel, gridIndex: number) {
  const log = panel.kind === "lines" && panel.yLog;
  return {
    gridIndex,
    type: log ? "log" : "value",
    name: panel.yTitle,
    nameLocation: "end",
    nameGap: 10,
    nameTextStyle: { ...axisText, align: "right" },
    axisLabel: { ...axisText, formatter: (value: number) => tick(value, log) },
    axisLine: { show: true, lineStyle: { color: ink } },
    splitLine: { show: true, lineStyle: { color: faint } },
    ...(panel.kind === "bars" ? { boundaryGap: [0, "6%"] as [number, string] } : {}),
    ...(panel.kind === "lines" && panel.yMax !== undefined ? { max: panel.yMax } : {}),
    ...(log
      ? {
          min: ({ min }: Extent) => 10 ** Math.floor(Math.log10(min)),
          max: ({ max }: Extent) => 10 ** Math.ceil(Math.log10(max)),
        }
      : {}),
  } as const;
}

/** Powers of ten on a logarithmic axis, plain numbers elsewhere. */
function tick(value: number, log: boolean): string {
  if (!log || (value >= 0.01 && value < 1e5)) return value.toLocaleString("en", { maximumFractionDigits: 3 });
  return value.toExponential(0).replace("e+", "e");
}

function bars({ series, labels }: BarPanel, index: number): BarSeriesOption[] {
  return series.map(({ name, values }, s) => ({
    type: "bar",
    name,
    xAxisIndex: index,
    yAxisIndex: index,
    data: [...values],
    barMaxWidth: 42,
    barGap: "8%",
    itemStyle: { color: palette[s] },
    label: {
      show: s === series.length - 1,
      position: "top",
      fontFamily: fonts,
      fontSize: 12,
      color: ink,
      formatter: ({ dataIndex }: { dataIndex: number }) => labels[dataIndex],
    },
  }));
}

function lines({ series }: LinePanel, index: number, names: readonly string[]): LineSeriesOption[] {
  return series.map(({ name, points, dashed }) => {
    const color = palette[names.indexOf(name) % palette.length];
    return {
      type: "line",
      name,
      xAxisIndex: index,
      yAxisIndex: index,
      data: points.map((point) => [...point]),
      symbol: symbols[names.indexOf(name) % symbols.length],
      symbolSize: symbolSizes[names.indexOf(name) % symbolSizes.length],
      lineStyle: { color, width: 2, type: dashed === true ? "dashed" : "solid" },
      itemStyle: { color },
    };
  });
}
