import type { Digests } from '../../../src/core/catalogue-pin.ts';
import { rowId } from '../../../src/core/ids.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import { quiet } from '../../../mail/log.ts';
import { listQueue } from '../../../mail/store/queue/queue-rows.ts';
import { auditHeadNotices, toolsChanged } from '../../../src/agents/owner-notice-sources.ts';
import { Notifier } from '../../../src/notices/notifier.ts';
import { proveOwner } from '../../support/people.ts';
import { type Tenant, type Tenants, twoTenants } from '../../support/tenants.ts';

const DAY = 86_400_000;
const claim = command('test-claim', async (tx, id: number, stamp): Promise<void> => {
  await tx.run('UPDATE organization SET claimed_at = ? WHERE id = ?', stamp.now, id);
});
const endTokens = command('test-end-tokens', async (tx, id: number, stamp): Promise<void> => {
  await tx.run('UPDATE token SET revoked_at = ? WHERE organization_id = ?', stamp.now, id);
});

/** Nobody has shown that an address is theirs. */
const doubt = command('test-doubt', async (tx): Promise<void> => {
  await tx.run('UPDATE user SET address_verified_at = NULL');
});

let tenants: Tenants;
let logged: object[];
beforeEach(async () => {
  tenants = await twoTenants({}, [claim, endTokens, doubt]);
  logged = [];
  await tenants.world.store.write(claim, organizationOf(tenants.a));
});
afterEach(() => tenants[Symbol.asyncDispose]());

const organizationOf = ({ main }: Tenant): number => rowId('organization', main.organizationId) ?? 0;

/** As it is after a start with these tools. */
function started(tools: Digests, live = true): Notifier {
  const { world } = tenants;
  const log = { ...quiet, warn: (fields: object) => logged.push(fields) };
  const sources = [toolsChanged({ ...world, log, live, tools }), ...(live ? [auditHeadNotices(world)] : [])];
  return new Notifier({ ...world, sources, queued: () => undefined, log });
}

/** The texts of letters with a subject to the owner of an organization. */
async function letters(word: string, subject: string): Promise<string[]> {
  const { store } = tenants.world;
  const rows = await store.read(listQueue, {
    tenant: 0,
    accounts: null,
    state: null,
    domain: `${word}-home.test`,
    after: 0,
    limit: 50,
  });
  const texts = await Promise.all(rows.map(async (row) => (await store.blob(row.blob_id, 0, 8000)).toString()));
  return texts.filter((text) => text.includes(`Subject: ${subject}`));
}

describe('a start with other tools', () => {
  const TOOLS = "Your agents' tools have changed";

  test('is logged, and reported to owners once, with the names; the first start and the same again are nothing', async () => {
    await started({ send: '1', read: '2' }).run();
    await started({ send: '1', read: '2' }).run();
    expect([logged, await letters('alpha', TOOLS)]).toEqual([[], []]);
    await started({ send: '9', wait: '3' }).run();
    await Promise.all([started({ send: '9', wait: '3' }).run(), started({ send: '9', wait: '3' }).run()]);
    expect(logged).toMatchObject([{ added: ['wait'], removed: ['read'], changed: ['send'] }]);
    const [text, ...more] = await letters('alpha', TOOLS);
    expect(more).toEqual([]);
    expect(text).toMatch(/Added:\r\n {2}wait\r\nRemoved:\r\n {2}read\r\nChanged:\r\n {2}send\r\n/);
    expect(text).toMatch(/\r\n {2}[0-9a-f]{64}\r\n/);
    // Nobody has claimed the other organization: nobody reads there.
    expect(await letters('bravo', TOOLS)).toEqual([]);
  });

  test('in local mode is logged only, also when the box is live later', async () => {
    await started({ send: '1' }, false).run();
    await started({ send: '2' }, false).run();
    await started({ send: '2' }).run();
    expect(logged).toHaveLength(1);
    expect(await letters('alpha', TOOLS)).toEqual([]);
  });
});

describe('the end of the audit log, where no token holds any more', () => {
  beforeEach(() => tenants.world.store.write(endTokens, organizationOf(tenants.a)));
  const END = "Your agents' activity: audit log checkpoint";
  const day = async (): Promise<void> => {
    tenants.clock.now += DAY;
    await started({}).run();
  };

  test('is mailed a day after agents did something, at most once a day, and is what the log says', async () => {
    await started({}).run();
    expect(await letters('alpha', END)).toEqual([]);
    await day();
    const { events } = (await tenants.do('list_audit_events', { limit: 1, verify: true })) as {
      events: { id: string; sha256: string }[];
    };
    const [text = '', ...more] = await letters('alpha', END);
    expect(more).toEqual([]);
    expect(text).toContain(`\r\n  ${events[0]?.id}\r\n  ${events[0]?.sha256}\r\n`);
    expect(text).toContain('agents of "alpha inc"');
    expect(await letters('bravo', END)).toEqual([]);
  });

  test('is mailed when a clock that ran ahead is set right', async () => {
    tenants.clock.now += 30 * DAY;
    await day();
    tenants.clock.now -= 30 * DAY;
    await tenants.do('update_organization', { name: 'alpha inc' });
    await started({}).run();
    expect(await letters('alpha', END)).toHaveLength(2);
  });

  test('waits until somebody has proved the address, and has then what nobody was informed', async () => {
    await tenants.world.store.write(doubt, undefined);
    await day();
    expect(await letters('alpha', END)).toEqual([]);
    await tenants.world.store.write(proveOwner, 'owner@alpha-home.test');
    await started({}).run();
    expect(await letters('alpha', END)).toHaveLength(1);
  });

  test('is in the daily digest where one does', async () => {
    await tenants.world.store.write(claim, organizationOf(tenants.b));
    await day();
    expect([(await letters('alpha', END)).length, await letters('bravo', END)]).toEqual([1, []]);
  });

  test('is not mailed again on a day on which agents did nothing', async () => {
    await day();
    await day();
    expect(await letters('alpha', END)).toHaveLength(1);
    await tenants.do('update_organization', { name: 'alpha inc' });
    await started({}).run();
    expect(await letters('alpha', END)).toHaveLength(2);
    await tenants.do('update_organization', { name: 'alpha inc' });
    tenants.clock.now += DAY / 2;
    await started({}).run();
    const [, text, ...more] = await letters('alpha', END);
    expect(more).toEqual([]);
    expect(text).toContain('made 1 entry in the\r\naudit log since');
  });
});
