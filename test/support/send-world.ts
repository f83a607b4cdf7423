import type { Command } from '../../mail/store/engine/types.ts';
import { accountByKey } from '../../mail/store/account.ts';
import { addDomain } from '../../mail/store/domain.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal.ts';
import { provisionAccount } from '../../src/accounts/accounts.ts';
import { rowId } from '../../src/ids.ts';
import type { Refusal } from '../../src/operations/refusal.ts';
import { Refused } from '../../src/operations/refusal.ts';
import type { World } from '../../src/operations/world.ts';
import type { Sender } from '../../src/sending/key-auth.ts';
import type { SendResult } from '../../src/sending/send-answer.ts';
import { send } from '../../src/sending/send-desk.ts';
import { findSent } from '../../src/sending/sent-queries.ts';
import { shownSent } from '../../src/sending/sent-shown.ts';
import { setForwarder } from '../../src/sending/forwarder-commands.ts';
import { type TestWorld, testWorld } from './world.ts';

/** The operator's organization with the verified domain a.test, its mailbox me@a.test, and a key that may send. */
export class SendWorld implements AsyncDisposable {
  readonly made: TestWorld;
  readonly sender: Sender = {
    organization: 1,
    credential: 'key_1',
    allowedDomains: null,
    account: null,
    guesses: false,
  };
  readonly mail = { from: 'Shop <shop@a.test>', to: 'you@x.example', subject: 'Hello', text: 'Hello' };
  domain = 0;

  constructor(made: TestWorld) {
    this.made = made;
  }

  static async open(over: Partial<World> = {}, more: readonly Command<never, unknown>[] = []): Promise<SendWorld> {
    const world = new SendWorld(await testWorld(over, more));
    const added = await world.made.store.store.write(addDomain, { tenant: 1, name: 'a.test', verified: true });
    if (added.kind === 'taken') throw new Error('the test domain is taken');
    world.domain = added.id;
    const address = { local: 'me', domain: 'a.test' };
    await provisionAccount(world.made.world, { tenant: 1, domainId: added.id, address });
    return world;
  }

  get world(): World {
    return this.made.world;
  }

  send(over: object = {}, key?: string, sender: Partial<Sender> = {}): Promise<SendResult> {
    return send(this.world, { ...this.sender, ...sender }, { ...this.mail, ...over }, key);
  }

  /** The refusal, or the answer. */
  async try(over: object = {}, key?: string, sender: Partial<Sender> = {}): Promise<Refusal | SendResult> {
    return this.send(over, key, sender).catch((error: unknown) => {
      if (error instanceof Refused) return error.refusal;
      throw error;
    });
  }

  async status(id: string | null) {
    const sent = await this.world.store.read(findSent, { organization: 1, id: rowId('sent', id ?? '') ?? 0 });
    if (sent === undefined) throw new Error(`${id} was not sent`);
    return shownSent(sent, await this.world.store.read(journalOf, { ...OPERATOR_VIEW, trace: sent.trace }));
  }

  forward(source: string, destination: string): Promise<unknown> {
    const row = { organization: 1, domain: this.domain, source, sourceKey: source, destination };
    return this.world.store.write(setForwarder, {
      ...row,
      destinationKey: destination,
      keepLocal: true,
      confirmation: null,
    });
  }

  async account(address: string): Promise<number> {
    return (await this.world.store.read(accountByKey, { tenant: 1, key: address }))?.id ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.made[Symbol.asyncDispose]();
  }
}
