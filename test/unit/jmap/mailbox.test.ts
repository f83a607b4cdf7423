import { beforeEach, describe, expect, test } from 'vitest';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import type { JmapSession } from '../../../mail/jmap/core/method.ts';
import { testAccount } from '../../support/store.ts';
import { imapOf, mailboxRow, putMessage } from '../../support/jmap-mail.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';

let fixture: JmapFixture;

beforeEach(async () => {
  fixture = await createJmapFixture();
  return () => fixture[Symbol.asyncDispose]();
});

type Mailbox = Record<string, unknown> & { id: string; name: string; myRights: Record<string, boolean> };

async function all(): Promise<Mailbox[]> {
  return (await fixture.call('Mailbox/get'))['list'] as Mailbox[];
}

async function named(name: string): Promise<Mailbox> {
  const found = (await all()).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no mailbox ${name}`);
  return found;
}

async function create(object: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { created, notCreated } = await fixture.call('Mailbox/set', { create: { k: object } });
  return ((created ?? notCreated) as { k: Record<string, unknown> }).k;
}

async function update(id: string, patch: Record<string, unknown>): Promise<unknown> {
  const { updated, notUpdated } = await fixture.call('Mailbox/set', { update: { [id]: patch } });
  return ((updated ?? notUpdated) as Record<string, unknown>)[id];
}

async function destroy(id: string, more: Record<string, unknown> = {}): Promise<unknown> {
  const { destroyed, notDestroyed } = await fixture.call('Mailbox/set', { destroy: [id], ...more });
  return destroyed ?? (notDestroyed as Record<string, unknown>)[id];
}

describe('Mailbox/get', () => {
  test('returns every property of a mailbox', async () => {
    await putMessage(fixture);
    expect(await named('INBOX')).toEqual({
      id: jmapId('mailbox', fixture.inbox),
      name: 'INBOX',
      parentId: null,
      role: 'inbox',
      sortOrder: 0,
      totalEmails: 1,
      unreadEmails: 1,
      totalThreads: 1,
      unreadThreads: 1,
      isSubscribed: true,
      myRights: {
        mayReadItems: true,
        mayAddItems: true,
        mayRemoveItems: true,
        maySetSeen: true,
        maySetKeywords: true,
        mayCreateChild: true,
        mayRename: false,
        mayDelete: false,
        maySubmit: true,
      },
    });
    expect((await named('Sent')).myRights).toMatchObject({ mayRename: true, mayDelete: true });
  });

  test('a read-only login has no other right', async () => {
    const [entry] = fixture.session.accounts;
    if (entry === undefined) throw new Error('no account');
    const session: JmapSession = {
      ...fixture.session,
      accounts: new Map([[entry[0], { ...entry[1], readOnly: true }]]),
    };
    Object.assign(fixture.session, session);
    for (const { myRights } of await all()) {
      expect(Object.keys(myRights).filter((right) => myRights[right])).toEqual(['mayReadItems']);
    }
    expect(await fixture.refusal('Mailbox/set', { create: { k: { name: 'x' } } })).toMatchObject({
      type: 'accountReadOnly',
    });
  });

  test('an id of another account is not found', async () => {
    const other = await testAccount(fixture.box.store, 'other');
    const theirs = jmapFixtureOn(fixture.box, { ...other, address: 'other@box.test' });
    const foreign = jmapId('mailbox', theirs.inbox);
    const never = 'fzzzz';
    const got = await fixture.call('Mailbox/get', { ids: [foreign, never, 'nonsense'] });
    expect(got).toMatchObject({ list: [], notFound: [foreign, never, 'nonsense'] });
    const tried = await fixture.call('Mailbox/set', {
      update: { [foreign]: { name: 'x' }, [never]: { name: 'x' } },
      destroy: [jmapId('mailbox', theirs.inbox + 1), 'fzzzy'],
    });
    const [one, two] = Object.entries(tried['notUpdated'] as object).map(([id, error]) =>
      JSON.stringify(error).replaceAll(id, 'ID'),
    );
    expect(one).toBe(two);
    expect(Object.values(tried['notDestroyed'] as Record<string, { type: string }>).map((error) => error.type)).toEqual(
      ['notFound', 'notFound'],
    );
    expect(await create({ name: 'x', parentId: foreign })).toMatchObject({
      type: 'invalidProperties',
      properties: ['parentId'],
    });
  });

  test('only requested properties are returned; an unknown one is refused', async () => {
    const { list } = await fixture.call('Mailbox/get', {
      ids: [jmapId('mailbox', fixture.inbox)],
      properties: ['role'],
    });
    expect(list).toEqual([{ id: jmapId('mailbox', fixture.inbox), role: 'inbox' }]);
    expect(await fixture.refusal('Mailbox/get', { properties: ['colour'] })).toMatchObject({
      type: 'invalidArguments',
    });
  });
});

describe('threads of a mailbox', () => {
  test('an unread email in the trash makes the trash unread and nothing else', async () => {
    await putMessage(fixture, { id: 'a', bits: 1 });
    await putMessage(fixture, { id: 'b', refs: ['a'], mailbox: 'Trash' });
    expect(await named('INBOX')).toMatchObject({ totalThreads: 1, unreadThreads: 0 });
    expect(await named('Trash')).toMatchObject({ totalThreads: 1, unreadThreads: 1 });
  });

  test('an unread email elsewhere makes the thread unread, and a draft does not', async () => {
    await putMessage(fixture, { id: 'a', bits: 1 });
    await putMessage(fixture, { id: 'b', refs: ['a'], mailbox: 'Drafts', bits: 8 });
    expect(await named('INBOX')).toMatchObject({ totalThreads: 1, unreadThreads: 0 });
    await putMessage(fixture, { id: 'c', refs: ['a'], mailbox: 'Archive' });
    expect(await named('INBOX')).toMatchObject({ totalEmails: 1, unreadEmails: 0, unreadThreads: 1 });
  });

  test('moving the trash role changes the counters of all mailboxes', async () => {
    await putMessage(fixture, { id: 'a', bits: 1 });
    await putMessage(fixture, { id: 'b', refs: ['a'], mailbox: 'Trash' });
    const trash = (await named('Trash')).id;
    const { state } = await fixture.call('Mailbox/get', { ids: [] });
    await update(trash, { role: null });
    expect(await named('INBOX')).toMatchObject({ unreadThreads: 1 });
    const { updated, updatedProperties } = await fixture.call('Mailbox/changes', { sinceState: state });
    expect(updated).toContain((await named('INBOX')).id);
    expect(updatedProperties).toBeNull();
  });

  test('messages with \\Deleted are not counted', async () => {
    const uid = await putMessage(fixture);
    await imapOf(fixture).store(fixture.inbox, [uid], 'add', { bits: 16, keywords: [] });
    expect(await named('INBOX')).toMatchObject({ totalEmails: 0, unreadEmails: 0, totalThreads: 0, unreadThreads: 0 });
  });
});

describe('Mailbox/set', () => {
  test('parents are created before their children, in any order', async () => {
    const { created, notCreated } = await fixture.call('Mailbox/set', {
      create: {
        leaf: { name: 'leaf', parentId: '#branch' },
        branch: { name: 'branch', parentId: '#root' },
        root: { name: 'root' },
      },
    });
    expect(notCreated).toBeNull();
    const ids = created as Record<string, { id: string }>;
    expect(await named('leaf')).toMatchObject({ parentId: ids['branch']?.id });
    expect(await imapOf(fixture).mailbox('root/branch/leaf')).toBeDefined();
  });

  test('a cycle of parents is refused', async () => {
    const { notCreated } = await fixture.call('Mailbox/set', {
      create: { a: { name: 'a', parentId: '#b' }, b: { name: 'b', parentId: '#a' }, c: { name: 'c', parentId: '#c' } },
    });
    for (const id of ['a', 'b', 'c']) {
      expect(notCreated).toHaveProperty(id, expect.objectContaining({ type: 'invalidProperties' }));
    }
  });

  test('properties that the client did not set are returned', async () => {
    expect(await create({ name: 'New', sortOrder: 7 })).toEqual({
      id: expect.any(String) as string,
      parentId: null,
      role: null,
      isSubscribed: true,
      totalEmails: 0,
      unreadEmails: 0,
      totalThreads: 0,
      unreadThreads: 0,
      myRights: expect.any(Object) as object,
    });
    expect(await named('New')).toMatchObject({ sortOrder: 7, isSubscribed: true });
    // A decomposed character is normalized, and the response contains the new name.
    expect(await create({ name: 'u\u0308ber' })).toMatchObject({ name: '\u00fcber' });
  });

  test('two siblings cannot have the same name', async () => {
    const { id } = await create({ name: 'Twice' });
    expect(await create({ name: 'Twice' })).toMatchObject({ type: 'alreadyExists', existingId: id });
    expect(await create({ name: 'inbox' })).toMatchObject({ type: 'alreadyExists' });
    const other = (await create({ name: 'Other' }))['id'] as string;
    expect(await update(other, { name: 'Twice' })).toMatchObject({ type: 'alreadyExists', existingId: id });
    expect(await create({ name: 'Twice', parentId: other })).toMatchObject({ id: expect.any(String) as string });
  });

  test('an invalid value is refused with the property name', async () => {
    const refusals: [string, Record<string, unknown>, string][] = [
      ['no name', {}, 'name'],
      ['an empty name', { name: '' }, 'name'],
      ['a name with a slash', { name: 'a/b' }, 'name'],
      ['a control character', { name: 'a\u0007' }, 'name'],
      ['a name of 256 octets', { name: 'x'.repeat(256) }, 'name'],
      ['a name of 128 characters of two octets', { name: '\u00fc'.repeat(128) }, 'name'],
      ['a number for a name', { name: 1 }, 'name'],
      ['a role that is none', { name: 'a', role: 'postbox' }, 'role'],
      ['a role that is taken', { name: 'a', role: 'trash' }, 'role'],
      ['the inbox once more', { name: 'a', role: 'inbox' }, 'role'],
      ['an order of -1', { name: 'a', sortOrder: -1 }, 'sortOrder'],
      ['an order of 2^31', { name: 'a', sortOrder: 2 ** 31 }, 'sortOrder'],
      ['an order of 1.5', { name: 'a', sortOrder: 1.5 }, 'sortOrder'],
      ['a subscription of 1', { name: 'a', isSubscribed: 1 }, 'isSubscribed'],
      ['a parent that never was', { name: 'a', parentId: 'f9999' }, 'parentId'],
      ['a parent that is no id', { name: 'a', parentId: 7 }, 'parentId'],
      ['a counter', { name: 'a', totalEmails: 0 }, 'totalEmails'],
      ['an id', { name: 'a', id: 'f1' }, 'id'],
      ['a property that is none', { name: 'a', colour: 'red' }, 'colour'],
    ];
    for (const [what, object, property] of refusals) {
      expect(await create(object), what).toEqual({
        type: 'invalidProperties',
        properties: [property],
        description: expect.any(String) as string,
      });
    }
  });

  test('renames, moves, sorts and subscribes, as IMAP shows', async () => {
    const { id } = (await create({ name: 'One' })) as { id: string };
    const parent = ((await create({ name: 'Parent' })) as { id: string }).id;
    expect(await update(id, { name: 'Two', parentId: parent, sortOrder: 3, isSubscribed: false })).toBeNull();
    expect(await imapOf(fixture).mailbox('Parent/Two')).toMatchObject({ subscribed: false });
    expect(await update(id, { sortOrder: null, isSubscribed: null, parentId: null })).toBeNull();
    expect(await named('Two')).toMatchObject({ sortOrder: 0, isSubscribed: true, parentId: null });
  });

  test('a mailbox is not moved into itself or below itself', async () => {
    const a = ((await create({ name: 'a' })) as { id: string }).id;
    const b = ((await create({ name: 'b', parentId: a })) as { id: string }).id;
    for (const parentId of [a, b]) {
      expect(await update(a, { parentId })).toMatchObject({ type: 'invalidProperties', properties: ['parentId'] });
    }
  });

  test('server-set properties cannot be changed, and may be repeated unchanged', async () => {
    const sent = await named('Sent');
    expect(await update(sent.id, { ...sent, name: 'Gone out' })).toBeNull();
    expect(await update(sent.id, { totalEmails: 5 })).toMatchObject({
      type: 'invalidProperties',
      properties: ['totalEmails'],
    });
    expect(await update(sent.id, { 'myRights/mayDelete': false })).toMatchObject({
      type: 'invalidProperties',
      properties: ['myRights'],
    });
    expect(await update(sent.id, { 'nothing/here': 1 })).toMatchObject({ type: 'invalidPatch' });
  });

  test('a role moves from one mailbox to another in one call, in any order', async () => {
    const { id } = (await create({ name: 'Bin' })) as { id: string };
    const trash = (await named('Trash')).id;
    const { notUpdated } = await fixture.call('Mailbox/set', {
      update: { [id]: { role: 'trash' }, [trash]: { role: null } },
    });
    expect(notUpdated).toBeNull();
    expect(await imapOf(fixture).mailbox('Bin')).toMatchObject({ role: 'trash' });
  });

  test('the inbox cannot be renamed, moved or destroyed, but sorted', async () => {
    const inbox = await named('INBOX');
    const sent = await named('Sent');
    for (const patch of [{ name: 'x' }, { role: null }, { role: 'archive' }, { parentId: sent.id }]) {
      expect(await update(inbox.id, patch)).toMatchObject({ type: 'forbidden' });
    }
    expect(await destroy(inbox.id, { onDestroyRemoveEmails: true })).toMatchObject({ type: 'forbidden' });
    expect(await update(inbox.id, { sortOrder: 1, isSubscribed: false })).toBeNull();
  });

  test('a mailbox with children or emails is not destroyed', async () => {
    const a = ((await create({ name: 'a' })) as { id: string }).id;
    const b = ((await create({ name: 'b', parentId: a })) as { id: string }).id;
    expect(await destroy(a)).toMatchObject({ type: 'mailboxHasChild' });
    await putMessage(fixture, { mailbox: 'a/b' });
    expect(await destroy(b)).toMatchObject({ type: 'mailboxHasEmail' });
    const { destroyed } = await fixture.call('Mailbox/set', { destroy: [a, b], onDestroyRemoveEmails: true });
    expect(destroyed).toEqual([b, a]);
  });

  test('emails of a destroyed mailbox are destroyed, except those in other mailboxes', async () => {
    await create({ name: 'a' });
    const uid = await putMessage(fixture, { mailbox: 'a' });
    await putMessage(fixture, { mailbox: 'a' });
    const row = await mailboxRow(fixture, 'a');
    await imapOf(fixture).copy(row, [uid], 'Archive', false);
    const { state } = await fixture.call('Thread/get', { ids: [] });
    await destroy(jmapId('mailbox', row), { onDestroyRemoveEmails: true });
    const { created, updated, destroyed } = await fixture.call('Email/changes', { sinceState: state });
    expect([created, updated, destroyed]).toEqual([[], [expect.any(String)], [expect.any(String)]]);
    expect(await named('Archive')).toMatchObject({ totalEmails: 1 });
  });

  test('emails with \\Deleted do not prevent the destruction of a mailbox', async () => {
    const { id } = (await create({ name: 'a' })) as { id: string };
    await putMessage(fixture, { mailbox: 'a', bits: 16 });
    expect(await destroy(id)).toEqual([id]);
  });

  test('depth and full name are limited', async () => {
    let parentId: unknown = null;
    for (let level = 0; level < 20; level++) parentId = (await create({ name: 'd', parentId }))['id'];
    expect(await create({ name: 'd', parentId })).toMatchObject({ type: 'invalidProperties' });
    parentId = null;
    for (let level = 0; level < 3; level++) parentId = (await create({ name: 'y'.repeat(255), parentId }))['id'];
    expect(await create({ name: 'y'.repeat(255), parentId })).toMatchObject({
      type: 'invalidProperties',
      properties: ['parentId', 'name'],
    });
  });

  test('an outdated ifInState changes nothing', async () => {
    const { state } = await fixture.call('Mailbox/get', { ids: [] });
    await putMessage(fixture);
    expect(await fixture.refusal('Mailbox/set', { ifInState: state, create: { k: { name: 'x' } } })).toMatchObject({
      type: 'stateMismatch',
    });
    expect((await all()).map((one) => one.name)).not.toContain('x');
  });
});

describe('Mailbox/changes', () => {
  test('updatedProperties names the counters if only they changed', async () => {
    const { state } = await fixture.call('Mailbox/get', { ids: [] });
    await putMessage(fixture);
    expect(await fixture.call('Mailbox/changes', { sinceState: state })).toMatchObject({
      oldState: state,
      updated: [jmapId('mailbox', fixture.inbox)],
      updatedProperties: ['totalEmails', 'unreadEmails', 'totalThreads', 'unreadThreads'],
      hasMoreChanges: false,
    });
  });

  test('a flag without a counter changes no mailbox', async () => {
    const uid = await putMessage(fixture);
    const { state } = await fixture.call('Mailbox/get', { ids: [] });
    await imapOf(fixture).store(fixture.inbox, [uid], 'add', { bits: 4, keywords: ['work'] });
    expect(await fixture.call('Mailbox/changes', { sinceState: state })).toMatchObject({
      newState: state,
      updated: [],
      updatedProperties: null,
    });
  });

  test.each(['never', 'zzzzzzz', 'zz-zz'])('the state %s is none', async (sinceState) => {
    expect(await fixture.refusal('Mailbox/changes', { sinceState })).toMatchObject({ type: 'cannotCalculateChanges' });
  });
});
