import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { quiet } from '../../mail/log.ts';
import { HttpLimits } from '../../src/http/rate-limits.ts';
import { ChallengeAnswers } from '../../src/acme/challenge-answers.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { mcpRoutes } from '../../src/mcp/routes.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import { outcome, rpc } from '../support/mcp.ts';
import { testWorld } from '../support/world.ts';
import { fixtureOffer } from './fixtures/offer.ts';
import { testGuard } from '../support/guard.ts';

export interface FixtureServer extends AsyncDisposable {
  /** URL of the endpoint, without its path. */
  base: string;
  /** The same endpoint behind a proxy that adds the token: the suites cannot send one. */
  authorized: string;
  token: string;
}

/** The MCP endpoint in this process, with the fixtures in its catalogue. */
export async function startFixtureServer(): Promise<FixtureServer> {
  let base = '';
  const stack = new AsyncDisposableStack();
  try {
    const { world } = stack.use(
      await testWorld({ limits: new HttpLimits(() => true, testGuard()), baseUrl: () => base }),
    );
    const http = await startHttpServer({
      listeners: [{ tls: false, host: '127.0.0.1', port: 0 }],
      secureContext: () => {
        throw new Error('no TLS here');
      },
      certificate: { current: () => ({ cert: [], key: [] }), onChange: () => undefined },
      node: () => undefined,
      challenges: new ChallengeAnswers(),
      failing: () => [],
      degraded: () => [],
      guard: world.guard,
      clock: Date.now,
      metrics: openMetrics(),
      log: quiet,
      memory: world.memory,
      trusted: () => false,
      endpoints: [mcpRoutes(world, fixtureOffer(world))],
    });
    stack.defer(() => http.close());
    base = `http://127.0.0.1:${http.addresses()[0]?.port}`;
    const call = { name: 'create_own_organization', arguments: { organizationName: 'Conformance' } };
    const token = String(outcome(await rpc(base, 'tools/call', call))['token']);
    const authorized = await openProxy(stack, base, token);
    const kept = stack.move();
    return { base, authorized, token, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  } finally {
    await stack.disposeAsync();
  }
}

/** Passes everything on as it is, Host and Origin too, and adds the token. */
async function openProxy(stack: AsyncDisposableStack, base: string, token: string): Promise<string> {
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const onward = ask(`${base}${request.url}`, { method: request.method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
