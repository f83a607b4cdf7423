import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jmapId, jmapRow } from '../../../mail/jmap/ids.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { undoAgentChanges } from '../../../mail/store/undo-commands.ts';
import { create, seenByImap } from '../../support/jmap-emails.ts';
import { type JmapWorld, jmapWorld } from '../../support/jmap-world.ts';

const AGENT = 'tok_9';

let world: JmapWorld;
let inbox: string;
beforeAll(async () => {
  world = await jmapWorld();
  inbox = jmapId('mailbox', world.inbox);
});
afterAll(() => world[Symbol.asyncDispose]());
const asPerson = (): void => void Object.assign(world.session, { agent: undefined, isAgents: undefined });
const asAgent = (): void => void Object.assign(world.session, { agent: AGENT, isAgents: () => Promise.resolve(true) });
beforeEach(asPerson);

const undo = () => world.box.store.write(undoAgentChanges, { account: world.account, who: AGENT, since: 0, after: 0 });
const flagsOf = async (id: string): Promise<Record<string, string[]>> =>
  Object.fromEntries((await seenByImap(world)).get(id) ?? new Map<string, string[]>());
const madeBy = query('test-made-by', (rx, { email }: { email: number }) =>
  rx.get<{ made_by: string | null }>('SELECT made_by FROM email WHERE id = ?', email),
);

test('what an agent changes and destroys is undone, what a person does is not written down', async () => {
  const { id: mine } = await create(world, { subject: 'mine' });
  const { id: gone } = await create(world, { subject: 'gone' });
  await world.call('Email/set', { update: { [mine]: { 'keywords/own': true } } });
  asAgent();
  await world.call('Email/set', { update: { [mine]: { 'keywords/$flagged': true, 'keywords/own': null } } });
  await world.call('Email/set', { destroy: [gone] });
  expect(await undo()).toMatchObject({ undone: 2, kept: [] });
  expect(await flagsOf(mine)).toEqual({ [inbox]: ['own'] });
  expect(await flagsOf(gone)).toEqual({ [inbox]: [] });
});

test('what an agent writes is known as its own', async () => {
  const { id: person } = await create(world, { subject: 'person' });
  asAgent();
  const { id: agent } = await create(world, { subject: 'agent' });
  const of = async (id: string) =>
    (await world.box.store.read(madeBy, { email: jmapRow('email', world.account, id) ?? 0 }))?.made_by;
  expect([await of(person), await of(agent)]).toEqual([null, AGENT]);
});

test('a folder goes with its emails on the word of a person only', async () => {
  const made = await world.call('Mailbox/set', { create: { f: { name: 'Full' } } });
  const folder = (made['created'] as Record<string, { id: string }>)['f']?.id ?? '';
  await create(world, { subject: 'kept', mailboxIds: { [folder]: true } });
  asAgent();
  const said = await world.call('Mailbox/set', { destroy: [folder], onDestroyRemoveEmails: true });
  expect(said).toMatchObject({ destroyed: null, notDestroyed: { [folder]: { type: 'forbidden' } } });
  asPerson();
  expect(await world.call('Mailbox/set', { destroy: [folder], onDestroyRemoveEmails: true })).toMatchObject({
    destroyed: [folder],
  });
});
