import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planForwards } from '../../mail/delivery/forward.ts';
import { type Address, formatAddress, parseAddress } from '../../mail/message/address.ts';
import { readFields } from '../../mail/message/header.ts';
import {
  emailCount,
  fillAccount,
  FORWARD_KEY as KEY,
  type ForwardWorld,
  forwardWorld,
} from '../support/forward-world.ts';
import { testAccount, type TestStore } from '../support/store.ts';

const address = (text: string): Address => parseAddress(text) ?? expect.fail(text);

let world: ForwardWorld;
let box: TestStore;
let me: number;
let other: number;

beforeEach(async () => {
  world = await forwardWorld();
  ({ box } = world);
  me = (await testAccount(box.store, 'me')).account;
  other = (await testAccount(box.store, 'other')).account;
});
afterEach(() => world[Symbol.asyncDispose]());

const set = (from: string, to: string, keep = true) => world.set(from, to, { keep });

async function plan(recipients: string[], header = 'From: you@x.example\r\n') {
  const mail = { sender: address('you@x.example'), fields: readFields(header), key: KEY, now: box.clock.now };
  const { here, onward, lost } = await planForwards(
    box.store,
    recipients.map((one) => address(`${one}@box.test`)),
    mail,
  );
  return {
    here: here.map((one) => one.account).toSorted((a, b) => a - b),
    on: onward.map(({ row }) => [row.recipient, row.fallback]),
    lost: lost.map(formatAddress),
  };
}

describe('nobody is forgotten', () => {
  test('a mailbox that keeps no copy gets what leads nowhere inside the box', async () => {
    await set('me', 'vanished', false);
    expect(await plan(['me'])).toEqual({ here: [me], on: [], lost: [] });
  });

  test('and what runs in a circle', async () => {
    await set('me', 'sales', false);
    await set('sales', 'me');
    expect(await plan(['me'])).toEqual({ here: [me], on: [], lost: [] });
  });

  test('a full mailbox at the end of the way takes it all the same', async () => {
    await set('sales', 'other');
    await box.store.write(fillAccount, { account: other });
    expect(await plan(['sales'])).toEqual({ here: [other], on: [], lost: [] });
  });

  test('an address that only forwards, to nowhere or what stays, is named', async () => {
    await set('sales', 'vanished');
    await set('shop', 'you@x.example');
    expect(await plan(['sales'])).toMatchObject({ lost: ['sales@box.test'] });
    expect(await plan(['me', 'shop'], 'Auto-Submitted: auto-replied\r\n')).toMatchObject({ lost: ['shop@box.test'] });
  });

  test('two that lead to the same place are served by one copy, or lost together', async () => {
    await set('sales', 'you@x.example');
    await set('shop', 'you@x.example');
    expect(await plan(['sales', 'shop'])).toMatchObject({ on: [['you@x.example', undefined]], lost: [] });
    await set('one', 'vanished');
    await set('two', 'vanished');
    expect(await plan(['one', 'two'])).toMatchObject({ lost: ['one@box.test', 'two@box.test'] });
  });

  test('two mailboxes without a copy that lead to one address outside are each fallen back to', async () => {
    await set('me', 'you@x.example', false);
    await set('other', 'you@x.example', false);
    const on = [
      ['you@x.example', me],
      ['you@x.example', other],
    ];
    expect(await plan(['me', 'other'])).toEqual({ here: [], on, lost: [] });
  });

  test('two mailboxes without a copy that lead to each other have it once each', async () => {
    await set('me', 'other', false);
    await set('other', 'me', false);
    expect(await plan(['me', 'other'])).toEqual({ here: [me, other], on: [], lost: [] });
  });

  test('more recipients than forwards may be are each met', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `me+${i}`);
    await set('other', 'you@x.example', false);
    expect(await plan([...many, 'other'])).toEqual({ here: [me], on: [['you@x.example', other]], lost: [] });
  });
});

describe('a message for several', () => {
  const accept = (to: string[], header = '') => world.accept(to, { header });
  const stored = (account: number) => box.store.read(emailCount, { account });

  test('reaches who has nothing forwarded, the postmaster of the box among them, beside one who has', async () => {
    await set('other', 'you@x.example', false);
    expect(await accept(['other@box.test', 'postmaster@mail.box.test'])).toEqual({ kind: 'accepted' });
    expect(await stored(me)).toBe(1);
  });

  test('is taken for none when one of them would get nothing', async () => {
    await set('sales', 'you@x.example');
    const said = await accept(['me@box.test', 'sales@box.test'], 'Auto-Submitted: auto-replied\r\n');
    expect(said).toMatchObject({ code: 550, text: expect.stringContaining('sales@box.test') as string });
    await set('shop', 'vanished');
    expect(await accept(['me@box.test', 'shop@box.test'])).toMatchObject({ code: 451 });
    expect(await stored(me)).toBe(0);
  });
});

describe('a mailbox that keeps no copy', () => {
  test('gets one when all its destinations fail, however many they are', async () => {
    for (const one of ['a', 'b', 'c']) await set('me', `${one}@x.example`, false);
    await world.accept(['me']);
    expect(await box.store.read(emailCount, { account: me })).toBe(0);
    await world.end('failed');
    expect(await box.store.read(emailCount, { account: me })).toBe(1);
  });

  test('gets none besides the one that it got by another of its addresses', async () => {
    await set('me', 'a@x.example', false);
    await world.accept(['me', 'postmaster']);
    expect(await box.store.read(emailCount, { account: me })).toBe(1);
    await world.end('failed');
    expect(await box.store.read(emailCount, { account: me })).toBe(1);
  });
});

describe('a forward that is not active', () => {
  test.each(['pending', 'stopped'] as const)('passes nothing on while it is %s', async (state) => {
    await set('me', 'you@x.example', false);
    await world.set('other', 'you@x.example', { keep: false, [state]: true });
    await world.set('sales', 'you@x.example', { [state]: true });
    expect(await world.accept(['other'])).toEqual({ kind: 'accepted' });
    expect(await world.leaving()).toEqual([]);
    expect(await box.store.read(emailCount, { account: other })).toBe(1);
    await set('shop', 'sales');
    expect(await world.accept(['shop'])).toMatchObject({ code: 450 });
    expect(await world.route('sales')).toEqual({ kind: 'waiting' });
  });

  test('keeps the mail in its mailbox though another one passes it on', async () => {
    await set('me', 'one@x.example', false);
    await world.set('me', 'two@x.example', { keep: false, pending: true });
    expect(await plan(['me'])).toEqual({ here: [me], on: [['one@x.example', undefined]], lost: [] });
  });
});
