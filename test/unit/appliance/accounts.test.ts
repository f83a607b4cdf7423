import { randomBytes } from 'node:crypto';
import { beforeEach, afterEach, expect, test } from 'vitest';
import { createLogins } from '../../../mail/login/logins.ts';
import { Throttle } from '../../../mail/login/throttle.ts';
import { quiet } from '../../../mail/log.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { findLogin } from '../../../mail/store/account/credential.ts';
import { SecretBox } from '../../../mail/store/blob/secrets.ts';
import { changeMailboxPassword, provisionAccount } from '../../../src/mailboxes/provision.ts';
import { StoredCredentials } from '../../../src/accounts/stored-credentials.ts';
import { onboardDomain } from '../../../src/domains/domains.ts';
import { storeParts } from '../../../src/start/store-parts.ts';
import { testGuard } from '../../support/guard.ts';
import { testStore, type TestStore } from '../../support/store.ts';

let world: TestStore;
let domainId: number;
const secrets = new SecretBox(randomBytes(32));
const context = () => ({ store: world.store, secrets, log: quiet });

beforeEach(async () => {
  world = await testStore(storeParts());
  const domain = await onboardDomain(context(), { tenant: 1, name: 'box.test', verified: true });
  if (domain.kind !== 'added') throw new Error(domain.kind);
  domainId = domain.id;
});
afterEach(() => world[Symbol.asyncDispose]());

const address = (text: string) => parseAddress(text) ?? expect.fail(text);
const add = (text: string, password?: string) =>
  provisionAccount(context(), { tenant: 1, domainId, address: address(text), ...(password ? { password } : {}) });

/** True if the password logs in to the mailbox, as protocol servers check it. */
async function opens(user: string, password: string): Promise<boolean> {
  await using credentials = new StoredCredentials(world.store);
  const clock = () => world.clock.now;
  const logins = createLogins({
    credentials,
    throttle: new Throttle(),
    guard: testGuard(),
    clock,
    wait: () => Promise.resolve(),
    secret: randomBytes(32),
    local: true,
    exempt: () => true,
    log: quiet,
    meter: quiet,
  });
  const outcome = await logins.password(user, password, { ip: '127.0.0.1', protocol: 'imap', secure: true });
  return outcome.kind === 'in';
}

test('a new mailbox opens with the password that was made for it', async () => {
  const added = await add('Anna@box.test');
  if (added.kind !== 'added') return expect.fail(added.kind);
  expect(added.address).toBe('Anna@box.test');
  expect(added.password.replaceAll('-', '').length).toBeGreaterThanOrEqual(26);
  expect(await opens('anna@box.test', added.password)).toBe(true);
  expect(await opens('anna@box.test', `${added.password}x`)).toBe(false);
});

test('the password can be revealed again, from its own row only', async () => {
  const added = await add('me@box.test', 'correct horse');
  if (added.kind !== 'added') return expect.fail(added.kind);
  const row = await world.store.read(
    {
      kind: 'query',
      name: 'sealed',
      run: (rx) => rx.get<{ ref: string; sealed: Uint8Array }>('SELECT ref, sealed FROM credential'),
    },
    undefined,
  );
  if (row === undefined) return expect.fail('no credential');
  expect(secrets.open('mailbox password', 'credential', row.ref, row.sealed).toString()).toBe('correct horse');
  expect(() => secrets.open('mailbox password', 'credential', 'another', row.sealed)).toThrow();
});

test('two mailboxes with the same password do not look alike in the database', async () => {
  await add('a@box.test', 'same');
  await add('b@box.test', 'same');
  const [a, b] = await Promise.all(['a', 'b'].map((one) => world.store.read(findLogin, { key: `${one}@box.test` })));
  expect(a?.salt).not.toEqual(b?.salt);
  expect(a?.credentials[0]?.storedKey).not.toEqual(b?.credentials[0]?.storedKey);
});

test.each([
  ['an address that exists, whatever its case', 'ME@box.test', undefined, 'address-taken'],
  ['an address of another domain', 'me@other.test', undefined, 'no-domain'],
  ['a password with a control character', 'you@box.test', 'a\u0007b', 'bad-password'],
] as const)('refused: %s', async (_, text, password, kind) => {
  await add('me@box.test');
  expect((await add(text, password)).kind).toBe(kind);
});

test('a changed password opens, the old one no more, and its sessions are named', async () => {
  const added = await add('me@box.test');
  if (added.kind !== 'added') return expect.fail(added.kind);
  const [old] = (await world.store.read(findLogin, { key: 'me@box.test' }))?.credentials ?? [];
  const revoked: unknown[] = [];
  const tell = (account: number, credentials: readonly number[]) => revoked.push({ account, credentials });
  const changed = await changeMailboxPassword({ ...context(), revoked: tell }, added.account);
  if (changed.kind !== 'changed') return expect.fail(changed.kind);
  expect(revoked).toEqual([{ account: added.account, credentials: [old?.id] }]);
  expect(await opens('me@box.test', changed.password)).toBe(true);
  expect(await opens('me@box.test', added.password)).toBe(false);
});

test('a password of a mailbox that does not exist is not changed', async () => {
  expect(await changeMailboxPassword({ ...context(), revoked: () => {} }, 4711)).toEqual({ kind: 'no-account' });
});
