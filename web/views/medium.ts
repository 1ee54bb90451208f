/** Where a view is shown: on the live page, or in a report, which is one file without scripts. */
import { createContext } from "preact";

export const Medium = createContext<"page" | "report">("page");
