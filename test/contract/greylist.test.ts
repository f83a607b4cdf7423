import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseAddress } from '../../mail/message/address.ts';
import { Greylist } from '../../mail/receiver/greylist.ts';
import type { SmtpRefusal } from '../../mail/receiver/needs.ts';
import { StoreBusy, command } from '../../mail/store/engine/types.ts';
import { purgeGreylist } from '../../mail/store/limit/greylist.ts';
import { recordSenderDelivery } from '../../mail/store/filter/sender.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { type TestStore, testStore } from '../support/store.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const delivered = command('test-delivered', (tx, keys: string[], stamp): Promise<void> =>
  recordSenderDelivery(tx, { account: 7, keys, junk: false }, stamp),
);
const counted = command('test-counted', async (tx): Promise<number> => {
  const row = await tx.get<{ n: number }>('SELECT count(*) AS n FROM greylist');
  return row?.n ?? -1;
});

let stored: TestStore;
let greylist: Greylist;
beforeEach(async () => {
  const parts = mailParts();
  stored = await testStore({ ...parts, commands: [...parts.commands, delivered, counted] });
  greylist = new Greylist(stored.store, () => stored.clock.now);
});
afterEach(() => stored[Symbol.asyncDispose]());

const address = (text: string): NonNullable<ReturnType<typeof parseAddress>> => {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};
const knock = (ip = '11.22.33.44', sender = 'a@sender.com', to = 'me@box.test'): Promise<SmtpRefusal | undefined> =>
  greylist.check({
    ip,
    sender: sender === '' ? undefined : address(sender),
    to: address(to),
    route: { kind: 'here', accounts: [7], address: address(to) },
  });
const later = { code: 451, enhanced: '4.7.1' };
const wait = (ms: number): void => void (stored.clock.now += ms);

test('a stranger comes again after five minutes, from any address of its network, and is remembered for 35 days', async () => {
  expect(await knock()).toMatchObject(later);
  wait(4 * MINUTE);
  expect(await knock()).toMatchObject(later);
  wait(MINUTE);
  expect(await knock('11.22.33.99')).toBeUndefined();
  wait(34 * DAY);
  // Each time counts anew.
  expect(await knock()).toBeUndefined();
  wait(30 * DAY);
  greylist = new Greylist(stored.store, () => stored.clock.now);
  expect(await knock()).toBeUndefined();
  wait(36 * DAY);
  expect(await knock()).toMatchObject(later);
});

test('who comes again after a day begins anew', async () => {
  await knock();
  wait(DAY + 1);
  expect(await knock()).toMatchObject(later);
  wait(5 * MINUTE);
  expect(await knock()).toBeUndefined();
});

test('each sender and recipient comes again for itself, until three from a network have', async () => {
  const senders = ['a@one.com', 'a@two.com', 'a@three.com'];
  for (const sender of senders) expect(await knock(undefined, sender)).toMatchObject(later);
  wait(5 * MINUTE);
  expect(await knock(undefined, 'a@four.com')).toMatchObject(later);
  for (const sender of senders) expect(await knock(undefined, sender)).toBeUndefined();
  expect(await knock(undefined, 'a@five.com', 'you@box.test')).toBeUndefined();
  expect(await knock('44.33.22.11', 'a@one.com')).toMatchObject(later);
});

test('senders with a number of their own for each message are one', async () => {
  await knock(undefined, 'bounce+1234=me@list.com');
  wait(5 * MINUTE);
  expect(await knock(undefined, 'bounce+99=me@list.com')).toBeUndefined();
});

test('the null reverse-path is a sender as well', async () => {
  expect(await knock(undefined, '')).toMatchObject(later);
  wait(5 * MINUTE);
  expect(await knock(undefined, '')).toBeUndefined();
});

test.each([
  ['a private address', '10.0.0.1', 'me@box.test'],
  ['loopback', '127.0.0.1', 'me@box.test'],
  ['mail for the postmaster', '11.22.33.44', 'postmaster@box.test'],
])('%s need not wait', async (_what, ip, to) => expect(await knock(ip, 'a@sender.com', to)).toBeUndefined());

test('a network that the account had mail from need not wait', async () => {
  await stored.store.write(delivered, ['n:11.22.33.0/24']);
  expect(await knock()).toBeUndefined();
  expect(await knock('44.33.22.11')).toMatchObject(later);
});

test('what is over is forgotten', async () => {
  await knock();
  wait(5 * MINUTE);
  await knock();
  const rows = (): Promise<number> => stored.store.write(counted, undefined);
  wait(34 * DAY);
  await stored.store.write(purgeGreylist, undefined);
  expect(await rows()).toBe(1);
  wait(2 * DAY);
  expect(await stored.store.write(purgeGreylist, undefined)).toBe(false);
  expect(await rows()).toBe(0);
});

test('where the store is busy, nobody is sent away a second time for it', async () => {
  await knock();
  wait(5 * MINUTE);
  const busy = {
    read: stored.store.read.bind(stored.store),
    write: () => Promise.reject(new StoreBusy('queue', 'busy')),
  };
  const other = new Greylist(busy, () => stored.clock.now);
  const contact = {
    ip: '11.22.33.44',
    sender: address('a@sender.com'),
    to: address('me@box.test'),
    route: { kind: 'unknown' as const },
  };
  expect(await other.check(contact)).toMatchObject(later);
  wait(5 * MINUTE);
  expect(await other.check(contact)).toBeUndefined();
});
