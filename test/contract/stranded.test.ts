import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { StoreQueue } from '../../mail/relay/store-queue.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { command } from '../../mail/store/engine/types.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { enqueue } from '../../mail/store/queue/queue.ts';
import { queueOfTrace } from '../../mail/store/queue/queue-rows.ts';
import { changeQueue } from '../../mail/store/queue/queue-change.ts';
import { testStore, type TestStore } from '../support/store.ts';

const put = command(
  'test-put',
  async (tx, input: { sender: string; signAs: string[] | null }, stamp): Promise<number> => {
    const message = {
      trace: 't',
      tenant: 1,
      account: null,
      blob: 0,
      smtputf8: false,
      eightBit: false,
      ret: '',
      envid: '',
    };
    const row = { recipient: 'you@x.example', domain: 'x.example', notify: '', orcpt: '' };
    const [id = 0] = await enqueue(tx, { ...message, ...input, size: 1 }, [row], null, stamp);
    return id;
  },
);
const drop = command('test-drop', (tx, { name }: { name: string }) =>
  tx.run('DELETE FROM domain WHERE name = ?', name),
);

let box: TestStore;
let queue: StoreQueue;
beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, put, drop] });
  queue = new StoreQueue({ store: box.store, hold: null, traceId: () => 'report' });
  await verify('mine.test', 1);
  await verify('theirs.test', 2);
});
afterEach(() => box[Symbol.asyncDispose]());

const verify = (name: string, tenant: number) => box.store.write(addDomain, { tenant, name, verified: true });
const takeOver = async (name: string, tenant: number): Promise<void> => {
  await box.store.write(drop, { name });
  await verify(name, tenant);
};
const begin = (id: number) => queue.begin([{ id, nextAt: box.clock.now }]);
const release = (id: number) => box.store.write(changeQueue, { ids: [id], what: 'release', tenant: 1, accounts: null });
const why = async () => (await box.store.read(queueOfTrace, { ...OPERATOR_VIEW, trace: 't' }))[0]?.hold_reason;

test.each([
  ['the domain of its author', 'me@mine.test', ['mine.test'], 'mine.test'],
  ['the domain of its sender, where it names no other', 'me@mine.test', [], 'mine.test'],
  ['one of several', 'SRS0=a=b=theirs.test=joe@mine.test', ['theirs.test', 'mine.test'], 'theirs.test'],
])('%s went to somebody else: it is held until it is back, and reported', async (_, sender, signAs, domain) => {
  const tenant = domain === 'mine.test' ? 1 : 2;
  const id = await box.store.write(put, { sender, signAs });
  await takeOver(domain, 3);
  expect(await begin(id)).toEqual([]);
  expect(await why()).toBe(
    `${domain} is not verified here any more for who wrote this; verify it again, then release this`,
  );
  await release(id);
  expect(await begin(id)).toEqual([]);
  const story = await box.store.read(journalOf, { tenant: 1, accounts: null, trace: 't' });
  expect(story.map((line) => [line.event, line.detail['to']])).toEqual([
    ['held', 'you@x.example'],
    ['released', 'you@x.example'],
    ['held', 'you@x.example'],
  ]);
  await takeOver(domain, tenant);
  await release(id);
  expect(await begin(id)).toEqual([id]);
});

test('a domain that was only removed holds it too: nobody could show who wrote it', async () => {
  const id = await box.store.write(put, { sender: 'me@mine.test', signAs: ['mine.test'] });
  await box.store.write(drop, { name: 'mine.test' });
  expect(await begin(id)).toEqual([]);
  expect(await why()).toMatch(/^mine\.test is not verified/);
});

test.each([
  ['from a domain that was never proved here', 'me@else.example', ['else.example']],
  ['that nobody signs', 'me@mine.test', null],
  ['of the box itself', '', []],
])('mail %s goes as it did', async (_, sender, signAs) => {
  const id = await box.store.write(put, { sender, signAs });
  await takeOver('mine.test', 3);
  expect(await begin(id)).toEqual([id]);
});

test('a row that is gone or held is begun by nobody, and not held again', async () => {
  const id = await box.store.write(put, { sender: 'me@mine.test', signAs: ['mine.test'] });
  await box.store.write(changeQueue, { ids: [id], what: 'hold', tenant: 1, accounts: null });
  await takeOver('mine.test', 3);
  expect(await begin(id)).toEqual([]);
  expect(await why()).toBe('held on request');
  expect(await begin(99)).toEqual([]);
});

test('what is begun knows whose its domains were, for the keys', async () => {
  await box.store.write(put, { sender: 'SRS0=x@mine.test', signAs: ['theirs.test', 'mine.test', 'else.example'] });
  const { items } = await queue.due({ now: box.clock.now, limit: 1, lanes: [], owners: [], after: undefined });
  expect(items[0]?.signers).toEqual({ 'mine.test': 1, 'theirs.test': 2 });
});
