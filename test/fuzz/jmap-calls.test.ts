import { expect, test } from 'vitest';
import type { Access, JmapContext } from '../../mail/jmap/core/method.ts';
import { METHODS } from '../../mail/jmap/methods.ts';
import { runRequest } from '../../mail/jmap/core/request-runner.ts';
import { quiet } from '../../mail/log.ts';
import { corpus } from '../support/corpus.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { upload } from '../support/jmap-emails.ts';
import { type RandomCallTargets, randomArguments } from '../support/jmap-random-calls.ts';
import { putMessage } from '../support/jmap-mail.ts';
import { type JmapFixture, createJmapFixture, USING, jmapFixtureOn } from '../support/jmap-fixture.ts';
import { Random } from '../support/random.ts';
import { testAccount } from '../support/store.ts';

const CALLS = fuzzCount(5_000, process.env['FUZZ_CALLS']);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
/** The account is looked at again after so many. */
const STRETCH = 500;

test(`${CALLS} calls of each method with any arguments, seed ${SEED}`, { timeout: 900_000 }, async () => {
  const failed = new Map<string, string>();
  const outcomes = new Map<string, number>();
  let slowest = { ms: 0, call: '' };
  for (const [i, { name }] of METHODS.entries()) {
    await using world = await createJmapFixture();
    await fill(world);
    const other = await secondAccount(world);
    const random = new Random(SEED + i);
    const session = { ...world.session, accounts: new Map([...world.session.accounts, [other.id, other.access]]) };
    const login = telling(world, (error) => failed.set(`${name}: ${String(error).slice(0, 200)}`, last));
    let last = '';
    let ground = await groundOf(world, other.id);
    for (let n = 0; n < CALLS; n++) {
      if (n % STRETCH === STRETCH - 1) ground = await groundOf(world, other.id);
      const args = randomArguments(random, ground, name);
      last = `${name} ${JSON.stringify(args)}`;
      const began = performance.now();
      const request = { using: new Set(USING), methodCalls: [[name, args, 'c'] as const], createdIds: {} };
      const { methodResponses } = await runRequest(login, session, request);
      const ms = performance.now() - began;
      if (ms > slowest.ms) slowest = { ms, call: last.slice(0, 500) };
      for (const [answered, told] of methodResponses) {
        const outcome = answered === 'error' ? String(told['type']) : 'done';
        outcomes.set(`${name} ${outcome}`, (outcomes.get(`${name} ${outcome}`) ?? 0) + 1);
      }
    }
  }
  console.log([...outcomes].map(([what, count]) => `${what}: ${count}`).join('\n'), slowest);
  expect(Object.fromEntries(failed)).toEqual({});
});

/** Dependencies that record errors. */
function telling(world: JmapFixture, told: (error: unknown) => void): JmapContext {
  const error = (fields: object): void => told((fields as { err?: unknown }).err);
  return { ...world.context, log: { ...quiet, error } };
}

async function secondAccount(world: JmapFixture): Promise<{ id: string; access: Access }> {
  const { account, inbox } = await testAccount(world.box.store, 'second');
  const other = jmapFixtureOn(world.box, { account, inbox, address: 'second@box.test' });
  for (let i = 0; i < 9; i++) await putMessage(other);
  const [access] = other.session.accounts.values();
  if (access === undefined) throw new Error('no second account');
  return { id: other.accountId, access };
}

async function fill(world: JmapFixture): Promise<void> {
  for (let i = 0; i < 8; i++) {
    await putMessage(world, { id: `a${i}`, refs: i % 3 === 0 ? [] : [`a${i - (i % 3)}`], bits: i % 2 });
  }
  const create = { a: { name: 'A' }, b: { name: 'B' }, c: { name: 'C', parentId: '#a' } };
  await world.call('Mailbox/set', { create });
  for (const { bytes } of corpus().filter((_, i) => i % 20 === 0)) await upload(world, bytes, 'message/rfc822');
}

async function groundOf(world: JmapFixture, otherAccountId: string): Promise<RandomCallTargets> {
  const ids = async (method: string): Promise<string[]> => (await world.call(method, { limit: 50 }))['ids'] as string[];
  const emails = await ids('Email/query');
  const found = (await world.call('Email/get', { ids: emails, properties: ['threadId'] }))['list'];
  const threads = (found as { threadId: string }[]).map(({ threadId }) => threadId);
  const { state } = (await world.call('Email/get', { ids: [] })) as { state: string };
  return {
    accountId: world.accountId,
    otherAccountId,
    emails: ['m9999', ...emails],
    threads: ['t9999', ...threads],
    mailboxes: ['f9999', ...(await ids('Mailbox/query'))],
    blobs: ['u9999', 'u1', 'u2', 'u3', 'u4', ...emails, ...emails.map((id) => `${id}-1`)],
    states: ['1', state, '2', '5', `${state}-1-1`, '5-1-2', 'zzz'],
  };
}
