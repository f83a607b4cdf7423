import { expect, test } from 'vitest';
import { noteTlsResults, type TlsResult } from '../../mail/store/queue/tls-result.ts';
import { command } from '../../mail/store/engine/types.ts';
import { operatorCaller } from '../../src/core/caller.ts';
import { listTlsResults } from '../../src/operations/operator/tls-results.ts';
import { perform } from '../../src/operations/perform.ts';
import { testWorld } from '../support/world.ts';

const noteResults = command(
  'test-note-tls-results',
  async (tx, results: readonly TlsResult[], stamp): Promise<void> => {
    await noteTlsResults(tx, results, stamp);
  },
);

const DAY = 24 * 3_600_000;
const at = { mx: 'mx.bad.test', ip: '192.0.2.1', from: '198.51.100.7' };
const sts = { type: 'sts', strings: ['version: STSv1', 'mode: enforce'] } as const;
const plain = { type: 'no-policy-found', strings: [], mx: '', ip: '', from: '', result: 'success' } as const;

test('the operator reads what was counted: of a day, page by page, of one domain, and where something failed', async () => {
  await using made = await testWorld({}, [noteResults]);
  const { store } = made.store;
  await store.write(noteResults, [
    { ...plain, domain: 'a.test' },
    { ...sts, ...at, domain: 'bad.test', result: 'certificate-expired' },
    { ...sts, ...at, domain: 'bad.test', result: 'success' },
    { ...plain, domain: 'c.test', result: 'starttls-not-supported' },
  ]);
  const day = new Date(made.store.clock.now).toISOString().slice(0, 10);
  made.store.clock.now += DAY;
  await store.write(noteResults, [{ ...plain, domain: 'today.test' }]);
  const ask = async (input: object) => {
    const said = await perform(made.world, listTlsResults, operatorCaller(), input);
    if (said.kind !== 'done') throw new Error(JSON.stringify(said));
    return said.result;
  };
  const domains = async (input: object) =>
    ((await ask(input))['results'] as { domain: string }[]).map(({ domain }) => domain);

  expect(await domains({})).toEqual(['today.test']);
  expect(await domains({ day })).toEqual(['a.test', 'bad.test', 'c.test']);
  expect(await domains({ day, failedOnly: true })).toEqual(['bad.test', 'c.test']);
  expect(await ask({ day, limit: 2 })).toMatchObject({ day, nextCursor: 'bad.test' });
  expect(await domains({ day, limit: 2, cursor: 'bad.test' })).toEqual(['c.test']);
  expect(await ask({ day, domain: 'BAD.test' })).toEqual({
    day,
    results: [
      {
        domain: 'bad.test',
        policy: 'sts',
        policyText: [...sts.strings],
        succeeded: 1,
        failed: 1,
        failures: [{ why: 'certificate-expired', ...at, connections: 1 }],
      },
    ],
    nextCursor: null,
  });
  expect(await perform(made.world, listTlsResults, operatorCaller(), { domain: 'no domain' })).toMatchObject({
    refusal: { error: 'invalid_arguments' },
  });
});
