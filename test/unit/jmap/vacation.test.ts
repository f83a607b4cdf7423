import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { VacationResponder } from '../../../mail/jobs/vacation-responder.ts';
import { allowAll } from '../../../mail/delivery/policy.ts';
import { quiet } from '../../../mail/log.ts';
import type { StoreIntake } from '../../../mail/receiver/store-intake.ts';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { copyEntries } from '../../../mail/store/entry-commands.ts';
import { vacationJobs } from '../../../mail/store/vacation.ts';
import { arrive, testIntake } from '../../support/arrivals.ts';
import { type JmapWorld, worldOn } from '../../support/jmap-world.ts';
import { testAccount, testStore, type TestStore } from '../../support/store.ts';

const DAY = 24 * 3_600_000;

/** What left for elsewhere, and who sends it. */
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
let world: JmapWorld;
let other: JmapWorld;
let intake: StoreIntake;
let responder: VacationResponder;

function newResponder(): VacationResponder {
  return new VacationResponder({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
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
  world = worldOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = worldOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  intake = testIntake(box);
  responder = newResponder();
});
afterAll(async () => {
  await responder[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
});

const set = (patch: Record<string, unknown>, of = world): Promise<Record<string, unknown>> =>
  of.call('VacationResponse/set', { update: { singleton: patch } });
const get = async (of = world): Promise<unknown> => ((await of.call('VacationResponse/get'))['list'] as unknown[])[0];

describe('the vacation response', () => {
  test('there is one, which is off', async () => {
    const nothing = {
      id: 'singleton',
      isEnabled: false,
      fromDate: null,
      toDate: null,
      subject: null,
      textBody: null,
      htmlBody: null,
    };
    expect(await world.call('VacationResponse/get')).toMatchObject({ list: [nothing], notFound: [] });
    expect(
      await world.call('VacationResponse/get', { ids: ['singleton', 'x'], properties: ['isEnabled'] }),
    ).toMatchObject({
      list: [{ id: 'singleton', isEnabled: false }],
      notFound: ['x'],
    });
  });

  test('it is set, and its state moves; that of another account does not', async () => {
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
    const answer = await world.call('VacationResponse/set', args);
    expect((answer[where] as Record<string, unknown>)[id]).toMatchObject({ type, description: expect.any(String) });
    expect(await get()).toEqual(before);
  });
});

test('a login that may not send can switch it off, and not have it answer', async () => {
  const access = world.session.accounts.get(world.accountId);
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
/** One message from somebody; answers what left because of it. */
async function answered(
  mail: { from?: string; to?: string; header?: string } = {},
): Promise<Awaited<ReturnType<typeof left.run>>> {
  const {
    from = `ann${++nth}@remote.example`,
    to = 'me@box.test',
    header = `From: Ann <${from}>\nTo: me@box.test\nSubject: Lunch?\nMessage-ID: <m${nth}@remote.example>`,
  } = mail;
  const before = (await box.store.read(left, undefined)).length;
  expect(await arrive(intake, { from, to, body: `${header}\n\nHi\n` })).toMatchObject({ kind: 'accepted' });
  await responder.run();
  expect(await box.store.read(vacationJobs, { limit: 10 })).toEqual({ jobs: [], void: [] });
  return (await box.store.read(left, undefined)).slice(before);
}

describe('answers', () => {
  beforeEach(() =>
    set({ isEnabled: true, fromDate: null, toDate: null, subject: null, textBody: 'Back soon', htmlBody: null }),
  );

  test('one goes to who wrote, with the null sender, marked as a program’s', async () => {
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

  test('a sender gets one in seven days', async () => {
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

  test('a text of its own, as html too', async () => {
    await set({ subject: 'Away: until June\r\nX: y', textBody: null, htmlBody: '<p>Gone <b>fishing</b></p>' });
    const [answer] = await answered();
    expect(answer?.text).toMatch(/^Subject: Away: until June X: y\r$/m);
    expect(answer?.text).toMatch(/multipart\/alternative/);
    expect(answer?.text).toMatch(/text\/plain[\s\S]*Gone +fishing[\s\S]*text\/html/);
  });

  test('something is said where nothing was', async () => {
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

  test('none when it is off, and nothing is written down', async () => {
    await set({ isEnabled: false });
    await arrive(intake, {
      from: 'c@remote.example',
      to: 'me@box.test',
      body: 'From: c@remote.example\nTo: me@box.test\n\nx',
    });
    expect(await box.store.read(vacationJobs, { limit: 10 })).toEqual({ jobs: [], void: [] });
  });

  test('none when it was switched off between arrival and answer', async () => {
    await arrive(intake, {
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

  test('one, also when two have begun to answer it, as after a process that was killed and its successor', async () => {
    await using second = newResponder();
    const from = 'twice@remote.example';
    const before = (await box.store.read(left, undefined)).length;
    for (let i = 0; i < 3; i++) {
      await arrive(intake, { from, to: 'me@box.test', body: `From: ${from}\nTo: me@box.test\nSubject: ${i}\n\nx` });
    }
    await Promise.all([responder.run(), second.run()]);
    expect((await box.store.read(left, undefined)).slice(before).map(({ to }) => to)).toEqual([from]);
  });

  test('a colleague gets one in the inbox, and two who are away do not answer each other for ever', async () => {
    await set({ isEnabled: true, textBody: 'Me too' }, other);
    const login = { account: other.account, address: 'you@box.test' };
    await arrive(intake, {
      from: 'you@box.test',
      to: 'me@box.test',
      login,
      body: 'From: you@box.test\nTo: me@box.test\nSubject: a\n\nx',
    });
    await responder.run();
    await responder.run();
    const theirs = await box.store.read(inboxOf, { account: other.account });
    expect(theirs.filter((one) => one.includes('Back soon'))).toHaveLength(1);
    const mine = await box.store.read(inboxOf, { account: world.account });
    expect(mine.some((one) => one.includes('Me too'))).toBe(false);
  });

  test('strangers who make up senders cannot have it write to the world all day', async () => {
    box.clock.now += DAY + 3_600_000;
    const before = (await box.store.read(left, undefined)).length;
    for (let i = 0; i < 150; i++) {
      const from = `made-up-${i}@victim${i}.example`;
      await arrive(intake, { from, to: 'me@box.test', body: `From: ${from}\nTo: me@box.test\n\nx` });
    }
    await responder.run();
    expect((await box.store.read(left, undefined)).length - before).toBe(100);
    expect(await box.store.read(vacationJobs, { limit: 10 })).toEqual({ jobs: [], void: [] });
    box.clock.now += DAY + 3_600_000;
    expect(await answered()).toHaveLength(1);
  });

  test('a message that was thrown away, or lies in Junk, gets none', async () => {
    await arrive(intake, {
      from: 'j@remote.example',
      to: 'me@box.test',
      body: 'From: j@remote.example\nTo: me@box.test\n\nx',
    });
    const { inbox: from, junk: to, uid } = await box.store.read(junkOf, { account: world.account });
    await box.store.write(copyEntries, { account: world.account, mailbox: from, to, uids: [uid], move: true });
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
