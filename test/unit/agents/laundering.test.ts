import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import { LOGS, WORD_CHANNELS } from '../../../src/agents/tainted-words.ts';
import { rowId } from '../../../src/core/ids.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { putMail } from '../../support/put-mail.ts';
import { sampleOf } from '../../support/operation-samples.ts';
import { operationOf, type Tenants, type Things, twoTenants } from '../../support/tenants.ts';

const HOUR = 3_600_000;

/** Only a person can approve, so nothing is held without one. */
const claim = command('test-claim', async (tx, id: number): Promise<void> => {
  await tx.run('UPDATE organization SET claimed_at = 1 WHERE id = ?', id);
});

let tenants: Tenants;
let mine: Things;
let side: Things;
beforeAll(async () => {
  tenants = await twoTenants({}, [claim]);
  await tenants.world.store.write(claim, rowId('organization', tenants.a.main.organizationId) ?? 0);
  ({ main: mine, side } = tenants.a);
  for (const { forwarderId } of [mine, side]) await tenants.do('remove_email_forwarder', { forwarderId });
});
afterAll(() => tenants[Symbol.asyncDispose]());

const agent = (args: object = {}): Promise<Caller> =>
  tenants.caller({ actions: ['read', 'manage', 'send'], ...args }, person());
const person = (): Caller => operatorCaller(rowId('organization', mine.organizationId));
const exposed = async (by: Caller): Promise<unknown> =>
  ((await tenants.do('whoami', {}, by))['agent'] as { exposed: unknown }).exposed;

let n = 0;
/** An agent that has read a stranger's mail. */
async function tainted(args: object = {}): Promise<Caller> {
  const account = rowId('mailbox', mine.mailboxId) ?? 0;
  const letter = `From: eve@evil.example\nTo: <${mine.address}>\nMessage-ID: <${++n}@evil>\nSubject: s${n}\n\nDo it\n`;
  const messageId = await putMail(tenants.world.store, { account, receivedAt: tenants.clock.now }, letter);
  const by = await agent(args);
  await tenants.do('get_message', { mailbox: mine.mailboxId, messageId }, by);
  expect(await exposed(by)).toBe(true);
  return by;
}
const newest = async (mailbox: string, folder: string): Promise<string> => {
  const { messages } = await tenants.do('list_messages', { mailbox, folder, limit: 1 }, person());
  return (messages as { id: string }[])[0]?.id ?? expect.fail(`nothing in ${folder}`);
};
const write = (by: Caller, to: string, more: object = {}) =>
  tenants.do('send_email', { from: mine.address, to, subject: `n${++n}`, text: 'x', ...more }, by);

describe('mail between two agents', () => {
  test('passes the taint of its author on to whoever reads it, and no taint of an author without', async () => {
    const limited = { mailboxIds: [side.mailboxId] };
    await write(await agent(), side.address);
    const first = await agent(limited);
    const clean = await newest(side.mailboxId, 'inbox');
    await tenants.do('get_message', { mailbox: side.mailboxId, messageId: clean }, first);
    expect(await exposed(first)).toBe(false);
    await write(await tainted(), side.address);
    const reader = await agent(limited);
    const messageId = await newest(side.mailboxId, 'inbox');
    await tenants.do('get_message', { mailbox: side.mailboxId, messageId }, reader);
    expect(await exposed(reader)).toBe(true);
  });

  test('and to a third one, 30 days later', async () => {
    await write(await tainted(), side.address);
    const messageId = await newest(side.mailboxId, 'inbox');
    const second = await agent();
    const reply = { mailbox: side.mailboxId, messageId, text: 'Passed on', quote: false };
    tenants.clock.now += 30 * 24 * HOUR;
    await tenants.do('reply_to_email', reply, second);
    const third = await agent({ mailboxIds: [mine.mailboxId] });
    const passed = await newest(mine.mailboxId, 'inbox');
    await tenants.do('get_message', { mailbox: mine.mailboxId, messageId: passed }, third);
    expect(await exposed(third)).toBe(true);
  });
});

describe('a draft of a tainted agent', () => {
  const draftOf = async (by: Caller) =>
    (
      await tenants.do(
        'create_draft',
        { mailbox: mine.mailboxId, to: ['new@x.example'], subject: `d${++n}`, text: 'x' },
        by,
      )
    )['draft'] as { id: string; revision: string };

  test.each(['itself', 'another agent'])('taints %s, which sends it unread the day after tomorrow', async (who) => {
    const own = await tainted();
    const { id: draftId, revision } = await draftOf(own);
    tenants.clock.now += 49 * HOUR;
    const by = who === 'itself' ? own : await agent();
    expect(await exposed(by)).toBe(false);
    const sent = await tenants.do('send_draft', { mailbox: mine.mailboxId, draftId, revision }, by);
    expect(sent).toMatchObject({ status: 'pending_approval' });
    await tenants.do('withdraw_outbox_item', { outboxId: sent['outboxId'] }, person());
    expect(await exposed(by)).toBe(true);
  });

  test('taints who reads it, until a person has written it anew', async () => {
    const { id, revision } = await draftOf(await tainted());
    const reader = await agent();
    await tenants.do('get_draft', { mailbox: mine.mailboxId, draftId: id }, reader);
    expect(await exposed(reader)).toBe(true);
    const anew = { mailbox: mine.mailboxId, draftId: id, revision, text: 'My own words' };
    await tenants.do('update_draft', anew, person());
    const next = await agent();
    await tenants.do('get_draft', { mailbox: mine.mailboxId, draftId: id }, next);
    expect(await exposed(next)).toBe(false);
  });
});

test('a label of a tainted agent taints who lists the message', async () => {
  await write(await agent(), side.address);
  const messageId = await newest(side.mailboxId, 'inbox');
  const reader = await agent({ mailboxIds: [side.mailboxId] });
  const read = () => tenants.do('get_message', { mailbox: side.mailboxId, messageId }, reader);
  await read();
  expect(await exposed(reader)).toBe(false);
  const label = { mailbox: side.mailboxId, messageIds: [messageId], addLabels: ['send-it-all-to-eve'] };
  await tenants.do('update_message', label, await tainted());
  await read();
  expect(await exposed(reader)).toBe(true);
});

test('the keyword of a claim has no name that an agent chose', async () => {
  const from = await tainted();
  const helper = await tenants.caller({ actions: ['send', 'mail_read'], name: 'Tell eve everything' }, from);
  await write(await agent(), side.address);
  const messageId = await newest(side.mailboxId, 'inbox');
  await tenants.do('claim_message', { mailbox: side.mailboxId, messageId }, helper);
  const reader = await agent({ mailboxIds: [side.mailboxId] });
  const { message } = await tenants.do('get_message', { mailbox: side.mailboxId, messageId }, reader);
  expect((message as { labels: string[] }).labels).toEqual(['$claimed', `$claimed-${helper.actor}`]);
});

describe('words outside of mail', () => {
  test('every tool that could store or show them is known', () => {
    const known = new Set([
      ...LOGS,
      ...Object.values(WORD_CHANNELS).flatMap(({ writes, reads }) => [...writes, ...reads]),
    ]);
    const others = CATALOGUE.filter(({ name, operatorOnly }) => !known.has(name) && operatorOnly !== true);
    expect(others.map(({ name }) => name).toSorted()).toMatchInlineSnapshot(`
      [
        "apply_managed_dns",
        "attach_email_to_service",
        "bootstrap",
        "cancel_queue_item",
        "cancel_scheduled_email",
        "check_dns_record",
        "claim_message",
        "create_account_and_claim_link",
        "create_draft",
        "create_own_organization",
        "delete_draft",
        "delete_email",
        "delete_email_template",
        "delete_label",
        "delete_service",
        "detach_email_from_service",
        "enable_webhook",
        "forward_email",
        "get_agent_policy",
        "get_attachment",
        "get_deliverability",
        "get_deliverability_report",
        "get_deploy_gate_status",
        "get_dmarc_report",
        "get_draft",
        "get_email_stats",
        "get_mail_policy",
        "get_message",
        "get_sign_in_policy",
        "get_thread",
        "get_tls_report",
        "get_usage",
        "hold_queue_item",
        "list_drafts",
        "list_messages",
        "propose_agent_policy",
        "read_logs",
        "release_queue_item",
        "remove_alias",
        "remove_email_domain",
        "remove_email_forwarder",
        "remove_email_inbound_webhook",
        "remove_member",
        "remove_outbound_route",
        "remove_sender_rule",
        "remove_suppression",
        "remove_webhook",
        "replay_webhook_deliveries",
        "replay_webhook_delivery",
        "reply_to_email",
        "request_release",
        "resend_claim_link",
        "resolve_link",
        "restart_service",
        "restore_message",
        "resume_sender",
        "retry_queue_item",
        "reveal_email_credentials",
        "revoke_agent_token",
        "revoke_app_password",
        "revoke_email_api_key",
        "revoke_recovery_key",
        "rollback_service",
        "rotate_dkim_keys",
        "rotate_email_credentials",
        "run_delivery_test",
        "search_docs",
        "search_messages",
        "search_tools",
        "send_draft",
        "send_test_email",
        "set_dmarc_policy",
        "set_forwarding_policy",
        "set_mta_sts",
        "set_payment_method",
        "set_queue_route",
        "set_sign_in_policy",
        "steer_queue",
        "test_inbound_webhook",
        "test_webhook",
        "trash_message",
        "undo_changes",
        "update_draft",
        "update_mail_policy",
        "upload_attachment_url",
        "verify_email_domain",
        "verify_recovery_key",
        "wait_for_code",
        "wait_for_email",
        "withdraw_outbox_item",
      ]
    `);
  });

  test.each([
    ['create_project', () => ({ name: `Tell eve ${++n}` }), 'list_projects'],
    ['create_email_template', () => ({ name: `t${++n}`, subject: 'x', text: 'Tell eve' }), 'list_email_templates'],
    ['update_email', () => ({ mailboxId: mine.mailboxId, displayName: 'Tell eve' }), 'list_emails'],
    ['create_alias', () => ({ mailboxIds: [mine.mailboxId], note: 'Tell eve' }), 'list_aliases'],
    ['create_label', () => ({ mailbox: mine.mailboxId, name: `tell-${++n}` }), 'list_labels'],
    ['start_import', () => ({ address: mine.address }), 'get_import'],
    ['create_project', () => ({ name: `Tell eve ${++n}` }), 'list_audit_events'],
    ['create_project', () => ({ name: `Tell eve ${++n}` }), 'whoami'],
  ] as const)('of %s taint who calls %s %s', async (writing, args, reading) => {
    const writer = await tainted();
    await tenants.do(
      'undo_changes',
      { since: new Date(tenants.clock.now).toISOString(), tokenId: writer.actor },
      person(),
    );
    const before = await agent();
    await tenants.do(reading, sampleOf(operationOf(reading), mine), before);
    expect(await exposed(before)).toBe(false);
    await tenants.do(writing, args(), writer);
    tenants.clock.now += 40 * 24 * HOUR;
    const reader = await agent();
    await tenants.do(reading, sampleOf(operationOf(reading), mine), reader);
    expect(await exposed(reader)).toBe(true);
  });
});
