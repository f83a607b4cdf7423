import { rowIn } from '../../../src/core/message-ids.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordCorrespondents } from '../../../mail/store/limit/budget.ts';
import { command, type Write } from '../../../mail/store/engine/types.ts';
import { DRAFT, SEEN } from '../../../mail/store/mailbox/flags.ts';
import { rowId } from '../../../src/core/ids.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import type { OperationOutcome } from '../../../src/operations/perform.ts';
import { servicesDir } from '../../../src/services/env-file.ts';
import { logFilePath } from '../../../src/services/log-file.ts';
import { MAX_RESULT_CHARS, sizeOf } from '../../../src/untrusted/result-budget.ts';
import {
  hidingLetter,
  hostileLetter,
  hostileMail,
  hostileText,
  longAddress,
  longHost,
} from '../../support/hostile-mail.ts';
import { filterMail, putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const many = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const SAID = '"\\'.repeat(5_000);

interface Plant {
  tenant: number;
  account: number;
  listener: number;
  email: number;
}

/** Fills the tables with the maximum of data from other servers, programs and agents. */
const plant = command('test-plant-hostile', async (tx, { tenant, account, listener, email }: Plant, { now }) => {
  // As what was delivered.
  const delivered = 'X-Trace: 1\r\n';
  await tx.run(
    `UPDATE email SET trace = ?1, size = size + length(?1) WHERE account_id = ?2 AND trace = ''`,
    delivered,
    account,
  );
  const { id } = await tx.run(
    `INSERT INTO submission (trace, tenant, account_id, blob_id, sender, smtputf8, eight_bit, ret, envid, sign_as, size, created_at)
     SELECT 'hostile', ?, ?, blob_id, ?, 0, 0, '', '', '', b.size, ? FROM email e JOIN blob b ON b.id = e.blob_id WHERE e.id = ?`,
    tenant,
    account,
    longAddress(0),
    now,
    email,
  );
  for (const n of many(110, (i) => i)) {
    await tx.run(
      `INSERT INTO queue (submission_id, recipient, domain, state, next_at, attempts, notify, orcpt, last_at, last_status, last_text, created_at)
       VALUES (?, ?, ?, 0, ?, 3, '', '', ?, '4.7.1', ?, ?)`,
      id,
      longAddress(n),
      longHost(n),
      now + 1e9,
      now,
      SAID,
      now,
    );
    await tx.run(
      `INSERT INTO suppression (tenant, key, reason, source, at, reply_text, trace) VALUES (?, ?, 'hard_bounce', 'reply', ?, ?, 'hostile')`,
      tenant,
      longAddress(n),
      now,
      SAID,
    );
    await tx.run(
      `INSERT INTO webhook_delivery (listener_id, event_id, event, trace, at, url, outcome, request, response, duration_ms)
       VALUES (?, ?, 'delivered', '', ?, ?, 'told', ?, ?, 1)`,
      listener,
      n,
      now,
      `https://hooks.example.net/${'x'.repeat(1_900)}`,
      SAID.slice(0, 1_000),
      SAID,
    );
    const reasons = many(5, (i) => ({ code: `reason_${i}`, text: SAID, recipients: many(50, longAddress) }));
    await tx.run(
      `INSERT INTO approval (id, tenant, account_id, trace, credential, sender, recipients, subject, reasons, sha256, seal, state, created_at, expires_at)
       VALUES (?, ?, ?, ?, 'tok_9', ?, ?, ?, ?, '', '', 'pending', ?, ?)`,
      1_000_000 + n,
      tenant,
      account,
      `asked-${n}`,
      longAddress(n),
      JSON.stringify(many(1_000, longAddress)),
      SAID,
      JSON.stringify(reasons),
      now,
      now + 1e9,
    );
  }
  const line = async (event: string, detail: object): Promise<void> => {
    const sql = `INSERT INTO journal (at, trace, event, account_id, detail, tenant) VALUES (?, 'hostile', ?, ?, ?, ?)`;
    await tx.run(sql, now, event, account, JSON.stringify(detail), tenant);
  };
  await line('submitted', { from: longAddress(0), to: many(500, longAddress), id: `<${SAID}>` });
  await line('received', {
    to: many(200, longAddress),
    folder: 'inbox',
    because: many(50, () => SAID),
    ip: '192.0.2.1',
    helo: SAID,
  });
  for (const n of many(300, (i) => i))
    await line('deferred', { to: longAddress(n), host: longHost(n), text: SAID, status: '4.7.1' });
  const why = many(10, (n) => ({ code: `rule_${n}`, text: SAID, recipients: many(50, longAddress) }));
  const read = many(200, (n) => ({ email: n + 1, author: longAddress(n), verdict: 'clear', authentic: true, at: now }));
  await tx.run(
    `INSERT INTO agent_send (trace, tenant, account_id, reader, credential, outcome, reasons, untrusted_reads, weight, new_recipients, size, at)
     VALUES ('hostile', ?, ?, 'tok_9', 'tok_9', 'held', ?, ?, 1, 0, 1, ?)`,
    tenant,
    account,
    JSON.stringify(why),
    JSON.stringify(read),
    now,
  );
  await recordCorrespondents(tx, account, many(60, longAddress), now);
  await addReports(tx, tenant, now);
  return id;
});

/** Reports of a year by many reporters with long names, about many sources that fail. */
async function addReports(tx: Write, tenant: number, now: number): Promise<void> {
  const domain =
    (await tx.get<{ id: number }>('SELECT id FROM domain WHERE tenant = ? ORDER BY id LIMIT 1', tenant))?.id ?? 0;
  const today = Math.floor(now / 86_400_000);
  for (const n of many(366, (i) => i)) {
    await tx.run(
      `INSERT INTO dmarc_sum (domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain,
         dkim_domain, messages) VALUES (?, ?, 1, ?, ?, 0, 0, 'reject', '', ?, ?, 1000000000)`,
      domain,
      today - n,
      `2001:db8:1111:2222:3333:4444:5555:${(4096 + (n % 80)).toString(16)}`,
      longHost(n),
      longHost(n),
      longHost(n),
    );
    await tx.run(
      `INSERT INTO tls_sum (domain_id, day, trusted, policy_type, result, mx, source, sessions)
       VALUES (?, ?, 1, 'no-policy-found', 'sts-policy-fetch-error', ?, '', 1000000000)`,
      domain,
      today - n,
      longHost(n % 80),
    );
    await tx.run(
      `INSERT INTO received_report (domain_id, kind, organization, report_id, verified, begin_at, end_at, received_at, policy,
         count, failed, problem) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6, 'none', 1, 1, '')`,
      domain,
      n % 2 === 0 ? 'dmarc' : 'tls',
      '\u4e2d'.repeat(95) + String(n % 120),
      String(n),
      longHost(n % 120),
      now - n * 86_400_000,
    );
  }
}

let tenants: Tenants;
let mailbox: string;
let message: string;
let draft: string;
let thread: string;
let since: string;
let queueId: string;
beforeAll(async () => {
  tenants = await twoTenants({}, [filterMail, plant]);
  const { main, caller } = tenants.a;
  const { store, settings } = tenants.world;
  mailbox = main.mailboxId;
  const account = rowId('mailbox', mailbox) ?? 0;
  since = String((await tenants.do('wait_for_email', { mailbox, timeoutSeconds: 0 }))['cursor']);
  let at = tenants.clock.now;
  // Nearly as many and as long as an account takes: 26 of any length, some of which are taken, and 2,000 octets of others.
  const keywords = many(100, (n) => `${n}`.padEnd(n < 18 ? 100 : 23, 'k'));
  const trust = { flags: many(50, (n) => `finding-${n}`) };
  const put = (text: string, more: object = {}): Promise<string> =>
    putMail(store, { account, receivedAt: (at += 1000), trust, keywords, ...more }, text);
  for (const n of many(70, (i) => i)) await put(hostileLetter(n));
  for (const n of many(26, (i) => i)) await put(hidingLetter(n), { trust: { ...trust, verdict: 'quarantined' } });
  message = await put(hostileMail(999));
  for (const n of many(5, (i) => i)) draft = await put(hostileMail(n), { folder: 'Drafts', bits: SEEN | DRAFT });
  const listed = (await tenants.do('list_messages', { mailbox, limit: 1 }))['messages'] as { threadId: string }[];
  thread = listed[0]?.threadId ?? '';
  const email = rowIn('email', account, message) ?? 0;
  const listener = rowId('webhook', main.webhookId) ?? 0;
  const id = await store.write(plant, { tenant: caller.organization ?? 0, account, listener, email });
  queueId = `que_${id}`;
  await mkdir(servicesDir(settings.dataDir), { recursive: true });
  const line = `2026-01-01T00:00:00.000Z ${SAID.slice(0, 4_000)}\n`;
  await writeFile(logFilePath(settings.dataDir, rowId('service', main.serviceId) ?? 0), line.repeat(600));
}, 300_000);
afterAll(() => tenants[Symbol.asyncDispose]());

/** Arguments of each tool: minimal, and for the largest result. */
const REQUESTED: Readonly<Record<string, (() => object)[]>> = {
  list_messages: [() => ({ mailbox }), () => ({ mailbox, limit: 50 })],
  search_messages: [() => ({ mailbox, query: 'is:unread' }), () => ({ mailbox, query: 'is:unread', limit: 50 })],
  get_message: ['text', 'markdown', 'html_sanitized', 'headers', 'facts'].flatMap((format) => [
    () => ({ mailbox, messageId: message, format }),
    () => ({ mailbox, messageId: message, format, maxChars: 60_000, includeQuoted: true }),
  ]),
  get_thread: [
    () => ({ mailbox, threadId: thread }),
    () => ({ mailbox, threadId: thread, maxChars: 60_000, order: 'desc' }),
  ],
  get_attachment: [
    () => ({ mailbox, attachmentId: `${message}-2` }),
    () => ({ mailbox, attachmentId: `${message}-2`, maxChars: 60_000 }),
  ],
  resolve_link: [() => ({ mailbox, messageId: message, handle: 'link:500' })],
  wait_for_email: [
    () => ({ mailbox, since, timeoutSeconds: 0 }),
    () => ({ mailbox, since, timeoutSeconds: 0, limit: 20 }),
  ],
  wait_for_code: [() => ({ mailbox, since, timeoutSeconds: 0, expectFrom: longHost(0) })],
  list_contacts: [() => ({ mailbox }), () => ({ mailbox, limit: 50 })],
  get_contact: [() => ({ mailbox, contact: longAddress(1) })],
  list_quarantine: [() => ({ mailbox })],
  list_drafts: [() => ({ mailbox }), () => ({ mailbox, limit: 50 })],
  get_draft: [() => ({ mailbox, draftId: draft, maxChars: 60_000 })],
  create_draft: [() => ({ mailbox, inReplyTo: message, replyAll: true, text: 'x' })],
  update_draft: [],
  trace_message: [() => ({ messageId: 'hostile' })],
  explain_decision: [() => ({ messageId: 'hostile' })],
  list_queue: [() => ({}), () => ({ limit: 100 })],
  get_queue_item: [() => ({ queueId })],
  list_suppressions: [() => ({}), () => ({ limit: 100 })],
  list_webhook_deliveries: [
    () => ({ webhookId: tenants.a.main.webhookId }),
    () => ({ webhookId: tenants.a.main.webhookId, limit: 100 }),
  ],
  list_outbox: [() => ({}), () => ({ limit: 100 })],
  get_outbox_item: [() => ({ outboxId: 'out_1000001' })],
  read_logs: [
    () => ({ serviceId: tenants.a.main.serviceId }),
    () => ({ serviceId: tenants.a.main.serviceId, limit: 500 }),
  ],
  list_audit_events: [() => ({}), () => ({ limit: 100, verify: true })],
  list_labels: [() => ({ mailbox })],
  check_dns_record: [],
  get_deliverability_report: [() => ({ domainId: tenants.a.main.domainId })],
  get_deliverability: [() => ({ domainId: tenants.a.main.domainId, days: 366 })],
  get_dmarc_report: [() => ({ domainId: tenants.a.main.domainId, days: 366 })],
  get_tls_report: [() => ({ domainId: tenants.a.main.domainId, days: 366 })],
  run_delivery_test: [],
  run_doctor: [],
  get_health: [],
  get_backups: [],
};
/** Those that answer page by page, with as many items as an answer of usual length has. */
const LISTS = /^(?:list_|search_)/;
const USUAL = 22_000;
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['alsoFound', 'blocklists']);

test('every tool with untrusted text is covered', () => {
  const marked = CATALOGUE.filter(({ untrusted }) => untrusted === true).map(({ name }) => name);
  expect(marked.filter((name) => REQUESTED[name] === undefined)).toEqual([]);
});

/** Words are looked for once all mail is indexed. */
async function indexed(name: string, args: object): Promise<OperationOutcome> {
  const done = await tenants.try(name, args);
  if (done.kind === 'done' || done.refusal.error !== 'unavailable') return done;
  await setTimeout(200);
  return indexed(name, args);
}

describe('a result never exceeds the stated limit, whatever a sender sends', () => {
  test.each(Object.entries(REQUESTED))('%s', async (name, queried) => {
    for (const [i, args] of queried.entries()) {
      const done = await indexed(name, args());
      const result = done.kind === 'done' ? done.result : expect.fail(`${name}: ${JSON.stringify(done.refusal)}`);
      expect(sizeOf(result), `${name} ${JSON.stringify(args())}`).toBeLessThanOrEqual(MAX_RESULT_CHARS);
      if (LISTS.test(name) && i === 0) expect(sizeOf(result)).toBeLessThanOrEqual(USUAL);
      const empty = Object.entries(result).filter(([, value]) => Array.isArray(value) && value.length === 0);
      expect(
        empty.filter(([field]) => !MAY_BE_EMPTY.has(field)),
        name,
      ).toEqual([]);
    }
  });
});

test('maxChars bounds a result, and its pieces cover the message', async () => {
  const { main } = tenants.a;
  const at = tenants.clock.now + 1e7;
  const account = rowId('mailbox', mailbox) ?? 0;
  const text = `From: a@x.example\nTo: ${main.address}\nSubject: x\n\n${hostileText(500).slice(0, 160_000)}\n`;
  const messageId = await putMail(tenants.world.store, { account, receivedAt: at, trust: {} }, text);
  const read = async (maxChars: number, offset = 0): Promise<Read> =>
    (await tenants.do('get_message', { mailbox, messageId, maxChars, offset }))['message'] as Read;
  expect(sizeOf(await read(1))).toBeLessThan(1_500);
  const seen = new Set<string>();
  for (let offset: number | null = 0; offset !== null;) {
    const { links, moreLinks = 0, nextOffset, ...rest }: Read = await read(5_000, offset);
    expect(sizeOf({ links, ...rest })).toBeLessThan(12_000);
    expect(links.length + moreLinks).toBe(500);
    for (const { handle } of links) seen.add(handle);
    offset = nextOffset;
  }
  expect(seen.size).toBe(500);
});

interface Read {
  links: { handle: string }[];
  moreLinks?: number;
  nextOffset: number | null;
}

test('pages that end early skip nothing', async () => {
  const seen: string[] = [];
  for (let cursor: unknown; cursor !== null;) {
    const page = await tenants.do('list_messages', { mailbox, limit: 50, ...(cursor !== undefined && { cursor }) });
    seen.push(...(page['messages'] as { id: string }[]).map(({ id }) => id));
    cursor = page['nextCursor'];
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBeGreaterThanOrEqual(97);
});

test('an ordinary message is shown whole, without omitted counts', async () => {
  const account = rowId('mailbox', mailbox) ?? 0;
  const at = tenants.clock.now + 2e7;
  const to = many(3, (n) => `${'a'.repeat(30)}.${n}@department.shop.example`);
  const text = `From: "A name" <a@x.example>\nTo: ${to.join(', ')}\nCc: b@x.example\nSubject: He said "yes"\n\nhello\n`;
  const id = await putMail(tenants.world.store, { account, receivedAt: at, trust: {}, keywords: ['work'] }, text);
  const { messages } = await tenants.do('list_messages', { mailbox, limit: 1 });
  const [first] = messages as object[];
  expect(first).toMatchObject({
    id,
    to: to.map((address) => ({ address })),
    cc: [{ address: 'b@x.example' }],
    labels: ['work'],
  });
  expect(Object.keys(first ?? {}).filter((name) => name.startsWith('more'))).toEqual([]);
});
