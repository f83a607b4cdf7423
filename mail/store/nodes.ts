import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Log, Meter } from '../log.ts';
import type { NodeSignal } from './engine/postgres/commit-log.ts';
import type { CommitFeed } from './engine/postgres/commit-feed.ts';
import type { Election } from './engine/postgres/election.ts';
import { lookup, type Query, type WakeUp } from './engine/types.ts';

/** Accounts that are woken between two turns of the event loop, after commits were missed. */
const WOKEN_AT_ONCE = 500;

export interface StoreNodesOptions {
  url: string;
  /** Name of this node. */
  node: string;
  log: Log;
  meter: Meter;
  /** Updates the open views and wakes the listeners, as after a commit of this node. */
  changed(wakeUps: readonly WakeUp[]): Promise<void>;
  /** Mailboxes that have an open view, by account. */
  openMailboxes(): ReadonlyMap<number, number[]>;
  read<O>(what: Query<undefined, O>): Promise<O>;
}

const accountNumbers = lookup('account-numbers', async (rx, _: undefined): Promise<number[]> =>
  (await rx.all<{ id: number }>('SELECT id FROM account ORDER BY id')).map(({ id }) => id),
);

/**
 * The other nodes of a database: wakes this one after their commits, exchanges signals with them, and elects the node that
 * does what must be done once.
 */
export class StoreNodes implements AsyncDisposable {
  readonly #options: StoreNodesOptions;
  readonly #signaled = new Set<(signal: NodeSignal) => void>();
  readonly #elected = new Set<(leads: boolean) => void>();
  #feed: CommitFeed | undefined;
  #election: Election | undefined;

  private constructor(options: StoreNodesOptions) {
    this.#options = options;
  }

  /** Follows the other nodes from now on. */
  static async open(options: StoreNodesOptions): Promise<StoreNodes> {
    const nodes = new StoreNodes(options);
    const { url, node, log } = options;
    const { CommitFeed: Feed } = await import('./engine/postgres/commit-feed.ts');
    nodes.#feed = await Feed.open({
      url,
      node,
      changed: (wakeUps) => options.changed(wakeUps),
      signaled: (signal) => nodes.#signaled.forEach((listener) => listener(signal)),
      missed: () => nodes.#wakeAll(),
      failed: (error) => log.warn({ err: error }, 'failed to read the commits of other nodes, will retry'),
    });
    return nodes;
  }

  /** Name of this node. */
  get name(): string {
    return this.#options.node;
  }

  /** True while this node does what must be done once. */
  get leads(): boolean {
    return this.#election?.leads ?? false;
  }

  /** Sends a signal to the other nodes; repeated while the database does not answer. */
  signal(signal: NodeSignal): void {
    void this.#feed?.signal(signal);
  }

  onSignal(listener: (signal: NodeSignal) => void): () => void {
    this.#signaled.add(listener);
    return () => this.#signaled.delete(listener);
  }

  /** Takes part in the election. `changed` is called when this node becomes the leader, and when it is no longer. */
  async elect(changed: (leads: boolean) => void): Promise<void> {
    const { url, node, log, meter } = this.#options;
    const { Election: Run } = await import('./engine/postgres/election.ts');
    this.#elected.add(changed);
    meter.gauge('node_leads', 0);
    this.#election = new Run({
      url,
      changed: (leads) => {
        meter.gauge('node_leads', Number(leads));
        log.info({ node }, leads ? 'this node leads now' : 'this node leads no longer');
        for (const listener of this.#elected) listener(leads);
      },
      failed: (error) => log.warn({ err: error }, 'failed to ask which node leads, will retry'),
    });
  }

  /** Gives the lead back: another node takes it within a second. */
  async resign(): Promise<void> {
    await this.#election?.[Symbol.asyncDispose]();
    this.#election = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
    await this.#feed?.[Symbol.asyncDispose]();
  }

  async #wakeAll(): Promise<void> {
    this.#options.log.warn({}, 'commits of other nodes were missed, everything is read again');
    const open = this.#options.openMailboxes();
    const wakeUps = [0, ...(await this.#options.read(accountNumbers))].map((account) => ({
      account,
      modseq: 0,
      mailboxes: open.get(account) ?? [],
    }));
    for (let from = 0; from < wakeUps.length; from += WOKEN_AT_ONCE) {
      await this.#options.changed(wakeUps.slice(from, from + WOKEN_AT_ONCE));
      await yieldToEventLoop();
    }
  }
}
