/** A module of its own: who uses no relay neither loads the package nor needs it. */
export { WebSocket } from "ws";
