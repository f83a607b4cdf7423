import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { VacationResponder } from '../../../mail/jobs/vacation-responder.ts';
import { allowAll } from '../../../mail/agents/gate/sending-policy.ts';
import { quiet } from '../../../mail/log.ts';
import type { StoreReceiverBackend } from '../../../mail/receiver/store-backend.ts';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { copyEntries } from '../../../mail/store/mailbox/entry-commands.ts';
import { vacationJobs } from '../../../mail/store/submission/vacation.ts';
import { receiveMessage, testBackend } from '../../support/receive-message.ts';
import { type JmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount, testStore, type TestStore } from '../../support/store.ts';

const DAY = 24 * 3_600_000;

/** Reads the queue: messages and their senders. */
const left = query('test-left', async (rx): Promise<{ to: string; sender: string; text: string; sign: string }[]> => {
  const rows = await rx.all<{ recipient: string; sender: string; data: Uint8Array; sign: string }>(
    `SELECT q.recipient, s.sender, b.data, s.sign_as AS sign FROM queue q JOIN submission s ON s.id = q.submission_id
     JOIN blob b ON b.id = s.blob_id ORDER BY q.id`,
  );
  return rows.map(({ recipient: to, data, ...row }) => ({ to, ...row, text: Buffer.from(data).toString() }));
});
const inboxOf = query('test-inbox', async (rx, { account }: { account: number }): Promise<string[]> => {
  const rows = await rx.all<{ data: Uint8Array }>(
    'SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.account_id = ? ORDER BY e.id',
    account,
  );
  return rows.map(({ data }) => Buffer.from(data).toString());
});

let box: TestStore;
let fixture: JmapFixture;
let other: JmapFixture;
let backend: StoreReceiverBackend;
let responder: VacationResponder;

function newResponder(): VacationResponder {
  return new VacationResponder({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
    meter: quiet,
    forwardKey: Buffer.alloc(32, 3),
    hold: null,
    senderOf: () => Promise.resolve({ tenant: 1, allowance: null }),
    policy: allowAll,
    traceId,
    queued: () => undefined,
  });
}

beforeAll(async () => {
  box = await testStore();
  fixture = jmapFixtureOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = jmapFixtureOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  backend = testBackend(box);
  responder = newResponder();
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
});

const set = (patch: Record<string, unknown>, of = fixture): Promise<Record<string, unknown>> =>
  of.call('VacationResponse/set', { update: { singleton: patch } });
const get = async (of = fixture): Promise<unknown> => ((await of.call('VacationResponse/get'))['list'] as unknown[])[0];

describe('the vacation response', () => {
  test('exists once and is disabled by default', async () => {
    const nothing = {
      id: 'singleton',
      isEnabled: false,
      fromDate: null,
      toDate: null,
      subject: null,
      textBody: null,
      htmlBody: null,
    };
    expect(await fixture.call('VacationResponse/get')).toMatchObject({ list: [nothing], notFound: [] });
    expect(
      await fixture.call('VacationResponse/get', { ids: ['singleton', 'x'], properties: ['isEnabled'] }),
    ).toMatchObject({
      list: [{ id: 'singleton', isEnabled: false }],
      notFound: ['x'],
    });
  });

  test('an update changes its state; that of another account stays', async () => {
    const before = await other.call('VacationResponse/get');
    const values = {
      isEnabled: true,
      fromDate: '2026-01-01T00:00:00Z',
      toDate: '2026-02-01T00:00:00Z',
      subject: 'Away',
      textBody: 'Back soon',
    };
    const answer = await set(values);
    expect(answer).toMatchObject({ updated: { singleton: null }, notUpdated: null });
    expect(answer['newState']).not.toBe(answer['oldState']);
    expect(await get()).toEqual({ id: 'singleton', htmlBody: null, ...values });
    await set({ subject: null });
    expect(await get()).toMatchObject({ subject: null, textBody: 'Back soon' });
    expect(await other.call('VacationResponse/get')).toEqual(before);
  });

  test.each([
    ['another id', { update: { x: {} } }, 'notUpdated', 'x', 'notFound'],
    ['a second one', { create: { k: { isEnabled: true } } }, 'notCreated', 'k', 'singleton'],
    ['none', { destroy: ['singleton'] }, 'notDestroyed', 'singleton', 'singleton'],
    [
      'an end before its begin',
      { update: { singleton: { fromDate: '2026-02-01T00:00:00Z', toDate: '2026-01-01T00:00:00Z' } } },
      'notUpdated',
      'singleton',
      'invalidProperties',
    ],
    [
      'a local time',
      { update: { singleton: { fromDate: '2026-02-01T00:00:00' } } },
      'notUpdated',
      'singleton',
      'invalidProperties',
    ],
    ['words for yes', { update: { singleton: { isEnabled: 'yes' } } }, 'notUpdated', 'singleton', 'invalidProperties'],
    [
      'too long a text',
      { update: { singleton: { textBody: 'x'.repeat(300_000) } } },
      'notUpdated',
      'singleton',
      'invalidProperties',
    ],
  ])('%s is refused', async (_what, args, where, id, type) => {
    const before = await get();
    const answer = await fixture.call('VacationResponse/set', args);
    expect((answer[where] as Record<string, unknown>)[id]).toMatchObject({ type, description: expect.any(String) });
    expect(await get()).toEqual(before);
  });
});

test('a login without permission to send can disable it and cannot enable it', async () => {
  const access = fixture.session.accounts.get(fixture.accountId);
  Object.assign(access ?? {}, { mayTransmit: false });
  try {
    for (const patch of [{ isEnabled: true }, { isEnabled: true, textBody: 'Buy this' }]) {
      expect(await set(patch)).toMatchObject({ updated: null, notUpdated: { singleton: { type: 'forbidden' } } });
    }
    expect(await set({ isEnabled: false })).toMatchObject({ updated: { singleton: null } });
  } finally {
    Object.assign(access ?? {}, { mayTransmit: true });
  }
});

let nth = 0;
/** Delivers one message; returns the queued replies to it. */
async function answered(
  mail: { from?: string; to?: string; header?: string } = {},
): Promise<Awaited<ReturnType<typeof left.run>>> {
  const {
    from = `ann${++nth}@remote.example`,
    to = 'me@box.test',
    header = `From: Ann <${from}>\nTo: me@box.test\nSubject: Lunch?\nMessage-ID: <m${nth}@remote.example>`,
  } = mail;
  const before = (await box.store.read(left, undefined)).length;
  expect(await receiveMessage(backend, { from, to, body: `${header}\n\nHi\n` })).toMatchObject({ kind: 'accepted' });
  await responder.run();
  expect(await box.store.read(vacationJobs, { limit: 10 })).toEqual({ jobs: [], void: [] });
  return (await box.store.read(left, undefined)).slice(before);
}

describe('answers', () => {
  beforeEach(() =>
    set({ isEnabled: true, fromDate: null, toDate: null, subject: null, textBody: 'Back soon', htmlBody: null }),
  );

  test('a reply goes to the sender, with the null reverse-path and Auto-Submitted', async () => {
    const [answer, ...more] = await answered();
    expect(more).toEqual([]);
    expect(answer).toMatchObject({ to: `ann${nth}@remote.example`, sender: '', sign: 'box.test' });
    const text = answer?.text ?? '';
    expect(text).toMatch(/^From: me@box\.test\r$/m);
    expect(text).toMatch(/^Subject: Auto: Lunch\?\r$/m);
    expect(text).toMatch(/^Auto-Submitted: auto-replied\r$/m);
    expect(text).toContain(`In-Reply-To: <m${nth}@remote.example>\r\nReferences: <m${nth}@remote.example>`);
    expect(text).toContain('Back soon');
  });

  test('a sender gets one reply in seven days', async () => {
    const from = 'bob@remote.example';
    const header = `From: ${from}\nTo: me@box.test`;
    expect(await answered({ from, header })).toHaveLength(1);
    expect(await answered({ from, header })).toHaveLength(0);
    expect(await answered({ from: 'BOB@remote.example', header })).toHaveLength(0);
    box.clock.now += 7 * DAY - 1;
    expect(await answered({ from, header })).toHaveLength(0);
    box.clock.now += 1;
    expect(await answered({ from, header })).toHaveLength(1);
  });

  test('the custom text, as HTML too', async () => {
    await set({ subject: 'Away: until June\r\nX: y', textBody: null, htmlBody: '<p>Gone <b>fishing</b></p>' });
    const [answer] = await answered();
    expect(answer?.text).toMatch(/^Subject: Away: until June X: y\r$/m);
    expect(answer?.text).toMatch(/multipart\/alternative/);
    expect(answer?.text).toMatch(/text\/plain[\s\S]*Gone +fishing[\s\S]*text\/html/);
  });

  test('a default text if none is set', async () => {
    await set({ textBody: null });
    expect((await answered())[0]?.text).toMatch(/away/);
  });

  test('only between its dates', async () => {
    await set({ fromDate: new Date(box.clock.now + DAY).toISOString() });
    expect(await answered()).toHaveLength(0);
    await set({ fromDate: new Date(box.clock.now).toISOString(), toDate: new Date(box.clock.now + DAY).toISOString() });
    expect(await answered()).toHaveLength(1);
    box.clock.now += DAY;
    expect(await answered()).toHaveLength(0);
  });

  test('no reply when it is disabled, and nothing is recorded', async () => {
    await set({ isEnabled: false });
    await receiveMessage(backend, {
      from: 'c@remote.example',
      to: 'me@box.test',
      body: 'From: c@remote.example\nTo: me@box.test\n\nx',
    });
    expect(await box.store.read(vacationJobs, { limit: 10 })).toEqual({ jobs: [], void: [] });
  });

  test('no reply if it was disabled between arrival and reply', async () => {
    await receiveMessage(backend, {
      from: 'd@remote.example',
      to: 'me@box.test',
      body: 'From: d@remote.example\nTo: me@box.test\n\nx',
    });
    await set({ isEnabled: false });
    const before = (await box.store.read(left, undefined)).length;
    await responder.run();
    expect(await box.store.read(left, undefined)).toHaveLength(before);
  });

  test.each([
    ['a bounce', { from: '' }],
    ['a list', { header: 'From: l@remote.example\nTo: me@box.test\nList-Id: <l>' }],
    ['a program', { header: 'From: p@remote.example\nTo: me@box.test\nAuto-Submitted: auto-generated' }],
    ['somebody who wrote to others', { header: 'From: o@remote.example\nTo: others@remote.example' }],
  ])('none for %s', async (_what, mail) => {
    expect(await answered(mail)).toHaveLength(0);
  });

  test('one reply even if two processes began it, as after a kill and restart', async () => {
    const second = newResponder();
    const from = 'twice@remote.example';
    const before = (await box.store.read(left, undefined)).length;
    for (let i = 0; i < 3; i++) {
      await receiveMessage(backend, {
        from,
        to: 'me@box.test',
        body: `From: ${from}\nTo: me@box.test\nSubject: ${i}\n\nx`,
      });
    }
    await Promise.all([responder.run(), second.run()]);
    expect((await box.store.read(left, undefined)).slice(before).map(({ to }) => to)).toEqual([from]);
  });

  test('a local sender gets one in the inbox, and two vacation responses do not loop', async () => {
    await set({ isEnabled: true, textBody: 'Me too' }, other);
    const login = { account: other.account, address: 'you@box.test' };
    await receiveMessage(backend, {
      from: 'you@box.test',
      to: 'me@box.test',
      login,
      body: 'From: you@box.test\nTo: me@box.test\nSubject: a\n\nx',
    });
    await responder.run();
    await responder.run();
    const theirs = await box.store.read(inboxOf, { account: other.account });
    expect(theirs.filter((one) => one.includes('Back soon'))).toHaveLength(1);
    const mine = await box.store.read(inboxOf, { account: fixture.account });
    expect(mine.some((one) => one.includes('Me too'))).toBe(false);
  });

  test('forged senders cannot make it send without limit', async () => {
    box.clock.now += DAY + 3_600_000;
    const before = (await box.store.read(left, undefined)).length;
    for (let i = 0; i < 150; i++) {
      const from = `made-up-${i}@victim${i}.example`;
      await receiveMessage(backend, { from, to: 'me@box.test', body: `From: ${from}\nTo: me@box.test\n\nx` });
    }
    await responder.run();
    expect((await box.store.read(left, undefined)).length - before).toBe(100);
    expect(await box.store.read(vacationJobs, { limit: 10 })).toEqual({ jobs: [], void: [] });
    box.clock.now += DAY + 3_600_000;
    expect(await answered()).toHaveLength(1);
  });

  test('a deleted message and one in Junk get no reply', async () => {
    await receiveMessage(backend, {
      from: 'j@remote.example',
      to: 'me@box.test',
      body: 'From: j@remote.example\nTo: me@box.test\n\nx',
    });
    const { inbox: from, junk: to, uid } = await box.store.read(junkOf, { account: fixture.account });
    await box.store.write(copyEntries, { account: fixture.account, mailbox: from, to, uids: [uid], move: true });
    const before = (await box.store.read(left, undefined)).length;
    await responder.run();
    expect(await box.store.read(left, undefined)).toHaveLength(before);
  });
});

const junkOf = query('test-junk', async (rx, { account }: { account: number }) => {
  const row = await rx.get<{ inbox: number; junk: number; uid: number }>(
    `SELECT i.id AS inbox, j.id AS junk, (SELECT max(uid) FROM entry WHERE mailbox_id = i.id) AS uid
     FROM mailbox i JOIN mailbox j ON j.account_id = i.account_id AND j.role = 'junk'
     WHERE i.account_id = ? AND i.role = 'inbox'`,
    account,
  );
  if (row === undefined) throw new Error('no junk');
  return row;
});
