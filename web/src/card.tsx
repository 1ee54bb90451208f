/** The pieces that every view is made of. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface CardProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly wide?: boolean;
}

export function Card({ title, children, aside, wide = false }: CardProps) {
  const id = `card-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  return (
    <section class={wide ? "card wide" : "card"} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

export function Figure({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <div class="figure">
      <span class="figure-value">{value}</span>
      <span class="figure-label">{label}</span>
    </div>
  );
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
}

/** Scrolls sideways on a narrow screen, also by keyboard. */
export function Table({ caption, head, rows, textColumns = 1 }: TableProps) {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={cell} scope="col" class={i < textColumns ? "" : "number"}>
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
                  <th key={i} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={i} class={i < textColumns ? "" : "number"}>
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

/** The numbers behind a picture, for whoever cannot see it. Made when it is opened: nobody pays for tables unseen. */
export function Behind({ table }: { readonly table: () => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="behind" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {open && table()}
    </details>
  );
}
