import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EMAIL_SLICE } from '../../../mail/store/email-change-commands.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { putMessage } from '../../support/jmap-mail.ts';
import { type JmapWorld, jmapWorld } from '../../support/jmap-world.ts';

let world: JmapWorld;
beforeEach(async () => {
  world = await jmapWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const queued = query('test-queued', async (rx): Promise<number> =>
  Number((await rx.get<{ n: number }>('SELECT count(*) AS n FROM queue'))?.n),
);

/** What two calls, made at once, are answered: 'done', or the type of the error. */
async function both(name: string, args: () => Record<string, unknown>): Promise<string[]> {
  const answers = await Promise.all(
    [1, 2].map(async () => {
      const { methodResponses } = await world.request([[name, { accountId: world.accountId, ...args() }, 'c']]);
      const [first] = methodResponses;
      return first?.[0] === 'error' ? String(first[1]['type']) : 'done';
    }),
  );
  return answers.toSorted();
}

async function names(): Promise<unknown[]> {
  return ((await world.call('Mailbox/get'))['list'] as { name: string }[]).map((one) => one.name);
}

describe('of two calls that go by the same state one alone changes anything', () => {
  test('Mailbox/set', async () => {
    const { state } = await world.call('Mailbox/get', { ids: [] });
    let n = 0;
    const args = () => ({ ifInState: state, create: { k: { name: `new ${n++}` } } });
    expect(await both('Mailbox/set', args)).toEqual(['done', 'stateMismatch']);
    expect((await names()).filter((one) => String(one).startsWith('new'))).toHaveLength(1);
  });

  test('EmailSubmission/set', async () => {
    const { list } = await world.call('Identity/get');
    const [identity] = list as { id: string }[];
    const { created } = await world.call('Email/set', {
      create: {
        k: {
          mailboxIds: { [await inbox()]: true },
          from: [{ email: 'me@box.test' }],
          to: [{ email: 'x@remote.example' }],
        },
      },
    });
    const emailId = (created as { k: { id: string } }).k.id;
    const { state } = await world.call('EmailSubmission/get', { ids: [] });
    const create = { k: { identityId: identity?.id, emailId } };
    expect(await both('EmailSubmission/set', () => ({ ifInState: state, create }))).toEqual(['done', 'stateMismatch']);
    expect(await world.box.store.read(queued, undefined)).toBe(1);
  });
});

async function inbox(): Promise<string> {
  const { list } = await world.call('Mailbox/get');
  return (list as { id: string; role: string }[]).find((one) => one.role === 'inbox')?.id ?? '';
}

describe('a fault in the middle of a /set', () => {
  /** Makes the nth command of this name fail as a broken program does. */
  function breakAt(command: string, nth: number): void {
    const { store } = world.box;
    const [write, writeSlice] = [store.write.bind(store), store.writeSlice.bind(store)];
    let seen = 0;
    const fails = ({ name }: { name: string }): boolean => name === command && ++seen === nth;
    const fault = (): Promise<never> => Promise.reject(new Error('a fault'));
    Object.assign(store, {
      write: (...given: Parameters<typeof write>) => (fails(given[0]) ? fault() : write(...given)),
      writeSlice: (...given: Parameters<typeof write>) => (fails(given[0]) ? fault() : writeSlice(...given)),
    });
  }

  test('leaves told what was done before, and the one that it met', async () => {
    const told: string[] = [];
    Object.assign(world.desk, { log: { ...world.desk.log, error: (_: object, text: string) => void told.push(text) } });
    breakAt('plant-mailbox in state', 2);
    const answer = await world.call('Mailbox/set', {
      create: { a: { name: 'a' }, b: { name: 'b' }, c: { name: 'c' } },
    });
    expect(Object.keys(answer['created'] as object)).toEqual(['a', 'c']);
    expect(answer['notCreated']).toMatchObject({ b: { type: 'serverFail' } });
    expect(told).toHaveLength(1);
    expect(await names()).toEqual(expect.arrayContaining(['a', 'c']));
  });

  test('leaves those slices of emails told that were changed', async () => {
    for (let n = 0; n < EMAIL_SLICE * 2; n++) await putMessage(world);
    const { ids } = (await world.call('Email/query')) as { ids: string[] };
    breakAt('change-emails', 2);
    const update = Object.fromEntries(ids.map((id) => [id, { 'keywords/$seen': true }]));
    const answer = await world.call('Email/set', { update });
    expect(Object.keys(answer['updated'] as object)).toEqual(ids.slice(0, EMAIL_SLICE));
    const refused = Object.entries(answer['notUpdated'] as Record<string, { type: string }>);
    expect(refused.map(([id]) => id)).toEqual(ids.slice(EMAIL_SLICE));
    expect(new Set(refused.map(([, { type }]) => type))).toEqual(new Set(['serverFail']));
  });
});
