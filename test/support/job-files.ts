/** What a finished job leaves in the active party's folder, where it was aligned, has test rows and a report. */
export const activeJobFiles: readonly string[] = [
  "aligned.csv",
  "events.jsonl",
  "evidence",
  "evidence.json",
  "own.jsonl",
  "predictions.csv",
  "reference.json",
  "report.html",
  "share.json",
];
