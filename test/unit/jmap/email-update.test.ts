import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SetError } from '../../../mail/jmap/core/errors.ts';
import { jmapId, jmapRow } from '../../../mail/jmap/core/ids.ts';
import { setQuota } from '../../../mail/store/account/account.ts';
import { changeEmails, destroyEmails } from '../../../mail/store/message/email-change-commands.ts';
import { storeFlags } from '../../../mail/store/mailbox/entry-commands.ts';
import { StoreBusy } from '../../../mail/store/engine/types.ts';
import { createMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { testAccount } from '../../support/store.ts';
import { create, seenByImap } from '../../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';

let fixture: JmapFixture;
let inbox: string;
let work: string;
let play: string;
let id: string;

const mailbox = async (name: string): Promise<string> => {
  const made = await fixture.box.store.write(createMailbox, { account: fixture.account, name, role: null });
  if (made.kind !== 'created') throw new Error(made.kind);
  return jmapId('mailbox', made.id);
};

beforeAll(async () => {
  fixture = await createJmapFixture();
  inbox = jmapId('mailbox', fixture.inbox);
  work = await mailbox('Work');
  play = await mailbox('Play');
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  ({ id } = await create(fixture, { subject: 'x', keywords: { $seen: true, later: true } }));
});

const update = async (patch: object): Promise<SetError | null> => {
  const answer = await fixture.call('Email/set', { update: { [id]: patch } });
  const error = (answer['notUpdated'] as Record<string, SetError> | null)?.[id];
  if (error === undefined) expect(answer['updated']).toEqual({ [id]: null });
  return error ?? null;
};
const seen = async (): Promise<Record<string, string[]>> =>
  Object.fromEntries((await seenByImap(fixture)).get(id) ?? new Map<string, string[]>());

describe('keywords', () => {
  test.each<[string, object, string[]]>([
    ['one more', { 'keywords/$flagged': true }, ['\\Flagged', '\\Seen', 'later']],
    ['one less', { 'keywords/$seen': null }, ['later']],
    ['one less that is a word', { 'keywords/LATER': null }, ['\\Seen']],
    [
      'some of both',
      { 'keywords/$Answered': true, 'keywords/new': true, 'keywords/later': null },
      ['\\Answered', '\\Seen', 'new'],
    ],
    ['others instead', { keywords: { $draft: true } }, ['\\Draft']],
    ['none', { keywords: {} }, []],
    ['the default', { keywords: null }, []],
    ['digits and signs', { 'keywords/0': true, 'keywords/a~1b~0': true }, ['0', '\\Seen', 'a/b~', 'later']],
    ['nothing', {}, ['\\Seen', 'later']],
    ['its own id', { id: 'mine' }, ['\\Seen', 'later']],
  ])('%s', async (_what, patch, flags) => {
    expect(await update('id' in patch ? { id } : patch)).toBeNull();
    expect(await seen()).toEqual({ [inbox]: flags });
  });

  test('apply to the email in all of its mailboxes; \\Deleted stays on the single entry', async () => {
    await update({ [`mailboxIds/${work}`]: true });
    const row = jmapRow('mailbox', fixture.account, inbox) ?? 0;
    const view = await fixture.box.store.view(fixture.account, row);
    const uid = view.uids[view.length - 1] ?? 0;
    view.close();
    await fixture.box.store.write(storeFlags, {
      account: fixture.account,
      mailbox: row,
      uids: [uid],
      how: 'add',
      flags: { bits: 16, keywords: [] },
      unchangedSince: null,
    });
    expect(await update({ keywords: { $flagged: true } })).toBeNull();
    expect(await seen()).toEqual({ [inbox]: ['\\Deleted', '\\Flagged'], [work]: ['\\Flagged'] });
    // Visible again in the mailbox where IMAP had marked it.
    expect(await update({ [`mailboxIds/${inbox}`]: true })).toBeNull();
    expect(await seen()).toEqual({ [inbox]: ['\\Flagged'], [work]: ['\\Flagged'] });
  });
});

describe('mailboxes', () => {
  test('can be added, removed and replaced, with keywords in the same patch', async () => {
    expect(await update({ [`mailboxIds/${work}`]: true, 'keywords/$flagged': true })).toBeNull();
    const flags = ['\\Flagged', '\\Seen', 'later'];
    expect(await seen()).toEqual({ [inbox]: flags, [work]: flags });
    expect(await update({ [`mailboxIds/${inbox}`]: null })).toBeNull();
    expect(await seen()).toEqual({ [work]: flags });
    expect(await update({ mailboxIds: { [play]: true, [inbox]: true } })).toBeNull();
    expect(await seen()).toEqual({ [play]: flags, [inbox]: flags });
  });

  test('removing an email from a mailbox that does not contain it changes nothing', async () => {
    expect(await update({ [`mailboxIds/${play}`]: null, 'mailboxIds/fzzz': null })).toBeNull();
    expect(Object.keys(await seen())).toEqual([inbox]);
  });

  test('a mailbox created in the same request is found by its creation id', async () => {
    const created = { there: work };
    const calls: [string, Record<string, unknown>, string][] = [
      ['Email/set', { accountId: fixture.accountId, update: { [id]: { 'mailboxIds/#there': true } } }, 'a'],
      ['Email/set', { accountId: fixture.accountId, update: { [id]: { mailboxIds: { '#there': true } } } }, 'b'],
    ];
    await fixture.request(calls, created);
    expect(Object.keys(await seen())).toEqual([work]);
  });
});

describe('refused', () => {
  test.each<[string, object, object]>([
    ['another property', { subject: 'y' }, { type: 'invalidProperties', properties: ['subject'] }],
    ['another id', { id: 'm1' }, { type: 'invalidProperties', properties: ['id'] }],
    ['a path inside another', { keywords: {}, 'keywords/a': true }, { type: 'invalidPatch' }],
    ['a path through nothing', { 'keywords/a/b': true }, { type: 'invalidPatch' }],
    ['a path without end', { ['keywords' + '/a'.repeat(5_000)]: true }, { type: 'invalidPatch' }],
    ['false', { 'keywords/a': false }, { type: 'invalidProperties', properties: ['keywords'] }],
    ['no mailbox', { mailboxIds: {} }, { type: 'invalidProperties', properties: ['mailboxIds'] }],
    ['null for all mailboxes', { mailboxIds: null }, { type: 'invalidProperties', properties: ['mailboxIds'] }],
    ['an unknown mailbox', { 'mailboxIds/fzzz': true }, { type: 'invalidProperties', properties: ['mailboxIds'] }],
    ['no id of a mailbox', { 'mailboxIds/a b': true }, { type: 'invalidProperties', properties: ['mailboxIds'] }],
    ['a keyword that is none', { 'keywords/a(b': true }, { type: 'invalidProperties', properties: ['keywords'] }],
    ['the prototype', JSON.parse('{"__proto__/polluted":true}') as object, { type: 'invalidProperties' }],
  ])('%s', async (_what, patch, error) => {
    expect(await update(patch)).toMatchObject({ ...error, description: expect.any(String) });
    expect(await seen()).toEqual({ [inbox]: ['\\Seen', 'later'] });
  });

  test('removing the last mailbox, and too many keywords', async () => {
    expect(await update({ [`mailboxIds/${inbox}`]: null })).toMatchObject({ properties: ['mailboxIds'] });
    await using other = await createJmapFixture();
    const many = (from: number, to: number): object =>
      Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`keywords/k${from + i}`, true]));
    const made = await create(other, {});
    for (const at of [0, 60]) {
      const answer = await other.call('Email/set', { update: { [made.id]: many(at, at + 60) } });
      expect(answer['notUpdated']).toBeNull();
    }
    const answer = await other.call('Email/set', { update: { [made.id]: many(120, 180) } });
    expect(answer['notUpdated']).toMatchObject({ [made.id]: { type: 'tooManyKeywords' } });
  });

  test('an email destroyed in the same call, an unknown email and an unknown creation id', async () => {
    const answer = await fixture.call('Email/set', {
      update: { [id]: { keywords: {} }, mzzz: { keywords: {} }, '#none': { keywords: {} }, 'not-an-id': {} },
      destroy: [id, 'myyy', '#none'],
    });
    expect(answer).toMatchObject({
      updated: null,
      notUpdated: {
        [id]: { type: 'willDestroy' },
        mzzz: { type: 'notFound' },
        '#none': { type: 'notFound' },
        'not-an-id': { type: 'notFound' },
      },
      destroyed: [id],
      notDestroyed: { myyy: { type: 'notFound' }, '#none': { type: 'notFound' } },
    });
    expect(await seen()).toEqual({});
    expect((await fixture.call('Email/set', { destroy: [id] }))['notDestroyed']).toMatchObject({
      [id]: { type: 'notFound' },
    });
  });

  test('a read-only login', async () => {
    await using other = await createJmapFixture();
    const access = other.session.accounts.get(other.accountId);
    Object.assign(access ?? {}, { readOnly: true });
    for (const [name, args] of [
      ['Email/set', {}],
      ['Email/import', { emails: {} }],
    ] as const) {
      expect(await other.refusal(name, args)).toMatchObject({ type: 'accountReadOnly' });
    }
  });
});

describe('another account', () => {
  test('its ids are not found', async () => {
    const other = await testAccount(fixture.box.store, 'other');
    const foreign = jmapFixtureOn(fixture.box, { ...other, address: 'other@box.test' });
    const never = jmapId('email', fixture.account * 2 ** 32 + 999_999);
    const answer = await foreign.call('Email/set', {
      update: { [id]: { keywords: {} }, [never]: { keywords: {} } },
      destroy: [],
      create: { k: { mailboxIds: { [work]: true } } },
    });
    const { [id]: mine, [never]: none } = answer['notUpdated'] as Record<string, SetError>;
    expect(mine).toEqual(none);
    expect(answer['notCreated']).toMatchObject({ k: { type: 'invalidProperties', properties: ['mailboxIds'] } });
    // An id that resolves to a row of another account.
    const row = jmapRow('email', fixture.account, id) ?? 0;
    const input = { account: other.account, ifState: null };
    expect(
      await fixture.box.store.write(changeEmails, {
        ...input,
        changes: [{ email: row, keywords: null, mailboxes: null }],
      }),
    ).toMatchObject({ outcomes: [{ kind: 'not-found' }] });
    expect(await fixture.box.store.write(destroyEmails, { ...input, emails: [row] })).toMatchObject({ destroyed: [] });
    expect(await seen()).toEqual({ [inbox]: ['\\Seen', 'later'] });
  });
});

describe('states', () => {
  const state = async (): Promise<string> => (await fixture.call('Email/set'))['newState'] as string;

  test('change with changes and only then', async () => {
    const before = await state();
    const same = await fixture.call('Email/set', { update: { [id]: { 'keywords/$seen': true } } });
    expect(same).toMatchObject({ oldState: before, newState: before });
    const changed = await fixture.call('Email/set', {
      ifInState: before,
      update: { [id]: { 'keywords/$seen': null } },
    });
    expect(changed['oldState']).toBe(before);
    expect(changed['newState']).toBe(await state());
    expect(changed['newState']).not.toBe(before);
  });

  test('an outdated ifInState changes nothing', async () => {
    const before = await state();
    await update({ 'keywords/a': true });
    const args = { ifInState: before, create: { k: { mailboxIds: { [inbox]: true } } }, destroy: [id] };
    expect(await fixture.refusal('Email/set', args)).toMatchObject({ type: 'stateMismatch' });
    expect(await fixture.refusal('Email/set', { ifInState: 'nonsense!' })).toMatchObject({ type: 'stateMismatch' });
    expect(Object.keys(await seen())).toEqual([inbox]);
  });

  test('a concurrent change between two commits is not skipped', async () => {
    await using lone = await createJmapFixture();
    const first = (await create(lone, {})).id;
    const start = (await lone.call('Email/set'))['newState'];
    const { store } = lone.box;
    const write = store.write.bind(store);
    let others = 0;
    Object.assign(store, {
      async write(...given: Parameters<typeof write>) {
        const done = await write(...given);
        if (given[0].name === 'store-email' && others++ === 0) {
          const change = { email: jmapRow('email', lone.account, first) ?? 0, mailboxes: null };
          const flags = { bits: 4, keywords: [] };
          const changes = [{ ...change, keywords: { kind: 'replace' as const, all: flags } }];
          await write(changeEmails, { account: lone.account, changes, ifState: null });
        }
        return done;
      },
    });
    const one = { mailboxIds: { [jmapId('mailbox', lone.inbox)]: true } };
    const answer = await lone.call('Email/set', { create: { a: one, b: one } });
    expect(answer['notCreated']).toBeNull();
    expect(answer['oldState']).not.toBe(start);
    others = 0;
    const strict = await lone.call('Email/set', { ifInState: answer['newState'], create: { a: one, b: one } });
    // The concurrent change set a flag that was set already, so no conflict occurred.
    expect(strict).toMatchObject({ oldState: answer['newState'], notCreated: null });
    others = 0;
    await lone.call('Email/set', { update: { [first]: { keywords: {} } } });
    const now = (await lone.call('Email/set'))['newState'];
    const split = await lone.call('Email/set', { ifInState: now, create: { a: one, b: one } });
    expect(split).toMatchObject({
      created: { a: { id: expect.any(String) } },
      notCreated: { b: { type: 'stateMismatch' } },
    });
  });

  test('a busy store refuses only the one object and leaves nothing of it', async () => {
    await using lone = await createJmapFixture();
    const kept = (await create(lone, {})).id;
    const { store } = lone.box;
    const write = store.write.bind(store);
    Object.assign(store, { write: () => Promise.reject(new StoreBusy('disk-full', 'the disk is full')) });
    const attachment = { mailboxIds: { [jmapId('mailbox', lone.inbox)]: true }, ...LARGE };
    const answer = await lone.call('Email/set', {
      create: { a: attachment },
      update: { [kept]: { 'keywords/a': true } },
    });
    expect(answer).toMatchObject({
      notCreated: { a: { type: 'serverUnavailable', description: expect.stringContaining('Try again') } },
      notUpdated: { [kept]: { type: 'serverUnavailable' } },
    });
    Object.assign(store, { write });
    expect((await seenByImap(lone)).size).toBe(1);
    Object.assign(store, { unavailable: () => new StoreBusy('disk-full', 'the disk is nearly full') });
    const later = await lone.call('Email/set', {
      create: { a: attachment },
      update: { [kept]: { 'keywords/a': true } },
    });
    expect(later).toMatchObject({ notCreated: { a: { type: 'serverUnavailable' } }, updated: { [kept]: null } });
  });
});

const LARGE = { textBody: [{ partId: 't' }], bodyValues: { t: { value: 'x'.repeat(200_000) } } };

test('over quota nothing is created, and existing emails can still be moved', async () => {
  await using lone = await createJmapFixture();
  const made = await create(lone, {});
  const { store } = lone.box;
  await store.write(setQuota, { account: lone.account, bytes: 10 });
  const target = await store.write(createMailbox, { account: lone.account, name: 'T', role: null });
  const there = jmapId('mailbox', target.kind === 'created' ? target.id : 0);
  const answer = await lone.call('Email/set', {
    create: { k: { mailboxIds: { [there]: true } } },
    update: { [made.id]: { mailboxIds: { [there]: true } } },
  });
  expect(answer).toMatchObject({ notCreated: { k: { type: 'overQuota' } }, updated: { [made.id]: null } });
});

test('too many objects are refused before any change', async () => {
  const ids = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`m${i + 1}`, {}]));
  expect(await fixture.refusal('Email/set', { update: ids })).toMatchObject({ type: 'requestTooLarge' });
});
