import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { addAccount } from '../../mail/store/account/account.ts';
import { findLogin } from '../../mail/store/account/credential.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { MailStore } from '../../mail/store/store.ts';
import { deliverMail } from '../../test/support/deliver-mail.ts';
import { message } from './messages.ts';

/** Mailboxes of one domain, as each organization has few of them. */
const PER_DOMAIN = 20;
/** Mailboxes that are added at once. */
const AT_ONCE = 100;
const OCTETS = 4096;

/** A database that grows, with what it costs. */
export interface Growth {
  mailboxes: number;
  /** Octets of the database for each mailbox without mail, and for each message of 4 KiB. */
  perMailbox: number;
  perMessage: number;
  /** Time to open the store again, ms. */
  openMs: number;
  /** Medians, ms: the lookup of a login, and a message stored alone. */
  loginMs: number;
  storeMs: number;
  /** Messages a second with 30 on their way. */
  perSecond: number;
}

/** A store of one engine, for growth figures. */
export class GrowingStore implements AsyncDisposable {
  readonly #dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'mailstead-growth-'));
  readonly #database: string | undefined;
  readonly #accounts: number[] = [];
  #store: MailStore;
  #delivered = 0;

  private constructor(database: string | undefined, store: MailStore | undefined) {
    this.#database = database;
    this.#store = store as MailStore;
  }

  /** `database`: URL of an empty PostgreSQL database; undefined: SQLite. */
  static async create(database: string | undefined): Promise<GrowingStore> {
    const growing = new GrowingStore(database, undefined);
    growing.#store = await growing.#open();
    return growing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
    rmSync(this.#dataDir, { recursive: true });
  }

  /** Adds mailboxes up to a number and `messages` messages to some of them; returns what that cost. */
  async growTo(mailboxes: number, messages: number): Promise<Growth> {
    const [before, added] = [await this.#octets(), mailboxes - this.#accounts.length];
    while (this.#accounts.length < mailboxes) await this.#addSome(mailboxes);
    const between = await this.#octets();
    const began = performance.now();
    await this.#deliver(messages, 30);
    const perSecond = (1000 * messages) / (performance.now() - began);
    const after = await this.#octets();
    return {
      mailboxes,
      perMailbox: (between - before) / added,
      perMessage: (after - between) / messages,
      openMs: await this.#reopened(),
      loginMs: await medianOf(200, (at) => this.#store.read(findLogin, { key: addressOf((at * 7919) % mailboxes) })),
      storeMs: await medianOf(100, () => this.#deliver(1, 1)),
      perSecond,
    };
  }

  #open(): Promise<MailStore> {
    return MailStore.open({
      dataDir: this.#dataDir,
      database: this.#database,
      engine: mailParts(),
      keepFree: 0,
      clock: () => Date.now(),
      log: quiet,
      meter: quiet,
      fatal: (error) => {
        throw error;
      },
    });
  }

  async #reopened(): Promise<number> {
    await this.#store[Symbol.asyncDispose]();
    const began = performance.now();
    this.#store = await this.#open();
    return performance.now() - began;
  }

  async #addSome(most: number): Promise<void> {
    const from = this.#accounts.length;
    const numbers = Array.from({ length: Math.min(AT_ONCE, most - from) }, (_, i) => from + i);
    for (const number of numbers) {
      const tenant = Math.floor(number / PER_DOMAIN) + 1;
      if (number % PER_DOMAIN === 0)
        await this.#store.write(addDomain, { tenant, name: domainOf(number), verified: true });
    }
    this.#accounts.push(...(await Promise.all(numbers.map((number) => this.#add(number)))));
  }

  async #add(number: number): Promise<number> {
    const address = addressOf(number);
    const added = await this.#store.write(addAccount, {
      tenant: Math.floor(number / PER_DOMAIN) + 1,
      domain: Math.floor(number / PER_DOMAIN) + 1,
      address,
      key: address,
      salt: new Uint8Array(16),
      iterations: 4096,
      credential: {
        ref: `ref-${number}`,
        kind: 'mailbox',
        name: 'password',
        scopes: ['imap', 'smtp'],
        storedKey: new Uint8Array(32),
        serverKey: new Uint8Array(32),
        sealed: null,
        expiresAt: null,
      },
    });
    if (added.kind !== 'added') throw new Error(added.kind);
    return added.account;
  }

  /** Delivers messages to mailboxes all over the database, so many at the same time. */
  async #deliver(messages: number, atOnce: number): Promise<void> {
    const one = async (): Promise<void> => {
      const at = (this.#delivered++ * 104_729) % this.#accounts.length;
      const text = message(this.#delivered, OCTETS, 'growth').toString('latin1');
      await deliverMail(this.#store, { account: this.#accounts[at] ?? 0, to: addressOf(at) }, text);
    };
    for (let left = messages; left > 0; left -= atOnce)
      await Promise.all(Array.from({ length: Math.min(atOnce, left) }, one));
  }

  async #octets(): Promise<number> {
    if (this.#database === undefined)
      return ['', '-wal'].reduce((sum, end) => sum + statSync(join(this.#dataDir, `mailstead.db${end}`)).size, 0);
    const url = new URL(this.#database);
    const sql = postgres({
      host: url.searchParams.get('host') ?? url.hostname,
      username: url.username,
      database: url.pathname.slice(1),
      max: 1,
    });
    const [row] = await sql`SELECT pg_database_size(current_database()) AS octets`;
    await sql.end();
    return Number(row?.['octets']);
  }
}

const domainOf = (number: number): string => `d${Math.floor(number / PER_DOMAIN)}.test`;
const addressOf = (number: number): string => `user${number}@${domainOf(number)}`;

async function medianOf(count: number, one: (at: number) => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let at = 0; at < count; at++) {
    const began = performance.now();
    await one(at);
    took.push(performance.now() - began);
  }
  return took.sort((a, b) => a - b)[count >> 1] ?? 0;
}
