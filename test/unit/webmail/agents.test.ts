import { afterAll, beforeAll, expect, test } from 'vitest';
import '../../support/gate-that-holds-all.ts';
import { findOutboxItem } from '../../../mail/delivery/outbox-items.ts';
import { jmapId } from '../../../mail/store/object-id.ts';
import { threadOf } from '../../../mail/store/message/conversation.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { auditedOperations } from '../../support/factors.ts';
import { holdMail } from '../../support/held-mail.ts';
import { http } from '../../support/mcp.ts';

const MINUTE_MS = 60_000;
let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

/** A message of Anna's that waits: its number, its copy in the mailbox and the thread of that. */
async function held(): Promise<{ id: number; email: string; thread: string }> {
  const { store } = box.world;
  const { id } = await holdMail(store, { tenant: 1, account: box.anna, sender: 'anna@box.test' });
  const email = (await store.read(findOutboxItem, { id, now: box.clock.now }))?.approval?.email ?? 0;
  const thread = (await store.read(threadOf, { account: box.anna, email })) ?? 0;
  return { id, email: jmapId('email', email), thread: jmapId('thread', thread) };
}

const stateOf = async (id: number): Promise<string | undefined> =>
  (await box.world.store.read(findOutboxItem, { id, now: box.clock.now }))?.state;

/** A member whose browser has a mailbox open. */
async function reader(account: number): Promise<Someone> {
  const someone = await box.someone('member', 1, [account]);
  const form = await someone.visitor.formToken('/account');
  await someone.visitor.post('/mail/open', { form, mailbox: `mbx_${account}` });
  return someone;
}

const look = ({ visitor }: Someone, thread: string, site = 'same-origin') =>
  http('GET', `${box.base}/mail/agents/${thread}`, { cookie: visitor.cookie ?? '', 'sec-fetch-site': site });

const decide = ({ visitor }: Someone, email: string, verb: string, headers = {}) =>
  visitor.post('/mail/agents/decide', { email, verb }, headers);

test('a member sees why mail of their mailbox waits, and approves it; the audit log names them', async () => {
  const { id, email, thread } = await held();
  const someone = await reader(box.anna);
  const { json } = await look(someone, thread);
  const view = json as unknown as {
    mayDecide: boolean;
    approvals: Record<string, { state: string; reasons: string[] }>;
  };
  expect([view.mayDecide, view.approvals[email]?.state]).toEqual([true, 'pending']);
  expect(view.approvals[email]?.reasons.join()).toContain('was never written to');
  expect((await decide(someone, email, 'approve')).status).toBe(200);
  expect(await stateOf(id)).toBe('approved');
  const audited = await box.world.store.read(auditedOperations, { target: `out_${id}` });
  expect(audited).toContain('approve_outbox_item');
  expect((await decide(someone, email, 'reject')).status).toBe(409);
});

test('another mailbox, another site, nobody and a token decide nothing', async () => {
  const { id, email, thread } = await held();
  const [anna, bert] = [await reader(box.anna), await reader(box.bert)];
  expect((await decide(bert, email, 'approve')).status).toBe(404);
  expect((await look(bert, thread)).json?.['approvals']).toEqual({});
  expect((await decide(anna, email, 'approve', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await look(anna, thread, 'cross-site')).status).toBe(403);
  const nobody = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
  const said = await http('POST', `${box.base}/mail/agents/decide`, nobody, `email=${email}&verb=approve`);
  expect(said.status).toBe(401);
  const bearer = { ...nobody, authorization: 'Bearer mst_0000' };
  expect((await http('POST', `${box.base}/mail/agents/decide`, bearer, `email=${email}&verb=approve`)).status).toBe(
    401,
  );
  expect(await stateOf(id)).toBe('pending');
});

test('15 minutes after signing in, approving leads to the page with the password; rejecting does not', async () => {
  const { id, email, thread } = await held();
  const someone = await reader(box.anna);
  box.clock.now += 16 * MINUTE_MS;
  const { json } = await look(someone, thread);
  const approvals = json?.['approvals'] as Record<string, { page: string | null }>;
  expect(approvals[email]?.page).toBe(`/o/org_1/outbox/out_${id}`);
  expect((await decide(someone, email, 'approve')).status).toBe(403);
  expect(await stateOf(id)).toBe('pending');
  expect((await decide(someone, email, 'reject')).status).toBe(200);
  expect(await stateOf(id)).toBe('denied');
});

test('a member pauses no agent', async () => {
  const someone = await reader(box.anna);
  const said = await someone.visitor.post('/mail/agents/mode', { agent: 'tok_1', mode: 'frozen' });
  expect(said.status).toBe(403);
});
