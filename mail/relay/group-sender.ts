import { LRUCache } from 'lru-cache';
import { timedBy } from '../limits/lru-map.ts';
import type { Log } from '../log.ts';
import type { Address } from '../message/address.ts';
import { firstField, readFields } from '../message/header.ts';
import type { TlsResult } from '../store/queue/tls-result.ts';
import { composeReports, reportKind, type CompletedAttempt } from './bounce.ts';
import type { RelayClock } from './clock.ts';
import type { Connector, MessageTlsOptions } from './connector.ts';
import type { Host } from './destination.ts';
import { sliceGroup, type RecipientGroup } from './recipient-groups.ts';
import type { AttemptResult } from '../store/queue/queue.ts';
import type { BounceMessage, RelayQueue, QueueItem, SigningKey } from './relay-queue.ts';
import { applyFailover } from './failover.ts';
import { prepareMessage, readHeader, type PreparedMessage } from './prepare-message.ts';
import type { RampBook } from './ramp-book.ts';
import { RelaySession } from './session.ts';
import { retryRestNow, toAttemptResult, withoutJump } from './attempt-result.ts';
import type { Smarthosts } from './smarthosts.ts';
import { deferred, type AttemptVerdict } from './attempt-verdict.ts';

export interface GroupSenderOptions {
  queue: RelayQueue;
  connector: Connector;
  smarthosts: Smarthosts;
  /** Finds the signing keys of a domain; empty for an unsigned domain. A rejection defers. */
  keys(domain: string, tenant: number | undefined): Promise<readonly SigningKey[]>;
  /** Returns the envelope sender of one row; rejected: that of its message. */
  returnPath(item: QueueItem): Promise<Address | undefined>;
  /** Sending ramp of direct mail; undefined: none. */
  ramp?: RampBook | undefined;
  hostname: string;
  clock: RelayClock;
  random: () => number;
  log: Log;
}

/** Result of a group, ready to be recorded, and the session if it can be reused. */
export interface GroupResult {
  session: RelaySession | undefined;
  results: AttemptResult[];
  bounces: BounceMessage[];
  /** The destination failed, as opposed to this message: its connection limit is lowered. */
  destinationFailed: boolean;
}

/** Part of a group that the ramp of its receiver allows. */
interface RampShare {
  /** Undefined: no ramp applies. */
  organization: string | undefined;
  count: number;
  later: readonly QueueItem[];
}

/** Time over which mail that waited for the next hour is spread, ms. */
const RAMP_SPREAD_MS = 10 * 60_000;

/** Prepared messages that are cached for the next destination. */
const MAX_PREPARED = 32;
const PREPARED_MS = 60_000;
const MAX_FIELDS = 1000;

/** Sends one group over a session, and opens one if needed. Its only state is the cache of prepared messages. */
export class GroupSender {
  readonly #options: GroupSenderOptions;
  readonly #prepared: LRUCache<string, Promise<PreparedMessage>>;

  constructor(options: GroupSenderOptions) {
    this.#options = options;
    const timed = timedBy(() => options.clock.monotonic());
    this.#prepared = new LRUCache({ max: MAX_PREPARED, ttl: PREPARED_MS, ...timed });
  }

  /** Sends a group whose attempt is recorded, as far as the ramp of its receiver allows. Never rejects. */
  async send(group: RecipientGroup, reuse: RelaySession | undefined): Promise<GroupResult> {
    const [{ domain, nextHop }] = group;
    const { ramp, clock } = this.#options;
    const known = nextHop.via === undefined ? ramp?.known(domain) : undefined;
    // No connection for mail that waits anyway.
    if (ramp !== undefined && known !== undefined && ramp.peek(known, clock.now()).count === 0)
      return this.#postpone(group, reuse, known);
    return this.#sendAll(group, reuse);
  }

  /** Splits a group at the limit of its receiver's ramp. */
  #limit(session: RelaySession, group: RecipientGroup): RampShare {
    const { ramp, clock } = this.#options;
    const [{ domain, nextHop }] = group;
    const organization = nextHop.via === undefined ? ramp?.organization(domain, session.host) : undefined;
    if (ramp === undefined || organization === undefined) return { organization, count: group.length, later: [] };
    const { count } = ramp.take(organization, group.length, clock.now());
    return { organization, count, later: group.slice(count) };
  }

  /** Learns from the answers, and defers what the ramp did not allow. */
  #finish(sent: GroupResult | undefined, share: RampShare, session: RelaySession | undefined): GroupResult {
    const { organization, later } = share;
    // Without a ramp the whole group was sent.
    if (organization === undefined || sent === undefined)
      return sent ?? this.#postpone(later, session, organization ?? '');
    const { ramp, clock } = this.#options;
    ramp?.learn(organization, sent.results, clock.now());
    return later.length === 0 ? sent : mergeResults(sent, this.#postpone(later, sent.session, organization));
  }

  /** Defers mail until the ramp allows it, or hands it to the failover smarthost at once. Its lifetime does not end here. */
  #postpone(group: readonly QueueItem[], session: RelaySession | undefined, organization: string): GroupResult {
    const { clock, random, ramp } = this.#options;
    const now = clock.now();
    const { until = now, limit = 0 } = ramp?.peek(organization, now) ?? {};
    const time = new Date(until).toISOString().slice(11, 16);
    const text = `Sending ramp: ${organization} does not know this server yet and gets at most ${limit} recipients an hour now; the next are sent after ${time} UTC`;
    const place = { host: undefined, tls: '', now, random };
    const results = group.map((item): AttemptResult => {
      const result = toAttemptResult(item, deferred('4.3.2', text), place);
      const via = item.nextHop.failover;
      const nextAt = until + Math.round(random() * RAMP_SPREAD_MS);
      const wait = { ...result, outcome: 'deferred' as const, status: '4.3.2', text, nextAt };
      return via === undefined ? wait : { ...wait, nextAt: now, via };
    });
    return { session, results, bounces: [], destinationFailed: false };
  }

  async #sendAll(group: RecipientGroup, reuse: RelaySession | undefined): Promise<GroupResult> {
    const [{ domain, nextHop: way, requireTls = false }] = group;
    const { connector, smarthosts } = this.#options;
    const wanted: MessageTlsOptions = { requireTls, waivesTls: () => this.#waivesTls(group[0]) };
    const isUnreported = way.via === undefined && (await this.#isTlsReport(group[0]));
    const tlsResults: TlsResult[] = [];
    let session = reuse;
    let left = group;
    let before: GroupResult | undefined;
    let limited: RampShare | undefined;
    if (session?.satisfies(requireTls ? 'required' : 'policy') === false) {
      session.quit();
      session = undefined;
    }
    for (;;) {
      if (session === undefined) {
        const opened = await (way.via === undefined
          ? connector.connect(domain, wanted)
          : smarthosts.connect(way.via, requireTls ? 'required' : 'policy'));
        const results = opened instanceof RelaySession ? opened.tlsResults.splice(0) : opened.tlsResults;
        if (!isUnreported) tlsResults.push(...results);
        if (!(opened instanceof RelaySession)) {
          const failed = mergeResults(before, await this.#failGroup(left, opened.verdict, opened.host));
          return withTlsResults(limited === undefined ? failed : this.#finish(failed, limited, undefined), tlsResults);
        }
        session = opened;
      }
      if (limited === undefined) {
        limited = this.#limit(session, left);
        const [next, ...others] = left.slice(0, limited.count);
        if (next === undefined) return withTlsResults(this.#finish(undefined, limited, session), tlsResults);
        left = [next, ...others];
      }
      const sent = await this.#sendOver(session, left);
      if (sent !== 'untouched') {
        before = mergeResults(before, sent);
        if (sent.rest === undefined) return withTlsResults(this.#finish(before, limited, session), tlsResults);
        left = sent.rest;
      }
      session.destroy();
      session = undefined;
    }
  }

  /** True for a TLS report, whose session must not cause the next report. Its sender is null, and it waives TLS (RFC 8689 5). */
  async #isTlsReport(item: QueueItem): Promise<boolean> {
    return item.sender === undefined && (await this.#waivesTls(item));
  }

  /** True for `TLS-Required: No`: the sender prefers delivery to protection. RFC 8689 3. */
  async #waivesTls({ message }: QueueItem): Promise<boolean> {
    const header = await readHeader(() => this.#options.queue.content(message));
    const value = firstField(readFields(header.toString('latin1'), MAX_FIELDS), 'tls-required');
    return value?.trim().toLowerCase() === 'no';
  }

  /** Creates results for a group that is not attempted, due again at once. */
  untried(group: RecipientGroup, why: string): AttemptResult[] {
    const now = this.#options.clock.now();
    const place = { host: undefined, tls: '', now, random: this.#options.random };
    return group.map((item) => ({
      ...toAttemptResult(item, deferred('4.3.2', why), place),
      outcome: 'deferred',
      nextAt: now,
    }));
  }

  /** Sends a group over a session. `rest`: recipients left when the server closed after some; they are sent at once over another connection. */
  async #sendOver(
    session: RelaySession,
    group: RecipientGroup,
  ): Promise<(GroupResult & { rest?: RecipientGroup }) | 'untouched'> {
    const first = session.count === 0;
    const message = await this.#message(group[0]);
    if (message === undefined) {
      const sent = await this.#failGroup(
        group,
        deferred('4.3.0', 'the message could not be read or signed'),
        undefined,
      );
      return { ...sent, session, destinationFailed: false };
    }
    const attempted: CompletedAttempt[] = [];
    for (const { part, sender } of await this.#transactions(group, session.extensions.rcptMax)) {
      if (!session.usable && attempted.some(({ result }) => result.outcome === 'delivered')) break;
      const [{ envid, ret, requireTls }] = part;
      const recipients = part.map(({ recipient, notify, orcpt }) => ({ address: recipient, notify, orcpt }));
      const { verdicts, untouched } = await session.transact({ sender, envid, ret, requireTls, recipients, message });
      if (session.fault !== undefined) this.#unreadable(session.fault, part[0]);
      // An idle connection that the server closed meanwhile is no failure: open a new one at once.
      if (untouched && !first && attempted.length === 0) return 'untouched';
      attempted.push(...this.#settleAll(part, verdicts, session.host, session.tls, session.extensions.dsn));
    }
    const rest = retryRestNow(
      attempted.map(({ result }) => result),
      this.#options.clock.now(),
    );
    const ended = attempted.map((one, at) => ({ ...one, result: rest[at] ?? one.result }));
    const [next, ...others] = group.slice(attempted.length);
    const sent = this.#resultOf(session, ended, message.header);
    return next === undefined ? sent : { ...sent, rest: [next, ...others] };
  }

  /** Splits a group into transactions; rows with their own envelope sender (VERP) get their own transaction. */
  async #transactions(
    group: RecipientGroup,
    most: number,
  ): Promise<{ part: RecipientGroup; sender: Address | undefined }[]> {
    const { log } = this.#options;
    const senders = await Promise.all(
      group.map((item) =>
        this.#senderOf(item).catch((error: unknown) => {
          log.error({ err: error, trace: item.trace }, 'failed to create the return path, reports will not be matched');
          return item.sender;
        }),
      ),
    );
    if (senders.every((sender, at) => sender === group[at]?.sender)) {
      return sliceGroup(group, most).map((part) => ({ part, sender: part[0].sender }));
    }
    return group.map((item, at) => ({ part: [item], sender: senders[at] }));
  }

  /** Returns the envelope sender. Smarthosts compare it with the login, so they get the original one. */
  async #senderOf(item: QueueItem): Promise<Address | undefined> {
    return item.nextHop.via === undefined ? this.#options.returnPath(item) : item.sender;
  }

  #resultOf(session: RelaySession, attempted: readonly CompletedAttempt[], header: Buffer): GroupResult {
    const { connector, hostname, clock } = this.#options;
    const broken = !session.usable;
    // A smarthost says nothing about the health of the receiver's own servers.
    if (attempted[0]?.item.nextHop.via === undefined) {
      if (broken && attempted.some(({ result }) => result.status === '4.4.2')) connector.hosts.doubtful(session.host);
      else connector.hosts.markWorking(session.host);
    }
    if (broken) session.destroy();
    return {
      session: broken ? undefined : session,
      results: attempted.map(({ result }) => result),
      bounces: composeReports(attempted, header, { hostname, now: clock.now() }),
      destinationFailed: broken,
    };
  }

  async #failGroup(group: RecipientGroup, verdict: AttemptVerdict, host: Host | undefined): Promise<GroupResult> {
    const { hostname, clock, queue } = this.#options;
    const verdicts = group.map(() => verdict);
    const attempted = this.#settleAll(group, verdicts, host, '', false, 'connecting');
    const needsReport = attempted.some((one) => reportKind(one) !== undefined);
    const header = needsReport ? await readHeader(() => queue.content(group[0].message)) : Buffer.alloc(0);
    return {
      session: undefined,
      results: attempted.map(({ result }) => result),
      bounces: composeReports(attempted, header, { hostname, now: clock.now() }),
      destinationFailed: verdict.outcome === 'deferred',
    };
  }

  #settleAll(
    group: RecipientGroup,
    verdicts: readonly AttemptVerdict[],
    host: Host | undefined,
    tls: string,
    dsnPassedOn: boolean,
    tried: 'connecting' | 'sending' = 'sending',
  ): CompletedAttempt[] {
    const { clock, random } = this.#options;
    const now = clock.now();
    const aheadMs = clock.aheadMs?.() ?? 0;
    const items = group.map((item) => withoutJump(item, aheadMs));
    const settled = items.map((item, at) =>
      toAttemptResult(item, verdicts[at] ?? deferred('4.5.0', 'no reply'), { host, tls, now, random }),
    );
    const how = {
      turnedAway: tried === 'connecting' && host !== undefined,
      cutOff: this.#options.connector.hosts.isCutOff,
    };
    return settled.map((result, at) => {
      const item = items[at] as QueueItem;
      return { item, result: applyFailover(item, result, how), dsnPassedOn };
    });
  }

  async #message(item: QueueItem): Promise<PreparedMessage | undefined> {
    const domains = item.signAs ?? [item.sender?.domain ?? this.#options.hostname];
    const key = JSON.stringify([item.message, item.smtputf8, domains]);
    this.#prepared.purgeStale();
    const known = this.#prepared.get(key);
    const message = known ?? this.#prepare(item, domains);
    if (known === undefined) this.#prepared.set(key, message);
    try {
      return await message;
    } catch (error) {
      this.#prepared.delete(key);
      this.#unreadable(error, item);
      return undefined;
    }
  }

  #unreadable(error: unknown, { trace }: QueueItem): void {
    this.#options.log.error({ err: error, trace }, 'failed to read or sign a message');
  }

  async #prepare(item: QueueItem, domains: readonly string[]): Promise<PreparedMessage> {
    const { queue, clock } = this.#options;
    const found = (
      await Promise.all(domains.map((domain) => this.#options.keys(domain, item.signers?.[domain])))
    ).flat();
    return prepareMessage(() => queue.content(item.message), found, item.smtputf8, clock.now(), item.arc);
  }
}

/** Merges two parts of one attempt, in the order of its rows. */
function mergeResults(before: GroupResult | undefined, sent: GroupResult): GroupResult {
  if (before === undefined) return sent;
  return {
    ...sent,
    results: [...before.results, ...sent.results],
    bounces: [...before.bounces, ...sent.bounces],
    destinationFailed: before.destinationFailed || sent.destinationFailed,
  };
}

/** Attaches the TLS-RPT results to the first result, in whose commit they are counted. */
function withTlsResults(sent: GroupResult, tlsResults: readonly TlsResult[]): GroupResult {
  const [first, ...rest] = sent.results;
  return first === undefined || tlsResults.length === 0
    ? sent
    : { ...sent, results: [{ ...first, tlsResults }, ...rest] };
}
