import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { submit } from '../../mail/delivery/submission-commit.ts';
import type { MessageEnvelope, RecipientRoute } from '../../mail/receiver/needs.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import type { BounceMessage } from '../../mail/relay/relay-queue.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { setQuota } from '../../mail/store/account/account.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { query } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { queueOfTrace } from '../../mail/store/queue/queue-rows.ts';
import { testBackend, toAddress } from '../support/receive-message.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const blobs = query('test-blobs', async (rx): Promise<number> => {
  return (await rx.get<{ n: number }>('SELECT count(*) AS n FROM blob'))?.n ?? 0;
});

let box: TestStore;
let queue: StoreQueue;
let account: number;

beforeEach(async () => {
  box = await testStore();
  let made = 0;
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => `report-${++made}` });
  ({ account } = await testAccount(box.store));
});
afterEach(() => box[Symbol.asyncDispose]());

/** A message from me@box.test in the queue; answers its rows. */
async function submitted(to: readonly string[]): Promise<number[]> {
  const about = { trace: 'message', account, signAs: ['box.test'] };
  const mail = outgoing('From: me@box.test\r\n\r\nhello\r\n', to, about);
  const done = await box.store.write(submit, unlimitedSubmission(mail));
  if (done.kind !== 'taken') throw new Error(done.kind);
  return done.rows;
}

function ended(id: number, outcome: AttemptResult['outcome']): AttemptResult {
  const at = box.clock.now;
  return { id, outcome, host: '', ip: '', code: 0, status: '4.0.0', text: '', tls: '', at, nextAt: at + HOUR };
}

function bounce(kind: BounceMessage['kind'], about: readonly number[], to = 'me@box.test'): BounceMessage {
  return { kind, about, recipient: toAddress(to), bytes: Buffer.from('Subject: report\r\n\r\nreport\r\n') };
}

async function inInbox(): Promise<number> {
  return (await box.store.read(findMailbox, { account, name: 'INBOX' }))?.total ?? 0;
}

describe('reports', () => {
  test('of a delay are made once, also when their results are written twice', async () => {
    const [id = 0] = await submitted(['you@remote.example']);
    for (let time = 0; time < 2; time++) await queue.finish([ended(id, 'deferred')], [bounce('delay', [id])]);
    expect(await inInbox()).toBe(1);
  });

  test('of a failure reach a sender whose mailbox is full: nobody else would be informed', async () => {
    await box.store.write(setQuota, { account, bytes: 0 });
    const [id = 0] = await submitted(['you@remote.example']);
    await queue.finish([ended(id, 'failed')], [bounce('failure', [id])]);
    expect(await inInbox()).toBe(1);
  });

  test('for a sender who is gone leave nothing but a line in the journal', async () => {
    const [id = 0] = await submitted(['you@remote.example']);
    await queue.finish([ended(id, 'failed')], [bounce('failure', [id], 'gone@box.test')]);
    expect(await box.store.read(blobs, undefined)).toBe(0);
    const story = await box.store.read(journalOf, { trace: 'message', ...OPERATOR_VIEW });
    expect(story.map((line) => line.event)).toEqual(['submitted', 'bounced', 'failed']);
  });

  test('go out to a domain that somebody here only claims', async () => {
    await box.store.write(addDomain, { tenant: 2, name: 'claimed.example', verified: false });
    const [id = 0] = await submitted(['you@remote.example']);
    await queue.finish([ended(id, 'failed')], [bounce('failure', [id], 'me@claimed.example')]);
    expect(await box.store.read(queueOfTrace, { trace: 'report-1', ...OPERATOR_VIEW })).toMatchObject([
      { domain: 'claimed.example' },
    ]);
  });
});

describe('the box itself', () => {
  test.each(['postmaster', 'Postmaster', 'abuse'])(
    '%s@ its own name is its operator: RFC 5321 4.5.1',
    async (local) => {
      const to = toAddress(`${local}@mail.box.test`);
      expect(await testBackend(box).route(to, undefined)).toMatchObject({
        kind: 'here',
        accounts: [account],
        address: to,
      });
    },
  );

  test('nobody else is there, and nobody is at the names of others', async () => {
    for (const to of ['me@mail.box.test', 'postmaster@other.example']) {
      expect(await testBackend(box).route(toAddress(to), undefined)).toEqual({ kind: 'elsewhere' });
    }
  });
});

describe('submission', () => {
  const login = { account: 0, address: toAddress('me@box.test'), credential: 1 };

  test('a claim that nobody proved stands in the way of no mail that leaves', async () => {
    await box.store.write(addDomain, { tenant: 2, name: 'claimed.example', verified: false });
    const to = toAddress('you@claimed.example');
    expect(await testBackend(box).route(to, { ...login, account })).toEqual({ kind: 'elsewhere' });
    expect(await testBackend(box).route(to, undefined)).toEqual({ kind: 'unverified' });
  });

  test('local parts elsewhere are distinguished by their case: RFC 5321 2.4', async () => {
    const route: RecipientRoute = { kind: 'elsewhere' };
    const envelope: MessageEnvelope = {
      id: 'cases',
      service: 'submission',
      sender: toAddress('me@box.test'),
      recipients: ['Joe@remote.example', 'joe@remote.example', 'joe@remote.example'].map((to) => {
        return { address: toAddress(to), route, dsn: {} };
      }),
      login: { ...login, account },
      smtputf8: false,
      body: '7BIT',
      ret: undefined,
      envid: undefined,
      received: 'Received: by test\r\n',
      peer: { ip: '127.0.0.1', port: 1, helo: 'x', tls: true },
    };
    const sink = testBackend(box).open(envelope);
    await sink.write(Buffer.from('From: me@box.test\r\n\r\nhello\r\n'));
    expect(await sink.finish()).toEqual({ kind: 'accepted' });
    const rows = await box.store.read(queueOfTrace, { trace: 'cases', ...OPERATOR_VIEW });
    expect(rows.map((row) => row.recipient)).toEqual(['Joe@remote.example', 'joe@remote.example']);
  });
});
