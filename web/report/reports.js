export { jobReport } from "./job-report.tsx";
export { tuneReport } from "./tune-report.tsx";
