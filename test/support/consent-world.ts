import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import type { Settings } from '../../config/settings.ts';
import { command } from '../../mail/store/engine/types.ts';
import { httpEndpoints } from '../../src/start/protocol-servers.ts';
import { HttpLimits } from '../../src/http/rate-limits.ts';
import { type TestContext, testWorld, type TestWorld } from './world.ts';
import { insertMember, insertPendingUser } from '../../src/people/commands.ts';
import { removeMember, type Role, updateMember } from '../../src/people/member-commands.ts';
import { newSecret } from '../../src/people/secrets.ts';
import { startSignIn } from '../../src/people/sign-in.ts';
import { testGuard } from './guard.ts';
import { proveOwner } from './people.ts';
import { testAccount } from './store.ts';
import { Visitor } from './visitor.ts';

const plantMember = command(
  'test-plant-member',
  async (tx, input: { email: string; organization: number; role: Role }, stamp): Promise<number> => {
    const { email, organization, role } = input;
    const user = await insertPendingUser(tx, { email, key: email, displayName: null }, stamp);
    await insertMember(tx, { organization, user, role }, stamp);
    return user;
  },
);

const plantOrganization = command(
  'test-plant-organization',
  async (tx, input: { name: string }, stamp): Promise<number> => {
    const { id } = await tx.run(
      `INSERT INTO organization (slug, name, origin, created_ip, created_at, claimed_at) VALUES (?, ?, 'own', '', ?, ?)`,
      input.name.toLowerCase(),
      input.name,
      stamp.now,
      stamp.now,
    );
    return id;
  },
);

/** Somebody who is signed in. */
export interface Someone {
  user: number;
  email: string;
  visitor: Visitor;
}

/** All HTTP endpoints on their own store with a fake clock: the operator's organization and two mailboxes. */
export interface ConsentWorld extends AsyncDisposable {
  world: TestContext;
  clock: { now: number };
  base: string;
  /** All routes that Fastify registered. */
  routes: readonly { method: string; url: string }[];
  /** Accounts of organization 1. */
  anna: number;
  bert: number;
  organization(name: string): Promise<number>;
  someone(role: Role, organization?: number, mailboxes?: readonly number[]): Promise<Someone>;
  /** Gives somebody another role or other mailboxes. */
  change(user: number, role: Role, mailboxes?: readonly number[]): Promise<void>;
  leave(user: number): Promise<void>;
}

export async function consentWorld(
  over: Partial<TestContext> = {},
  settings: Partial<Settings> = {},
): Promise<ConsentWorld> {
  let base = '';
  const made: TestWorld = await testWorld(
    { baseUrl: () => base, limits: new HttpLimits(() => true, testGuard()), ...over },
    [plantMember, plantOrganization, proveOwner],
  );
  const { world } = made;
  const { store } = world;
  const app = Fastify();
  const routes: { method: string; url: string }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, url });
  });
  for (const door of httpEndpoints({ ...world, settings: { ...world.settings, ...settings } }))
    await app.register(async (inner) => door(inner as never));
  await app.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const { account: anna } = await testAccount(made.store.store, 'anna');
  const { account: bert } = await testAccount(made.store.store, 'bert');
  let people = 0;
  const change = async (user: number, role: Role, mailboxes: readonly number[] = []): Promise<void> => {
    await store.write(updateMember, { organization: 1, user, role, mailboxes });
  };
  return {
    world,
    clock: made.store.clock,
    base,
    routes,
    anna,
    bert,
    organization: (name) => store.write(plantOrganization, { name }),
    async someone(role, organization = 1, mailboxes = []) {
      const email = `person-${++people}@example.test`;
      const user = await store.write(plantMember, { email, organization, role });
      if (mailboxes.length > 0) await change(user, role, mailboxes);
      const visitor = new Visitor(base);
      const browser = { ip: '127.0.0.1', agent: 'test', before: null, device: newSecret().hash };
      const { secret } = await startSignIn(world, { user, method: 'password', next: '/' }, browser);
      visitor.cookie = `mailstead=${secret}`;
      return { user, email, visitor };
    },
    change,
    async leave(user) {
      await store.write(removeMember, { organization: 1, user });
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      await made[Symbol.asyncDispose]();
    },
  };
}
