import { createSecretKey } from 'node:crypto';
import type { Authentication } from '../../mail/auth/authentication.ts';
import { type AuthenticationInput, authenticateMail } from '../../mail/auth/authenticate.ts';
import { type Log, quiet } from '../../mail/log.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import type { SmtpRefusal, RecipientRoute } from '../../mail/receiver/needs.ts';
import { StoreReceiverBackend } from '../../mail/receiver/store-backend.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import type { QueueItem } from '../../mail/relay/relay-queue.ts';
import { prepareMessage } from '../../mail/relay/prepare-message.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { testKeys } from './dkim.ts';
import { type FakeZone, fakeResolver } from './fake-resolver.ts';
import { filteringBy } from './filtering.ts';
import { testStore, type TestStore } from './store.ts';

export const FORWARD_KEY = Buffer.alloc(32, 7);

interface Forwarding {
  tenant: number;
  from: string;
  to: string;
  keep: boolean;
  pending: boolean;
  stopped: boolean;
}

export const setForward = command('test-forward', async (tx, one: Forwarding, stamp): Promise<void> => {
  await tx.run(
    `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local,
       pending, stopped, created_at)
     SELECT ?1, id, ?2, ?2, ?3, ?3, ?4, ?5, ?6, ?7 FROM domain WHERE name = ?8`,
    one.tenant,
    one.from,
    one.to,
    Number(one.keep),
    Number(one.pending),
    Number(one.stopped),
    stamp.now,
    one.from.slice(one.from.indexOf('@') + 1),
  );
});
const spendForwards = command('test-spend', async (tx, input: { source: string; copies: number }, stamp) => {
  await tx.run(
    `INSERT INTO forward_count (day, source, copies) VALUES (?, ?, ?)
     ON CONFLICT (day, source) DO UPDATE SET copies = excluded.copies`,
    Math.floor(stamp.now / 86_400_000),
    input.source,
    input.copies,
  );
});
export const fillAccount = command('test-fill', async (tx, input: { account: number }): Promise<void> => {
  await tx.run('UPDATE account SET quota_bytes = 1, used_bytes = 1 WHERE id = ?', input.account);
});
export const emailCount = query(
  'test-count',
  async (rx, { account }: { account: number }) =>
    (await rx.get<{ n: number }>('SELECT count(*) AS n FROM email WHERE account_id = ?', account))?.n ?? 0,
);

interface Letter {
  /** Lines before From, each with its CRLF. */
  header?: string;
  /** Instead of a whole simple message. */
  raw?: Buffer;
  /** Envelope sender, '' for the null reverse-path. */
  sender?: string;
  ip?: string;
  smtputf8?: boolean;
}

/** One copy as it is on the wire. */
export interface Leaving {
  item: QueueItem;
  octets: Buffer;
}

export interface ForwardWorld extends AsyncDisposable {
  box: TestStore;
  zone: FakeZone;
  /** Every question that was asked of it. */
  queried: readonly string[];
  log: { text: string; fields: object }[];
  /** Addresses without a domain are at box.test. */
  set(from: string, to: string, how?: Partial<Omit<Forwarding, 'from' | 'to'>>): Promise<void>;
  spend(source: string, copies: number): Promise<void>;
  /** Returns the result of RCPT. */
  route(to: string): Promise<RecipientRoute>;
  accept(to: readonly string[], letter?: Letter): Promise<{ kind: 'accepted' } | SmtpRefusal>;
  /** Returns the queued messages, signed for box.test where that domain signs. */
  leaving(): Promise<Leaving[]>;
  /** Ends what is in the queue. */
  end(outcome: AttemptResult['outcome']): Promise<void>;
}

/** The MX receiver and the queue of a box with forwards, on a store that writes on the calling thread. */
export async function forwardWorld(how: { verify?: boolean } = {}): Promise<ForwardWorld> {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, setForward, fillAccount, spendForwards] });
  await box.store.write(addDomain, { tenant: 1, name: 'box.test', verified: true });
  const zone: FakeZone = {};
  const resolver = fakeResolver(zone);
  const log: ForwardWorld['log'] = [];
  const say = (fields: object, text: string): void => void log.push({ fields, text });
  const listening: Log = { ...quiet, warn: say, error: say };
  const verify = (mail: AuthenticationInput): Promise<Authentication> => authenticateMail(mail, { resolver });
  const backend = new StoreReceiverBackend({
    store: box.store,
    hostname: 'mail.box.test',
    hold: null,
    filter: how.verify === true ? filteringBy(verify) : null,
    log: listening,
    meter: quiet,
    forwardKey: FORWARD_KEY,
    reportKey: createSecretKey(FORWARD_KEY),
    senderOf: () => Promise.resolve({ tenant: 1, allowance: null }),
    queued: () => undefined,
    clock: () => box.clock.now,
  });
  const queue = new StoreQueue({ store: box.store, hold: null, traceId: () => 'report' });
  const due = async (): Promise<readonly QueueItem[]> => {
    const look = { now: box.clock.now, limit: 1000, lanes: [], owners: [], after: undefined };
    return (await queue.due(look)).items;
  };
  let messages = 0;
  return {
    box,
    zone,
    queried: resolver.queried,
    log,
    set: (from, to, more = {}) =>
      box.store.write(setForward, {
        tenant: 1,
        keep: true,
        pending: false,
        stopped: false,
        ...more,
        from: whole(from),
        to: whole(to),
      }),
    spend: (source, copies) => box.store.write(spendForwards, { source: whole(source), copies }),
    route: async (to) => backend.route(known(whole(to)), undefined),
    async accept(to, { header = '', raw, sender = 'you@x.example', ip = '192.0.2.1', smtputf8 = false } = {}) {
      const recipients = await Promise.all(
        to.map(async (text) => {
          const address = known(whole(text));
          return { address, route: await backend.route(address, undefined), dsn: {} };
        }),
      );
      const sink = backend.open({
        id: `trace-${++messages}`,
        service: 'mx',
        sender: sender === '' ? undefined : known(sender),
        recipients,
        login: undefined,
        smtputf8,
        body: '7BIT',
        ret: undefined,
        envid: undefined,
        received: 'Received: from x\r\n',
        peer: { ip, port: 1, helo: 'x.example', tls: false },
      });
      await sink.write(raw ?? Buffer.from(`${header}From: you@x.example\r\nSubject: Hello\r\n\r\nHello\r\n`));
      return sink.finish();
    },
    leaving: async () => {
      const made: Leaving[] = [];
      for (const item of await due()) {
        const keys = testKeys.filter(({ domain }) => item.signAs?.includes(domain));
        const message = await prepareMessage(() => queue.content(item.message), keys, false, Date.now(), item.arc);
        const octets: Buffer[] = [];
        for await (const chunk of message.chunks()) octets.push(chunk);
        made.push({ item, octets: Buffer.concat(octets) });
      }
      return made;
    },
    async end(outcome) {
      const end = { host: '', ip: '', code: 0, status: '5.0.0', text: '', tls: '', at: box.clock.now, nextAt: 0 };
      for (const { id } of await due()) await queue.finish([{ id, outcome, ...end }], []);
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}

function whole(text: string): string {
  return text.includes('@') ? text : `${text}@box.test`;
}

function known(text: string): NonNullable<ReturnType<typeof parseAddress>> {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is no address`);
  return address;
}
