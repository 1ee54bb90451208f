export { jobReport } from "./job-report.tsx";
export { tuneReport } from "./tune-report.tsx";
export { vettingReport } from "./vetting-report.tsx";
export { evaluationReport } from "./evaluation-report.tsx";
