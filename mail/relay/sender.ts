import type { Log } from '../log.ts';
import type { Address } from '../message/address.ts';
import { firstField, readFields } from '../message/header.ts';
import type { TlsResult } from '../store/tls-result.ts';
import { composeReports, reportKind, type Attempted } from './bounce.ts';
import type { Clock } from './clock.ts';
import type { Connector, Wanted } from './connector.ts';
import type { Host } from './destination.ts';
import { slices, type Group } from './groups.ts';
import type { AttemptResult, BounceMessage, Queue, QueueItem, SigningKey } from './needs.ts';
import { failOver } from './fail-over.ts';
import { prepare, readHeader, type Prepared } from './outgoing.ts';
import { Session } from './session.ts';
import { restAtOnce, settle } from './settle.ts';
import type { Smarthosts } from './smarthosts.ts';
import { deferred, type Verdict } from './verdict.ts';

export interface SenderOptions {
  queue: Queue;
  connector: Connector;
  smarthosts: Smarthosts;
  /** Keys that sign for a domain; none for a domain that is not signed for. Rejecting means "later". */
  keys(domain: string, tenant: number | undefined): Promise<readonly SigningKey[]>;
  /** The envelope sender on the wire of one row. Rejecting leaves that of its message. */
  returnPath(item: QueueItem): Promise<Address | undefined>;
  hostname: string;
  clock: Clock;
  random: () => number;
  log: Log;
}

/** What became of a group, ready to be recorded, and the session if it can be used again. */
export interface Sent {
  session: Session | undefined;
  results: AttemptResult[];
  bounces: BounceMessage[];
  /** Destination trouble, as opposed to trouble with this message: fewer connections from now on. */
  trouble: boolean;
}

/** Prepared messages kept for the next destination of the same message. */
const MOST_PREPARED = 32;
const PREPARED_MS = 60_000;
const MOST_FIELDS = 1000;

/** Sends one group over a session, opening one when there is none. Holds no state but prepared messages. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #prepared = new Map<string, { at: number; message: Promise<Prepared> }>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Tries a group that has been begun. Never rejects. */
  async send(group: Group, reuse: Session | undefined): Promise<Sent> {
    const [{ domain, way, requireTls = false }] = group;
    const { connector, smarthosts } = this.#options;
    const wanted: Wanted = { requireTls, waivesTls: () => this.#waivesTls(group[0]) };
    const tlsResults: TlsResult[] = [];
    let session = reuse;
    let left = group;
    let before: Sent | undefined;
    if (session?.fits(requireTls ? 'required' : 'policy') === false) {
      session.quit();
      session = undefined;
    }
    for (;;) {
      if (session === undefined) {
        const opened = await (way.via === undefined
          ? connector.connect(domain, wanted)
          : smarthosts.connect(way.via, requireTls ? 'required' : 'policy'));
        tlsResults.push(...(opened instanceof Session ? opened.tlsResults.splice(0) : opened.tlsResults));
        if (!(opened instanceof Session)) {
          return withTlsResults(both(before, await this.#ended(left, opened.verdict, opened.host)), tlsResults);
        }
        session = opened;
      }
      const sent = await this.#over(session, left);
      if (sent !== 'untouched') {
        before = both(before, sent);
        if (sent.rest === undefined) return withTlsResults(before, tlsResults);
        left = sent.rest;
      }
      session.destroy();
      session = undefined;
    }
  }

  /** RFC 8689 3: the sender would rather have it arrive than protected. */
  async #waivesTls({ message }: QueueItem): Promise<boolean> {
    const header = await readHeader(() => this.#options.queue.content(message));
    const value = firstField(readFields(header.toString('latin1'), MOST_FIELDS), 'tls-required');
    return value?.trim().toLowerCase() === 'no';
  }

  /** Results for a group that is not tried after all, due again at once. */
  untried(group: Group, why: string): AttemptResult[] {
    const now = this.#options.clock.now();
    const place = { host: undefined, tls: '', now, random: this.#options.random };
    return group.map((item) => ({ ...settle(item, deferred('4.3.2', why), place), outcome: 'deferred', nextAt: now }));
  }

  /** `rest`: the server took some and closed; the others come at once over another connection, as part of this attempt. */
  async #over(session: Session, group: Group): Promise<(Sent & { rest?: Group }) | 'untouched'> {
    const first = session.count === 0;
    const message = await this.#message(group[0]);
    if (message === undefined) {
      const sent = await this.#ended(group, deferred('4.3.0', 'the message could not be read or signed'), undefined);
      return { ...sent, session, trouble: false };
    }
    const attempted: Attempted[] = [];
    for (const { part, sender } of await this.#transactions(group, session.offers.rcptMax)) {
      if (!session.usable && attempted.some(({ result }) => result.outcome === 'delivered')) break;
      const [{ envid, ret, requireTls }] = part;
      const recipients = part.map(({ recipient, notify, orcpt }) => ({ address: recipient, notify, orcpt }));
      const { verdicts, untouched } = await session.transact({ sender, envid, ret, requireTls, recipients, message });
      if (session.fault !== undefined) this.#unreadable(session.fault, part[0]);
      // A connection that the server had closed meanwhile says nothing about the server: a new one is made at once.
      if (untouched && !first && attempted.length === 0) return 'untouched';
      attempted.push(...this.#settleAll(part, verdicts, session.host, session.tls, session.offers.dsn));
    }
    const rest = restAtOnce(
      attempted.map(({ result }) => result),
      this.#options.clock.now(),
    );
    const ended = attempted.map((one, at) => ({ ...one, result: rest[at] ?? one.result }));
    const [next, ...others] = group.slice(attempted.length);
    const sent = this.#judged(session, ended, message.header);
    return next === undefined ? sent : { ...sent, rest: [next, ...others] };
  }

  /** A transaction has one envelope sender: rows with one of their own go each in a transaction of its own. */
  async #transactions(group: Group, most: number): Promise<{ part: Group; sender: Address | undefined }[]> {
    const { log } = this.#options;
    const senders = await Promise.all(
      group.map((item) =>
        this.#senderOf(item).catch((error: unknown) => {
          log.error({ err: error, trace: item.trace }, 'a report about this message will not be matched');
          return item.sender;
        }),
      ),
    );
    if (senders.every((sender, at) => sender === group[at]?.sender)) {
      return slices(group, most).map((part) => ({ part, sender: part[0].sender }));
    }
    return group.map((item, at) => ({ part: [item], sender: senders[at] }));
  }

  /** Smarthosts compare the envelope sender with who logged in: they are given the real one. */
  async #senderOf(item: QueueItem): Promise<Address | undefined> {
    return item.way.via === undefined ? this.#options.returnPath(item) : item.sender;
  }

  #judged(session: Session, attempted: readonly Attempted[], header: Buffer): Sent {
    const { connector, hostname, clock } = this.#options;
    const broken = !session.usable;
    // A smarthost says nothing about the receivers' own servers.
    if (attempted[0]?.item.way.via === undefined) {
      if (broken && attempted.some(({ result }) => result.status === '4.4.2')) connector.hosts.doubtful(session.host);
      else connector.hosts.works(session.host);
    }
    if (broken) session.destroy();
    return {
      session: broken ? undefined : session,
      results: attempted.map(({ result }) => result),
      bounces: composeReports(attempted, header, { hostname, now: clock.now() }),
      trouble: broken,
    };
  }

  async #ended(group: Group, verdict: Verdict, host: Host | undefined): Promise<Sent> {
    const { hostname, clock, queue } = this.#options;
    const verdicts = group.map(() => verdict);
    const attempted = this.#settleAll(group, verdicts, host, '', false, 'connecting');
    const told = attempted.some((one) => reportKind(one) !== undefined);
    const header = told ? await readHeader(() => queue.content(group[0].message)) : Buffer.alloc(0);
    return {
      session: undefined,
      results: attempted.map(({ result }) => result),
      bounces: composeReports(attempted, header, { hostname, now: clock.now() }),
      trouble: verdict.outcome === 'deferred',
    };
  }

  #settleAll(
    group: Group,
    verdicts: readonly Verdict[],
    host: Host | undefined,
    tls: string,
    dsnPassedOn: boolean,
    tried: 'connecting' | 'sending' = 'sending',
  ): Attempted[] {
    const { clock, random } = this.#options;
    const now = clock.now();
    const settled = group.map((item, at) =>
      settle(item, verdicts[at] ?? deferred('4.5.0', 'no answer'), { host, tls, now, random }),
    );
    const how = {
      turnedAway: tried === 'connecting' && host !== undefined,
      cutOff: this.#options.connector.hosts.cutOff,
    };
    return settled.map((result, at) => {
      const item = group[at] as QueueItem;
      return { item, result: failOver(item, result, how), dsnPassedOn };
    });
  }

  async #message(item: QueueItem): Promise<Prepared | undefined> {
    const { clock } = this.#options;
    const domains = item.signAs ?? [item.sender?.domain ?? this.#options.hostname];
    const key = JSON.stringify([item.message, item.smtputf8, domains]);
    for (const [old, { at }] of this.#prepared) {
      if (this.#prepared.size <= MOST_PREPARED && clock.monotonic() - at < PREPARED_MS) break;
      this.#prepared.delete(old);
    }
    const known = this.#prepared.get(key);
    const message = known?.message ?? this.#prepare(item, domains);
    if (known === undefined) this.#prepared.set(key, { at: clock.monotonic(), message });
    try {
      return await message;
    } catch (error) {
      this.#prepared.delete(key);
      this.#unreadable(error, item);
      return undefined;
    }
  }

  #unreadable(error: unknown, { trace }: QueueItem): void {
    this.#options.log.error({ err: error, trace }, 'a message could not be read or signed');
  }

  async #prepare(item: QueueItem, domains: readonly string[]): Promise<Prepared> {
    const { queue, clock } = this.#options;
    const found = (
      await Promise.all(domains.map((domain) => this.#options.keys(domain, item.signers?.[domain])))
    ).flat();
    return prepare(() => queue.content(item.message), found, item.smtputf8, clock.now(), item.arc);
  }
}

/** They go with the first result, in whose commit they are counted. */
/** Two parts of one attempt, in the order of its rows. */
function both(before: Sent | undefined, sent: Sent): Sent {
  if (before === undefined) return sent;
  return {
    ...sent,
    results: [...before.results, ...sent.results],
    bounces: [...before.bounces, ...sent.bounces],
    trouble: before.trouble || sent.trouble,
  };
}

function withTlsResults(sent: Sent, tlsResults: readonly TlsResult[]): Sent {
  const [first, ...rest] = sent.results;
  return first === undefined || tlsResults.length === 0
    ? sent
    : { ...sent, results: [{ ...first, tlsResults }, ...rest] };
}
