import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Scheduler } from '../../../mail/jobs/scheduler.ts';
import { jmapId } from '../../../mail/jmap/ids.ts';
import { quiet } from '../../../mail/log.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import { ALLOW } from '../../../mail/delivery/policy.ts';
import { mailParts } from '../../../mail/parts.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { appendMessage } from '../../../mail/store/entry-commands.ts';
import { foreignAuthors } from '../../support/foreign-authors.ts';
import { type JmapWorld, worldOn } from '../../support/jmap-world.ts';
import { testAccount, testStore } from '../../support/store.ts';

let world: JmapWorld;
let other: JmapWorld;
let identityId: string;
let scheduler: Scheduler;

beforeAll(async () => {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, setState] });
  world = worldOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = worldOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  const { list } = await world.call('Identity/get');
  identityId = (list as { id: string }[])[0]?.id ?? '';
  scheduler = new Scheduler({
    store: box.store,
    hostname: 'mail.box.test',
    clock: () => box.clock.now,
    log: quiet,
    traceId,
    forwardKey: Buffer.alloc(32, 3),
    hold: null,
    queued: () => undefined,
  });
});
afterAll(async () => {
  await scheduler[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const setState = command('test-state', async (tx, { account, state }: { account: number; state: number }) => {
  await tx.run('UPDATE account SET state = ? WHERE id = ?', state, account);
});
const newestEmail = query('test-newest-email', async (rx, { account }: { account: number }): Promise<number> => {
  const row = await rx.get<{ id: number }>('SELECT max(id) AS id FROM email WHERE account_id = ?', account);
  return row?.id ?? 0;
});
/** What waits for elsewhere: to whom, and with which octets. */
const left = query('test-left', async (rx): Promise<{ to: string; sender: string; text: string }[]> => {
  const rows = await rx.all<{ to: string; sender: string; data: Uint8Array }>(
    `SELECT q.recipient AS "to", s.sender, b.data FROM queue q JOIN submission s ON s.id = q.submission_id
     JOIN blob b ON b.id = s.blob_id ORDER BY q.id`,
  );
  return rows.map(({ data, ...row }) => ({ ...row, text: Buffer.from(data).toString('latin1') }));
});
const inboxOf = query('test-inbox', async (rx, { account }: { account: number }): Promise<string[]> => {
  const rows = await rx.all<{ data: Uint8Array }>(
    'SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.account_id = ? ORDER BY e.id',
    account,
  );
  return rows.map(({ data }) => Buffer.from(data).toString());
});

/** A message octet for octet as given; answers the id of its email. */
async function put(text: string, of = world): Promise<string> {
  const data = Buffer.from(text, 'latin1');
  const added = await of.box.store.write(appendMessage, {
    account: of.account,
    mailbox: of.inbox,
    flags: { bits: 8, keywords: [] },
    receivedAt: of.box.clock.now,
    data: Uint8Array.from(data),
    file: null,
    index: indexMessage(data),
  });
  expect(added).toMatchObject({ kind: 'appended' });
  return jmapId('email', await of.box.store.read(newestEmail, { account: of.account }));
}

async function send(emailId: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const answer = await world.call('EmailSubmission/set', { create: { k: { identityId, emailId, ...more } } });
  const { created, notCreated } = answer as Record<string, { k: Record<string, unknown> } | null>;
  return created?.k ?? { refused: notCreated?.k };
}
const leaving = async (work: () => Promise<unknown>): Promise<Awaited<ReturnType<typeof left.run>>> => {
  const before = (await world.box.store.read(left, undefined)).length;
  await work();
  return (await world.box.store.read(left, undefined)).slice(before);
};
const envelope = (from: string, ...to: string[]) => ({
  envelope: { mailFrom: { email: from }, rcptTo: to.map((email) => ({ email })) },
});

describe('in somebody else’s name nothing leaves', () => {
  test.each(foreignAuthors.map((header) => [header]))('%j', async (header) => {
    const emailId = await put(`${header}\r\nTo: x@remote.example\r\n\r\nGive me money\r\n`);
    const gone = await leaving(async () => {
      for (const more of [{}, envelope('me@box.test', 'x@remote.example'), envelope('', 'x@remote.example')]) {
        expect(await send(emailId, more)).toMatchObject({ refused: { description: expect.any(String) } });
      }
    });
    expect(gone).toEqual([]);
  });
  test.each(['ceo@bank.example', 'you@box.test', 'me@sub.box.test', '"me@box.test"@bank.example'])(
    'nor under the envelope sender %s',
    async (from) => {
      const emailId = await put('From: me@box.test\r\nTo: x@remote.example\r\n\r\nx\r\n');
      const gone = await leaving(async () => {
        expect(await send(emailId, envelope(from, 'x@remote.example'))).toMatchObject({
          refused: { type: 'forbiddenMailFrom' },
        });
      });
      expect(gone).toEqual([]);
    },
  );
});

test.each([
  'Bcc: secret@remote.example',
  'BCC : secret@remote.example',
  'Bcc:\r\n secret@remote.example',
  'Resent-Bcc: secret@remote.example',
  'Bcc: a@remote.example\r\nX: y\r\nbcc: secret@remote.example',
])('%j is not shown to anybody', async (line) => {
  const emailId = await put(`From: me@box.test\r\n${line}\r\nTo: x@remote.example\r\n\r\nx\r\n`);
  const gone = await leaving(() => send(emailId, envelope('me@box.test', 'x@remote.example', 'you@box.test')));
  expect(gone.map(({ to }) => to)).toEqual(['x@remote.example']);
  expect(gone[0]?.text).not.toContain('secret');
  expect((await other.box.store.read(inboxOf, { account: other.account })).join('')).not.toContain('secret');
});

test('one address in two spellings gets it once', async () => {
  const emailId = await put('From: me@box.test\r\n\r\nx\r\n');
  const gone = await leaving(async () =>
    expect(await send(emailId, envelope('me@box.test', 'x@remote.example', 'x@REMOTE.example'))).toMatchObject({
      undoStatus: 'final',
    }),
  );
  expect(gone.map(({ to }) => to)).toEqual(['x@remote.example']);
});

test('success here of a message that waited is told when it leaves', async () => {
  const emailId = await put('From: me@box.test\r\nSubject: later\r\n\r\nx\r\n');
  await send(emailId, {
    envelope: {
      mailFrom: { email: 'me@box.test', parameters: { HOLDFOR: '60' } },
      rcptTo: [{ email: 'you@box.test', parameters: { NOTIFY: 'SUCCESS' } }],
    },
  });
  world.box.clock.now += 61_000;
  await scheduler.run();
  expect((await world.box.store.read(inboxOf, { account: other.account })).at(-1)).toContain('Subject: later');
  expect((await world.box.store.read(inboxOf, { account: world.account })).at(-1)).toContain('Action: delivered');
});

test('who was frozen while a request was under way sends nothing', async () => {
  const emailId = await put('From: me@box.test\r\nTo: x@remote.example\r\n\r\nx\r\n');
  Object.assign(world.desk, {
    policy: async () => {
      await world.box.store.write(setState, { account: world.account, state: 0 });
      return ALLOW;
    },
  });
  const gone = await leaving(async () =>
    expect(await send(emailId)).toMatchObject({ refused: { type: 'forbiddenMailFrom' } }),
  );
  expect(gone).toEqual([]);
  Object.assign(world.desk, { policy: () => ALLOW });
  await world.box.store.write(setState, { account: world.account, state: 1 });
  expect(await send(emailId)).toMatchObject({ undoStatus: 'final' });
});

test('a request that comes again with the state that it knew sends nothing a second time', async () => {
  const emailId = await put('From: me@box.test\r\nTo: x@remote.example\r\n\r\nx\r\n');
  const { state } = await world.call('EmailSubmission/get', { ids: [] });
  const again = { ifInState: state, create: { k: { identityId, emailId } } };
  const gone = await leaving(async () => {
    await world.call('EmailSubmission/set', again);
    expect(await world.refusal('EmailSubmission/set', again)).toMatchObject({ type: 'stateMismatch' });
  });
  expect(gone).toHaveLength(1);
});

test('taken back at the moment of its time: either nobody gets it, or it has left', async () => {
  const ends = { canceled: 0, final: 0 };
  for (let i = 0; i < 40; i++) {
    const emailId = await put(`From: me@box.test\r\nSubject: race ${i}\r\n\r\nx\r\n`);
    const made = await send(emailId, {
      envelope: {
        mailFrom: { email: 'me@box.test', parameters: { HOLDFOR: '5' } },
        rcptTo: [{ email: 'x@remote.example' }],
      },
    });
    const id = String(made['id']);
    world.box.clock.now += 6000;
    const cancel = (): Promise<unknown> =>
      world.call('EmailSubmission/set', { update: { [id]: { undoStatus: 'canceled' } } });
    // As far into the work of the scheduler as this turn of the loop brings it.
    const gone = await leaving(async () => {
      const running = scheduler.run();
      for (let turns = 0; turns < i % 12; turns++) await new Promise((resolve) => void setImmediate(resolve));
      await Promise.all([cancel(), running]);
    });
    const { list } = await world.call('EmailSubmission/get', { ids: [id] });
    const [{ undoStatus }] = list as [{ undoStatus: keyof typeof ends }];
    expect({ undoStatus, gone: gone.length }).toEqual({ undoStatus, gone: undoStatus === 'final' ? 1 : 0 });
    expect(Object.keys(ends)).toContain(undoStatus);
    ends[undoStatus]++;
  }
  expect(ends.canceled).toBeGreaterThan(0);
  expect(ends.final).toBeGreaterThan(0);
});
