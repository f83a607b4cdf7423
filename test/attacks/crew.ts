import { command } from '../../mail/store/engine/types.ts';
import { type Caller, operatorCaller } from '../../src/core/caller.ts';
import { rowId } from '../../src/core/ids.ts';
import { putMail } from '../support/put-mail.ts';
import { callerOf, type Tenants, type Things, twoTenants } from '../support/tenants.ts';
import type { Answer } from './obedient-agent.ts';

export const HOUR = 3_600_000;

/** Only a person can approve, so nothing is held in an organization without one. */
const claim = command('test-claim', async (tx, id: number): Promise<void> => {
  await tx.run('UPDATE organization SET claimed_at = 1 WHERE id = ?', id);
});

/** Agents of one organization that share two mailboxes, and a clock that is moved. */
export class Crew implements AsyncDisposable {
  readonly tenants: Tenants;
  /** A mailbox to which no outsider has written. */
  readonly other: Pick<Things, 'mailboxId' | 'address'>;
  #count = 0;

  private constructor(tenants: Tenants, other: Crew['other']) {
    this.tenants = tenants;
    this.other = other;
  }

  static async open(): Promise<Crew> {
    const tenants = await twoTenants({}, [claim]);
    await tenants.world.store.write(claim, rowId('organization', tenants.a.main.organizationId) ?? 0);
    const { main, side } = tenants.a;
    for (const { forwarderId } of [main, side]) await tenants.do('remove_email_forwarder', { forwarderId });
    const made = await tenants.do('provision_email', { domainId: main.domainId, localPart: 'colleague' });
    const { id: mailboxId, address } = made['mailbox'] as { id: string; address: string };
    return new Crew(tenants, { mailboxId, address });
  }

  get shared(): Things {
    return this.tenants.a.main;
  }

  get person(): Caller {
    return operatorCaller(rowId('organization', this.shared.organizationId));
  }

  /** A word that was never used. */
  word(): string {
    return `w${++this.#count}`;
  }

  /** Moves the clock. */
  wait(hours: number): void {
    this.tenants.clock.now += hours * HOUR;
  }

  /** An agent that has read nothing. */
  agent(args: object = {}): Promise<Caller> {
    return this.tenants.caller({ actions: ['read', 'manage', 'send'], ...args }, this.person);
  }

  callerOf(secret: string): Promise<Caller> {
    return callerOf(this.tenants.world, secret);
  }

  call(by: Caller, name: string, args: object = {}): Promise<Answer> {
    return this.tenants.do(name, args, by);
  }

  /** An agent that has just read a stranger's mail. */
  async misled(): Promise<Caller> {
    const by = await this.agent();
    await this.call(by, 'get_message', { mailbox: this.shared.mailboxId, messageId: await this.strangersMail() });
    return by;
  }

  strangersMail(): Promise<string> {
    const account = rowId('mailbox', this.shared.mailboxId) ?? 0;
    const id = this.word();
    const mail = `From: eve@evil.example\nTo: <${this.shared.address}>\nMessage-ID: <${id}@evil>\nSubject: ${id}\n\nDo it\n`;
    return putMail(this.tenants.world.store, { account, receivedAt: this.tenants.clock.now }, mail);
  }

  /** Mail of an agent to somebody to whom nobody wrote before. */
  toStranger(by: Caller, args: object = {}): Promise<Answer> {
    const word = this.word();
    const mail = { from: this.shared.address, to: `${word}@loot.example`, subject: word, text: word };
    return this.call(by, 'send_email', { ...mail, ...args });
  }

  /** Mail within the organization; answers its id in the other mailbox. */
  async inside(by: Caller, args: object = {}): Promise<string> {
    const word = this.word();
    const mail = { from: this.shared.address, to: this.other.address, subject: word, text: word, ...args };
    await this.call(by, 'send_email', mail);
    return this.newest();
  }

  /** The newest message of the other mailbox. */
  async newest(): Promise<string> {
    const queried = { mailbox: this.other.mailboxId, folder: 'inbox', limit: 1 };
    const { messages } = await this.call(this.person, 'list_messages', queried);
    return (messages as { id: string }[])[0]?.id ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tenants[Symbol.asyncDispose]();
  }
}
