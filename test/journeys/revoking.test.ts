import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { http, newOrganization, rpc, tool } from '../support/mcp.ts';

const CLIENTS = 50;
let box: Box;
let base: string;
let token: string;

beforeAll(async () => {
  // Loopback is not counted here: the limits have tests of their own.
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  ({ token } = await newOrganization(base, 'Revoking'));
});
afterAll(() => box[Symbol.asyncDispose]());

const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });

async function agent(): Promise<{ secret: string; id: string; session: string }> {
  const made = await tool(base, 'create_agent_token', { name: 'agent', actions: ['read', 'manage'] }, token);
  const secret = String(made.body['secret']);
  const first = await rpc(base, 'tools/call', { name: 'whoami', arguments: {} }, bearer(secret));
  const { id } = made.body['token'] as { id: string };
  return { secret, id, session: String(first.headers['mcp-session-id']) };
}

interface Tried {
  /** performance.now() when it was sent. */
  at: number;
  status: number;
}

/** Repeats a request as fast as answers come, until `more` returns false. */
async function hammer(ask: () => Promise<{ status: number }>, more: () => boolean): Promise<Tried[]> {
  const tried: Tried[] = [];
  while (more()) {
    const at = performance.now();
    tried.push({ at, status: (await ask()).status });
  }
  return tried;
}

describe('a token that is revoked', () => {
  test.each([
    ['by REST', (name: string) => tool(base, 'revoke_agent_token', { tokenId: name }, token)],
    [
      'by MCP',
      (name: string) =>
        rpc(base, 'tools/call', { name: 'revoke_agent_token', arguments: { tokenId: name } }, bearer(token)),
    ],
  ])('opens nothing from that moment on, while fifty clients use it: %s', async (_name, revoke) => {
    const { secret, id, session } = await agent();
    const whoami = { name: 'whoami', arguments: {} };
    const ways = [
      () => rpc(base, 'tools/call', whoami, bearer(secret)),
      () => rpc(base, 'tools/call', whoami, { 'mcp-session-id': session }),
      () => rpc(base, 'tools/list', {}, bearer(secret)),
      () => tool(base, 'list_projects', {}, secret),
      () => http('GET', `${base}/api/email/domains`, bearer(secret)),
    ];
    let running = true;
    let left = 500;
    let busy = Promise.withResolvers<void>();
    const clients = Array.from({ length: CLIENTS }, (_, i) =>
      hammer(
        async () => {
          const said = await (ways[i % ways.length] ?? (() => Promise.reject(new Error('no way'))))();
          if (--left === 0) busy.resolve();
          return said;
        },
        () => running,
      ),
    );
    await busy.promise;
    expect((await revoke(id)).status).toBe(200);
    const revokedAt = performance.now();
    busy = Promise.withResolvers<void>();
    left = 500;
    await busy.promise;
    running = false;
    const tried = (await Promise.all(clients)).flat();
    const before = tried.filter((one) => one.at < revokedAt);
    const after = tried.filter((one) => one.at >= revokedAt);
    expect(before.filter((one) => one.status === 200).length).toBeGreaterThan(100);
    expect(after.length).toBeGreaterThan(100);
    expect(after.filter((one) => one.status !== 401)).toEqual([]);
  });

  test('stays so after a crash', async () => {
    const { secret, id, session } = await agent();
    expect((await tool(base, 'revoke_agent_token', { tokenId: id }, token)).status).toBe(200);
    await box.kill();
    await box.start();
    for (const headers of [bearer(secret), { 'mcp-session-id': session }]) {
      expect((await rpc(base, 'tools/call', { name: 'whoami', arguments: {} }, headers)).status).toBe(401);
    }
  });
});

describe('a password that is revealed', () => {
  test('stands in the audit log as often as it was shown, also when the box dies at once', async () => {
    await tool(base, 'add_email_domain', { domain: 'revealed.test' }, token);
    const made = await tool(base, 'provision_email', { domain: 'revealed.test', localPart: 'anna' }, token);
    const { id: mailboxId } = made.body['mailbox'] as { id: string };
    const shown: string[] = [];
    for (let i = 0; i < 100; i++) {
      const said = await tool(base, 'reveal_email_credentials', { mailboxId }, token);
      expect(said.status).toBe(200);
      shown.push(String(said.body['auditId']));
      if (i % 40 !== 39) continue;
      await box.kill();
      await box.start();
    }
    const refused = await tool(base, 'reveal_email_credentials', { mailboxId: 'mbx_987654' }, token);
    expect(refused.status).toBe(404);
    const events: { id: string; operation: string; outcome: string }[] = [];
    for (let cursor: unknown; cursor !== null;) {
      const args = { limit: 100, verify: true, ...(cursor !== undefined && { cursor }) };
      const { body } = await tool(base, 'list_audit_events', args, token);
      expect(body['chain']).toEqual({ intact: true, firstBroken: null });
      events.push(...(body['events'] as typeof events));
      cursor = body['nextCursor'];
    }
    const rows = events.filter((one) => one.operation === 'reveal_email_credentials');
    expect(rows.filter((one) => one.outcome === 'done').map((one) => one.id)).toEqual(shown.toReversed());
    expect(rows.filter((one) => one.outcome === 'not_found')).toHaveLength(1);
  });
});
