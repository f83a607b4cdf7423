import { query } from '../../mail/store/engine/types.ts';
import { rowId } from '../../src/core/ids.ts';
import type { TestContext } from './world.ts';
import { filterMail, putMail } from './put-mail.ts';
import { type Tenants, twoTenants } from './tenants.ts';

export type Json = Record<string, unknown>;

const submitted = query(
  'test-submitted',
  (rx, { trace }: { trace: string }): Promise<{ blob: number; size: number } | undefined> =>
    rx.get('SELECT blob_id AS blob, size FROM submission WHERE trace = ?', trace),
);
const traceOf = query('test-trace-of', (rx, { id }: { id: number }): Promise<{ trace: string } | undefined> =>
  rx.get('SELECT trace FROM sent_email WHERE id = ?', id),
);

/** Two organizations, the mailbox anna@alpha-main.test with what comes to it, and what leaves it. */
export class WritingWorld implements AsyncDisposable {
  readonly tenants: Tenants;
  readonly mailbox: string;
  readonly account: number;
  readonly address: string;
  #at: number;

  constructor(tenants: Tenants) {
    this.tenants = tenants;
    ({ mailboxId: this.mailbox, address: this.address } = tenants.a.main);
    this.account = rowId('mailbox', this.mailbox) ?? 0;
    // A message is older than the reply to it.
    this.#at = tenants.clock.now - 3_600_000;
  }

  static async open(over: Partial<TestContext> = {}): Promise<WritingWorld> {
    return new WritingWorld(await twoTenants(over, [filterMail]));
  }

  /** A message that came; its JMAP id. */
  put(header: string, body = 'Hello', more: Partial<Parameters<typeof putMail>[1]> = {}): Promise<string> {
    const put = { account: this.account, receivedAt: (this.#at += 1000), trust: {}, ...more };
    const type = /^content-type/im.test(header) ? '' : 'Content-Type: text/plain; charset=utf-8\n';
    return putMail(this.tenants.world.store, put, `${header.trim()}\n${type}\n${body}\n`);
  }

  do(name: string, args: object = {}): Promise<Json> {
    return this.tenants.do(name, { mailbox: this.mailbox, ...args });
  }

  /** The refusal; throws when there is none. */
  async refused(name: string, args: object, caller = this.tenants.a.caller): Promise<Json> {
    const done = await this.tenants.try(name, { mailbox: this.mailbox, ...args }, caller);
    if (done.kind === 'done') throw new Error(`${name} was done: ${JSON.stringify(done.result)}`);
    return { ...done.refusal };
  }

  /** The octets of what was sent to somebody elsewhere, by the id that the answer gave. */
  async source({ id }: Json): Promise<string> {
    const { store } = this.tenants.world;
    const sent = await store.read(traceOf, { id: rowId('sent', String(id)) ?? 0 });
    const row = sent && (await store.read(submitted, sent));
    if (row === undefined) throw new Error(`${String(id)} has no submission`);
    return (await store.blob(row.blob, 0, row.size)).toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tenants[Symbol.asyncDispose]();
  }
}

/** A field of a header, unfolded; undefined when it is not there. */
export function fieldOf(source: string, name: string): string | undefined {
  const header = source.slice(0, source.indexOf('\r\n\r\n')).replace(/\r\n[ \t]/g, ' ');
  return new RegExp(`^${name}: (.*)$`, 'im').exec(header)?.[1];
}
