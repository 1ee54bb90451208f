/** The client alone: the package's own entry also looks for a native one, and for a pool. */
declare module "pg/lib/client.js" {
  import type { Client as PgClient } from "pg";
  import type { Duplex } from "node:stream";

  export default class Client extends PgClient {
    readonly connection: { readonly stream: Duplex };
  }
}
