import { operatorCaller } from '../../../src/core/caller.ts';
import { rowId } from '../../../src/core/ids.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { type Address, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { listQueue } from '../../../mail/store/queue/queue-rows.ts';
import { agentToken } from '../../../src/agents/queries.ts';
import { stopAgents } from '../../../src/tokens/mode-commands.ts';
import { answerAddress, answerKey } from '../../../src/digest/reply-address.ts';
import { digestDay } from '../../../src/digest/day.ts';
import { DigestReplies } from '../../../src/digest/digest-replies.ts';
import { notifiedOwners } from '../../../src/notices/owners.ts';
import { type Tenant, type Tenants, twoTenants } from '../../support/tenants.ts';

const DAY = 86_400_000;
const noOwner = command('test-no-owner', async (tx, id: number): Promise<void> => {
  await tx.run(`UPDATE member SET role = 'admin' WHERE organization_id = ?`, id);
});

/** As letters were sent before they needed a proof. */
const doubt = command('test-doubt', async (tx, id: number): Promise<void> => {
  const sql =
    'UPDATE user SET address_verified_at = NULL WHERE id IN (SELECT user_id FROM member WHERE organization_id = ?)';
  await tx.run(sql, id);
});

const moreOwners = command('test-more-owners', async (tx, organization: number, { now }): Promise<void> => {
  for (let i = 0; i < 7; i++) {
    const email = `more${i}@alpha-home.test`;
    const sql = 'INSERT INTO user (email, email_key, address_verified_at, created_at) VALUES (?1, ?1, ?2, ?2)';
    const { id } = await tx.run(sql, email, now);
    await tx.run(
      `INSERT INTO member (organization_id, user_id, role, created_at) VALUES (?, ?, 'owner', ?)`,
      organization,
      id,
      now,
    );
  }
});

let tenants: Tenants;
let login: DigestReplies;
let queued: number;
/** Sessions of whose passwords. */
let ended: [account: number, gone: readonly number[] | undefined][];
beforeEach(async () => {
  tenants = await twoTenants({}, [noOwner, doubt, moreOwners]);
  queued = 0;
  ended = [];
  const revoked = (account: number, gone?: readonly number[]) => void ended.push([account, gone]);
  login = new DigestReplies({ ...tenants.world, queued: () => queued++, revoked, log: quiet });
});
afterEach(() => tenants[Symbol.asyncDispose]());

const organizationOf = ({ main }: Tenant): number => rowId('organization', main.organizationId) ?? 0;

async function addressOf(tenant: Tenant): Promise<Address> {
  const organization = organizationOf(tenant);
  const [{ user } = { user: 0 }] = await tenants.world.store.read(notifiedOwners, { organization, daily: false });
  const { settings, secrets } = tenants.world;
  return answerAddress(
    { organization, user, day: digestDay(tenants.clock.now) },
    settings.hostname,
    answerKey(secrets),
  );
}

async function answer(text: string, fields = '', to?: Address, nullSender = false): Promise<void> {
  const octets = Buffer.from(`From: owner@alpha-home.test\r\n${fields}\r\n${text}\r\n`);
  const index = indexMessage(octets);
  await login.accept({ to: to ?? (await addressOf(tenants.a)), trace: 'abc', nullSender, octets, index });
}

async function isStopped(tenant: Tenant): Promise<boolean> {
  const token = await tenants.world.store.read(agentToken, { id: rowId('token', tenant.main.tokenId) ?? 0 });
  return token?.mode === 'frozen';
}

async function letters(word = 'alpha'): Promise<string[]> {
  const { store } = tenants.world;
  const ask = { tenant: 0, accounts: null, state: null, domain: `${word}-home.test`, after: 0, limit: 50 };
  const rows = await store.read(listQueue, ask);
  const texts = await Promise.all(rows.map(async (row) => (await store.blob(row.blob_id, 0, 8000)).toString()));
  return texts.flatMap((text) => /\r\nSubject: (.*agents (?:are|were).*|Your reply.*)\r\n/.exec(text)?.[1] ?? []);
}

const STOPPED = 'All your agents are stopped';
const BEFORE = 'Your agents were already stopped';
const UNCLEAR = 'Your reply changed nothing';

describe('an answer to the daily digest', () => {
  test('that says STOP stops all agents of that organization, is in its log, and its owners are informed', async () => {
    await answer('Stop\r\n\r\n> STOP');
    expect([await isStopped(tenants.a), await isStopped(tenants.b)]).toEqual([true, false]);
    expect([await letters(), await letters('bravo'), queued]).toEqual([[STOPPED], [], 1]);
    const { events } = (await tenants.do('list_audit_events', { limit: 1, verify: true }, tenants.a.caller)) as {
      events: object[];
    };
    expect(events).toMatchObject([
      {
        operation: 'stop_agents',
        actor: 'anonymous',
        actorName: 'a reply to the daily digest to owner@alpha-home.test',
        way: 'mail',
      },
    ]);
  });

  test('is reported to every owner, however many they are', async () => {
    const to = await addressOf(tenants.a);
    await tenants.world.store.write(moreOwners, organizationOf(tenants.a));
    await answer('STOP', '', to);
    expect(await letters()).toEqual(Array.from({ length: 8 }, () => STOPPED));
  });

  test('that says it again is answered once, and stops again what a person let go on', async () => {
    for (let i = 0; i < 3; i++) await answer('STOP');
    expect(await letters()).toEqual([STOPPED, BEFORE]);
    await tenants.world.store.write(stopAgents, { organization: organizationOf(tenants.a), stopped: false });
    await answer('STOP all');
    expect([await isStopped(tenants.a), await letters()]).toEqual([true, [STOPPED, BEFORE, STOPPED]]);
  });

  test('that says something else changes nothing, and is reported once what can be said', async () => {
    for (const text of ['START', 'Thank you', 'START', '> STOP']) await answer(text);
    expect([await isStopped(tenants.a), await letters()]).toEqual([false, [UNCLEAR]]);
    await answer('STOP');
    await answer('START');
    expect([await isStopped(tenants.a), await letters()]).toEqual([true, [UNCLEAR, STOPPED]]);
  });

  test.each([
    ['Auto-Submitted: auto-replied\r\n', false],
    ['Auto-Submitted: auto-generated (out of office)\r\nX-Auto-Response-Suppress: All\r\n', false],
    ['Precedence: auto_reply\r\n', false],
    ['X-Autoreply: yes\r\n', false],
    ['Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n', false],
    ['', true],
  ])('that no person wrote is nothing: %j', async (fields, nullSender) => {
    await answer('STOP', fields, undefined, nullSender);
    await answer('Hello', fields, undefined, nullSender);
    expect([await isStopped(tenants.a), await letters()]).toEqual([false, []]);
  });

  test('is taken for two weeks, and only where the box made the address', async () => {
    const to = await addressOf(tenants.a);
    tenants.clock.now += 14 * DAY;
    expect(login.classify(to)).toBe('answer');
    tenants.clock.now += DAY;
    expect(login.classify(to)).toBe('over');
    const other = parseAddress(`x${to.local}@${to.domain}`);
    expect([other && login.classify(other), login.classify({ ...to, domain: 'alpha.test' })]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each([
    ['of who is no owner any more', noOwner],
    ['from an address that was never proved', doubt],
  ])('%s is nothing', async (_whose, lost) => {
    const to = await addressOf(tenants.a);
    await tenants.world.store.write(lost, organizationOf(tenants.a));
    await answer('STOP', '', to);
    expect([await isStopped(tenants.a), await letters()]).toEqual([false, []]);
  });
});

test.each([{}, { sendAt: '2026-01-10T00:00:00Z' }])(
  'is not taken from a program that sends, which would be informed that it was delivered: %j',
  async (when) => {
    const to = formatAddress(await addressOf(tenants.a));
    const mail = { from: tenants.a.main.address, to: [to], subject: 'Re: What', text: 'STOP', ...when };
    expect(await tenants.try('send_email', mail)).toMatchObject({
      kind: 'refused',
      refusal: { error: 'recipient_blocked', message: expect.stringContaining('only from a mail program') as unknown },
    });
  },
);

test('STOP ends what is open with a password of an agent, and of nobody else', async () => {
  const { a } = tenants;
  await tenants.do(
    'save_agent_policy',
    { mailboxId: a.main.mailboxId, preset: 'custom' },
    operatorCaller(organizationOf(a)),
  );
  await answer('what is this?');
  expect(ended).toEqual([]);
  await answer('STOP');
  const theirs = new Set([rowId('mailbox', a.main.mailboxId)]);
  expect(new Set(ended.map(([account]) => account))).toEqual(theirs);
  // The first attempt may have failed.
  ended = [];
  await answer('STOP');
  expect(new Set(ended.map(([account]) => account))).toEqual(theirs);
});
