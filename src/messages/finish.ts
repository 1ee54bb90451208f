/** The end of a tree, which both parties sign, and the end of the job. They have no entries themselves. */
import { call } from "./call.ts";

const finishTree = call<"finishTree">()({ part: "tree", isOfVettings: true });

const finishJob = call<"finishJob">()({ part: "attempt", isOfVettings: true });

export const finishCalls = { finishTree, finishJob };
