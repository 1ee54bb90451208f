/** The pieces that every view is made of. */
import type { ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { Medium } from "./medium.ts";

interface CardProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly wide?: boolean;
}

/** A part of a view. On the page the view's title is h1; in a report that is the job's, and views are h2. */
export function Card({ title, children, aside, wide = false }: CardProps) {
  const id = `card-${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const Heading = useContext(Medium) === "page" ? "h2" : "h3";
  return (
    <section class={wide ? "card wide" : "card"} aria-labelledby={id}>
      <div class="card-head">
        <Heading id={id}>{title}</Heading>
        {aside}
      </div>
      {children}
    </section>
  );
}

export interface FigureProps {
  readonly value: string;
  readonly label: string;
}

export function Figure({ value, label }: FigureProps) {
  return (
    <div class="figure">
      <span class="figure-value">{value}</span>
      <span class="figure-label">{label}</span>
    </div>
  );
}

/** A summary above a view, in a few sentences. */
export function Lead({ sentences }: { readonly sentences: readonly string[] }) {
  return <p class="lead">{sentences.join(" ")}</p>;
}

export function Nothing({ children }: { readonly children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}

interface TableProps {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** Columns to the right of this one hold numbers. */
  readonly textColumns?: number;
  /** On a narrow screen its cells are below each other, each with the head of its column. */
  readonly stacks?: boolean;
}

/** Scrolls sideways on a narrow screen, also by keyboard. */
export function Table({ caption, head, rows, textColumns = 1, stacks = false }: TableProps) {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={stacks ? "stacks" : undefined}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col" class={i < textColumns ? undefined : "number"}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={r}>
              {row.map((cell, i) =>
                i === 0 ? (
                  <th key={i} scope="row" class={i < textColumns ? undefined : "number"}>
                    {cell}
                  </th>
                ) : (
                  <td key={i} class={i < textColumns ? undefined : "number"} data-head={stacks ? head[i] : undefined}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellBarProps {
  /** Of the longest bar, or of a whole, from 0 to 1. */
  readonly part: number;
  readonly colour: string;
  /** Shows the whole as well. */
  readonly framed?: boolean;
}

export function CellBar({ part, colour, framed = false }: CellBarProps) {
  return (
    <span class={framed ? "cell-bar framed" : "cell-bar"} aria-hidden="true" style={{ color: colour }}>
      <span style={{ width: `${(part * 100).toFixed(2)}%` }} />
    </span>
  );
}

interface BehindProps {
  readonly summary?: string;
  readonly table: () => ComponentChildren;
}

/** The numbers behind a picture. On the page they are made when they are opened: a table of all trees is long. */
export function Behind({ summary = "As a table", table }: BehindProps) {
  const [open, setOpen] = useState(false);
  const isReport = useContext(Medium) === "report";
  return (
    <details class="behind" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {(open || isReport) && table()}
    </details>
  );
}
