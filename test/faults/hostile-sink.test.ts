import { createSecureContext, type SecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { type Log, quiet } from '../../mail/log.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import type { BounceMessage } from '../../mail/relay/relay-queue.ts';
import { type Relay, startRelay } from '../../mail/relay/relay.ts';
import { MAX_RETRY_DELAY } from '../../mail/relay/schedule.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { query } from '../../mail/store/engine/types.ts';
import { testCertificate } from '../support/certificate.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { fakeResolver, type FakeZone } from '../support/fake-resolver.ts';
import { type Misbehaviour, misbehaviours } from '../support/hostile-replies.ts';
import { scriptedServer, type ScriptedServer } from '../support/scripted-smtp.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

/** For servers that never answer; a busy machine must not be taken for one of them. */
const PATIENCE = { connect: 10_000, tls: 1500, command: 1500, data: 1500, block: 1500, end: 3000 };
const MUCH_PATIENCE = { tls: 60_000, command: 60_000, data: 60_000, block: 60_000, end: 60_000 };
const MINUTE = 60_000;
/** The second attempt comes after 5 minutes, give or take a tenth. */
const BACK_OFF = 5.5 * MINUTE;
const PEOPLE = ['ann', 'bob', 'cid'];
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/;

/** Rows of the queue, for who has to see that none is forgotten. */
const rows = query('test-rows', (rx) =>
  rx.all<{ id: number; recipient: string; state: number; next_at: number; attempts: number; last_text: string }>(
    'SELECT id, recipient, state, next_at, attempts, last_text FROM queue ORDER BY id',
  ),
);
const journal = query('test-journal', (rx) =>
  rx.all<{ trace: string; event: string; detail: string }>('SELECT trace, event, detail FROM journal ORDER BY id'),
);
const inbox = query('test-inbox', async (rx) => {
  const found = await rx.all<{ data: Uint8Array }>(
    'SELECT b.data FROM email e JOIN blob b ON b.id = e.blob_id ORDER BY e.id',
  );
  return found.map(({ data }) => Buffer.from(data).toString('utf8'));
});

/** The store's queue; resolves when N attempts have ended. */
class WatchedQueue extends StoreQueue {
  readonly results: AttemptResult[] = [];
  #waiting: { count: number; resolve: () => void }[] = [];

  override async finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void> {
    await super.finish(results, bounces);
    this.results.push(...results);
    for (const { count, resolve } of this.#waiting) if (this.results.length >= count) resolve();
  }

  async ended(count: number): Promise<void> {
    if (this.results.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count, resolve });
    await promise;
  }
}

interface Sink extends Misbehaviour {
  domain: string;
  server: ScriptedServer;
}

/** Each misbehaviour at a place of its own, with and without pipelining, and one relay that has mail for them all. */
class World implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly said: string[] = [];
  readonly patience = { ...PATIENCE };
  readonly sinks: readonly Sink[];
  readonly box: TestStore;
  readonly queue: WatchedQueue;
  readonly #relay: Relay;

  private constructor(sinks: readonly Sink[], box: TestStore) {
    this.sinks = sinks;
    this.box = box;
    let reports = 0;
    this.queue = new WatchedQueue({ store: box.store, hold: null, traceId: () => `report-${++reports}` });
    const zone: FakeZone = {};
    for (const { domain, server } of sinks) {
      zone[`MX ${domain}`] = [`10 mx.${domain}`];
      zone[`A mx.${domain}`] = [server.host];
    }
    const note = (fields: unknown, words?: string): void => void this.said.push(JSON.stringify([fields, words]));
    const log: Log = { ...quiet, info: note, warn: note, error: note };
    this.#relay = startRelay({
      queue: this.queue,
      resolver: fakeResolver(zone),
      keys: () => Promise.resolve([]),
      hostname: 'mail.box.test',
      outboundPort: sinks[0]?.server.port ?? 0,
      allowPrivate: () => true,
      isOurAddress: () => false,
      clock: this.clock,
      random: () => 0.5,
      log,
      meter: quiet,
      limits: { timeouts: this.patience, connections: 100 },
    });
  }

  static async open(): Promise<World> {
    const contexts = await tlsContexts();
    const box = await testStore();
    await testAccount(box.store);
    const sinks: Sink[] = [];
    for (const [at, one] of [true, false]
      .flatMap((pipelining) => misbehaviours().map((m) => ({ ...m, pipelining })))
      .entries()) {
      const server = await scriptedServer(
        one.script,
        `127.8.${Math.floor(at / 250)}.${(at % 250) + 1}`,
        sinks[0]?.server.port ?? 0,
      );
      if (!one.pipelining) server.offers = server.offers.filter((word) => word !== 'PIPELINING');
      if (one.tls === 'none') server.offers.push('STARTTLS');
      else if (one.tls !== undefined) server.tls = contexts[one.tls];
      sinks.push({ ...one, domain: `s${at}.test`, server });
    }
    return new World(sinks, box);
  }

  async submit({ domain }: Sink): Promise<void> {
    const text = `From: me@box.test\r\nMessage-ID: <${domain}@box.test>\r\n\r\n.hello\r\n..\r\nbye\r\n`;
    const to = PEOPLE.map((one) => `${one}@${domain}`);
    const done = await this.box.store.write(
      submit,
      unlimitedSubmission(outgoing(text, to, { trace: domain, account: 1 })),
    );
    if (done.kind !== 'taken') throw new Error('it was not taken');
  }

  advance(ms: number): void {
    this.box.clock.now += ms;
    this.clock.advance(ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay.close();
    for (const { server } of this.sinks) await server[Symbol.asyncDispose]();
    await this.box[Symbol.asyncDispose]();
  }
}

async function tlsContexts(): Promise<Record<'good' | 'old', SecureContext>> {
  const pair = await testCertificate('mx.s.test');
  return {
    good: createSecureContext(pair),
    old: createSecureContext({ ...pair, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }),
  };
}

let world: World;
const total = { delivered: 0, bounced: 0, scheduled: 0 };
beforeAll(async () => {
  world = await World.open();
  world.box.clock.now = world.clock.now();
}, 240_000);
afterAll(() => world[Symbol.asyncDispose]());

describe('servers that misbehave in every way at every place', () => {
  test('leave each recipient delivered, bounced, or scheduled with a next attempt', async () => {
    const recipients = world.sinks.length * PEOPLE.length;
    for (const sink of world.sinks) await world.submit(sink);
    world.queue.changed();
    await world.queue.ended(recipients);
    for (const { outcome } of world.queue.results) {
      total[outcome === 'delivered' ? 'delivered' : outcome === 'failed' ? 'bounced' : 'scheduled'] += 1;
    }
    expect(total.delivered + total.bounced + total.scheduled).toBe(recipients);
    const waiting = await world.box.store.read(rows, undefined);
    expect(waiting).toHaveLength(total.scheduled);
    const now = world.clock.now();
    expect(
      waiting.filter((row) => row.state !== 0 || row.next_at <= now || row.next_at > now + MAX_RETRY_DELAY),
    ).toEqual([]);
    expect(waiting.filter((row) => row.attempts !== 1 || row.last_text === '')).toEqual([]);
  });

  test('once they behave again all of it arrives within twice the back-off, and nothing is stuck', async () => {
    for (const { server } of world.sinks) server.script = {};
    Object.assign(world.patience, MUCH_PATIENCE);
    const before = await world.box.store.read(rows, undefined);
    const ended = world.queue.results.length;
    world.advance(2 * BACK_OFF);
    await world.queue.ended(ended + before.length);
    expect(await world.box.store.read(rows, undefined)).toEqual([]);
    const again = world.queue.results.slice(ended);
    expect(again.filter((result) => result.outcome !== 'delivered')).toEqual([]);
  });

  test('have each message once, or twice with one Message-ID where the first end was in doubt', () => {
    let twice = 0;
    for (const { name, domain, server, ambiguous } of world.sinks) {
      for (const one of PEOPLE) {
        const copies = server.mails.filter((mail) => mail.to.includes(`${one}@${domain}`));
        if (copies.length > 1) twice += 1;
        expect([name, copies.length <= (ambiguous ? 2 : 1)]).toEqual([name, true]);
        for (const { raw } of copies)
          expect(raw.toString('latin1')).toMatch(new RegExp(`^Message-ID: <${domain}@box`, 'm'));
      }
    }
    console.log(
      `hostile sink: ${world.sinks.length} servers, ${JSON.stringify(total)} after one attempt, ${twice} twice`,
    );
  });

  test('who has not got it is named in exactly one bounce', async () => {
    const bounces = await world.box.store.read(inbox, undefined);
    const told = bounces.flatMap((text) =>
      [...text.matchAll(/^Final-Recipient: rfc822; *(\S+)/gm)].map((found) => found[1] ?? ''),
    );
    const missing = world.sinks.flatMap(({ domain, server }) =>
      PEOPLE.map((one) => `${one}@${domain}`).filter((one) => !server.mails.some((mail) => mail.to.includes(one))),
    );
    expect(told.toSorted()).toEqual(missing.toSorted());
    expect(told).toHaveLength(total.bounced);
  });

  test('put nothing into reports, journal or log but plain text', async () => {
    const bounces = await world.box.store.read(inbox, undefined);
    const lines = await world.box.store.read(journal, undefined);
    expect(bounces.filter((text) => FORBIDDEN.test(text) || /\r(?!\n)|(?<!\r)\n/.test(text))).toEqual([]);
    expect(bounces.filter((text) => /^(?:Subject: injected|Bcc:)/m.test(text))).toEqual([]);
    const told = lines.flatMap(({ detail }) =>
      Object.values(JSON.parse(detail) as Record<string, unknown>).map(String),
    );
    expect(told.filter((text) => FORBIDDEN.test(text) || /[\r\n]/.test(text) || text.length > 1100)).toEqual([]);
    expect(world.said.filter((line) => FORBIDDEN.test(line) || /\\u00(?:0|1|7f)|\\[rnbf]/.test(line))).toEqual([]);
  });
});
