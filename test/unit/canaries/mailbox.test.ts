import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { route } from '../../../mail/delivery/route.ts';
import { rowIn } from '../../../src/core/message-ids.ts';
import { parseAddress } from '../../../mail/message/address.ts';
import { removeAccount, purgeRemovedAccount } from '../../../mail/store/account/account-removal.ts';
import { canaryMessages } from '../../../mail/agents/canary/canary.ts';
import { copyEntries } from '../../../mail/store/mailbox/entry-commands.ts';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { destroyEmails } from '../../../mail/store/message/email-change-commands.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { purgeExpunged } from '../../../mail/store/retention/purge.ts';
import { explained } from '../../support/explained.ts';
import { CanaryWorld, type PlantedCanary } from '../../support/canary-world.ts';
import { deliverMail } from '../../support/deliver-mail.ts';

const rows = query('test-canary-rows', (rx) =>
  rx.all<{ canaries: number; trips: number; emails: number; found: number }>(
    `SELECT (SELECT count(*) FROM canary) AS canaries, (SELECT count(*) FROM canary_trip) AS trips,
       (SELECT count(*) FROM canary WHERE email_id IS NOT NULL) AS emails, (SELECT count(*) FROM email) AS found`,
  ),
);
const remembered = query('test-remembered', (rx) =>
  rx.all<{ text: string }>(
    `SELECT label || address_key || created_by || CAST(digest AS TEXT) AS text FROM canary
     UNION ALL SELECT target || detail FROM audit`,
  ),
);
const dismiss = command('test-dismiss', (tx, account: number) => removeAccount(tx, { tenant: 1, account }));

let world: CanaryWorld;
let canary: PlantedCanary;
let account: number;
beforeEach(async () => {
  world = await CanaryWorld.open([dismiss]);
  canary = await world.plant();
  account = await world.sending.account('me@a.test');
});
afterEach(() => world[Symbol.asyncDispose]());

const IN = { mailbox: 'me@a.test' };
const counted = async () => (await world.world.store.read(rows, undefined))[0];
const where = (address: string) => {
  const parsed = parseAddress(address);
  return parsed === undefined ? undefined : route(world.world.store, parsed);
};
const mailTo = (to: string): Promise<void> =>
  deliverMail(world.world.store, { account, to }, 'From: <x@remote.example>\nSubject: Hi\n\nHello\n');

describe('the address of a canary', () => {
  test('leads to its mailbox, and no other that looks like it does', async () => {
    expect(await where(canary.address)).toMatchObject({ kind: 'here', accounts: [account] });
    expect(await where(`x${canary.address}`)).toEqual({ kind: 'unknown' });
    await world.asPerson('remove_canary', { canaryId: canary.canaryId });
    expect(await where(canary.address)).toEqual({ kind: 'unknown' });
  });

  test('that a stranger writes to is reported once, with nobody stopped', async () => {
    const token = await world.mint();
    await mailTo(canary.address);
    await mailTo(canary.address.toUpperCase());
    await mailTo('me@a.test');
    const letters = await world.told();
    expect(letters).toEqual([]);
    expect(await world.modeOf(token)).toBe('normal');
    expect((await world.audited()).map(({ actor, detail }) => ({ actor, ...(JSON.parse(detail) as object) }))).toEqual([
      { actor: 'mailstead', mailbox: `mbx_${account}`, what: 'written-to', from: ['sender@remote.example'] },
    ]);
    const listed = await world.asPerson('list_canaries', IN);
    expect(listed).toMatchObject({
      result: { canaries: [{ trips: [{ by: '', what: 'written-to', addresses: ['sender@remote.example'] }] }] },
    });
    await mailTo(canary.address);
    expect(await world.told()).toEqual([]);
    expect(await world.audited()).toHaveLength(1);
    await world.asPerson('settle_canary', { canaryId: canary.canaryId });
    await mailTo(canary.address);
    expect(await world.told()).toEqual([]);
    expect(await world.audited()).toHaveLength(2);
  });
});

describe('a letter', () => {
  test('says to each owner who went there, by which endpoint and when, and not what it was', async () => {
    await world.addOwner('ada@owner.test');
    const token = await world.mint();
    await world.asToken(token, 'get_message', { ...IN, messageId: canary.messageId });
    const mail = { from: 'me@a.test', to: 'you@x.example', subject: 'Hello', text: canary.honeytoken };
    await world.asToken(await world.mint(), 'send_email', mail);
    const [letter = '', ...more] = await world.told();
    expect(more).toEqual([]);
    for (const part of [
      'ada@owner.test',
      'Canary: the one',
      'agent (tok_1)',
      'opened its message, by rest get_message',
      'agent (tok_2)',
      'To: you@x.example',
      'If you unfreeze the agent, touching the canary freezes it again',
      `/mailboxes/mbx_${account}/canaries`,
      new Date(world.clock.now).toISOString(),
    ]) {
      expect(letter).toContain(part);
    }
    expect(letter).not.toContain(canary.honeytoken);
    expect(letter).not.toContain(canary.address);
    expect(letter).not.toContain('emergency');
    expect(await world.told()).toHaveLength(1);
  });

  test('is written once by two who tell at the same time', async () => {
    await world.addOwner('ada@owner.test');
    await world.asToken(await world.mint(), 'get_message', { ...IN, messageId: canary.messageId });
    await Promise.all([world.told(), world.told()]);
    expect(await world.told()).toHaveLength(1);
  });
});

describe('what is planted', () => {
  test('is not written down where it is remembered', async () => {
    const written = JSON.stringify(await world.world.store.read(remembered, undefined));
    expect(written).toContain(canary.address);
    expect(written).not.toContain(canary.honeytoken);
  });

  test('is different each time, and looks like mail of some days ago', async () => {
    const other = await world.plant({ story: 'payments' });
    expect(other.honeytoken).toMatch(/^sk_live_\w{32}$/);
    expect(other.address).not.toBe(canary.address);
    const read = await world.do('get_message', { ...IN, messageId: other.messageId });
    const { message } = read as { message: { receivedAt: string; unread: boolean } };
    const days = (world.clock.now - Date.parse(message.receivedAt)) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(3);
    expect(days).toBeLessThanOrEqual(90);
    expect(message.unread).toBe(false);
  });

  test('is at most 20 in a mailbox', async () => {
    for (let i = 1; i < 20; i++) await world.plant({ kind: 'address' });
    await expect(world.plant()).rejects.toThrow(/at most 20/);
  });

  test('is gone from the mailbox when it is removed, wherever it was moved to', async () => {
    await world.asPerson('trash_message', { ...IN, messageIds: [canary.messageId] });
    await world.asPerson('remove_canary', { canaryId: canary.canaryId });
    expect(await world.asPerson('get_message', { ...IN, messageId: canary.messageId })).toMatchObject({
      refusal: { error: 'not_found' },
    });
    expect(await counted()).toMatchObject({ canaries: 0, trips: 0 });
  });

  test('of others is not there', async () => {
    for (const name of ['settle_canary', 'remove_canary']) {
      const done = await world.asPerson(name, { canaryId: 'can_77' });
      expect(done).toMatchObject({ refusal: { error: 'not_found' } });
    }
  });

  test('is forgotten with its message, and its secret is still watched', async () => {
    const token = await world.mint();
    const email = rowIn('email', account, canary.messageId) ?? 0;
    await world.world.store.write(destroyEmails, { account, emails: [email], ifState: null, by: null });
    await world.world.store.write(purgeExpunged, { before: Number.MAX_SAFE_INTEGER });
    expect(await counted()).toMatchObject({ canaries: 1, emails: 0, found: 0 });
    const mail = { from: 'me@a.test', to: 'you@x.example', subject: 'Hello', text: canary.honeytoken };
    await world.asToken(token, 'send_email', mail);
    expect(await world.modeOf(token)).toBe('frozen');
  });

  test('is known in every copy of its message, also when only a copy is left', async () => {
    const { store } = world.world;
    const inbox = (await store.read(findMailbox, { account, name: 'INBOX' }))?.id ?? 0;
    await store.write(copyEntries, { account, mailbox: inbox, to: inbox, uids: [1], move: false });
    const { messages } = await world.do('list_messages', IN);
    const [copy] = (messages as { id: string }[]).filter(({ id }) => id !== canary.messageId);
    const open = async (): Promise<unknown> => {
      await world.asToken(await world.mint(), 'get_message', { ...IN, messageId: copy?.id, format: 'facts' });
      return (await world.audited()).map(({ detail }) => (JSON.parse(detail) as { what: string }).what);
    };
    expect(await open()).toEqual(['opened']);
    const email = rowIn('email', account, canary.messageId) ?? 0;
    await store.write(destroyEmails, { account, emails: [email], ifState: null, by: null });
    await store.write(purgeExpunged, { before: Number.MAX_SAFE_INTEGER });
    expect(await counted()).toMatchObject({ emails: 0, found: 1 });
    expect(await open()).toEqual(['opened', 'opened']);
  });

  test('costs who is shown messages a look for each of them, however many canaries and copies there are', async () => {
    using looked = explained(world.sending.made.store.dataDir);
    const email = rowIn('email', account, canary.messageId) ?? 0;
    expect(await canaryMessages.run(looked.tx, { account, emails: [email, email] })).toEqual([1]);
    expect(looked.plans.flat().filter((step) => / (?:c|e)\b/.test(step))).toEqual([
      'SEARCH e USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH c USING INDEX canary_blob (blob_id=?)',
    ]);
  });

  test('goes with its mailbox', async () => {
    await world.asToken(await world.mint(), 'get_message', { ...IN, messageId: canary.messageId });
    await world.world.store.write(dismiss, account);
    expect(await counted()).toMatchObject({ canaries: 0, trips: 0 });
    while ((await world.world.store.write(purgeRemovedAccount, { account })).more);
  });
});
