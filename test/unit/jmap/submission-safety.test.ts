import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScheduledMail } from '../../../mail/jobs/scheduled-mail.ts';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import { quiet } from '../../../mail/log.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { traceId } from '../../../mail/receiver/trace-id.ts';
import { ALLOW } from '../../../mail/agents/gate/sending-policy.ts';
import { mailParts } from '../../../mail/store-thread-parts.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { appendMessage } from '../../../mail/store/mailbox/entry-commands.ts';
import { foreignAuthors } from '../../support/foreign-authors.ts';
import { type JmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount, testStore } from '../../support/store.ts';

let fixture: JmapFixture;
let other: JmapFixture;
let identityId: string;
let scheduler: ScheduledMail;

beforeAll(async () => {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, setState] });
  fixture = jmapFixtureOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = jmapFixtureOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  const { list } = await fixture.call('Identity/get');
  identityId = (list as { id: string }[])[0]?.id ?? '';
  scheduler = new ScheduledMail({
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
  await fixture[Symbol.asyncDispose]();
});

const setState = command('test-state', async (tx, { account, state }: { account: number; state: number }) => {
  await tx.run('UPDATE account SET state = ? WHERE id = ?', state, account);
});
const newestEmail = query('test-newest-email', async (rx, { account }: { account: number }): Promise<number> => {
  const row = await rx.get<{ id: number }>('SELECT max(id) AS id FROM email WHERE account_id = ?', account);
  return row?.id ?? 0;
});
/** Reads the queue: recipients and octets. */
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

/** Stores a message with exactly these octets; returns the email id. */
async function put(text: string, of = fixture): Promise<string> {
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
  const answer = await fixture.call('EmailSubmission/set', { create: { k: { identityId, emailId, ...more } } });
  const { created, notCreated } = answer as Record<string, { k: Record<string, unknown> } | null>;
  return created?.k ?? { refused: notCreated?.k };
}
const leaving = async (work: () => Promise<unknown>): Promise<Awaited<ReturnType<typeof left.run>>> => {
  const before = (await fixture.box.store.read(left, undefined)).length;
  await work();
  return (await fixture.box.store.read(left, undefined)).slice(before);
};
const envelope = (from: string, ...to: string[]) => ({
  envelope: { mailFrom: { email: from }, rcptTo: to.map((email) => ({ email })) },
});

describe('nothing is sent in the name of another account', () => {
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

test('an address in two spellings gets one copy', async () => {
  const emailId = await put('From: me@box.test\r\n\r\nx\r\n');
  const gone = await leaving(async () =>
    expect(await send(emailId, envelope('me@box.test', 'x@remote.example', 'x@REMOTE.example'))).toMatchObject({
      undoStatus: 'final',
    }),
  );
  expect(gone.map(({ to }) => to)).toEqual(['x@remote.example']);
});

test('local delivery of a delayed message is reported when it is sent', async () => {
  const emailId = await put('From: me@box.test\r\nSubject: later\r\n\r\nx\r\n');
  await send(emailId, {
    envelope: {
      mailFrom: { email: 'me@box.test', parameters: { HOLDFOR: '60' } },
      rcptTo: [{ email: 'you@box.test', parameters: { NOTIFY: 'SUCCESS' } }],
    },
  });
  fixture.box.clock.now += 61_000;
  await scheduler.run();
  expect((await fixture.box.store.read(inboxOf, { account: other.account })).at(-1)).toContain('Subject: later');
  expect((await fixture.box.store.read(inboxOf, { account: fixture.account })).at(-1)).toContain('Action: delivered');
});

test('a sender frozen during a request sends nothing', async () => {
  const emailId = await put('From: me@box.test\r\nTo: x@remote.example\r\n\r\nx\r\n');
  Object.assign(fixture.context, {
    policy: async () => {
      await fixture.box.store.write(setState, { account: fixture.account, state: 0 });
      return ALLOW;
    },
  });
  const gone = await leaving(async () =>
    expect(await send(emailId)).toMatchObject({ refused: { type: 'forbiddenMailFrom' } }),
  );
  expect(gone).toEqual([]);
  Object.assign(fixture.context, { policy: () => ALLOW });
  await fixture.box.store.write(setState, { account: fixture.account, state: 1 });
  expect(await send(emailId)).toMatchObject({ undoStatus: 'final' });
});

test('a repeated request with the same ifInState sends nothing again', async () => {
  const emailId = await put('From: me@box.test\r\nTo: x@remote.example\r\n\r\nx\r\n');
  const { state } = await fixture.call('EmailSubmission/get', { ids: [] });
  const again = { ifInState: state, create: { k: { identityId, emailId } } };
  const gone = await leaving(async () => {
    await fixture.call('EmailSubmission/set', again);
    expect(await fixture.refusal('EmailSubmission/set', again)).toMatchObject({ type: 'stateMismatch' });
  });
  expect(gone).toHaveLength(1);
});

test('canceled at its send time, a message is either not sent or reported as sent', async () => {
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
    fixture.box.clock.now += 6000;
    const cancel = (): Promise<unknown> =>
      fixture.call('EmailSubmission/set', { update: { [id]: { undoStatus: 'canceled' } } });
    // Lets the scheduler begin in this turn of the event loop.
    const gone = await leaving(async () => {
      const running = scheduler.run();
      for (let turns = 0; turns < i % 12; turns++) await new Promise((resolve) => void setImmediate(resolve));
      await Promise.all([cancel(), running]);
    });
    const { list } = await fixture.call('EmailSubmission/get', { ids: [id] });
    const [{ undoStatus }] = list as [{ undoStatus: keyof typeof ends }];
    expect({ undoStatus, gone: gone.length }).toEqual({ undoStatus, gone: undoStatus === 'final' ? 1 : 0 });
    expect(Object.keys(ends)).toContain(undoStatus);
    ends[undoStatus]++;
  }
  expect(ends.canceled).toBeGreaterThan(0);
  expect(ends.final).toBeGreaterThan(0);
});
