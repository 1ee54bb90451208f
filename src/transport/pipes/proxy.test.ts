/** The way through an HTTP proxy: when one is used, what it is asked, and a line for each way in which it refuses. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { ConnectProxy, type ProxyAnswers } from "../../../test/world/connect-proxy.ts";
import { StepError, troubleWords } from "../connection-trouble.ts";
import { dial } from "./dial.ts";
import { credentialsIn, type Proxy, proxyAt, proxyFor } from "./proxy.ts";

async function echo(): Promise<number> {
  const server = createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function started(options: ProxyAnswers = {}): Promise<ConnectProxy> {
  const proxy = await ConnectProxy.start(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

const at = (port: number): Proxy => ({ host: "127.0.0.1", port, isSecure: false, credentials: null });

async function troubleOf(proxy: Proxy, port = 1): Promise<string> {
  const error = await dial({ host: "127.0.0.1", port, proxy }, 2000).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StepError);
  expect((error as StepError).trouble.step).toBe("proxy");
  return troubleWords((error as StepError).trouble, "shop", "bank");
}

test("a connection goes through the proxy, and bytes pass", async () => {
  const [proxy, port] = [await started(), await echo()];
  const socket = await dial({ host: "127.0.0.1", port, proxy: at(proxy.port) });
  onTestFinished(() => void socket.destroy());
  socket.write("hello");
  expect(String((await once(socket, "data"))[0])).toBe("hello");
  expect(proxy.asked).toEqual([`127.0.0.1:${port}`]);
});

test("credentials come from a file that no other user may read", async () => {
  const [proxy, port] = [await started({ credentials: "bank:secret word" }), await echo()];
  const path = join(scratchDirectory(), "credentials");
  writeFileSync(path, "bank:secret word\n", { mode: 0o600 });
  const known = { ...at(proxy.port), credentials: credentialsIn(path, false) };
  (await dial({ host: "127.0.0.1", port, proxy: known })).destroy();
  expect(await troubleOf(at(proxy.port))).toMatch(/wants a user and a password .*bank must write user:password/);
  writeFileSync(path, "bank:wrong word");
  const refused = await troubleOf(known);
  expect(refused).toMatch(/refuses the user or the password/);
  expect(refused).not.toContain("wrong word");
  const open = join(scratchDirectory(), "open");
  writeFileSync(open, "bank:secret", { mode: 0o644 });
  expect(await troubleOf({ ...known, credentials: credentialsIn(open, false) })).toMatch(/chmod 600/);
});

test.each([
  [403, /refuses connections to 127\.0\.0\.1:1 \(403.*bank must ask its network team to allow CONNECT/],
  [502, /cannot reach 127\.0\.0\.1:1 \(502.*bank and shop must look whether something listens/],
  [418, /answers 418 .*bank must ask its network team why/],
])("a proxy that answers %i", async (answer, words) => {
  expect(await troubleOf(at((await started({ answer })).port))).toMatch(words);
});

test("what is no proxy, is not there, or does not speak TLS is named", async () => {
  const other = createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-x\r\n\r\n")).listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  expect(await troubleOf(at(port))).toMatch(/is not an HTTP proxy\. bank must correct the proxy/);
  expect(await troubleOf(at(1))).toMatch(/the proxy 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/);
  const plain = await started();
  expect(await troubleOf({ ...at(plain.port), isSecure: true })).toMatch(/does not speak TLS\. bank must write http:/);
});

describe("which proxy", () => {
  const environment = { HTTPS_PROXY: "http://user:p%40ss@proxy.example:3128", NO_PROXY: "intern.example,10.0.0.7:443" };
  const of = (host: string, port = 443): string | undefined => proxyFor({ host, port }, undefined, environment)?.host;

  test("that of the environment, except for this machine and for NO_PROXY", async () => {
    expect(of("relay.example")).toBe("proxy.example");
    for (const host of ["localhost", "127.0.0.1", "intern.example", "a.intern.example", "10.0.0.7"])
      expect(of(host), host).toBeUndefined();
    expect(of("10.0.0.7", 7443)).toBe("proxy.example");
    expect(of("notintern.example")).toBe("proxy.example");
    expect(proxyFor({ host: "a.example", port: 1 }, undefined, { ...environment, NO_PROXY: "*" })).toBeNull();
    expect(proxyFor({ host: "a.example", port: 1 }, undefined, {})).toBeNull();
    expect(await proxyFor({ host: "a.example", port: 1 }, undefined, environment)?.credentials?.()).toBe("user:p@ss");
  });

  test("that of the config before it, and none", () => {
    const own = proxyAt("https://[::1]:8443");
    expect(own).toMatchObject({ host: "::1", port: 8443, isSecure: true });
    expect(proxyFor({ host: "localhost", port: 1 }, own, environment)).toBe(own);
    expect(proxyFor({ host: "relay.example", port: 1 }, null, environment)).toBeNull();
  });

  test.each(["proxy.example:3128", "socks5://a:1", "http://user:word@a:1", "http://a:70000", "http://a:1/path"])(
    "%s is refused in a config",
    (url) => expect(proxyAt(url)).toBeNull(),
  );

  test("an environment that names no proxy is reported", () => {
    expect(() => proxyFor({ host: "a.example", port: 1 }, undefined, { HTTPS_PROXY: "socks5://a:1" })).toThrow(
      /HTTPS_PROXY is not http/,
    );
  });
});
