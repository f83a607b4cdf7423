import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { insertMember } from '../../../src/people/commands.ts';
import { SignIn } from '../../../src/people/sign-in.ts';
import { Passwords } from '../../../src/people/password.ts';
import { command } from '../../../mail/store/engine/types.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform } from '../../../src/operations/perform.ts';
import { userCaller } from '../../../src/people/caller.ts';
import { PEOPLE_TEST_COMMANDS, plantPerson } from '../../support/people.ts';
import { testGuard } from '../../support/guard.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const join = command(
  'test-join',
  async (tx, input: { user: number; role: 'owner' | 'admin' | 'member' }, stamp): Promise<void> =>
    insertMember(tx, { organization: 1, ...input }, stamp),
);

let box: TestWorld;
beforeEach(async () => {
  box = await testWorld({}, [...PEOPLE_TEST_COMMANDS, join]);
});
afterEach(() => box[Symbol.asyncDispose]());

const ADDRESS = 'ada@x.test';
const PASSWORD = 'a calculus of logic';
const person = (email: string, password: string | null) =>
  box.world.store.write(plantPerson, { email, password, proven: true });

describe('signing in', () => {
  test('takes the address in any spelling, and the password in one', async () => {
    const user = await person(ADDRESS, (await new Passwords().hash(PASSWORD)) ?? null);
    const login = new SignIn(box.world);
    for (const email of [ADDRESS, 'ADA@X.TEST', ' ada@x.test ', 'ada@x.test.']) {
      expect(await login.check(email, PASSWORD, '127.0.0.1')).toMatchObject({ kind: 'right', account: { user } });
    }
    for (const [email, password] of [
      [ADDRESS, `${PASSWORD} `],
      ['bob@x.test', PASSWORD],
      ['', PASSWORD],
      [ADDRESS, ''],
    ] as const) {
      expect(await login.check(email, password, '127.0.0.1')).toEqual({ kind: 'wrong' });
    }
  });

  test('is refused to an address after ten failures in a minute, right password or not, and never locked', async () => {
    await person(ADDRESS, (await new Passwords().hash(PASSWORD)) ?? null);
    const login = new SignIn(box.world);
    for (let i = 0; i < 10; i++) expect((await login.check(ADDRESS, 'wrong', '192.0.2.1')).kind).toBe('wrong');
    const refused = await login.check(ADDRESS, PASSWORD, '192.0.2.1');
    expect(refused).toEqual({ kind: 'throttled', retryAfter: 60 });
    expect((await login.check(ADDRESS, PASSWORD, '198.51.100.1')).kind).toBe('right');
    box.store.clock.now += 60_000;
    expect((await login.check(ADDRESS, PASSWORD, '192.0.2.1')).kind).toBe('right');
  });
});

test('whose old password is tried where the account is known gets nobody around it banned', async () => {
  await person(ADDRESS, (await new Passwords().hash(PASSWORD)) ?? null);
  const offences: string[] = [];
  const guard = testGuard();
  guard.addOffence = (ip) => void offences.push(ip);
  const login = new SignIn({ ...box.world, guard });
  await login.check(ADDRESS, PASSWORD, '192.0.2.1');
  for (let i = 0; i < 13; i++) {
    for (const ip of ['192.0.2.1', '192.0.2.2']) await login.check(ADDRESS, 'old', ip);
  }
  expect(offences.filter((ip) => ip === '192.0.2.1')).toHaveLength(10);
  expect(offences.filter((ip) => ip === '192.0.2.2')).toHaveLength(13);
});

describe('roles', () => {
  const callerOf = async (role: 'owner' | 'admin' | 'member', email: string): Promise<Caller> => {
    const id = await person(email, 'x');
    await box.world.store.write(join, { user: id, role });
    const me = { id, email, displayName: null, password: 'x', addressProven: true, secondFactor: false };
    const membership = {
      organization: 1,
      name: 'Local',
      slug: 'local',
      role,
      frozen: false,
      claimed: true,
      factorRule: 'none' as const,
      providerRule: 'allowed' as const,
    };
    return userCaller(box.world, me, membership, '127.0.0.1');
  };
  const ask = async (caller: Caller, name: string, input: object) => {
    const operation = findOperation(name) ?? expect.fail(name);
    const done = await perform(box.world, operation, caller, input);
    return done.kind === 'done' ? 'done' : done.refusal.error;
  };

  test('only owners make, change and remove owners', async () => {
    const [owner, admin] = [await callerOf('owner', 'o@x.test'), await callerOf('admin', 'a@x.test')];
    const second = await callerOf('owner', 'p@x.test');
    const id = (caller: Caller) => ({ userId: caller.actor });
    expect(await ask(admin, 'update_member', { ...id(admin), role: 'owner' })).toBe('action_not_allowed');
    expect(await ask(admin, 'update_member', { ...id(owner), role: 'member' })).toBe('action_not_allowed');
    expect(await ask(admin, 'remove_member', id(owner))).toBe('action_not_allowed');
    expect(await ask(owner, 'update_member', { ...id(admin), role: 'owner' })).toBe('done');
    expect(await ask(owner, 'remove_member', id(second))).toBe('done');
    expect(await ask(owner, 'update_member', { userId: 'usr_9999', role: 'admin' })).toBe('not_found');
  });

  test('a member is limited to mailboxes of their own', async () => {
    const member = await callerOf('member', 'm@x.test');
    expect(member.mailboxes).toEqual([]);
    for (const [name, input] of [
      ['update_organization', { name: 'Mine' }],
      ['invite_member', { email: 'x@x.test', role: 'admin' }],
      ['list_audit_events', {}],
      ['create_email_api_key', { name: 'x' }],
      ['list_members', {}],
      ['list_organizations', {}],
    ] as const) {
      expect([name, await ask(member, name, input)]).toEqual([name, 'out_of_scope']);
    }
    expect(await ask(member, 'list_emails', {})).toBe('done');
  });

  test('what a person does is in the audit log under their name', async () => {
    const owner = await callerOf('owner', 'o@x.test');
    await ask(owner, 'update_organization', { name: 'Renamed' });
    const listed = await perform(box.world, findOperation('list_audit_events') ?? expect.fail(), owner, {});
    expect(listed.kind === 'done' ? listed.result['events'] : []).toMatchObject([
      {
        actor: owner.actor,
        actorName: 'o@x.test',
        way: 'portal',
        operation: 'update_organization',
        outcome: 'renamed',
      },
    ]);
  });
});
