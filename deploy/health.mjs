/**
 * Exits with 0 if a party, a scoring server or a relay on this machine answers, and otherwise with 1 and a line that
 * says what is wrong. For health checks of containers: nothing else has to be installed.
 *
 *   TANDEM_HEALTH_URL          default: http://127.0.0.1:9464/metrics, as of `tandem party --metrics-port 9464`
 *   TANDEM_HEALTH_TOKEN_FILE   the token that the address requires
 */
import { readFileSync } from "node:fs";
import { request as plain } from "node:http";
import { request as encrypted } from "node:https";

const { TANDEM_HEALTH_URL: address = "http://127.0.0.1:9464/metrics", TANDEM_HEALTH_TOKEN_FILE: file } = process.env;

function unhealthy(what) {
  process.stderr.write(`${address}: ${what}\n`);
  process.exit(1);
}

const url = new URL(address);
// A relay's certificate is for its own name, and often self-signed.
const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
const headers = file === undefined ? {} : { authorization: `Bearer ${readFileSync(file, "utf8").trim()}` };
const options = { headers, timeout: 5000, rejectUnauthorized: !isHere };
const request = (url.protocol === "https:" ? encrypted : plain)(url, options, (response) => {
  if (response.statusCode === 200) process.exit(0);
  unhealthy(`status ${response.statusCode}`);
});
request.on("timeout", () => unhealthy("no answer within 5 s"));
request.on("error", ({ code = "unknown" }) => unhealthy(`no connection (${code})`));
request.end();
