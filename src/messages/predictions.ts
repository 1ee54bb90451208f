/** Predictions within a job: of test rows at its end, and of all instances by a start model before its first round. */
import { call } from "./call.ts";

export const testRows = call<"testRows">()({ part: "prediction" });

export const predict = call<"predict">()({ part: "prediction" });

/** Instead of `predict` in a job with masked scoring. */
export const maskOpen = call<"maskOpen">()({ part: "prediction" });

export const maskStep = call<"maskStep">()({ part: "prediction" });
