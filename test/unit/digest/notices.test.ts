import { rowId } from '../../../src/core/ids.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { command, type Row } from '../../../mail/store/engine/types.ts';
import { quiet } from '../../../mail/log.ts';
import { listQueue } from '../../../mail/store/queue/queue-rows.ts';
import type { MailStore } from '../../../mail/store/store.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { recordAuditEvent } from '../../../src/audit/commands.ts';
import { answeredLetter, answerKey } from '../../../src/digest/reply-address.ts';
import { purgeDigests, setDailyLetter } from '../../../src/digest/commands.ts';
import { beginOf, digestDay } from '../../../src/digest/day.ts';
import { dailyDigests } from '../../../src/digest/notice-source.ts';
import { Notifier } from '../../../src/notices/notifier.ts';
import { notifiedOwners } from '../../../src/notices/owners.ts';
import { proveOwner } from '../../support/people.ts';
import { type Tenant, type Tenants, twoTenants } from '../../support/tenants.ts';

const DAY = 86_400_000;
const claim = command('test-claim', async (tx, id: number, stamp): Promise<void> => {
  await tx.run('UPDATE organization SET claimed_at = ? WHERE id = ?', stamp.now, id);
});
/** Other activity of agents, in the tables of the engine. */
const work = command('test-work', async (tx, { tenant, at }: { tenant: number; at: number }): Promise<void> => {
  await tx.run(
    `INSERT INTO agent_send (trace, tenant, reader, credential, outcome, reasons, untrusted_reads, weight, new_recipients, size, at)
     SELECT 'trace ' || ?1 || value, ?1, 'mbx_1', 'tok_' || (SELECT min(id) FROM token WHERE organization_id = ?1),
       value, '[]', '[]', 1, 0, 1, ?2 FROM json_each('["taken","held"]')`,
    tenant,
    at,
  );
});
/** An agent with the app password of a mailbox deleted something, by IMAP. */
const passed = command(
  'test-handed',
  async (tx, { mailbox, at, seq = 1 }: { mailbox: number; at: number; seq?: number }): Promise<{ pwd: number }> => {
    const row = await tx.get<{ id: number }>('SELECT max(id) AS id FROM credential WHERE account_id = ?', mailbox);
    await tx.run(
      `INSERT INTO agent_change (account_id, seq, actor, at, email_id, flags_before, flags_after, kw_before, kw_after,
         mailboxes_before, mailboxes_after) VALUES (?1, ?4, ?2, ?3, 1, 0, 0, '[]', '[]', '[]', '[]')`,
      mailbox,
      `pwd_${row?.id ?? 0}`,
      at,
      seq,
    );
    return { pwd: row?.id ?? 0 };
  },
);
/** An agent gives out many narrower tokens. */
const many = command('test-many', async (tx, organization: number): Promise<void> => {
  await tx.run(
    `INSERT INTO token (organization_id, token_hash, name, display_prefix, actions, owner, mode, created_by, created_at, revoked_at)
     SELECT ?1, randomblob(32), 'narrow', 'x', 'read', 0, 'normal', 'tok_1', 1, 2 FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) SELECT i FROM n)`,
    organization,
  );
});
/** Somebody fills the audit log. */
const flood = command('test-flood', async (tx, { like, at }: { like: string; at: number }): Promise<void> => {
  const row = await tx.get<Row>('SELECT * FROM audit WHERE actor = ? ORDER BY id DESC LIMIT 1', like);
  const copy = new Map(Object.entries({ ...row, at }));
  copy.delete('id');
  const names = [...copy.keys()];
  await tx.run(
    `INSERT INTO audit (${names.join(', ')})
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
     SELECT ${names.map(() => '?').join(', ')} FROM n`,
    ...copy.values(),
  );
});
/** Nobody has shown that an address is theirs. */
const doubt = command('test-doubt', async (tx): Promise<void> => {
  await tx.run('UPDATE user SET address_verified_at = NULL');
});
const rows = command('test-rows', async (tx): Promise<number> => {
  return (await tx.get<{ n: number }>('SELECT count(*) AS n FROM digest'))?.n ?? 0;
});

let tenants: Tenants;
beforeEach(async () => {
  tenants = await twoTenants({}, [claim, work, passed, many, flood, doubt, rows]);
  tenants.clock.now = beginOf(digestDay(tenants.clock.now)) + DAY / 2;
  await tenants.world.store.write(claim, organizationOf(tenants.a));
});
afterEach(() => tenants[Symbol.asyncDispose]());

const organizationOf = ({ main }: Tenant): number => rowId('organization', main.organizationId) ?? 0;

/** As it is after a start. */
function started(store = tenants.world.store): Notifier {
  const { world } = tenants;
  return new Notifier({ ...world, sources: [dailyDigests({ ...world, store })], queued: () => undefined, log: quiet });
}

function valueOf(from: MailStore, name: string | symbol): unknown {
  const value: unknown = Reflect.get(from, name, from);
  return typeof value === 'function' ? (value.bind(from) as unknown) : value;
}

async function letters(word: string): Promise<string[]> {
  const { store } = tenants.world;
  const ask = { tenant: 0, accounts: null, state: null, domain: `${word}-home.test`, after: 0, limit: 50 };
  const queued = await store.read(listQueue, ask);
  const texts = await Promise.all(queued.map(async (row) => (await store.blob(row.blob_id, 0, 16_000)).toString()));
  return texts
    .filter((text) => text.includes('Subject: Daily digest: agents of'))
    .map((text) => text.replaceAll('=\r\n', ''));
}

const dateBefore = (date = ''): string => new Date(Date.parse(date) - DAY).toISOString().slice(0, 10);

async function day(): Promise<void> {
  tenants.clock.now += DAY;
  await started().run();
}

describe('the daily digest', () => {
  test('comes the morning after agents did something, once, and to owners of that organization only', async () => {
    await started().run();
    expect(await letters('alpha')).toEqual([]);
    tenants.clock.now = beginOf(digestDay(tenants.clock.now) + 1) - 1;
    await started().run();
    expect(await letters('alpha')).toEqual([]);
    tenants.clock.now += 1;
    await Promise.all([started().run(), started().run()]);
    tenants.clock.now += DAY / 2;
    await started().run();
    const [text = '', ...more] = await letters('alpha');
    expect(more).toEqual([]);
    expect(text).toContain('To: owner@alpha-home.test');
    expect(text).toContain('this is what agents of "alpha inc" did');
    expect(text).not.toContain('bravo');
    expect(await letters('bravo')).toEqual([]);
  });

  test('says what each agent did, what waits, and how the audit log ended with the day', async () => {
    const { a, clock, world } = tenants;
    await world.store.write(work, { tenant: organizationOf(a), at: clock.now });
    const tripped = {
      organization: organizationOf(a),
      actor: a.main.tokenId,
      actorName: '',
      way: 'box',
      ip: '',
    } as const;
    const entry = { ...tripped, operation: 'trip_canary', target: 'canary', detail: {} };
    await world.store.write(recordAuditEvent, { entry, outcome: 'tripped' });
    await tenants.try('set_email_forwarder', { sourceAddress: 'nobody@else.test', destinationAddress: 'x@y.test' });
    const { events } = (await tenants.do('list_audit_events', { limit: 1, verify: true })) as {
      events: { id: string; sha256: string }[];
    };
    await day();
    await tenants.do('update_organization', { name: 'alpha inc' });
    const [text = ''] = await letters('alpha');
    expect(text).toMatch(/\(tok_\d+\)\r\n {2}sent 6 messages, 1 of them held for approval\r\n/);
    expect(text).toMatch(/\r\n {2}called: [a-z_]+ \d+/);
    expect(text).toMatch(/\r\n {2}denied: set_email_forwarder 1\r\n/);
    expect(text).toContain(`\r\n  ${events[0]?.id}\r\n  ${events[0]?.sha256}\r\n`);
    expect(text).not.toContain('canary');
    expect(text).not.toMatch(/^\W*stop/im);
  });

  test('does not come for a day without anything, and reports seven days at most', async () => {
    await day();
    await day();
    expect(await letters('alpha')).toHaveLength(1);
    tenants.clock.now += 9 * DAY;
    await tenants.do('update_organization', { name: 'alpha inc' });
    await day();
    const [, text = '', ...more] = await letters('alpha');
    expect(more).toEqual([]);
    const since = new Date(beginOf(digestDay(tenants.clock.now)) - 7 * DAY).toISOString().slice(0, 10);
    expect(text).toContain(`from ${since} 06:00 UTC to`);
  });

  test('does not come to who turned it off, nor where there is no token', async () => {
    const { store } = tenants.world;
    const organization = organizationOf(tenants.a);
    const [{ user } = { user: 0 }] = await store.read(notifiedOwners, { organization, daily: false });
    expect(await store.write(setDailyLetter, { organization, user: user + 100, on: false })).toEqual({
      kind: 'missing',
    });
    expect(await store.write(setDailyLetter, { organization, user, on: false })).toEqual({ kind: 'set' });
    await day();
    expect(await letters('alpha')).toEqual([]);
    await store.write(setDailyLetter, { organization, user, on: true });
    await started().run();
    expect(await letters('alpha')).toHaveLength(1);
  });

  test('of one organization that cannot be made ready keeps back no other, and comes with the next round', async () => {
    const { store } = tenants.world;
    await store.write(claim, organizationOf(tenants.b));
    tenants.clock.now += DAY;
    let broken = true;
    const read: typeof store.read = (what, input) =>
      broken &&
      what.name === notifiedOwners.name &&
      (input as { organization: number }).organization === organizationOf(tenants.a)
        ? Promise.reject(new Error('no'))
        : store.read(what, input);
    const notifier = started(new Proxy(store, { get: (from, name) => (name === 'read' ? read : valueOf(from, name)) }));
    await expect(notifier.run()).rejects.toThrow('1 notices of kind daily-digest failed');
    expect([(await letters('alpha')).length, (await letters('bravo')).length]).toEqual([0, 1]);
    broken = false;
    await notifier.run();
    await notifier.run();
    expect([(await letters('alpha')).length, (await letters('bravo')).length]).toEqual([1, 1]);
  });

  test('reports a password with which an agent did nothing but change mail', async () => {
    const { a, world, clock } = tenants;
    // On the second day, when nobody did anything else.
    clock.now += DAY;
    const mailbox = rowId('mailbox', a.main.mailboxId) ?? 0;
    const { pwd } = await world.store.write(passed, { mailbox, at: clock.now });
    await day();
    const [text = ''] = await letters('alpha');
    const { address } = a.main;
    expect(text).toContain(
      `\r\nThe app password of ${address} (pwd_${pwd}), used by an agent\r\n  made 1 change to mail and rules`,
    );
  });

  test('counts what can be undone of all the days that it reports, and of none before', async () => {
    const { a, world, clock } = tenants;
    const mailbox = rowId('mailbox', a.main.mailboxId) ?? 0;
    await world.store.write(passed, { mailbox, at: clock.now, seq: 1 });
    await day();
    await world.store.write(passed, { mailbox, at: clock.now, seq: 2 });
    clock.now += DAY;
    await world.store.write(passed, { mailbox, at: clock.now, seq: 3 });
    await world.store.write(passed, { mailbox, at: clock.now, seq: 4 });
    // The box was not there on the morning between.
    await day();
    const texts = await letters('alpha');
    expect(texts.map((text) => /made (\d+) changes? to mail/.exec(text)?.[1])).toEqual(['1', '3']);
  });

  test('goes on when a clock that ran ahead is set right, and comes on the day that it had been as well', async () => {
    const { clock, world } = tenants;
    const acted = () => tenants.do('update_organization', { name: 'alpha inc' });
    clock.now += 4 * DAY;
    await acted();
    await day();
    clock.now -= 4 * DAY;
    expect(await letters('alpha')).toHaveLength(1);
    for (let i = 2; i <= 5; i++) {
      await acted();
      await day();
      await world.store.write(purgeDigests, undefined);
      expect(await letters('alpha')).toHaveLength(i);
    }
    const [, ...told] = await letters('alpha');
    const spans = told.map((text) => /from (\S+) 06:00 UTC to (\S+) 06:00 UTC/.exec(text)?.slice(1));
    expect(spans.map((span) => span?.[0])).toEqual(spans.map((span) => dateBefore(span?.[1])));
  });

  test('of a morning is not sent again where the clock is set right by seconds', async () => {
    const { clock, world } = tenants;
    clock.now = beginOf(digestDay(clock.now) + 1) + 1000;
    await started().run();
    clock.now -= 2000;
    await world.store.write(purgeDigests, undefined);
    await started().run();
    clock.now += 2000;
    await started().run();
    expect(await letters('alpha')).toHaveLength(1);
  });

  test('of a morning is not followed by one of the day before, which had none, where the clock is set right', async () => {
    const { clock } = tenants;
    await day();
    await tenants.do('update_organization', { name: 'alpha inc' });
    // The box was not there on the morning between.
    clock.now = beginOf(digestDay(clock.now) + 2) + 1000;
    const notifier = started();
    await notifier.run();
    clock.now -= 2000;
    await notifier.run();
    clock.now += 2000;
    await notifier.run();
    expect(await letters('alpha')).toHaveLength(2);
  });

  test('does not come where the address was never proved, and reports what was before once it is', async () => {
    const { world } = tenants;
    await world.store.write(doubt, undefined);
    await day();
    expect(await letters('alpha')).toEqual([]);
    await world.store.write(proveOwner, 'owner@alpha-home.test');
    await started().run();
    expect(await letters('alpha')).toHaveLength(1);
  });

  test('says the name of a token that gave out so many that it is none of the newest', async () => {
    const { a, world, clock } = tenants;
    await world.store.write(work, { tenant: organizationOf(a), at: clock.now });
    await world.store.write(many, organizationOf(a));
    await day();
    const [text = ''] = await letters('alpha');
    expect(text).toMatch(/\r\nThe agent \S.* \(tok_\d+\)\r\n {2}sent 6 messages/);
    expect(text).not.toContain('without a name');
  });

  test('says when the audit log has more than is counted', async () => {
    const { a, world, clock } = tenants;
    await day();
    await world.store.write(flood, { like: a.caller.actor, at: clock.now });
    await day();
    const [before = '', text = ''] = await letters('alpha');
    expect([before, text].map((one) => one.includes('The audit log has far more entries than usual'))).toEqual([
      false,
      true,
    ]);
  });

  test('can be answered at an address that is for one owner, one day and one box', async () => {
    await day();
    const [text = ''] = await letters('alpha');
    const [, given = ''] = /\r\nReply-To:\s+(\S+)\r\n/.exec(text) ?? [];
    const { hostname } = tenants.world.settings;
    const key = answerKey(tenants.world.secrets);
    const read = (address: string) => {
      const to = parseAddress(address);
      return to && answeredLetter(to, hostname, key);
    };
    const organization = organizationOf(tenants.a);
    const letter = { organization, day: digestDay(tenants.clock.now) };
    expect(read(given)).toMatchObject(letter);
    expect(read(given.toUpperCase())).toMatchObject(letter);
    const [facts = ''] = /\+d[\w.]+/.exec(given) ?? [];
    const others = [
      given.replace('@', 'a@'),
      given.replace(/.@/, (last) => (last === 'a@' ? 'b@' : 'a@')),
      given.replace(facts, `${facts}0`),
      given.replace(facts, `+d${(organization + 1).toString(36)}${facts.slice(3)}`),
      `mailstead${facts}-${'a'.repeat(16)}@${hostname}`,
      given.replace(/@.*/, '@elsewhere.test'),
      given.replace('mailstead', 'other'),
    ];
    expect(others.map(read)).toEqual(others.map(() => undefined));
  });

  test('is forgotten after a month, and not before', async () => {
    await day();
    const { store } = tenants.world;
    await store.write(purgeDigests, undefined);
    expect(await store.write(rows, undefined)).toBe(1);
    tenants.clock.now += 31 * DAY;
    await store.write(purgeDigests, undefined);
    expect(await store.write(rows, undefined)).toBe(0);
  });
});
