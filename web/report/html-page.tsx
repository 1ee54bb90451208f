/** A report as one file: its style is inline, and it has no scripts and makes no requests. */
import type { ComponentChildren } from "preact";
import { renderToStaticMarkup } from "preact-render-to-string";
import { Medium } from "../views/medium.ts";
import baseStyle from "../views/styles/base.css?raw";
import exposureStyle from "../views/styles/exposure.css?raw";
import viewsStyle from "../views/styles/views.css?raw";
import reportStyle from "./report.css?raw";

const style = [baseStyle, viewsStyle, exposureStyle, reportStyle].join("\n");
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export function htmlPage(title: string, content: ComponentChildren): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body class="report">
        <main>
          <Medium.Provider value="report">{content}</Medium.Provider>
        </main>
      </body>
    </html>
  );
  return `<!doctype html>\n${renderToStaticMarkup(page)}\n`;
}

export function timeText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
