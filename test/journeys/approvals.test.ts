import type { ImapFlow } from 'imapflow';
import '../support/gate-that-holds-all.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HeldBox, heldBox } from '../support/held-box.ts';
import { JmapClient, listOf } from '../support/jmap-client.ts';
import { http } from '../support/mcp.ts';

let held: HeldBox;
let base: string;
let token: string;

beforeAll(async () => {
  held = await heldBox();
  await held.hold(4);
  base = `http://127.0.0.1:${held.box.port('http')}`;
  const minted = await held.box.ask('create_agent_token', { name: 'helper', actions: ['read', 'manage', 'send'] });
  token = String((minted as { secret?: unknown; token?: unknown }).secret ?? (minted as { token?: unknown }).token);
});
afterAll(() => held[Symbol.asyncDispose]());

const call = async (name: string, args: object) =>
  http(
    'POST',
    `${base}/api/tools/${name}`,
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    JSON.stringify(args),
  );

async function count(person: ImapFlow, mailbox: string): Promise<number | undefined> {
  const status = await person.status(mailbox, { messages: true });
  return status === false ? undefined : status.messages;
}

describe('mail of an agent that waits', () => {
  test('is seen by a mail program as such, and sent when a person moves it to Approved', async () => {
    const person = await held.person();
    const boxes = await person.list();
    const names = boxes.filter(({ subscribed }) => subscribed).map(({ path }) => path);
    expect(names).toEqual(expect.arrayContaining(['Awaiting approval', 'Approved']));
    const opened = await person.mailboxOpen('Awaiting approval');
    expect(opened.exists).toBe(4);
    const first = await person.fetchOne('1', { flags: true, headers: ['x-awaits-approval'] });
    if (first === false || first === undefined) throw new Error('nothing waits');
    expect([...(first.flags ?? [])]).toContain('$AwaitingApproval');
    expect(String(first.headers)).toContain('was never written to');
    await person.messageMove('1', 'Approved');
    const [mail] = await held.remote.received(1);
    expect(mail?.to).toEqual(['x@remote.example']);
    expect(mail?.raw.toString()).not.toMatch(/^X-Awaits-Approval/im);
    await expect.poll(async () => count(person, 'Sent')).toBe(1);
    expect(await count(person, 'Approved')).toBe(0);
    await person.logout();
  });

  test('is refused when a person deletes it; the agent sees both', async () => {
    const person = await held.person();
    await person.mailboxOpen('Awaiting approval');
    await person.messageDelete('1');
    await person.logout();
    const { json } = await call('list_outbox', {});
    const items = (json as { items: { state: string; decidedBy: string | null }[] }).items;
    expect(items.map(({ state, decidedBy }) => [state, decidedBy])).toEqual([
      ['pending', null],
      ['pending', null],
      ['denied', 'me@home.example'],
      ['approved', 'me@home.example'],
    ]);
  });

  test('is moved by no token: over JMAP it is refused, and it stays', async () => {
    const client = await JmapClient.discover(base, { token });
    const ask = (name: string, args: Record<string, unknown>) => client.call(name, args);
    const boxes = listOf(await ask('Mailbox/get', { ids: null }));
    const idOf = (name: string): string => String(boxes.find((one) => one['name'] === name)?.['id']);
    const { ids } = (await ask('Email/query', { filter: { inMailbox: idOf('Awaiting approval') } })) as {
      ids: string[];
    };
    expect(ids).toHaveLength(2);
    const [email = ''] = ids;
    const moved = await ask('Email/set', { update: { [email]: { mailboxIds: { [idOf('Approved')]: true } } } });
    expect(moved).toMatchObject({ notUpdated: { [email]: { type: 'forbidden' } } });
    const gone = await ask('Email/set', { destroy: [email] });
    expect(gone).toMatchObject({ notDestroyed: { [email]: { type: 'forbidden' } } });
    const renamed = await ask('Mailbox/set', { update: { [idOf('Approved')]: { name: 'Refused' } } });
    expect(renamed).toMatchObject({ notUpdated: { [idOf('Approved')]: { type: 'forbidden' } } });
    expect((await call('list_outbox', { state: 'pending' })).json).toMatchObject({ items: [{}, {}] });
    expect((await held.remote.received(1)).length).toBe(1);
  });

  test('is let go by no token over REST, and taken back by one', async () => {
    const { json } = await call('list_outbox', { state: 'pending' });
    const [item] = (json as { items: { outboxId: string; approveUrl: string }[] }).items;
    const id = item?.outboxId ?? '';
    for (const verb of ['approve', 'deny']) {
      const said = await http('POST', `${base}/api/outbox/${id}/${verb}`, {
        authorization: `Bearer ${token}`,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      });
      expect([said.status, said.json?.['error']]).toEqual([403, 'action_not_allowed']);
    }
    expect(
      (await http('GET', `${base}${new URL(item?.approveUrl ?? '').pathname}`, { authorization: `Bearer ${token}` }))
        .status,
    ).toBe(303);
    expect((await call('withdraw_outbox_item', { outboxId: id })).json).toEqual({ withdrawn: true });
    expect((await call('get_outbox_item', { outboxId: id })).json).toMatchObject({
      state: 'withdrawn',
      decidedBy: 'helper',
      reasonCodes: ['first_seen_recipient'],
    });
    expect((await call('withdraw_outbox_item', { outboxId: id })).status).toBe(409);
  });
});
