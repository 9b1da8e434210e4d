import { openApi } from './core/open-api/document';
import { startGatewayStage, type GatewayStage } from './testing/gateway-stage';

let stage: GatewayStage;

beforeAll(async () => (stage = await startGatewayStage()));
afterAll(() => stage.stop());

/**
 * What the dashboard and the command line alone ask for, and the dashboard's files: docs/dashboard-api.md has them. The tree leaves out what
 * stands before a `*`.
 */
const OF_THE_DASHBOARD = /^\w+ \/(admin\/v1\/.*|ui|ui\*|\*)?$/;

it('documents every route for clients, method by method, and no other', () => {
  const routes = routesOf(
    stage.gateway.service.app.getHttpAdapter().getInstance().printRoutes({ commonPrefix: false }),
  );
  const documented = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => [
      `${method} ${path}`,
      // HTTP has every GET answer HEAD, and Fastify does it.
      ...(method === 'get' ? [`head ${path}`] : []),
    ]),
  );
  const [own, forClients] = [true, false].map((isOwn) =>
    routes.filter((route) => OF_THE_DASHBOARD.test(route) === isOwn),
  );
  expect(forClients!.sort()).toEqual(documented.sort());
  expect(own).toEqual(expect.arrayContaining(['get /', 'get /admin/v1/overview', 'post /admin/v1/policies/rollback']));
});

/** `method /path` of a printed tree of routes. */
function routesOf(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const found = /^(.*)(?:├──|└──) (\S+) \((.+)\)$/.exec(line);
    if (!found) return [];
    const [, indent, part, methods] = found as unknown as [string, string, string, string];
    above.splice(indent.length / 4, Infinity, part);
    const path = above.join('').replace(/:(\w+)/g, '{$1}');
    return methods.split(', ').map((method) => `${method.toLowerCase()} ${path}`);
  });
}
