import { parseAddress, type Address } from '../../mail/message/address.ts';
import type { AttemptResult } from '../../mail/store/queue/queue.ts';
import type { BounceMessage, DueQuery, RelayQueue, QueueItem } from '../../mail/relay/relay-queue.ts';
import { MAX_RETRY_DELAY } from '../../mail/relay/schedule.ts';

export interface Row extends QueueItem {
  state: 'queued' | 'held' | 'delivered' | 'failed';
}

export function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`not an address: ${text}`);
  return address;
}

/** The queue as the store promises it, in memory; `events` lists the calls in their order. */
export class FakeQueue implements RelayQueue {
  rows: Row[] = [];
  events: string[] = [];
  results: AttemptResult[] = [];
  bounces: BounceMessage[] = [];
  /** Called before each answer, to make the store slow or broken. */
  before: (call: string) => Promise<void> | void = () => undefined;
  readonly #messages = new Map<number, Buffer>();
  readonly #lanes = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #waiting: { holds: () => boolean; resolve: () => void }[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Queues a message for recipients and wakes the relay. */
  add(to: readonly string[], change: Partial<Row> & { body?: string | Buffer } = {}): Row[] {
    const { body, ...fields } = change;
    const message = this.#messages.size + 1;
    const bytes = Buffer.from(
      body ?? `From: me@box.test\r\nMessage-ID: <${message}@box.test>\r\n\r\nHello ${message}\r\n`,
    );
    this.#messages.set(message, bytes);
    const rows = to.map((text, at): Row => {
      const recipient = addressOf(text);
      return {
        id: this.rows.length + 1 + at,
        trace: `t${message}`,
        message,
        sender: addressOf('me@box.test'),
        recipient,
        domain: recipient.domain,
        tenant: 1,
        owner: 1,
        ownerDestination: this.#lane(`${fields.owner ?? 1} ${recipient.domain}`),
        nextHop: { via: undefined, failover: undefined },
        attempts: 0,
        queuedAt: this.#now(),
        nextAt: this.#now(),
        smtputf8: false,
        eightBit: false,
        notify: '',
        orcpt: '',
        envid: '',
        ret: '',
        size: bytes.length,
        delayReported: false,
        state: 'queued',
        ...fields,
      };
    });
    this.rows.push(...rows);
    this.wake();
    return rows;
  }

  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves when something holds; asked after every change. */
  async until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ holds, resolve });
    await promise;
  }

  /** Resolves when so many results are recorded. */
  async recorded(count: number): Promise<AttemptResult[]> {
    await this.until(() => this.results.length >= count);
    return this.results;
  }

  async due({ now, limit, lanes, owners }: DueQuery): Promise<{ items: QueueItem[]; next: number | undefined }> {
    await this.before('due');
    const items = this.rows
      .filter((row) => row.state === 'queued' && !lanes.includes(row.ownerDestination) && !owners.includes(row.owner))
      .filter((row) => row.nextAt <= now || row.nextAt > now + MAX_RETRY_DELAY)
      .sort((a, b) => a.nextAt - b.nextAt)
      .slice(0, limit)
      .map((row) => ({ ...row }));
    return { items, next: undefined };
  }

  async nextDue(): Promise<number | undefined> {
    await this.before('nextDue');
    const times = this.rows.filter((row) => row.state === 'queued').map((row) => row.nextAt);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async begin(items: readonly { id: number; nextAt: number }[]): Promise<number[]> {
    await this.before('begin');
    const begun: number[] = [];
    for (const { id, nextAt } of items) {
      const row = this.#row(id);
      if (row.state !== 'queued') continue;
      row.attempts += 1;
      row.nextAt = nextAt;
      begun.push(id);
    }
    this.events.push(`begin ${begun.join(' ')}`);
    return begun;
  }

  async finish(results: readonly AttemptResult[], bounces: readonly BounceMessage[]): Promise<void> {
    await this.before('finish');
    for (const result of results) {
      const row = this.#row(result.id);
      if (result.outcome === 'deferred') row.nextAt = result.nextAt;
      else row.state = result.outcome;
      if (result.via !== undefined) row.nextHop = { via: result.via, failover: undefined };
    }
    for (const bounce of bounces) {
      for (const id of bounce.about) if (bounce.kind === 'delay') this.#row(id).delayReported = true;
    }
    this.events.push(`finish ${results.map((result) => result.id).join(' ')}`);
    this.results.push(...results);
    this.bounces.push(...bounces);
    const met = this.#waiting.filter((one) => one.holds());
    for (const one of met) this.#waiting.splice(this.#waiting.indexOf(one), 1);
    for (const one of met) one.resolve();
  }

  async *content(message: number): AsyncIterable<Buffer> {
    await this.before('content');
    const bytes = this.#messages.get(message);
    if (bytes === undefined) throw new Error(`no message ${message}`);
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #lane(name: string): number {
    const lane = this.#lanes.get(name) ?? this.#lanes.size + 1;
    this.#lanes.set(name, lane);
    return lane;
  }

  #row(id: number): Row {
    const row = this.rows.find((one) => one.id === id);
    if (row === undefined) throw new Error(`no row ${id}`);
    return row;
  }
}
