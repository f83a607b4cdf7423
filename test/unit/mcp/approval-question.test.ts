import type { AddressInfo } from 'node:net';
import '../../support/gate-that-holds-all.ts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findOutboxItem } from '../../../mail/delivery/outbox-items.ts';
import { decideByHttp } from '../../../src/approvals/decision.ts';
import { resumeApproval } from '../../../src/mcp/approval-question.ts';
import { mcpRoutes } from '../../../src/mcp/routes.ts';
import { rowId } from '../../../src/core/ids.ts';
import { BY_AGENT } from '../../support/held-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let app: FastifyInstance;
let url: URL;

beforeAll(async () => {
  tenants = await twoTenants();
  app = Fastify();
  const world = { ...tenants.world, policy: () => BY_AGENT };
  await app.register(async (inner) => mcpRoutes(world)(inner));
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = new URL(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/mcp`);
});
afterAll(async () => {
  await app.close();
  await tenants[Symbol.asyncDispose]();
});

const mail = () => ({
  from: tenants.a.main.address,
  to: 'you@else.example',
  subject: 'Hello',
  text: 'Hello',
  allowDuplicate: true,
});

/** A host that shows pages, and what it was asked to show; undefined: one that cannot. */
async function host(shown: ((url: string) => Promise<void>) | undefined): Promise<Client> {
  const capabilities = shown === undefined ? {} : { elicitation: { url: {} } };
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  if (shown !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      await shown('url' in params ? params.url : '');
      return { action: 'accept' as const };
    });
  }
  const requestInit = { headers: { authorization: `Bearer ${tenants.a.secret}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

const idIn = (page: string): number => rowId('outbox', page.split('/').at(-1) ?? '') ?? 0;

async function decideOn(page: string, approves: boolean): Promise<void> {
  const decider = {
    tenant: tenants.a.caller.organization ?? 0,
    accounts: null,
    actor: 'usr_1',
    actorName: 'ada',
    ip: '',
  };
  await decideByHttp(tenants.world, decider, { id: idIn(page), approves });
}

const stateOf = async (page: string) =>
  (await tenants.world.store.read(findOutboxItem, { id: idIn(page), now: tenants.world.clock() }))?.state;

describe('a host that can show pages is asked to show the one that decides', () => {
  test('its word approves nothing, the page does, and nothing is sent twice', async () => {
    const pages: string[] = [];
    const client = await host((page) => Promise.resolve(void pages.push(page)));
    const { structuredContent: waits } = await client.callTool({ name: 'send_email', arguments: mail() });
    expect(waits).toMatchObject({ status: 'pending_approval', approveUrl: pages[0] });
    expect(await stateOf(pages[0] ?? '')).toBe('pending');
    await client.close();

    const approving = await host(async (page) => {
      pages.push(page);
      await decideOn(page, true);
    });
    const { structuredContent: sent } = await approving.callTool({ name: 'send_email', arguments: mail() });
    expect(sent).toMatchObject({ status: 'queued', approveUrl: null });
    expect(pages).toHaveLength(2);
    expect(await stateOf(pages[1] ?? '')).toBe('approved');
    const { items } = (await tenants.do('list_outbox', {})) as { items: unknown[] };
    expect(items.filter((one) => JSON.stringify(one).includes('you@else.example'))).toHaveLength(2);
    await approving.close();
  });

  test('a refusal is reported as one', async () => {
    const client = await host((page) => decideOn(page, false));
    const said = await client.callTool({ name: 'send_email', arguments: mail() });
    expect(said).toMatchObject({ isError: true, structuredContent: { error: 'conflict', state: 'denied' } });
    await client.close();
  });

  test('a call whose answer was lost is informed what became of the message since, whatever the host shows', async () => {
    const pages: string[] = [];
    const client = await host((page) => Promise.resolve(void pages.push(page)));
    const send = async (args: object) => {
      const { structuredContent: said } = await client.callTool({
        name: 'send_email',
        arguments: { ...mail(), ...args },
      });
      return said as Record<string, unknown>;
    };
    const approved = { idempotencyKey: 'let go', allowDuplicate: false };
    const first = await send(approved);
    await decideOn(pages[0] ?? '', true);
    expect(await send(approved)).toEqual({
      ...first,
      status: 'queued',
      approveUrl: null,
      reasons: [],
      recipients: [{ address: 'you@else.example', state: 'queued' }],
      duplicateOf: first['id'],
    });
    const refused = { idempotencyKey: 'refused', allowDuplicate: false };
    const second = await send(refused);
    expect(await send(refused)).toMatchObject({ status: 'pending_approval', approveUrl: second['approveUrl'] });
    await decideOn(String(second['approveUrl']), false);
    const { id: duplicateOf, outboxId } = second;
    expect(await send(refused)).toMatchObject({ error: 'conflict', state: 'denied', outboxId, duplicateOf });
    await client.close();
  });

  test('one that cannot is informed that it waits', async () => {
    const client = await host(undefined);
    const { structuredContent } = await client.callTool({ name: 'send_email', arguments: mail() });
    expect(structuredContent).toMatchObject({
      status: 'pending_approval',
      approveUrl: expect.stringMatching(/\/outbox\/out_\d+$/),
    });
    await client.close();
  });

  test('what comes back is good only as it was given out', async () => {
    for (const state of [
      'x',
      'eyJ9.AAAA',
      `${Buffer.from('{"until":9e15,"result":{"outboxId":"out_1"}}').toString('base64url')}.AAAA`,
    ]) {
      const context = { requestState: <T>() => state as T };
      expect(await resumeApproval(tenants.world, tenants.a.caller, context)).toMatchObject({
        kind: 'refused',
        refusal: { error: 'conflict' },
      });
    }
    const first = { requestState: () => undefined };
    expect(await resumeApproval(tenants.world, tenants.a.caller, first)).toBeUndefined();
  });
});
