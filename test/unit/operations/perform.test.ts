import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { anonymousCaller, operatorCaller } from '../../../src/core/caller.ts';
import { operation } from '../../../src/core/operation.ts';
import { perform } from '../../../src/operations/perform.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

let inside: TestWorld;
beforeAll(async () => {
  inside = await testWorld();
});
afterAll(() => inside[Symbol.asyncDispose]());

const tenant = operation({
  name: 'tell_tenant',
  title: 'Tell the tenant',
  toolset: 'core',
  reach: 'any',
  action: 'anonymous',
  description: 'For this test.',
  hints: { readOnly: true },
  input: z.strictObject({}),
  output: z.object({ tenant: z.number() }),
  run: async (call) => ({ tenant: call.tenant }),
});

describe('the tenant of a call', () => {
  test("is the caller's organization", async () => {
    const outcome = await perform(inside.world, tenant, operatorCaller(), {});
    expect(outcome).toEqual({ kind: 'done', result: { tenant: OPERATOR } });
  });

  test('is refused where the caller has none, for every such call', async () => {
    for (let i = 0; i < 3; i++) {
      const outcome = await perform(inside.world, tenant, anonymousCaller('mcp', '192.0.2.1'), {});
      expect(outcome).toMatchObject({ kind: 'refused', refusal: { error: 'unauthorized' } });
    }
  });
});
