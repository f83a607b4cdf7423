import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryTrace } from '../../../mail/delivery/deliver.ts';
import { submit } from '../../../mail/delivery/submission-commit.ts';
import { DRAFT } from '../../../mail/store/mailbox/flags.ts';
import { rowId } from '../../../src/core/ids.ts';
import { deliverMail } from '../../support/deliver-mail.ts';
import { filterMail, putMail } from '../../support/put-mail.ts';
import { unlimitedSubmission, outgoing } from '../../support/submission.ts';
import { type Tenant, type Tenants, twoTenants } from '../../support/tenants.ts';

const STRANGER = 'stranger@remote.example';

let tenants: Tenants;
let mailbox: string;
let account: number;
let me: string;
let at: number;
beforeAll(async () => {
  tenants = await twoTenants({}, [filterMail]);
  ({ mailboxId: mailbox, address: me } = tenants.a.main);
  account = accountOf(mailbox);
  at = tenants.clock.now;
});
afterAll(() => tenants[Symbol.asyncDispose]());

function accountOf(mailboxId: string): number {
  return rowId('mailbox', mailboxId) ?? 0;
}

function letter(from: string): string {
  return `From: <${from}>\nTo: <${me}>\nSubject: hello\nContent-Type: text/plain\n\nhello\n`;
}

/** By IMAP APPEND. */
const append = (from: string, more: Partial<Parameters<typeof putMail>[1]> = {}): Promise<string> =>
  putMail(tenants.world.store, { account, receivedAt: (at += 1000), ...more }, letter(from));

/** From the mailbox of somebody who is logged in. */
async function sent({ main }: Pick<Tenant, 'main'>, from = main.address): Promise<void> {
  const by = {
    account: accountOf(main.mailboxId),
    sender: from,
    tenant: rowId('organization', main.organizationId) ?? 0,
  };
  const here = [{ account, to: me, trace: deliveryTrace(from, me) }];
  const mail = outgoing(letter(from), [], { trace: `sent-${(tenants.clock.now += 1000)}`, ...by, here });
  expect(await tenants.world.store.write(submit, unlimitedSubmission(mail))).toMatchObject({ kind: 'taken' });
}

/** Delivers by MX without filtering. */
const unjudged = (from: string): Promise<void> => {
  tenants.clock.now += 1000;
  return deliverMail(tenants.world.store, { account, to: me, trust: null }, letter(from));
};

/** Reads the source facts of a message (default: the newest) from every tool. */
async function said(id?: string): Promise<unknown> {
  const { messages } = (await tenants.do('list_messages', { mailbox, limit: 1 })) as { messages: [{ id: string }] };
  const messageId = id ?? messages[0].id;
  const { message } = (await tenants.do('get_message', { mailbox, messageId })) as {
    message: { trust: null; direction: string; threadId: string; body: { source: { auth: string } } };
  };
  const { thread } = (await tenants.do('get_thread', { threadId: message.threadId, mailbox })) as {
    thread: { messages: { id: string; direction: string; body: { source: { auth: string } } }[] };
  };
  const again = thread.messages.find((one) => one.id === messageId);
  const { auth } = message.body.source;
  expect([again?.direction, again?.body.source.auth]).toEqual([message.direction, auth]);
  expect(message.trust).toBeNull();
  return [message.direction, auth];
}

test('a draft, and a copy of what was sent, are own', async () => {
  expect(await said(await append(me, { folder: 'Drafts', bits: DRAFT }))).toEqual(['out', 'own']);
  expect(await said(await append(me, { folder: 'Sent' }))).toEqual(['out', 'own']);
  expect(await said(await append(me.replace('@', '+shop@'), { folder: 'Sent' }))).toEqual(['out', 'own']);
});

test('mail sent as an alias is own', async () => {
  const { alias } = (await tenants.do('create_alias', { mailboxIds: [mailbox], domain: tenants.a.main.domain })) as {
    alias: { address: string };
  };
  expect(await said(await append(alias.address, { folder: 'Sent' }))).toEqual(['out', 'own']);
});

test('mail to oneself is own, and a colleague’s too, but inbound', async () => {
  await sent(tenants.a);
  expect(await said()).toEqual(['out', 'own']);
  await sent({ main: tenants.a.side });
  expect(await said()).toEqual(['in', 'own']);
});

test('a mailbox of another organization on this box is not', async () => {
  await sent(tenants.b);
  expect(await said()).toEqual(['in', 'none']);
});

test('imported mail is not own, whether of a stranger or in a colleague’s name', async () => {
  for (const from of [STRANGER, tenants.a.side.address, tenants.b.main.address])
    expect(await said(await append(from))).toEqual(['in', 'none']);
});

test('unfiltered mail from outside is not own, whatever its From', async () => {
  for (const from of [STRANGER, me]) {
    await unjudged(from);
    expect(await said()).toEqual(['in', 'none']);
  }
});

test('filtered mail has its DMARC result', async () => {
  const id = await append(me, { trust: { auth: { spf: 'fail', dkim: 'none', dmarc: 'fail' } } });
  const { message } = await tenants.do('get_message', { mailbox, messageId: id });
  expect(message).toMatchObject({ direction: 'in', body: { source: { auth: 'fail' } } });
});
