import { describe, expect, test } from 'vitest';
import { MAIL } from '../../../mail/jmap/core/capabilities.ts';
import { accountId } from '../../../mail/jmap/core/ids.ts';
import { sessionObject } from '../../../mail/jmap/core/session-object.ts';
import { withSharedAccounts } from '../../../mail/jmap/core/shared-accounts.ts';
import { METHODS } from '../../../mail/jmap/methods.ts';
import { SharedStateWatch } from '../../../mail/jmap/push/shared-state-watch.ts';
import type { StateChange } from '../../../mail/jmap/push/state-watch.ts';
import { quiet } from '../../../mail/log.ts';
import { storeFlags } from '../../../mail/store/mailbox/entry-commands.ts';
import { sharedJmapWorld, type SharedJmapWorld } from '../../support/shared-jmap-world.ts';

type Person = SharedJmapWorld['ann'];
type Objects = Record<string, unknown>[];

const mail = (subject: string, more: object = {}): object => ({
  subject,
  bodyValues: { t: { value: `The text of ${subject}\n` } },
  textBody: [{ partId: 't' }],
  ...more,
});

const reply = (subject: string): object => mail(`Re: ${subject}`, { inReplyTo: [`${subject}@box.test`] });
const first = (subject: string): object => mail(subject, { messageId: [`${subject}@box.test`] });

async function accountsOf({ context, session }: Person): Promise<Record<string, Record<string, unknown>>> {
  const whole = await withSharedAccounts(context.store, session);
  return sessionObject(context, whole, '')['accounts'] as Record<string, Record<string, unknown>>;
}

/** Everything that Bob can learn of Ann's account. */
async function allThatBobSees(world: SharedJmapWorld, ids: readonly string[], since: string): Promise<unknown[]> {
  const query = (filter: object, more: object = {}) =>
    ['Email/query', { filter, calculateTotal: true, ...more }] as const;
  const threadIds = ids.map((id) => id.replace('m', 't'));
  const calls: (readonly [string, Record<string, unknown>])[] = [
    ['Mailbox/get', {}],
    ['Mailbox/query', {}],
    ['Email/get', { ids, properties: ['id', 'mailboxIds', 'keywords', 'threadId', 'subject', 'preview'] }],
    ['Email/get', { ids: null, properties: ['id', 'blobId'] }],
    ['Thread/get', { ids: threadIds }],
    query({}),
    query({}, { collapseThreads: true }),
    query({ inMailbox: world.hidden }),
    query({ inMailboxOtherThan: [world.team] }),
    query({ someInThreadHaveKeyword: '$flagged' }),
    query({ noneInThreadHaveKeyword: '$flagged' }),
    query({ text: 'secret' }),
    query({}, { sort: [{ property: 'someInThreadHaveKeyword', keyword: '$flagged' }, { property: 'subject' }] }),
    ['SearchSnippet/get', { filter: { text: 'text' }, emailIds: ids }],
    ['Email/changes', { sinceState: since }],
    ['Thread/changes', { sinceState: since }],
  ];
  const seen: unknown[] = [await accountsOf(world.bob)];
  for (const [name, args] of calls) seen.push(await world.asBob(name, args));
  return seen;
}

const stateOf = async (world: SharedJmapWorld): Promise<string> =>
  String((await world.asBob('Email/get', { ids: [] }))['state']);

async function changesSince(world: SharedJmapWorld, sinceState: string): Promise<Record<string, unknown>> {
  const { created, updated, destroyed } = await world.asBob('Email/changes', { sinceState });
  return { created, updated, destroyed };
}

describe('the session object', () => {
  test('has an account that shares a mailbox, without what is not shared, as long as it is', async () => {
    await using world = await sharedJmapWorld();
    const anns = accountId(world.ann.account);
    expect(Object.keys(await accountsOf(world.bob))).toEqual([world.bob.accountId]);
    await world.share('lr');
    const shared = (await accountsOf(world.bob))[anns];
    expect(shared).toMatchObject({ name: world.ann.address, isPersonal: false, isReadOnly: true });
    expect(Object.keys(shared?.['accountCapabilities'] as object)).toContain(MAIL);
    expect(shared?.['accountCapabilities']).toMatchObject({ [MAIL]: { mayCreateTopLevelMailbox: false } });
    await world.share('lrs');
    expect((await accountsOf(world.bob))[anns]).toMatchObject({ isReadOnly: false });
    await world.share('rs');
    expect(Object.keys(await accountsOf(world.bob))).toEqual([world.bob.accountId]);
    await world.share('');
    expect(Object.keys(await accountsOf(world.bob))).toEqual([world.bob.accountId]);
    expect(await world.refusalOfBob('Mailbox/get')).toMatchObject({ type: 'accountNotFound' });
  });

  test('never has an account of another organization, even if a grant says so', async () => {
    await using world = await sharedJmapWorld();
    const { ann, eve, team } = world;
    world.sql(
      `INSERT INTO mailbox_acl (mailbox_id, account_id, rights, created_at) VALUES (?, ?, 'lrswite', 0)`,
      Number.parseInt(team.slice(1), 36),
      eve.account,
    );
    expect(Object.keys(await accountsOf(eve))).toEqual([eve.accountId]);
    for (const name of ['Mailbox/get', 'Email/query', 'Email/set'])
      expect(await eve.refusal(name, { accountId: ann.accountId })).toMatchObject({ type: 'accountNotFound' });
  });

  test('has none for a password that an agent knows, nor for a token', async () => {
    await using world = await sharedJmapWorld();
    await world.share('lr');
    world.sql(`UPDATE credential SET scopes = 'agent' WHERE id = ?`, world.bob.credential);
    expect(Object.keys(await accountsOf(world.bob))).toEqual([world.bob.accountId]);
  });

  test('offers methods of mail only: all others refuse a shared account', async () => {
    await using world = await sharedJmapWorld();
    await world.share('lrswite');
    const named = METHODS.filter(
      ({ name, canShare }) => canShare !== true && !/^(?:Core|PushSubscription)\//.test(name),
    );
    for (const { name } of named)
      expect(await world.refusalOfBob(name), name).toMatchObject({ type: 'accountNotSupportedByMethod' });
    expect(named.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Quota/get', 'Identity/get', 'EmailSubmission/set', 'Blob/lookup', 'Email/import']),
    );
  });
});

describe('reading', () => {
  test('shows the shared mailbox with its rights and counts, and its emails', async () => {
    await using world = await sharedJmapWorld();
    const { team, hidden } = world;
    const both = await world.put([team, hidden], first('apple'));
    const seen = await world.put([team], mail('pear', { keywords: { $seen: true } }));
    await world.put([hidden], reply('apple'));
    await world.share('lrs');
    const { list } = await world.asBob('Mailbox/get');
    expect(list).toEqual([
      {
        id: team,
        name: 'Team',
        parentId: null,
        role: null,
        sortOrder: 0,
        isSubscribed: false,
        totalEmails: 2,
        unreadEmails: 1,
        totalThreads: 2,
        unreadThreads: 1,
        myRights: {
          mayReadItems: true,
          mayAddItems: false,
          mayRemoveItems: false,
          maySetSeen: true,
          maySetKeywords: false,
          mayCreateChild: false,
          mayRename: false,
          mayDelete: false,
          maySubmit: false,
        },
      },
    ]);
    const emails = await world.asBob('Email/get', { ids: [both], properties: ['mailboxIds', 'threadId', 'preview'] });
    expect(emails['list']).toMatchObject([{ mailboxIds: { [team]: true }, preview: 'The text of apple' }]);
    const [{ threadId } = {}] = emails['list'] as Objects;
    expect((await world.asBob('Thread/get', { ids: [threadId] }))['list']).toEqual([
      { id: threadId, emailIds: [both] },
    ]);
    const found = await world.asBob('Email/query', { filter: { text: 'text' }, sort: [{ property: 'subject' }] });
    expect(found).toMatchObject({ ids: [both, seen], canCalculateChanges: false });
    expect(
      (await world.asBob('SearchSnippet/get', { filter: { text: 'pear' }, emailIds: [seen] }))['list'],
    ).toMatchObject([{ subject: '<mark>pear</mark>' }]);
  });

  test('with the right l alone shows the name, and nothing of the messages', async () => {
    await using world = await sharedJmapWorld();
    const email = await world.put([world.team], mail('apple'));
    await world.share('l');
    const [mailbox] = (await world.asBob('Mailbox/get'))['list'] as Objects;
    expect(mailbox).toMatchObject({ totalEmails: 0, unreadThreads: 0, myRights: { mayReadItems: false } });
    const before = [await world.asBob('Mailbox/get'), await stateOf(world)];
    expect(await world.asBob('Email/query')).toMatchObject({ ids: [] });
    expect(await world.asBob('Email/get', { ids: [email] })).toMatchObject({ list: [], notFound: [email] });
    await world.put([world.team], mail('pear'));
    expect([await world.asBob('Mailbox/get'), await stateOf(world)]).toEqual(before);
  });

  test('reports nothing of what happens in mailboxes that are not shared', async () => {
    await using world = await sharedJmapWorld();
    const { team, hidden, ann } = world;
    const shown = await world.put([team], first('apple'));
    const secret = await world.put([hidden], reply('apple'));
    await world.share('lrswite');
    const since = await stateOf(world);
    await ann.call('Email/set', { update: { [shown]: { 'keywords/$answered': true } } });
    const before = await allThatBobSees(world, [shown, secret], since);
    const more = await world.put([hidden], mail('secret'));
    await world.put([hidden], { ...reply('apple'), keywords: { $flagged: true } });
    await ann.call('Email/set', { update: { [secret]: { 'keywords/$flagged': true } }, destroy: [more] });
    await ann.call('Mailbox/set', { create: { k: { name: 'New' } }, update: { [hidden]: { name: 'Hidden' } } });
    expect(await allThatBobSees(world, [shown, secret], since)).toEqual(before);
    expect(JSON.stringify(before)).not.toContain(hidden);
  });

  test('of blobs stays within the shared mailboxes', async () => {
    await using world = await sharedJmapWorld();
    const { ann, bob } = world;
    const shown = await world.put([world.team], mail('apple'));
    const secret = await world.put([world.hidden], mail('pear'));
    await world.share('lrswite');
    const answer = await bob.call('Blob/copy', { fromAccountId: ann.accountId, blobIds: [shown, secret, 'u1'] });
    expect(Object.keys(answer['copied'] as object)).toEqual([shown]);
    expect(answer['notCopied']).toMatchObject({ [secret]: { type: 'notFound' }, u1: { type: 'notFound' } });
    const into = { fromAccountId: bob.accountId, blobIds: [shown] };
    expect(await world.refusalOfBob('Blob/copy', into)).toMatchObject({ type: 'accountNotSupportedByMethod' });
  });
});

describe('changes', () => {
  test('are those of the shared mailboxes: what comes, changes and leaves', async () => {
    await using world = await sharedJmapWorld();
    const { team, hidden, ann } = world;
    const [stays, leaves, old] = [
      await world.put([team], mail('apple')),
      await world.put([team], mail('pear')),
      await world.put([hidden], mail('plum')),
    ];
    await world.share('lr');
    const since = await stateOf(world);
    expect(await changesSince(world, since)).toEqual({ created: [], updated: [], destroyed: [] });
    const mailboxState = String((await world.asBob('Mailbox/get'))['state']);
    await ann.call('Email/set', {
      update: {
        [stays]: { 'keywords/$flagged': true },
        [leaves]: { [`mailboxIds/${team}`]: null, [`mailboxIds/${hidden}`]: true },
        [old]: { [`mailboxIds/${team}`]: true },
      },
    });
    const fresh = await world.put([team], mail('quince'));
    const changes = await changesSince(world, since);
    expect(changes).toMatchObject({ updated: [stays], destroyed: [leaves] });
    expect(changes['created']).toEqual(expect.arrayContaining([old, fresh]));
    const threads = await world.asBob('Thread/changes', { sinceState: since });
    expect(
      [threads['created'], threads['updated'], threads['destroyed']].map((ids) => (ids as string[]).length),
    ).toEqual([2, 0, 1]);
    expect(await world.asBob('Mailbox/changes', { sinceState: mailboxState })).toMatchObject({ updated: [team] });
    expect(await changesSince(world, await stateOf(world))).toEqual({ created: [], updated: [], destroyed: [] });
  });

  test('of \\Deleted hide a message and show it again', async () => {
    await using world = await sharedJmapWorld();
    const email = await world.put([world.team], mail('apple'));
    await world.share('lr');
    const flag = (how: 'add' | 'remove') =>
      world.box.store.write(storeFlags, {
        account: world.ann.account,
        mailbox: Number.parseInt(world.team.slice(1), 36),
        uids: [1],
        how,
        flags: { bits: 16, keywords: [] },
        unchangedSince: null,
      });
    const shown = await stateOf(world);
    await flag('add');
    expect(await changesSince(world, shown)).toMatchObject({ destroyed: [email] });
    const hidden = await stateOf(world);
    await flag('remove');
    expect(await changesSince(world, hidden)).toMatchObject({ created: [email] });
  });

  test('cannot be calculated over a change of rights', async () => {
    await using world = await sharedJmapWorld();
    await world.put([world.team], mail('apple'));
    await world.share('lr');
    const since = await stateOf(world);
    await world.share('lrs');
    for (const name of ['Email/changes', 'Thread/changes', 'Mailbox/changes'])
      expect(await world.refusalOfBob(name, { sinceState: since })).toMatchObject({ type: 'cannotCalculateChanges' });
    for (const name of ['Email/queryChanges', 'Mailbox/queryChanges'])
      expect(await world.refusalOfBob(name, { sinceQueryState: since })).toMatchObject({
        type: 'cannotCalculateChanges',
      });
  });
});

describe('writing', () => {
  const set = async (world: SharedJmapWorld, args: object): Promise<Record<string, unknown>> =>
    world.asBob('Email/set', { ...args });

  test.each([
    ['keywords/$seen', 'lrs', 'lrw'],
    ['keywords/$flagged', 'lrw', 'lrs'],
    ['keywords/office', 'lrw', 'lrsite'],
  ])('%s needs its right', async (property, enough, less) => {
    await using world = await sharedJmapWorld();
    const email = await world.put([world.team, world.hidden], mail('apple'));
    await world.share(less);
    const refused = await set(world, { update: { [email]: { [property]: true } } });
    expect(refused['notUpdated']).toMatchObject({ [email]: { type: 'forbidden' } });
    await world.share(enough);
    expect(await set(world, { update: { [email]: { [property]: true } } })).toMatchObject({ notUpdated: null });
    const { list } = await world.ann.call('Email/get', { ids: [email], properties: ['keywords', 'mailboxIds'] });
    expect(list).toMatchObject([
      { keywords: { [property.slice(9)]: true }, mailboxIds: { [world.team]: true, [world.hidden]: true } },
    ]);
  });

  test('leaves the mailboxes that are not shared as they are', async () => {
    await using world = await sharedJmapWorld();
    const { team, hidden, ann } = world;
    const [both, other] = [await world.put([team, hidden], mail('apple')), await world.put([hidden], mail('pear'))];
    await world.share('lrswite');
    const [name, args] = ['Email/set', { update: { [both]: { mailboxIds: { [team]: true } } } }] as const;
    expect(await world.asBob(name, args)).toMatchObject({ notUpdated: null });
    for (const patch of [{ mailboxIds: { [hidden]: true } }, { [`mailboxIds/${hidden}`]: true }])
      expect((await set(world, { update: { [both]: patch } }))['notUpdated']).toMatchObject({
        [both]: { type: 'invalidProperties' },
      });
    expect((await set(world, { update: { [both]: { [`mailboxIds/${team}`]: null } } }))['notUpdated']).toMatchObject({
      [both]: { type: 'invalidProperties' },
    });
    expect((await set(world, { update: { [other]: { 'keywords/$seen': true } } }))['notUpdated']).toMatchObject({
      [other]: { type: 'notFound' },
    });
    expect((await set(world, { destroy: [other] }))['notDestroyed']).toMatchObject({ [other]: { type: 'notFound' } });
    expect(await set(world, { destroy: [both] })).toMatchObject({ destroyed: [both] });
    const { list } = await ann.call('Email/get', { ids: [both, other], properties: ['mailboxIds', 'keywords'] });
    expect(list).toMatchObject([{ mailboxIds: { [hidden]: true } }, { mailboxIds: { [hidden]: true }, keywords: {} }]);
  });

  test('destroys with t and e only, and creates nothing but copies', async () => {
    await using world = await sharedJmapWorld();
    const email = await world.put([world.team], mail('apple'));
    await world.share('lrswit');
    const answer = await set(world, {
      destroy: [email],
      create: { k: { mailboxIds: { [world.team]: true }, subject: 'x' } },
    });
    expect(answer).toMatchObject({
      notDestroyed: { [email]: { type: 'forbidden' } },
      notCreated: { k: { type: 'forbidden' } },
    });
    const owners = {
      update: { [world.team]: { name: 'Mine' } },
      destroy: [world.team],
      create: { k: { name: 'New' } },
    };
    expect(await world.asBob('Mailbox/set', owners)).toMatchObject({ created: null, updated: null, destroyed: null });
    const subscribe = { update: { [world.team]: { isSubscribed: true } } };
    expect(await world.asBob('Mailbox/set', subscribe)).toMatchObject({ notUpdated: null });
    expect((await world.asBob('Mailbox/get'))['list']).toMatchObject([{ isSubscribed: true, name: 'Team' }]);
  });

  test('ends in the middle of a call when the rights are revoked', async () => {
    await using world = await sharedJmapWorld();
    const emails: string[] = [];
    for (let i = 0; i < 30; i++) emails.push(await world.put([world.team], mail(`apple ${i}`)));
    await world.share('lrs');
    const { store } = world.box;
    let slices = 0;
    const stop = store.onWakeUp(({ account }) => {
      if (account === world.ann.account && slices++ === 0)
        world.sql('DELETE FROM mailbox_acl WHERE account_id = ?', world.bob.account);
    });
    const update = Object.fromEntries(emails.map((id) => [id, { 'keywords/$seen': true }]));
    const answer = await set(world, { update });
    stop();
    expect(Object.keys(answer['updated'] as object)).toHaveLength(25);
    expect(Object.values(answer['notUpdated'] as object)).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining({ type: 'forbidden' }) as object),
    );
  });

  test('is refused to who may only read, and by an old state', async () => {
    await using world = await sharedJmapWorld();
    const email = await world.put([world.team], mail('apple'));
    await world.share('lr');
    expect(await world.refusalOfBob('Email/set', { destroy: [email] })).toMatchObject({ type: 'accountReadOnly' });
    await world.share('lrs');
    const ifInState = await stateOf(world);
    await world.put([world.team], mail('pear'));
    const late = { ifInState, update: { [email]: { 'keywords/$seen': true } } };
    expect(await world.refusalOfBob('Email/set', late)).toMatchObject({ type: 'stateMismatch' });
    const now = { ...late, ifInState: await stateOf(world) };
    expect(await set(world, now)).toMatchObject({ oldState: now.ifInState, notUpdated: null });
  });
});

describe('Email/copy', () => {
  test('goes from a shared account to the own one, and destroys the original if the rights allow it', async () => {
    await using world = await sharedJmapWorld();
    const { ann, bob } = world;
    const [shown, secret] = [
      await world.put([world.team], mail('apple')),
      await world.put([world.hidden], mail('pear')),
    ];
    await world.share('lr');
    const mailboxIds = { [`f${bob.inbox.toString(36)}`]: true };
    const create = { k: { id: shown, mailboxIds }, x: { id: secret, mailboxIds } };
    const args = { fromAccountId: ann.accountId, create, onSuccessDestroyOriginal: true };
    const answer = await bob.call('Email/copy', args);
    expect(answer).toMatchObject({ created: { k: {} }, notCreated: { x: { type: 'notFound' } } });
    expect(answer['newState']).not.toBe(answer['oldState']);
    expect(await ann.call('Email/get', { ids: [shown] })).toMatchObject({ notFound: [] });
    await world.share('lrte');
    await bob.call('Email/copy', { ...args, create: { k: create.k } });
    expect(await ann.call('Email/get', { ids: [shown] })).toMatchObject({ notFound: [shown] });
    const found = await bob.call('Email/query', { filter: { subject: 'apple' } });
    expect(found['ids']).toHaveLength(2);
  });

  test('goes to a shared mailbox with the right i, and sets the flags that the rights allow', async () => {
    await using world = await sharedJmapWorld();
    const { ann, bob, team, hidden } = world;
    const made = await bob.call('Email/set', {
      create: {
        k: {
          ...mail('plum', { keywords: { $seen: true, $flagged: true } }),
          mailboxIds: { [`f${bob.inbox.toString(36)}`]: true },
        },
      },
    });
    const { id } = (made['created'] as { k: { id: string } }).k;
    const copy = (into: string, more: object = {}) =>
      world.asBob('Email/copy', {
        fromAccountId: bob.accountId,
        create: { k: { id, mailboxIds: { [into]: true } } },
        ...more,
      });
    await world.share('lrsw');
    expect(await copy(team)).toMatchObject({ notCreated: { k: { type: 'forbidden' } } });
    await world.share('lrsi');
    expect(await copy(hidden)).toMatchObject({ notCreated: { k: { type: 'invalidProperties' } } });
    const old = await stateOf(world);
    expect(await copy(team, { onSuccessDestroyOriginal: true })).toMatchObject({ notCreated: null, oldState: old });
    const { ids } = await ann.call('Email/query', { filter: { inMailbox: team } });
    expect((await ann.call('Email/get', { ids, properties: ['keywords'] }))['list']).toMatchObject([
      { keywords: { $seen: true } },
    ]);
    expect(await bob.call('Email/get', { ids: [id] })).toMatchObject({ notFound: [id] });
  });
});

test('push reports changes of shared mailboxes, new shares, and nothing else', async () => {
  await using world = await sharedJmapWorld();
  const { ann, bob, box } = world;
  const changes: StateChange['changed'][] = [];
  let wake = (): void => undefined;
  const next = async (): Promise<StateChange['changed']> => {
    while (changes.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return changes.shift() ?? {};
  };
  const watch = new SharedStateWatch(box.store, quiet);
  const login = { account: bob.account, actor: { credential: bob.credential } };
  const stop = await watch.add({
    login,
    types: null,
    notify: ({ changed }) => {
      changes.push(changed);
      wake();
    },
  });
  await world.share('lr');
  expect(Object.keys((await next())[ann.accountId] ?? {})).toEqual(['Mailbox', 'Thread', 'Email']);
  await world.put([world.hidden], mail('secret'));
  await world.put([world.team], mail('apple'));
  const state = await stateOf(world);
  const reported: StateChange['changed'][] = [await next()];
  while (reported.at(-1)?.[ann.accountId]?.Email !== state) reported.push(await next());
  // The secret alone would have made a report of its own.
  expect(reported).toHaveLength(1);
  expect((await watch.states({ login, types: new Set(['Email'] as const) }))?.changed).toEqual({
    [ann.accountId]: { Email: state },
  });
  stop();
});
