/** uPlot in a component: drawn once, fed with new data, drawn again when colours or width change. */
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colours, cssColour } from "./theme.ts";

export interface Series {
  readonly label: string;
  /** A custom property of the style sheet. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly dash?: readonly number[];
  readonly bars?: boolean;
  readonly points?: boolean;
}

interface ChartProps {
  readonly label: string;
  readonly x: readonly number[];
  readonly series: readonly Series[];
  readonly xLabel: string;
  readonly yRange?: readonly [number, number];
  readonly xRange?: readonly [number, number];
  /**
   * Vertical marks: where training stopped, where KS is. They may stand close together: each is named below the one
   * before.
   */
  readonly marks?: readonly { readonly at: number; readonly text: string }[];
  readonly wholeX?: boolean;
  readonly height?: number;
}

export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = JSON.stringify([
    props.series.map(({ label, colour }) => [label, colour]),
    props.marks,
    props.yRange,
    props.xRange,
    colours.value,
  ]);
  // Before the page is painted, so that an update is one frame and not two. On mounting there is no plot yet, and one
  // is made with the data in it.
  useLayoutEffect(
    () => plot.current?.setData(data(props)),
    [props.x.length, props.series.map(({ values }) => values[values.length - 1]).join()],
  );
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const made = new uPlot(options(props, element.clientWidth), data(props), element);
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: props.height ?? chartHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  return <div class="chart" ref={host} role="img" aria-label={props.label} />;
}

const chartHeight = 240;

function data({ x, series }: ChartProps): uPlot.AlignedData {
  return [[...x], ...series.map(({ values }) => [...values])];
}

function options(props: ChartProps, width: number): uPlot.Options {
  const text = cssColour("--text-soft");
  const grid = { stroke: cssColour("--line"), width: 1 };
  const axis = { stroke: text, grid, ticks: { ...grid, size: 4 }, font: "12px system-ui, sans-serif" };
  return {
    width,
    height: props.height ?? chartHeight,
    scales: {
      x: { time: false, ...(props.xRange === undefined ? {} : { range: [...props.xRange] as [number, number] }) },
      y: props.yRange === undefined ? {} : { range: [...props.yRange] as [number, number] },
    },
    axes: [
      {
        ...axis,
        label: props.xLabel,
        labelFont: "12px system-ui, sans-serif",
        labelSize: 18,
        size: 34,
        ...(props.wholeX === true ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000] } : {}),
      },
      { ...axis, size: 52 },
    ],
    legend: { live: false },
    cursor: { points: { size: 6 } },
    series: [
      { label: props.xLabel },
      ...props.series.map(({ label, colour, dash, bars, points }) => {
        const stroke = cssColour(colour);
        return {
          label,
          stroke,
          width: 2,
          points: { show: points === true, size: 5, fill: stroke },
          ...(dash === undefined ? {} : { dash: [...dash] }),
          ...(bars === true && uPlot.paths.bars !== undefined
            ? { fill: `${stroke}66`, width: 1, paths: uPlot.paths.bars({ size: [1, 40], align: 1 }) }
            : {}),
          value: (_: uPlot, value: number | null) => (value === null ? "" : Number(value.toPrecision(4)).toString()),
        };
      }),
    ],
    plugins: [markPlugin(props.marks ?? [], text, cssColour("--card"))],
  };
}

function markPlugin(marks: NonNullable<ChartProps["marks"]>, colour: string, ground: string): uPlot.Plugin {
  return {
    hooks: {
      draw: ({ ctx, bbox, valToPos }: uPlot) => {
        ctx.save();
        ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
        for (const [i, { at: value, text }] of marks.entries()) {
          const x = valToPos(value, "x", true);
          ctx.strokeStyle = colour;
          ctx.setLineDash([4, 4]);
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          ctx.textAlign = x > bbox.left + bbox.width * 0.7 ? "right" : "left";
          const at = [
            x + (ctx.textAlign === "left" ? 6 : -6) * devicePixelRatio,
            bbox.top + (14 + 17 * i) * devicePixelRatio,
          ] as const;
          // Where a curve passes, the words are still to be read.
          ctx.setLineDash([]);
          ctx.strokeStyle = ground;
          ctx.lineWidth = 5 * devicePixelRatio;
          ctx.lineJoin = "round";
          ctx.strokeText(text, ...at);
          ctx.lineWidth = devicePixelRatio;
          ctx.fillStyle = colour;
          ctx.fillText(text, ...at);
        }
        ctx.restore();
      },
    },
  };
}
