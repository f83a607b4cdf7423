import { type Args, type JmapClient, JmapMethodError } from './jmap-client.ts';

/** Properties cached for each message. */
const KEPT = ['id', 'threadId', 'mailboxIds', 'keywords', 'subject'];
const SORT = [{ property: 'receivedAt', isAscending: false }];

interface Changes {
  newState: string;
  hasMoreChanges: boolean;
  created: string[];
  updated: string[];
  destroyed: string[];
}

/** An offline cache of an account, updated by /changes. RFC 8620 5.2, 5.6. */
export class AccountCopy {
  readonly mailboxes = new Map<string, Args>();
  readonly emails = new Map<string, Args>();
  /** All messages, newest first. */
  order: string[] = [];
  /** Number of full fetches. */
  fetched = 0;
  readonly #client: JmapClient;
  readonly #states: { Mailbox?: string; Email?: string; query?: string };

  /** `states` simulate a cache older than the server's history. */
  constructor(client: JmapClient, states: { Mailbox?: string; Email?: string; query?: string } = {}) {
    this.#client = client;
    this.#states = states;
  }

  /** Data for comparing two copies. */
  get content(): object {
    return { mailboxes: sorted(this.mailboxes), emails: sorted(this.emails), order: this.order };
  }

  async sync(): Promise<void> {
    await this.#syncType('Mailbox', this.mailboxes);
    await this.#syncType('Email', this.emails, KEPT);
    await this.#syncOrder();
  }

  async #syncType(type: 'Mailbox' | 'Email', copy: Map<string, Args>, properties?: string[]): Promise<void> {
    let since = this.#states[type];
    try {
      for (let more = true; more;) {
        if (since === undefined) return await this.#fetchAll(type, copy, properties);
        const said = (await this.#client.call(`${type}/changes`, {
          sinceState: since,
          maxChanges: 5,
        })) as object as Changes;
        for (const id of said.destroyed) copy.delete(id);
        await this.#fetch(type, copy, [...said.created, ...said.updated], properties);
        more = said.hasMoreChanges;
        since = said.newState;
        this.#states[type] = since;
      }
    } catch (error) {
      if (!tooOld(error)) throw error;
      await this.#fetchAll(type, copy, properties);
    }
  }

  async #fetchAll(type: 'Mailbox' | 'Email', copy: Map<string, Args>, properties?: string[]): Promise<void> {
    this.fetched++;
    copy.clear();
    if (type === 'Mailbox') {
      const { list, state } = (await this.#client.call('Mailbox/get', { ids: null })) as {
        list: Args[];
        state: string;
      };
      for (const one of list) copy.set(String(one['id']), one);
      this.#states.Mailbox = state;
      return;
    }
    // Reads the state first: changes during the fetch are in the next /changes.
    this.#states.Email = String((await this.#client.call('Email/get', { ids: [] }))['state']);
    const { ids } = (await this.#client.call('Email/query', {})) as { ids: string[] };
    await this.#fetch(type, copy, ids, properties);
  }

  async #fetch(type: string, copy: Map<string, Args>, ids: readonly string[], properties?: string[]): Promise<void> {
    const most = Number(this.#client.session.capabilities['urn:ietf:params:jmap:core']?.['maxObjectsInGet'] ?? 1);
    for (let i = 0; i < ids.length; i += most) {
      const some = ids.slice(i, i + most);
      const args = { ids: some, ...(properties !== undefined && { properties }) };
      const { list } = (await this.#client.call(`${type}/get`, args)) as { list: Args[] };
      for (const one of list) copy.set(String(one['id']), one);
    }
  }

  /** Applies /queryChanges: removes ids, then inserts by index. RFC 8620 5.6. */
  async #syncOrder(): Promise<void> {
    const queried = { filter: null, sort: SORT };
    try {
      if (this.#states.query === undefined) throw new JmapMethodError('none yet', { type: 'cannotCalculateChanges' });
      const said = await this.#client.call('Email/queryChanges', { ...queried, sinceQueryState: this.#states.query });
      const { removed, added, newQueryState } = said as {
        removed: string[];
        added: { id: string; index: number }[];
        newQueryState: string;
      };
      const gone = new Set(removed);
      this.order = this.order.filter((id) => !gone.has(id));
      for (const { id, index } of added) this.order.splice(index, 0, id);
      this.#states.query = newQueryState;
    } catch (error) {
      if (!tooOld(error)) throw error;
      const { ids, queryState } = (await this.#client.call('Email/query', queried)) as {
        ids: string[];
        queryState: string;
      };
      this.order = ids;
      this.#states.query = queryState;
    }
  }
}

function tooOld(error: unknown): boolean {
  return error instanceof JmapMethodError && ['cannotCalculateChanges', 'tooManyChanges'].includes(error.type);
}

function sorted(map: ReadonlyMap<string, Args>): object {
  return Object.fromEntries([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
