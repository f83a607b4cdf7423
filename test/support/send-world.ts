import type { Command } from '../../mail/store/engine/types.ts';
import { accountByKey } from '../../mail/store/account/account.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { provisionAccount } from '../../src/mailboxes/provision.ts';
import { rowId } from '../../src/core/ids.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import { RefusedError } from '../../src/core/refusal.ts';
import type { TestContext } from './world.ts';
import type { ApiSender } from '../../src/sending/key-auth.ts';
import type { SendResult } from '../../src/sending/send-result.ts';
import { send } from '../../src/http/routes/send-requests.ts';
import { findSent } from '../../src/sending/sent-queries.ts';
import { serializeSent } from '../../src/sending/serialize-sent.ts';
import { setForwarder } from '../../src/sending/forwarder-commands.ts';
import { type TestWorld, testWorld } from './world.ts';

/** The operator's organization with the verified domain a.test, its mailbox me@a.test, and a key that may send. */
export class SendWorld implements AsyncDisposable {
  readonly made: TestWorld;
  readonly sender: ApiSender = {
    organization: 1,
    credential: 'key_1',
    allowedDomains: null,
    account: null,
    detectsDuplicates: false,
  };
  readonly mail = { from: 'Shop <shop@a.test>', to: 'you@x.example', subject: 'Hello', text: 'Hello' };
  domain = 0;

  constructor(made: TestWorld) {
    this.made = made;
  }

  static async open(
    over: Partial<TestContext> = {},
    more: readonly Command<never, unknown>[] = [],
  ): Promise<SendWorld> {
    const world = new SendWorld(await testWorld(over, more));
    const added = await world.made.store.store.write(addDomain, { tenant: 1, name: 'a.test', verified: true });
    if (added.kind === 'taken') throw new Error('the test domain is taken');
    world.domain = added.id;
    const address = { local: 'me', domain: 'a.test' };
    await provisionAccount(world.made.world, { tenant: 1, domainId: added.id, address });
    return world;
  }

  get world(): TestContext {
    return this.made.world;
  }

  send(over: object = {}, key?: string, sender: Partial<ApiSender> = {}): Promise<SendResult> {
    return send(this.world, { ...this.sender, ...sender }, { ...this.mail, ...over }, key);
  }

  /** Returns the refusal or the result. */
  async try(over: object = {}, key?: string, sender: Partial<ApiSender> = {}): Promise<Refusal | SendResult> {
    return this.send(over, key, sender).catch((error: unknown) => {
      if (error instanceof RefusedError) return error.refusal;
      throw error;
    });
  }

  async status(id: string | null) {
    const sent = await this.world.store.read(findSent, { organization: 1, id: rowId('sent', id ?? '') ?? 0 });
    if (sent === undefined) throw new Error(`${id} was not sent`);
    return serializeSent(sent, await this.world.store.read(journalOf, { ...OPERATOR_VIEW, trace: sent.trace }));
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
