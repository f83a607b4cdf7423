import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jmapId, jmapRow } from '../../../mail/jmap/core/ids.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { undoAgentChanges } from '../../../mail/agents/undo/email-undo.ts';
import { create, seenByImap } from '../../support/jmap-emails.ts';
import { type JmapFixture, createJmapFixture } from '../../support/jmap-fixture.ts';

const AGENT = 'tok_9';

let fixture: JmapFixture;
let inbox: string;
beforeAll(async () => {
  fixture = await createJmapFixture();
  inbox = jmapId('mailbox', fixture.inbox);
});
afterAll(() => fixture[Symbol.asyncDispose]());
const asPerson = (): void => void Object.assign(fixture.session, { agent: undefined, isAgent: undefined });
const asAgent = (): void => void Object.assign(fixture.session, { agent: AGENT, isAgent: () => Promise.resolve(true) });
beforeEach(asPerson);

const undo = () =>
  fixture.box.store.write(undoAgentChanges, { account: fixture.account, who: AGENT, since: 0, after: 0 });
const flagsOf = async (id: string): Promise<Record<string, string[]>> =>
  Object.fromEntries((await seenByImap(fixture)).get(id) ?? new Map<string, string[]>());
const madeBy = query('test-made-by', (rx, { email }: { email: number }) =>
  rx.get<{ created_by: string | null }>('SELECT created_by FROM email WHERE id = ?', email),
);

test('changes by an agent can be undone, changes by a person are not logged', async () => {
  const { id: mine } = await create(fixture, { subject: 'mine' });
  const { id: gone } = await create(fixture, { subject: 'gone' });
  await fixture.call('Email/set', { update: { [mine]: { 'keywords/own': true } } });
  asAgent();
  await fixture.call('Email/set', { update: { [mine]: { 'keywords/$flagged': true, 'keywords/own': null } } });
  await fixture.call('Email/set', { destroy: [gone] });
  expect(await undo()).toMatchObject({ undone: 2, kept: [] });
  expect(await flagsOf(mine)).toEqual({ [inbox]: ['own'] });
  expect(await flagsOf(gone)).toEqual({ [inbox]: [] });
});

test('emails written by an agent are recorded as its own', async () => {
  const { id: person } = await create(fixture, { subject: 'person' });
  asAgent();
  const { id: agent } = await create(fixture, { subject: 'agent' });
  const of = async (id: string) =>
    (await fixture.box.store.read(madeBy, { email: jmapRow('email', fixture.account, id) ?? 0 }))?.created_by;
  expect([await of(person), await of(agent)]).toEqual([null, AGENT]);
});

test('only a person can destroy a mailbox together with its emails', async () => {
  const made = await fixture.call('Mailbox/set', { create: { f: { name: 'Full' } } });
  const folder = (made['created'] as Record<string, { id: string }>)['f']?.id ?? '';
  await create(fixture, { subject: 'kept', mailboxIds: { [folder]: true } });
  asAgent();
  const said = await fixture.call('Mailbox/set', { destroy: [folder], onDestroyRemoveEmails: true });
  expect(said).toMatchObject({ destroyed: null, notDestroyed: { [folder]: { type: 'forbidden' } } });
  asPerson();
  expect(await fixture.call('Mailbox/set', { destroy: [folder], onDestroyRemoveEmails: true })).toMatchObject({
    destroyed: [folder],
  });
});
