import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { operatorCaller } from '../../../src/core/caller.ts';
import { McpEndpoint } from '../../../src/mcp/endpoint.ts';
import type { McpRequest } from '../../../src/mcp/request.ts';
import { catalogueOffer } from '../../../src/mcp/offer.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const MINUTE = 60_000;
let tenants: Tenants;
let door: McpEndpoint;
beforeAll(async () => {
  tenants = await twoTenants();
  door = new McpEndpoint(tenants.world, catalogueOffer(tenants.world));
});
afterAll(async () => {
  await door.close();
  await tenants[Symbol.asyncDispose]();
});

interface Said {
  status: number;
  session: string | undefined;
  text: string;
}

async function call(name: string, credentials: { token?: string; session?: string }, args: object = {}): Promise<Said> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const request: McpRequest = {
    url: new URL('http://box.test/mcp'),
    ip: '127.0.0.1',
    header: (header) => (header === 'mcp-session-id' ? credentials.session : undefined),
    authorization: credentials.token === undefined ? undefined : `Bearer ${credentials.token}`,
    body,
    closed: () => new AbortController().signal,
  };
  const said = await door.post(request);
  if (said instanceof Response || 'events' in said) throw new Error('a plain call was answered by the library');
  return { status: said.status, session: said.headers['mcp-session-id'], text: said.body };
}

let token: { secret: string; id: string };
let session: string;
beforeEach(async () => {
  const made = await tenants.do('create_agent_token', { name: 'one', actions: ['read', 'manage'] });
  token = { secret: String(made['secret']), id: (made['token'] as { id: string }).id };
  session = (await call('whoami', { token: token.secret })).session ?? '';
  expect(session).not.toBe('');
});

describe('a session', () => {
  test('is good for an hour and not a moment longer, however much it is used', async () => {
    for (let i = 0; i < 59; i++) {
      tenants.clock.now += MINUTE;
      expect((await call('whoami', { session })).status).toBe(200);
    }
    tenants.clock.now += MINUTE - 1;
    expect((await call('whoami', { session })).status).toBe(200);
    tenants.clock.now += 1;
    const before = await tenants.do('list_projects');
    expect((await call('create_project', { session }, { name: 'late' })).status).toBe(404);
    expect(await tenants.do('list_projects')).toEqual(before);
  });

  test('gives a new one to whoever comes with the token and an old one', async () => {
    tenants.clock.now += 61 * MINUTE;
    const said = await call('whoami', { token: token.secret, session });
    expect(said.status).toBe(200);
    expect(said.session).toMatch(/^ses_/);
    expect(said.session).not.toBe(session);
  });

  test('ends with its token', async () => {
    await tenants.do('revoke_agent_token', { tokenId: token.id });
    expect((await call('whoami', { session })).status).toBe(401);
  });

  test('ends with the time of its token', async () => {
    const expiresAt = new Date(tenants.clock.now + 10 * MINUTE).toISOString();
    const made = await tenants.do('create_agent_token', { name: 'short', actions: ['read'], expiresAt });
    const short = (await call('whoami', { token: String(made['secret']) })).session ?? '';
    expect((await call('whoami', { session: short })).status).toBe(200);
    tenants.clock.now += 10 * MINUTE;
    expect((await call('whoami', { session: short })).status).toBe(401);
  });

  test('stops while its organization is frozen', async () => {
    const target = { targetOrganizationId: tenants.a.main.organizationId };
    await tenants.do('freeze_organization', target, operatorCaller());
    expect((await call('whoami', { session })).status).toBe(401);
    await tenants.do('unfreeze_organization', target, operatorCaller());
    expect((await call('whoami', { session })).status).toBe(200);
  });

  test('can no more than its token', async () => {
    const said = await call('deploy_service', { session }, { serviceId: tenants.a.main.serviceId });
    expect(said.text).toContain('action_not_allowed');
    const made = await tenants.do('create_agent_token', {
      name: 'narrow',
      actions: ['read', 'manage'],
      projectId: tenants.a.side.projectId,
    });
    const narrow = (await call('whoami', { token: String(made['secret']) })).session ?? '';
    const { mailboxId } = tenants.a.main;
    expect((await call('reveal_email_credentials', { session: narrow }, { mailboxId })).text).toContain('out_of_scope');
  });

  test('of somebody else does not go with a token', async () => {
    const other = (await call('whoami', { token: tenants.b.secret })).session ?? '';
    const said = await call('whoami', { token: token.secret, session: other });
    expect(said.status).toBe(401);
    expect(said.text).toContain('session_mismatch');
  });

  test('is found by nobody who turns its letters', async () => {
    const positions = Array.from({ length: session.length - 4 }, (_, i) => i + 4);
    for (const at of positions) {
      const turned = session[at] === 'A' ? 'B' : 'A';
      const forged = session.slice(0, at) + turned + session.slice(at + 1);
      expect((await call('whoami', { session: forged })).status).toBe(401);
    }
  });

  test('that was ended stays ended, also for its token', async () => {
    expect((await door.delete(session)).status).toBe(204);
    expect((await call('whoami', { session })).status).toBe(404);
    expect((await call('whoami', { session, token: token.secret })).status).toBe(404);
    expect((await call('whoami', { token: token.secret })).status).toBe(200);
  });
});
