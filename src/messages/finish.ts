/** The end of a tree, which both parties sign, and the end of the job. They leave no entries themselves. */
import { call } from "./call.ts";

export const finishTree = call<"finishTree">()({ part: "tree" });

export const finishJob = call<"finishJob">()({ part: "attempt" });
