import { createSecretKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { submit } from '../../mail/delivery/submit.ts';
import { quiet } from '../../mail/log.ts';
import { parseAddress, type Address } from '../../mail/message/address.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { Envelope, Route } from '../../mail/receiver/needs.ts';
import { StoreIntake } from '../../mail/receiver/store-intake.ts';
import type { AttemptResult, BounceMessage } from '../../mail/relay/needs.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { setQuota } from '../../mail/store/account.ts';
import { addDomain } from '../../mail/store/domain.ts';
import { query } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal.ts';
import { findMailbox } from '../../mail/store/mailbox.ts';
import { queueOfTrace } from '../../mail/store/queue.ts';
import { freely } from '../support/submission.ts';
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

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(`not an address: ${text}`);
  return parsed;
}

/** A message from me@box.test in the queue; answers its rows. */
async function submitted(to: readonly string[]): Promise<number[]> {
  const data = Uint8Array.from(Buffer.from('From: me@box.test\r\n\r\nhello\r\n'));
  const done = await box.store.write(
    submit,
    freely({
      trace: 'message',
      account,
      tenant: 1,
      sender: 'me@box.test',
      smtputf8: false,
      eightBit: false,
      ret: '',
      envid: '',
      signAs: ['box.test'],
      here: [],
      elsewhere: to.map((recipient) => ({ recipient, domain: address(recipient).domain, notify: '', orcpt: '' })),
      hold: null,
      data,
      file: null,
      index: indexMessage(data),
    }),
  );
  if (done.kind !== 'taken') throw new Error(done.kind);
  return done.rows;
}

function ended(id: number, outcome: AttemptResult['outcome']): AttemptResult {
  const at = box.clock.now;
  return { id, outcome, host: '', ip: '', code: 0, status: '4.0.0', text: '', tls: '', at, nextAt: at + HOUR };
}

function bounce(kind: BounceMessage['kind'], about: readonly number[], to = 'me@box.test'): BounceMessage {
  return { kind, about, recipient: address(to), bytes: Buffer.from('Subject: report\r\n\r\nreport\r\n') };
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

  test('of a failure reach a sender whose mailbox is full: nobody else would be told', async () => {
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
  const intake = (): StoreIntake => {
    const senderOf = () => Promise.resolve({ tenant: 1, allowance: null });
    const rest = {
      hold: null,
      authenticate: null,
      log: quiet,
      meter: quiet,
      forwardKey: Buffer.alloc(32),
      reportKey: createSecretKey(Buffer.alloc(32)),
      senderOf,
      queued: () => undefined,
      clock: () => 0,
    };
    return new StoreIntake({ store: box.store, hostname: 'mail.box.test', ...rest });
  };

  test.each(['postmaster', 'Postmaster', 'abuse'])(
    '%s@ its own name is its operator: RFC 5321 4.5.1',
    async (local) => {
      const to = address(`${local}@mail.box.test`);
      expect(await intake().route(to, undefined)).toMatchObject({ kind: 'here', account, address: to });
    },
  );

  test('nobody else is there, and nobody is at the names of others', async () => {
    for (const to of ['me@mail.box.test', 'postmaster@other.example']) {
      expect(await intake().route(address(to), undefined)).toEqual({ kind: 'elsewhere' });
    }
  });
});

describe('submission', () => {
  const login = { account: 0, address: address('me@box.test'), credential: 1 };

  function intake(): StoreIntake {
    const senderOf = () => Promise.resolve({ tenant: 1, allowance: null });
    return new StoreIntake({
      store: box.store,
      hostname: 'mail.box.test',
      hold: null,
      authenticate: null,
      log: quiet,
      meter: quiet,
      forwardKey: Buffer.alloc(32),
      reportKey: createSecretKey(Buffer.alloc(32)),
      senderOf,
      queued: () => undefined,
      clock: () => 0,
    });
  }

  test('a claim that nobody proved stands in the way of no mail that leaves', async () => {
    await box.store.write(addDomain, { tenant: 2, name: 'claimed.example', verified: false });
    const to = address('you@claimed.example');
    expect(await intake().route(to, { ...login, account })).toEqual({ kind: 'elsewhere' });
    expect(await intake().route(to, undefined)).toEqual({ kind: 'unverified' });
  });

  test('local parts elsewhere are told apart by their case: RFC 5321 2.4', async () => {
    const route: Route = { kind: 'elsewhere' };
    const envelope: Envelope = {
      id: 'cases',
      door: 'submission',
      sender: address('me@box.test'),
      recipients: ['Joe@remote.example', 'joe@remote.example', 'joe@remote.example'].map((to) => {
        return { address: address(to), route, dsn: {} };
      }),
      login: { ...login, account },
      smtputf8: false,
      body: '7BIT',
      ret: undefined,
      envid: undefined,
      received: 'Received: by test\r\n',
      peer: { ip: '127.0.0.1', port: 1, helo: 'x', tls: true },
    };
    const sink = intake().open(envelope);
    await sink.write(Buffer.from('From: me@box.test\r\n\r\nhello\r\n'));
    expect(await sink.finish()).toEqual({ kind: 'accepted' });
    const rows = await box.store.read(queueOfTrace, { trace: 'cases', ...OPERATOR_VIEW });
    expect(rows.map((row) => row.recipient)).toEqual(['Joe@remote.example', 'joe@remote.example']);
  });
});
