import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { perform, type OperationOutcome } from '../../../src/operations/perform.ts';
import { type Reference, references } from '../../support/operation-samples.ts';
import { difference, rowsOf } from '../../support/rows.ts';
import { type Tenants, type Things, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

const NUMBER = 987_654_321;

/** Names of the same form as others, which were never given out. */
function neverIssued(like: Things): Things {
  const never = Object.entries(like).map(([name, value]: [string, string]) => [
    name,
    value.includes('@') ? 'nobody@never.test' : value.replace(/^([a-z]{3})_\d+$/, `$1_${NUMBER}`),
  ]);
  return { ...(Object.fromEntries(never) as unknown as Things), domain: 'never.test' };
}

/** An answer without what differs by itself: its id, and what was asked for. */
function comparable(said: OperationOutcome, queried: unknown): unknown {
  const { requestId: _own, ...rest } = said.kind === 'done' ? { ...said.result, requestId: '' } : { ...said.refusal };
  const text = JSON.stringify({ kind: said.kind, ...rest });
  return [queried]
    .flat()
    .reduce<string>((left, one) => left.replaceAll(JSON.stringify(one).slice(1, -1), '<asked>'), text);
}

/** Lists that show what fits a name, and nothing for one that nobody has. */
const FILTERS = new Set([
  'list_emails domain',
  'list_aliases domain',
  'list_queue domain',
  'list_email_forwarders sourceAddress',
]);

describe('what another organization has', () => {
  const all = references();

  test('is asked for by every name that arguments can carry', () => {
    expect(all.length).toBeGreaterThan(100);
  });

  test.each(all.map((one): [string, Reference] => [`${one.operation.name} ${one.field}`, one]))(
    'is answered like what there never was: %s',
    async (name, { operation, value, args }) => {
      const { a, b, world } = tenants;
      const before = await rowsOf(world.store);
      const ask = async (of: Things): Promise<OperationOutcome> =>
        perform(world, operation, a.caller, args(a.main, value(of)));
      const never = neverIssued(b.main);
      const [foreign, random] = [await ask(b.main), await ask(never)];
      if (!FILTERS.has(name) && operation.action !== 'anonymous') expect(foreign.kind).toBe('refused');
      expect(comparable(foreign, value(b.main))).toBe(comparable(random, value(never)));
      expect(String(comparable(foreign, value(b.main)))).not.toContain('bravo');
      if (operation.action !== 'anonymous')
        expect(difference(before, await rowsOf(world.store))).toEqual({ gone: [], added: [] });
    },
  );
});
