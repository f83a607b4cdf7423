import { operatorCaller, tokenCaller } from '../../src/core/caller.ts';
import { randomBytes } from 'node:crypto';
import { type Command, command, query } from '../../mail/store/engine/types.ts';
import { canaryAlerts } from '../../src/canaries/notice-source.ts';
import { Notifier } from '../../src/notices/notifier.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/core/operation.ts';
import { perform, type OperationOutcome } from '../../src/operations/perform.ts';
import { insertMember, insertPendingUser } from '../../src/people/commands.ts';
import { addToken, findToken } from '../../src/tokens/commands.ts';
import { ALL_ACTIONS } from '../../src/core/token.ts';
import { quiet } from '../../mail/log.ts';
import { proveOwner } from './people.ts';
import { SendWorld } from './send-world.ts';
import { UNLISTED } from './tenants.ts';

const auditRows = query('test-audit-rows', (rx) =>
  rx.all<{ operation: string; actor: string; outcome: string; detail: string }>(
    'SELECT operation, actor, outcome, detail FROM audit ORDER BY id',
  ),
);
/** Notices of the box, decoded, oldest first. */
const letters = query('test-box-letters', async (rx) => {
  const rows = await rx.all<{ data: Uint8Array }>(
    `SELECT b.data FROM submission s JOIN blob b ON b.id = s.blob_id WHERE s.tenant = 0 ORDER BY s.id`,
  );
  return rows.map(({ data }) => Buffer.from(data).toString().replaceAll('=\r\n', ''));
});

const addOwner = command('test-add-owner', async (tx, email: string, stamp): Promise<void> => {
  const user = await insertPendingUser(tx, { email, key: email, displayName: null }, stamp);
  await insertMember(tx, { organization: 1, user, role: 'owner' }, stamp);
  await proveOwner.run(tx, email, stamp);
});

export interface PlantedCanary {
  canaryId: string;
  messageId: string;
  address: string;
  honeytoken: string;
}

/** The operator's mailbox me@a.test with agents and canaries. */
export class CanaryWorld implements AsyncDisposable {
  readonly sending: SendWorld;

  constructor(sending: SendWorld) {
    this.sending = sending;
  }

  static async open(more: readonly Command<never, unknown>[] = []): Promise<CanaryWorld> {
    return new CanaryWorld(await SendWorld.open({}, [addOwner, ...more]));
  }

  get world() {
    return this.sending.world;
  }

  get clock(): { now: number } {
    return this.sending.made.store.clock;
  }

  /** A new token that may do everything. */
  mint(createdBy = 'operator', mailboxes: number[] | null = null): Promise<number> {
    return this.world.store.write(addToken, {
      hash: randomBytes(32),
      organization: 1,
      name: 'agent',
      shown: 'mst_abc',
      actions: [...ALL_ACTIONS],
      project: null,
      service: null,
      mailboxes,
      owner: true,
      createdBy,
      expiresAt: null,
    });
  }

  asToken(id: number, name: string, input: object = {}): Promise<OperationOutcome> {
    const found = findOperation(name) ?? UNLISTED.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no ${name}`);
    return this.#perform(id, found, input);
  }

  async #perform(id: number, found: Operation, input: object): Promise<OperationOutcome> {
    const token = await this.world.store.read(findToken, { id });
    if (token === undefined) throw new Error(`no token ${id}`);
    return perform(this.world, found, tokenCaller(token, 'rest', '192.0.2.1'), input);
  }

  asPerson(name: string, input: object = {}): Promise<OperationOutcome> {
    const found = findOperation(name);
    if (found === undefined) throw new Error(`no ${name}`);
    return perform(this.world, found, operatorCaller(), input);
  }

  /** The result; throws the refusal. */
  async do(name: string, input: object = {}): Promise<Record<string, unknown>> {
    const done = await this.asPerson(name, input);
    if (done.kind !== 'done') throw new Error(JSON.stringify(done.refusal));
    return done.result;
  }

  async plant(over: object = {}): Promise<PlantedCanary> {
    const done = await this.do('plant_canary', { mailbox: 'me@a.test', label: 'the one', ...over });
    const { canary, honeytoken } = done as { canary: PlantedCanary; honeytoken: string };
    return { ...canary, honeytoken };
  }

  async modeOf(id: number): Promise<string | undefined> {
    return (await this.world.store.read(findToken, { id }))?.mode;
  }

  /** Audit rows of trips. */
  async audited() {
    const rows = await this.world.store.read(auditRows, undefined);
    return rows.filter(({ operation }) => operation === 'trip_canary');
  }

  addOwner(email: string): Promise<void> {
    return this.world.store.write(addOwner, email);
  }

  /** Runs the notifier, and returns all notices of the box. */
  async told(): Promise<string[]> {
    const { world } = this;
    const notifier = new Notifier({ ...world, sources: [canaryAlerts(world)], queued: () => undefined, log: quiet });
    await notifier.run();
    return world.store.read(letters, undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sending[Symbol.asyncDispose]();
  }
}
