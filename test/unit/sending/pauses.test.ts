import { afterAll, beforeAll, expect, test } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { quiet } from '../../../mail/log.ts';
import { listQueue } from '../../../mail/store/queue/queue-rows.ts';
import { rowId } from '../../../src/core/ids.ts';
import { freezeOrganization } from '../../../src/organizations/commands.ts';
import { removeOrganization } from '../../../src/organizations/removal-commands.ts';
import { pausedSenderNotices } from '../../../src/sending/pause-notice-source.ts';
import { Notifier } from '../../../src/notices/notifier.ts';
import type { SendResult } from '../../../src/sending/send-result.ts';
import { send } from '../../../src/http/routes/send-requests.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { type Tenant, type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
let notifier: Notifier;
const said: object[] = [];
beforeAll(async () => {
  tenants = await twoTenants();
  const log = { ...quiet, warn: (fields: object) => said.push(fields) };
  const { world } = tenants;
  notifier = new Notifier({ ...world, sources: [pausedSenderNotices(world)], queued: () => undefined, log });
});
afterAll(() => tenants[Symbol.asyncDispose]());

let met = 0;

/** One message of a key to so many people whom it never wrote to. */
function sendAs({ main }: Tenant, people: number): Promise<SendResult> {
  const key = {
    organization: rowId('organization', main.organizationId) ?? 0,
    credential: main.apiKeyId,
    allowedDomains: null,
    account: null,
    detectsDuplicates: false,
  };
  const to = Array.from({ length: people }, () => `person${++met}@else.example`);
  const live = { ...tenants.world, settings: { ...tenants.world.settings, live: true, keyPerSecond: 0 } };
  return send(live, key, { from: main.address, to, subject: 'Offer', text: 'Buy' }, undefined);
}

const paused = async (of = tenants.a) =>
  (await tenants.do('list_paused_senders', {}, of.caller))['senders'] as Record<string, unknown>[];

test('a flooding key is paused with figures; its owner gets one notice, even over a restart', async () => {
  const results: SendResult[] = [];
  for (let i = 0; i < 11; i++) results.push(await sendAs(tenants.a, 50));
  expect(results.map((one) => one.status)).toEqual([...Array<string>(10).fill('queued'), 'pending_approval']);
  expect(results.at(-1)?.reasons[0]).toMatch(/^its sender is paused: it wrote to 550 new recipients/);
  const [one, ...others] = await paused();
  expect(others).toEqual([]);
  expect(one).toMatchObject({
    sender: tenants.a.main.apiKeyId,
    name: 'alpha-main key',
    figures: { newRecipients: 550, limit: 500, usualNewRecipientsADay: 0 },
  });
  expect(await paused(tenants.b)).toEqual([]);
  expect((await sendAs(tenants.b, 50)).status).toBe('queued');

  await notifier.run();
  await Promise.all([notifier.run(), notifier.run()]);
  const letters = await tenants.world.store.read(listQueue, {
    tenant: 0,
    accounts: null,
    state: null,
    domain: 'alpha-home.test',
    after: 0,
    limit: 10,
  });
  expect(letters.map((row) => row.recipient).filter((to) => to === 'owner@alpha-home.test')).toHaveLength(2);
  const text = (await tenants.world.store.blob(letters.at(-1)?.blob_id ?? 0, 0, 4000)).toString();
  expect(text).toContain(`the key "alpha-main key" (${tenants.a.main.apiKeyId})`);
  expect(text).toMatch(/\r\n {2}newRecipients: 550\r\n {2}limit: 500\r\n/);
  expect(said).toHaveLength(1);
  expect(said[0]).toMatchObject({ sender: tenants.a.main.apiKeyId, notices: 1 });
});

test('only its own owners and the operator can resume it, which releases held mail', async () => {
  const { apiKeyId: sender, organizationId } = tenants.a.main;
  const foreign = await tenants.try('resume_sender', { sender }, operatorCaller());
  const missing = await tenants.try('resume_sender', { sender: 'key_999' }, operatorCaller());
  const plain = (answer: unknown) => JSON.stringify(answer).replace(/req_[\w-]+/g, 'R');
  expect(foreign).toMatchObject({ refusal: { error: 'not_found' } });
  expect(plain(foreign)).toBe(plain(missing));
  const agent = await tenants.caller({ actions: ['manage', 'read'] });
  expect(await tenants.try('resume_sender', { sender }, agent)).toMatchObject({
    refusal: { error: 'action_not_allowed' },
  });
  expect(await paused()).toHaveLength(1);
  const operator = operatorCaller(rowId('organization', organizationId));
  expect(await tenants.do('resume_sender', { sender }, operator)).toEqual({ resumed: true, released: 1, more: false });
  expect(await paused()).toEqual([]);
  expect((await sendAs(tenants.a, 50)).status).toBe('queued');
  const outbox = (await tenants.do('list_outbox', {}))['items'] as { state: string }[];
  expect(outbox.filter((one) => one.state === 'pending')).toEqual([]);
});

const left = query('test-left', (rx, { tenant }: { tenant: number }) =>
  rx.get<{ met: number; paused: number }>(
    `SELECT (SELECT count(*) FROM correspondent WHERE account_id = -?1) AS met,
       (SELECT count(*) FROM paused_sender WHERE tenant = ?1) AS paused`,
    tenant,
  ),
);

test('contacted recipients and paused senders are deleted with an organization', async () => {
  const { store } = tenants.world;
  const id = rowId('organization', tenants.a.main.organizationId) ?? 0;
  expect(await store.read(left, { tenant: id })).toEqual({ met: 600, paused: 1 });
  await store.write(freezeOrganization, { id, frozen: true });
  while ((await store.write(removeOrganization, { id })).kind === 'removing');
  expect(await store.read(left, { tenant: id })).toEqual({ met: 0, paused: 0 });
});
