import Fastify, { type FastifyInstance } from 'fastify';
import { addAccount } from '../../mail/store/account/account.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { type OutboxItem, findOutboxItem } from '../../mail/delivery/outbox-items.ts';
import { type Command, command } from '../../mail/store/engine/types.ts';
import { publicId } from '../../src/core/ids.ts';
import { portalRoutes } from '../../src/portal/routes.ts';
import { holdMail } from './held-mail.ts';
import { PEOPLE_TEST_COMMANDS, unclaimed } from './people.ts';
import { testWorld, type TestWorld } from './world.ts';

export const PASSWORD = 'a calculus of logic';
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

/** Whatever a test has to break. */
const tamper = command('test-tamper', (tx, { sql }: { sql: string }) => tx.run(sql));

/** An organization whose owner is signed in. */
export interface Owned {
  id: number;
  user: number;
  cookie: string;
  path: string;
}

/** Two organizations with owners, the pages of the portal, and a mailbox of the first whose agent sends. */
export class ApprovalWorld implements AsyncDisposable {
  readonly made: TestWorld;
  readonly app: FastifyInstance;
  acme!: Owned;
  other!: Owned;
  account = 0;

  private constructor(made: TestWorld, app: FastifyInstance) {
    this.made = made;
    this.app = app;
  }

  static async open(more: readonly Command<never, unknown>[] = []): Promise<ApprovalWorld> {
    const made = await testWorld({}, [...PEOPLE_TEST_COMMANDS, tamper, ...more]);
    const app = Fastify();
    await app.register(portalRoutes(made.world));
    const world = new ApprovalWorld(made, app);
    world.acme = await world.#owned('ada@owner.test', 'Acme');
    world.other = await world.#owned('eve@owner.test', 'Other');
    world.account = await world.addMailbox('anna');
    return world;
  }

  async #owned(email: string, name: string): Promise<Owned> {
    const { id, user, mailed } = await unclaimed(this.made.world.store, email, name);
    const claimed = await this.post('/auth/setup', { token: mailed.secret, password: PASSWORD });
    const [cookie] = claimed.cookies;
    if (cookie === undefined) throw new Error(`not claimed: ${claimed.statusCode}`);
    return { id, user, cookie: `${cookie.name}=${cookie.value}`, path: `/o/${publicId('organization', id)}` };
  }

  async addMailbox(local: string): Promise<number> {
    const { store } = this.made.world;
    const domain = await store.write(addDomain, { tenant: this.acme.id, name: `${local}.test`, verified: true });
    if (domain.kind === 'taken') throw new Error('the test domain is taken');
    const address = `${local}@${local}.test`;
    const keys = { storedKey: new Uint8Array(32), serverKey: new Uint8Array(32) };
    const rest = { kind: 'mailbox', name: 'password', scopes: ['imap'], sealed: null, expiresAt: null } as const;
    const added = await store.write(addAccount, {
      tenant: this.acme.id,
      domain: domain.id,
      address,
      key: address,
      salt: new Uint8Array(16),
      iterations: 4096,
      credential: { ref: `ref-${local}`, ...rest, ...keys },
    });
    if (added.kind !== 'added') throw new Error(added.kind);
    return added.account;
  }

  /** A message that waits; the test's gate holds everything. */
  async hold(text?: string, account = this.account): Promise<number> {
    const sender = account === this.account ? 'anna@anna.test' : 'bert@bert.test';
    const { id } = await holdMail(this.made.world.store, { tenant: this.acme.id, account, sender }, text);
    return id;
  }

  async item(id: number): Promise<OutboxItem | undefined> {
    return this.made.world.store.read(findOutboxItem, { id, now: this.made.store.clock.now });
  }

  break(sql: string): Promise<unknown> {
    return this.made.world.store.write(tamper, { sql });
  }

  get(url: string, cookie = '') {
    return this.app.inject({ url, headers: { cookie } });
  }

  post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const payload = new URLSearchParams(fields).toString();
    return this.app.inject({ method: 'POST', url, headers: { ...FORM, ...headers }, payload });
  }

  /** Does something on a page as a person does, with the token that its forms carry. */
  async act(url: string, act: string, cookie: string, fields: Record<string, string> = {}) {
    const { body } = await this.get(url, cookie);
    const form = /name="form" value="([^"]+)"/.exec(body)?.[1] ?? '';
    return this.post(url, { ...fields, do: act, form }, { cookie });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
    await this.made[Symbol.asyncDispose]();
  }
}
