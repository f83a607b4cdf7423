import { afterEach, beforeEach, expect, test } from 'vitest';
import { directRoute, type RouteFacts, routeFacts } from '../../mail/store/address/route-facts.ts';
import { rawChange } from '../support/raw-change.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

const SIZE = 1000;
let box: TestStore;
let account: number;

beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
});

afterEach(() => box[Symbol.asyncDispose]());

async function bothWays(key: string, role = false): Promise<{ short: RouteFacts | undefined; long: RouteFacts }> {
  const [, domain = ''] = key.split('@');
  const input = { domain, keys: [key], role, size: SIZE, now: 0 };
  return { short: await box.store.read(directRoute, input), long: await box.store.read(routeFacts, input) };
}

const FORWARDER = `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key,
  keep_local, created_at, stopped) SELECT 1, id, 'me', 'me@box.test', 'x', 'x@far.example', 1, 0, `;

test.each([
  ['has room', ''],
  ['is full by octets', 'UPDATE account SET used_bytes = 500, quota_bytes = 1499'],
  ['has room for just this', 'UPDATE account SET used_bytes = 500, quota_bytes = 1500'],
  ['is full by number', 'UPDATE account SET used_count = 3, quota_count = 3'],
  ['has a quota of messages only', 'UPDATE account SET used_bytes = 1000000000, used_count = 2, quota_count = 3'],
  [
    'is of a tenant with sender rules',
    `INSERT INTO sender_rule (tenant, outgoing, kind, pattern, account_id, note, created_at) VALUES (1, 0, 'block', 'x.example', NULL, '', 0)`,
  ],
  [
    'is of a tenant with rules for recipients only',
    `INSERT INTO sender_rule (tenant, outgoing, kind, pattern, account_id,
     note, created_at) VALUES (1, 1, 'block', 'x.example', NULL, '', 0)`,
  ],
  [
    'has a second, unverified claim of its domain',
    `INSERT INTO domain (tenant, name, created_at) VALUES (2, 'box.test', 0)`,
  ],
])('the short way and the long way agree on a mailbox that %s', async (_, sql) => {
  if (sql !== '') await rawChange(box.store, sql);
  for (const role of [false, true]) {
    const { short, long } = await bothWays('me@box.test', role);
    const { room, ...same } = short as RouteFacts;
    expect(same).toEqual(long);
    expect(same.all).toEqual([account]);
    expect((room ?? 0) >= SIZE).toBe(long.accounts.length > 0);
  }
});

test.each([
  ['forwards its mail', `${FORWARDER} 0 FROM domain`],
  ['has a stopped forward', `${FORWARDER} 1 FROM domain`],
  ['is in an unverified domain', 'UPDATE domain SET state = 0'],
  ['is gone', 'DELETE FROM address'],
  ['has an alias instead', `UPDATE address SET key = 'other@box.test'`],
])('a mailbox that %s goes the long way', async (_, sql) => {
  await rawChange(box.store, sql);
  expect((await bothWays('me@box.test')).short).toBeUndefined();
});
