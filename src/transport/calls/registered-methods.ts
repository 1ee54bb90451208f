/** The handlers that are registered at a router, by the paths of their calls. */
import { type ConnectRouter, createServiceImplSpec, type MethodImplSpec } from "@connectrpc/connect";

/** @returns the same routes, which also put their handlers into `methods` */
export function registered(
  routes: (router: ConnectRouter) => void,
  methods: Map<string, MethodImplSpec>,
): (router: ConnectRouter) => void {
  return (router) => {
    const noting: ConnectRouter = {
      handlers: router.handlers,
      service(service, implementation, options) {
        const spec = createServiceImplSpec(service, implementation);
        for (const each of Object.values(spec.methods)) methods.set(pathOf(each), each);
        router.service(service, implementation, options);
        return noting;
      },
      rpc(method, implementation, options) {
        router.rpc(method, implementation, options);
        return noting;
      },
    };
    routes(noting);
  };
}

function pathOf({ method }: MethodImplSpec): string {
  return `/${method.parent.typeName}/${method.name}`;
}
