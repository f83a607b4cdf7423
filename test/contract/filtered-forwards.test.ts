import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AccountFilterResult, FilterResult } from '../../mail/filter/mail-filter.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { MAIL_POLICY } from '../../mail/policy/mail-policy.ts';
import type { Finding } from '../../mail/policy/finding.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { query } from '../../mail/store/engine/types.ts';
import { testAlias } from '../support/aliases.ts';
import { receiveMessage, testBackend } from '../support/receive-message.ts';
import { setForward } from '../support/forward-world.ts';
import { vouchedBy } from '../support/sample.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const WORDS: Finding = { rule: 'words', score: 6, why: 'Its words are like those of junk' };
const ALLOW = { kind: 'allow', why: 'You allowed it' } as const;
const BLOCK = { kind: 'block', why: 'You blocked it' } as const;

/** Where it lies: accounts with folders, and addresses elsewhere. */
const placed = query('test-placed', async (rx) => ({
  here: await rx.all<{ account: number; mailbox: string }>(
    'SELECT m.account_id AS account, m.name AS mailbox FROM entry n JOIN mailbox m ON m.id = n.mailbox_id ORDER BY 1',
  ),
  out: (await rx.all<{ recipient: string }>('SELECT recipient FROM queue ORDER BY 1')).map((one) => one.recipient),
  kept: (await rx.all<{ detail: string }>(`SELECT detail FROM journal WHERE event = 'kept'`)).length,
}));

const fallbacks = query('test-fallbacks', (rx) =>
  rx.all<{ account: number }>('SELECT fallback_account AS account FROM queue'),
);

describe('mail that a forward leads to a mailbox here', () => {
  let box: TestStore;
  let anna: number;
  let bob: number;
  let queried: readonly number[];

  beforeEach(async () => {
    const parts = mailParts();
    box = await testStore({ ...parts, commands: [...parts.commands, setForward] });
    anna = (await testAccount(box.store, 'anna')).account;
    bob = (await testAccount(box.store, 'bob')).account;
    await box.store.write(addDomain, { tenant: 1, name: 'box.test', verified: true });
    queried = [];
  });
  afterEach(() => box[Symbol.asyncDispose]());

  const forward = (from: string, to: string, keep = true): Promise<void> => {
    const [source, destination] = [from, to].map((one) => (one.includes('@') ? one : `${one}@box.test`));
    const more = { tenant: 1, keep, pending: false, stopped: false };
    return box.store.write(setForward, { from: source ?? '', to: destination ?? '', ...more });
  };

  /** `own`: what is different for an account. */
  function come(to: string, findings: readonly Finding[], own: Record<number, Partial<AccountFilterResult>> = {}) {
    const author = { kind: 'pass', why: '' } as const;
    const authentication = vouchedBy('remote.example');
    const classifier = ({ accounts }: { accounts: readonly number[] }): Promise<FilterResult> => {
      queried = accounts;
      const each = accounts.map((account) => ({
        account,
        policy: MAIL_POLICY,
        author,
        findings: [],
        known: false,
        ...own[account],
      }));
      return Promise.resolve({ authentication, author, findings, senders: [], accounts: each });
    };
    const backend = testBackend(box, {
      filter: { filter: { filter: classifier }, checks: true, network: true, slows: () => false },
    });
    const [first = '', ...more] = to.split(' ').map((one) => `${one}@box.test`);
    return receiveMessage(backend, {
      from: 'stranger@remote.example',
      to: first,
      more,
      body: 'From: x@remote.example\n\nx\n',
    });
  }

  const positions = () => box.store.read(placed, undefined);

  test('is filtered for that mailbox', async () => {
    await forward('team', 'anna');
    await come('team', []);
    expect(queried).toEqual([anna]);
    expect((await positions()).here).toEqual([{ account: anna, mailbox: 'INBOX' }]);
  });

  test('is filed by its filter, its rules and its policy, each copy by its own', async () => {
    await forward('team', 'anna');
    await forward('team', 'bob');
    expect(await come('team', [], { [bob]: { findings: [WORDS] } })).toEqual({ kind: 'accepted' });
    expect((await positions()).here).toEqual([
      { account: anna, mailbox: 'INBOX' },
      { account: bob, mailbox: 'Junk' },
    ]);
  });

  test('is in its Junk when it is junk, and is not refused for that', async () => {
    await forward('team', 'anna');
    expect(await come('team', [WORDS])).toEqual({ kind: 'accepted' });
    expect((await positions()).here).toEqual([{ account: anna, mailbox: 'Junk' }]);
  });

  test('comes in when that mailbox allows it, and is refused when it blocks it', async () => {
    await forward('team', 'anna');
    expect(await come('team', [WORDS], { [anna]: { rule: ALLOW } })).toEqual({ kind: 'accepted' });
    expect((await positions()).here).toEqual([{ account: anna, mailbox: 'INBOX' }]);
    expect(await come('team', [], { [anna]: { rule: BLOCK } })).toMatchObject({ code: 550, text: BLOCK.why });
    expect((await positions()).here).toHaveLength(1);
  });

  test('can be looked at there when it is refused', async () => {
    await forward('team', 'anna');
    expect(await come('team', [{ ...WORDS, refuse: true }])).toMatchObject({ code: 550 });
    expect((await positions()).here).toEqual([{ account: anna, mailbox: 'Rejects' }]);
  });

  test('goes on from another mailbox, and each has its own word', async () => {
    await forward('anna', 'bob');
    expect(await come('anna', [], { [bob]: { rule: BLOCK } })).toEqual({ kind: 'accepted' });
    expect(new Set(queried)).toEqual(new Set([anna, bob]));
    expect((await positions()).here).toEqual([
      { account: anna, mailbox: 'INBOX' },
      { account: bob, mailbox: 'Junk' },
    ]);
  });

  test('ends at the first mailbox for which it is junk, however it came there', async () => {
    await forward('team', 'anna');
    await forward('anna', 'me@remote.example', false);
    expect(await come('team', [], { [anna]: { findings: [WORDS] } })).toEqual({ kind: 'accepted' });
    expect(await positions()).toMatchObject({ here: [{ account: anna, mailbox: 'Junk' }], out: [] });
    expect(await come('team', [])).toEqual({ kind: 'accepted' });
    expect((await positions()).out).toEqual(['me@remote.example']);
  });

  test('no copy of junk leaves beside the one that is here; of what the mailbox on its way allows one does', async () => {
    await forward('team', 'anna');
    await forward('team', 'me@remote.example');
    expect(await come('team', [WORDS])).toEqual({ kind: 'accepted' });
    expect(await positions()).toEqual({ here: [{ account: anna, mailbox: 'Junk' }], out: [], kept: 1 });
    await forward('bob', 'you@remote.example');
    expect(await come('bob', [WORDS], { [bob]: { rule: ALLOW } })).toEqual({ kind: 'accepted' });
    expect((await positions()).out).toEqual(['you@remote.example']);
  });

  describe('at an alias of several mailboxes that is forwarded', () => {
    beforeEach(async () => {
      await testAlias(box, 'team', { accounts: [anna, bob] });
      await forward('team', 'me@remote.example');
    });

    test.each<[string, Partial<AccountFilterResult>]>([
      ['filter', { findings: [WORDS] }],
      ['rule', { rule: BLOCK }],
    ])('goes on when it is junk by the %s of one of them alone', async (_, own) => {
      expect(await come('team', [], { [bob]: own })).toEqual({ kind: 'accepted' });
      expect(await positions()).toEqual({
        here: [
          { account: anna, mailbox: 'INBOX' },
          { account: bob, mailbox: 'Junk' },
        ],
        out: ['me@remote.example'],
        kept: 0,
      });
    });

    test('does not go on when it is junk for all of them, by whatever', async () => {
      const own = { [anna]: { findings: [WORDS] }, [bob]: { rule: BLOCK } };
      expect(await come('team', [], own)).toEqual({ kind: 'accepted' });
      const { here, out } = await positions();
      expect(here.map(({ mailbox }) => mailbox)).toEqual(['Junk', 'Junk']);
      expect(out).toEqual([]);
    });

    test('does not go on when one allows it and it is junk for everybody else', async () => {
      expect(await come('team', [WORDS], { [anna]: { rule: ALLOW } })).toEqual({ kind: 'accepted' });
      expect((await positions()).out).toEqual([]);
      const all = { [anna]: { rule: ALLOW }, [bob]: { rule: ALLOW } };
      expect(await come('team', [WORDS], all)).toEqual({ kind: 'accepted' });
      expect((await positions()).out).toEqual(['me@remote.example']);
    });

    test('goes on by the same word when another forward led there', async () => {
      await forward('shop', 'team');
      expect(await come('shop', [], { [bob]: { findings: [WORDS] } })).toEqual({ kind: 'accepted' });
      expect((await positions()).out).toEqual(['me@remote.example']);
    });
  });

  test('a mailbox that gets back what an alias could not pass on is one that wants it', async () => {
    await testAlias(box, 'team', { accounts: [anna, bob] });
    await forward('team', 'me@remote.example', false);
    expect(await come('team', [], { [anna]: { findings: [WORDS] } })).toEqual({ kind: 'accepted' });
    expect(await positions()).toMatchObject({ here: [], out: ['me@remote.example'] });
    expect(await box.store.read(fallbacks, undefined)).toEqual([{ account: bob }]);
  });

  test('an address that only leads elsewhere refuses junk, and passes it on where others took it', async () => {
    await forward('shop', 'me@remote.example');
    expect(await come('shop', [WORDS])).toMatchObject({ code: 550, text: /only passes mail on/ });
    expect(await come('shop anna', [WORDS])).toEqual({ kind: 'accepted' });
    expect(await positions()).toMatchObject({ here: [{ mailbox: 'Junk' }], out: ['me@remote.example'] });
  });
});
