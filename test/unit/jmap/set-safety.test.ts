import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_EMAILS } from '../../../mail/store/message/email-change-commands.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { putMessage } from '../../support/jmap-mail.ts';
import { type JmapFixture, createJmapFixture } from '../../support/jmap-fixture.ts';

let fixture: JmapFixture;
beforeEach(async () => {
  fixture = await createJmapFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const queued = query('test-queued', async (rx): Promise<number> =>
  Number((await rx.get<{ n: number }>('SELECT count(*) AS n FROM queue'))?.n),
);

/** Results of two concurrent calls: 'done', or the type of the error. */
async function both(name: string, args: () => Record<string, unknown>): Promise<string[]> {
  const answers = await Promise.all(
    [1, 2].map(async () => {
      const { methodResponses } = await fixture.request([[name, { accountId: fixture.accountId, ...args() }, 'c']]);
      const [first] = methodResponses;
      return first?.[0] === 'error' ? String(first[1]['type']) : 'done';
    }),
  );
  return answers.toSorted();
}

async function names(): Promise<unknown[]> {
  return ((await fixture.call('Mailbox/get'))['list'] as { name: string }[]).map((one) => one.name);
}

describe('of two calls with the same ifInState only one makes changes', () => {
  test('Mailbox/set', async () => {
    const { state } = await fixture.call('Mailbox/get', { ids: [] });
    let n = 0;
    const args = () => ({ ifInState: state, create: { k: { name: `new ${n++}` } } });
    expect(await both('Mailbox/set', args)).toEqual(['done', 'stateMismatch']);
    expect((await names()).filter((one) => String(one).startsWith('new'))).toHaveLength(1);
  });

  test('EmailSubmission/set', async () => {
    const { list } = await fixture.call('Identity/get');
    const [identity] = list as { id: string }[];
    const { created } = await fixture.call('Email/set', {
      create: {
        k: {
          mailboxIds: { [await inbox()]: true },
          from: [{ email: 'me@box.test' }],
          to: [{ email: 'x@remote.example' }],
        },
      },
    });
    const emailId = (created as { k: { id: string } }).k.id;
    const { state } = await fixture.call('EmailSubmission/get', { ids: [] });
    const create = { k: { identityId: identity?.id, emailId } };
    expect(await both('EmailSubmission/set', () => ({ ifInState: state, create }))).toEqual(['done', 'stateMismatch']);
    expect(await fixture.box.store.read(queued, undefined)).toBe(1);
  });
});

async function inbox(): Promise<string> {
  const { list } = await fixture.call('Mailbox/get');
  return (list as { id: string; role: string }[]).find((one) => one.role === 'inbox')?.id ?? '';
}

describe('a fault in the middle of a /set', () => {
  /** Makes the nth command of this name throw. */
  function breakAt(command: string, nth: number): void {
    const { store } = fixture.box;
    const [write, writeSlice] = [store.write.bind(store), store.writeSlice.bind(store)];
    let seen = 0;
    const fails = ({ name }: { name: string }): boolean => name === command && ++seen === nth;
    const fault = (): Promise<never> => Promise.reject(new Error('a fault'));
    Object.assign(store, {
      write: (...given: Parameters<typeof write>) => (fails(given[0]) ? fault() : write(...given)),
      writeSlice: (...given: Parameters<typeof write>) => (fails(given[0]) ? fault() : writeSlice(...given)),
    });
  }

  test('reports the objects changed before, and the failed one', async () => {
    const told: string[] = [];
    Object.assign(fixture.context, {
      log: { ...fixture.context.log, error: (_: object, text: string) => void told.push(text) },
    });
    breakAt('add-child-mailbox in state', 2);
    const answer = await fixture.call('Mailbox/set', {
      create: { a: { name: 'a' }, b: { name: 'b' }, c: { name: 'c' } },
    });
    expect(Object.keys(answer['created'] as object)).toEqual(['a', 'c']);
    expect(answer['notCreated']).toMatchObject({ b: { type: 'serverFail' } });
    expect(told).toHaveLength(1);
    expect(await names()).toEqual(expect.arrayContaining(['a', 'c']));
  });

  test('reports the slices of emails that were changed', async () => {
    for (let n = 0; n < MAX_EMAILS * 2; n++) await putMessage(fixture);
    const { ids } = (await fixture.call('Email/query')) as { ids: string[] };
    breakAt('change-emails', 2);
    const update = Object.fromEntries(ids.map((id) => [id, { 'keywords/$seen': true }]));
    const answer = await fixture.call('Email/set', { update });
    expect(Object.keys(answer['updated'] as object)).toEqual(ids.slice(0, MAX_EMAILS));
    const refused = Object.entries(answer['notUpdated'] as Record<string, { type: string }>);
    expect(refused.map(([id]) => id)).toEqual(ids.slice(MAX_EMAILS));
    expect(new Set(refused.map(([, { type }]) => type))).toEqual(new Set(['serverFail']));
  });
});
