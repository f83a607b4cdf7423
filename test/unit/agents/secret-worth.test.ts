import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { rowId } from '../../../src/core/ids.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { webhookRoutes } from '../../../src/http/routes/webhooks.ts';
import { readTransferTicket } from '../../../src/transfers/transfer-link.ts';
import { authenticateToken } from '../../../src/tokens/authenticate.ts';
import { readAttachmentLink } from '../../../src/webhooks/attachment-link.ts';
import { sampleOf } from '../../support/operation-samples.ts';
import { operationOf, type Tenants, twoTenants } from '../../support/tenants.ts';

/** The environment of a service is no tool: the page names its route. */
const page = readFileSync(new URL('../../../docs/owning-agents.md', import.meta.url), 'utf8').replace(
  'GET /api/services/{id}/env',
  'get_service_environment',
);
const ROWS = [...page.matchAll(/^\| (`\w+`.*?) \| (at once|proposal|refused) \|/gm)].flatMap(
  ([, names = '', how = '']) =>
    [...names.matchAll(/`(\w+)`/g)].flatMap(([, name = '']) => (name === 'link' ? [] : [[name, how] as const])),
);

let tenants: Tenants;
let governed: Caller;
beforeAll(async () => {
  tenants = await twoTenants();
  const person = operatorCaller(rowId('organization', tenants.a.main.organizationId));
  const { policyId: agentPolicyId } = tenants.a.main;
  governed = await tenants.caller({ actions: ['read', 'manage', 'deploy', 'send'], agentPolicyId }, person);
});
afterAll(() => tenants[Symbol.asyncDispose]());

test('every tool that shows a secret stands in the table of what secrets are worth', () => {
  const links = ['get_attachment', 'upload_attachment_url', 'start_import', 'get_service_environment'];
  const secret = CATALOGUE.filter((one) => one.secret === true).map(({ name }) => name);
  expect(ROWS.map(([name]) => name).toSorted()).toEqual([...secret, ...links].toSorted());
});

test.each(ROWS)('%s of a governed token is "%s"', async (name, how) => {
  const done = await tenants.try(name, sampleOf(operationOf(name), tenants.a.main), governed);
  const pending = done.kind === 'done' && done.pending === true;
  expect(done.kind === 'refused' ? 'refused' : pending ? 'proposal' : 'at once', JSON.stringify(done)).toBe(how);
});

test('a limited token that is carried to another network opens nothing', async () => {
  const { secret } = await tenants.do(
    'create_narrow_token',
    { name: 'helper', mailbox: tenants.a.main.mailboxId },
    governed,
  );
  const from = (ip: string) => authenticateToken(tenants.world, `Bearer ${String(secret)}`, 'rest', ip);
  expect(await from(governed.ip)).toHaveProperty('kind', 'caller');
  expect(await from('203.0.113.7')).toMatchObject({ kind: 'refused', why: expect.stringContaining('network') });
});

test('a link to an attachment that is carried to another network opens nothing', async () => {
  const key = Uint8Array.from(tenants.world.secrets.subkey('attachment links'));
  const open = async (by: Caller, network: string | undefined) => {
    const args = { ...sampleOf(operationOf('get_attachment'), tenants.a.main), mode: 'link' };
    const { link } = (await tenants.do('get_attachment', args, by)) as { link: { url: string } };
    const { pathname, searchParams } = new URL(link.url);
    const [expires = '', as = '', signature = ''] = ['expires', 'by', 'signature'].map(
      (name) => searchParams.get(name) ?? '',
    );
    const given = { id: pathname.split('/').at(-1) ?? '', expires, by: as, signature };
    const bound = searchParams.has('bound') && network !== undefined ? { network } : {};
    return readAttachmentLink({ key, now: tenants.clock.now }, { ...given, ...bound }) !== undefined;
  };
  expect(await open(governed, governed.ip)).toBe(true);
  expect(await open(governed, '203.0.113.7')).toBe(false);
  // Without its mark it is no link.
  expect(await open(governed, undefined)).toBe(false);
  expect(await open(tenants.a.caller, '203.0.113.7')).toBe(true);
});

test('a link to upload mail to import that is carried to another network opens nothing', async () => {
  const open = async (by: Caller, ip: string) => {
    const { putUrl } = await tenants.do('start_import', { mailboxId: tenants.a.main.mailboxId }, by);
    const ticket = new URL(String(putUrl)).searchParams.get('ticket') ?? '';
    return readTransferTicket(tenants.world.secrets, 'import', ticket, { now: tenants.clock.now, ip }) !== undefined;
  };
  expect(await open(governed, governed.ip)).toBe(true);
  expect(await open(governed, '203.0.113.7')).toBe(false);
  expect(await open(tenants.a.caller, '203.0.113.7')).toBe(true);
});

test('no field of a link can be presented as part of another', async () => {
  await using app = Fastify();
  await app.register(webhookRoutes(tenants.world));
  const args = { ...sampleOf(operationOf('get_attachment'), tenants.a.main), mode: 'link' };
  const statuses = async (by: Caller): Promise<number[]> => {
    const { link } = (await tenants.do('get_attachment', args, by)) as { link: { url: string } };
    const own = new URL(link.url);
    const bound = own.searchParams.has('bound');
    const [expires, as] = [own.searchParams.get('expires') ?? '', own.searchParams.get('by') ?? ''];
    const forms = [
      { by: as, ...(bound && { bound: '1' }) },
      { by: bound ? `${as} ${by.ip}` : '' },
      { by: '', expires: `${expires} ${as}`, ...(bound && { bound: '1' }) },
      { by: '', expires: `${expires} ${as} ${by.ip}` },
    ];
    return Promise.all(
      forms.map(async (form) => {
        const query = new URLSearchParams({ expires, signature: own.searchParams.get('signature') ?? '', ...form });
        const remoteAddress = form === forms[0] ? by.ip : '203.0.113.7';
        return (await app.inject({ url: `${own.pathname}?${query.toString()}`, remoteAddress })).statusCode;
      }),
    );
  };
  expect(await statuses(governed)).toEqual([200, 404, 404, 404]);
  expect(await statuses(tenants.a.caller)).toEqual([200, 404, 404, 404]);
});
