/** The dashboard's page: shows what the server's record of a job says, and nothing else. */
import { render } from "preact";
import { App } from "./app.tsx";
import { begin } from "./session.ts";
import { applyTheme } from "./theme.ts";
import "../views/styles/base.css";
import "../views/styles/views.css";
import "../views/styles/exposure.css";
import "./styles/page.css";

applyTheme();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
void begin();
