import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreIntake } from '../../mail/receiver/store-intake.ts';
import { planForwards } from '../../mail/delivery/forward.ts';
import { type Address, formatAddress, parseAddress } from '../../mail/message/address.ts';
import { readFields } from '../../mail/message/header.ts';
import { mailParts } from '../../mail/parts.ts';
import { command } from '../../mail/store/engine/types.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const KEY = Buffer.alloc(32, 7);
const address = (text: string): Address => parseAddress(text) ?? expect.fail(text);

const forward = command(
  'test-forward',
  async (tx, { from, to, keep }: { from: string; to: string; keep: boolean }, stamp): Promise<void> => {
    await tx.run(
      `INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key, keep_local, created_at)
       SELECT 1, id, ?1, ?1, ?2, ?2, ?3, ?4 FROM domain WHERE name = 'box.test'`,
      from,
      to,
      Number(keep),
      stamp.now,
    );
  },
);
const fill = command('test-fill', async (tx, input: { account: number }): Promise<void> => {
  await tx.run('UPDATE account SET quota_bytes = 1, used_bytes = 1 WHERE id = ?', input.account);
});

let box: TestStore;
let me: number;
let other: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, forward, fill] });
  me = (await testAccount(box.store, 'me')).account;
  other = (await testAccount(box.store, 'other')).account;
});
afterEach(() => box[Symbol.asyncDispose]());

const set = (from: string, to: string, keep = true) =>
  box.store.write(forward, { from: `${from}@box.test`, to: to.includes('@') ? to : `${to}@box.test`, keep });

async function plan(recipients: string[], header = 'From: you@x.example\r\n') {
  const mail = { sender: address('you@x.example'), fields: readFields(header), key: KEY, now: box.clock.now };
  const { accounts, onward, lost } = await planForwards(
    box.store,
    recipients.map((one) => address(`${one}@box.test`)),
    mail,
  );
  return {
    here: [...accounts.keys()].toSorted((a, b) => a - b),
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
    await box.store.write(fill, { account: other });
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

  test('more recipients than forwards may be are each met', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `me+${i}`);
    await set('other', 'you@x.example', false);
    expect(await plan([...many, 'other'])).toEqual({ here: [me], on: [['you@x.example', other]], lost: [] });
  });
});

describe('a message for several', () => {
  const peer = { ip: '192.0.2.1', port: 1, helo: 'x.example', tls: false };

  async function accept(recipients: string[], header = '') {
    const senderOf = () => Promise.resolve({ tenant: 1, allowance: null });
    const rest = {
      hold: null,
      forwardKey: KEY,
      reportKey: KEY,
      senderOf,
      queued: () => undefined,
      clock: () => box.clock.now,
    };
    const intake = new StoreIntake({ store: box.store, hostname: 'mail.box.test', ...rest });
    const all = recipients.map((one) => address(one));
    const routed = await Promise.all(
      all.map(async (one) => ({ address: one, route: await intake.route(one, undefined), dsn: {} })),
    );
    const sink = intake.open({
      id: 'trace',
      door: 'mx',
      sender: address('you@x.example'),
      recipients: routed,
      login: undefined,
      smtputf8: false,
      body: '7BIT',
      ret: undefined,
      envid: undefined,
      received: 'Received: from x\r\n',
      peer,
    });
    await sink.write(Buffer.from(`${header}From: you@x.example\r\n\r\nHello\r\n`));
    return sink.finish();
  }

  const stored = (account: number) =>
    box.store.read(
      {
        kind: 'query',
        name: 'test-count',
        run: async (rx) =>
          (await rx.get<{ n: number }>('SELECT count(*) AS n FROM email WHERE account_id = ?', account))?.n,
      },
      undefined,
    );

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
