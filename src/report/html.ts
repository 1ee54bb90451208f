/** HTML as text: everything that comes from outside is escaped, what is already HTML says so by its type. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = Html | string | number | readonly HtmlValue[];

/** A template whose values are escaped unless they are Html. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, i) => (i === 0 ? part : rendered(values[i - 1]) + part)).join(""));
}

export function rendered(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(rendered).join("");
  return String(value)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** The first column names its row; the ones after `textColumns` hold numbers. */
export function htmlTable(head: readonly string[], rows: readonly (readonly HtmlValue[])[], textColumns = 1): Html {
  const kind = (i: number): Html => new Html(i < textColumns ? "" : ' class="number"');
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head.map((cell, i) => html`<th scope="col" ${kind(i)}>${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, i) => (i === 0 ? html`<th scope="row">${cell}</th>` : html`<td${kind(i)}>${cell}</td>`))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}
