import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DmarcPolicyCache } from '../../mail/auth/dmarc-policy-cache.ts';
import { ReturnPaths } from '../../mail/delivery/return-path.ts';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { filterMessage, type FilterOptions } from '../../mail/filter/filter-message.ts';
import type { InboundMail } from '../../mail/filter/mail-filter.ts';
import { formatAddress } from '../../mail/message/address.ts';
import type { Finding } from '../../mail/policy/finding.ts';
import { query } from '../../mail/store/engine/types.ts';
import { filterResultsOf } from '../../mail/store/filter/filter-result.ts';
import { addSenderRule } from '../../mail/store/filter/sender-rule.ts';
import { listSuppressions } from '../../mail/store/queue/suppression.ts';
import { receiveMessage, type TestMessage, BOX_KEY, testBackend, toAddress } from '../support/receive-message.ts';
import { fakeResolver, type FakeZone } from '../support/fake-resolver.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const YOU = 'you@remote.example';
const MX = 'mx.remote.example';
/** Both ask to refuse what does not prove that it is theirs, as does a provider that signs its reports in another name. */
const ZONE = {
  'TXT _dmarc.box.test': ['v=DMARC1; p=reject'],
  'TXT _dmarc.remote.example': ['v=DMARC1; p=reject'],
  'TXT _dmarc.outlook.example': ['v=DMARC1; p=reject'],
  'TXT remote.example': ['v=spf1 ip4:198.51.100.1 -all'],
  [`A ${MX}`]: ['192.0.2.1'],
  'PTR 192.0.2.1': [MX],
};

interface Lying extends Record<string, string | number | null> {
  email: number;
  role: string;
  trace: string;
}
const lying = query('test-lying', (rx, input: { account: number }) =>
  rx.all<Lying>(
    `SELECT e.id AS email, m.role, e.trace FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
       JOIN email e ON e.id = n.email_id WHERE e.account_id = ? ORDER BY e.id`,
    input.account,
  ),
);

const STATUS = `Content-Type: message/delivery-status

Reporting-MTA: dns; ${MX}
Arrival-Date: Thu, 1 Jan 2026 00:00:00 +0000

Final-Recipient: rfc822; ${YOU}
Action: failed
Status: 5.1.1
Remote-MTA: dns; ${MX}
Diagnostic-Code: smtp; 550 5.1.1 <${YOU}>: Recipient address rejected: User unknown
`;

interface Bounce {
  from: string;
  text: string;
  subject?: string;
  fields?: string;
  /** Parts that follow the status. */
  more?: string;
}

const bounce = ({
  from,
  text,
  subject = 'Undelivered Mail Returned to Sender',
  fields = '',
  more,
}: Bounce): string => `\
Date: Thu, 1 Jan 2026 00:00:00 +0000
From: ${from}
Subject: ${subject}
To: me@box.test
${fields}Message-Id: <20260101000000.4F2A1@${MX}>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

This is a MIME-encapsulated message.

--b
Content-Type: text/plain; charset=us-ascii

${text}

--b
${STATUS}
--b
${more ?? 'Content-Type: text/rfc822-headers\n\nFrom: me@box.test\nTo: you@remote.example\nSubject: hello\n'}
--b--
`;

const POSTFIX: Bounce = {
  from: `MAILER-DAEMON@${MX} (Mail Delivery System)`,
  fields: 'Auto-Submitted: auto-replied\n',
  text: `This is the mail system at host ${MX}.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n<${YOU}>: User unknown`,
};
const EXIM: Bounce = {
  from: `Mail Delivery System <Mailer-Daemon@${MX}>`,
  subject: 'Mail delivery failed: returning message to sender',
  fields: `Auto-Submitted: auto-replied\nX-Failed-Recipients: ${YOU}\n`,
  text: `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error.\n\n  ${YOU}\n    Unrouteable address`,
};
const EXCHANGE: Bounce = {
  from: 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@remote.example>',
  subject: 'Undeliverable: hello',
  fields: 'Content-Language: en-US\nAuto-Submitted: auto-replied\n',
  text: `Your message to ${YOU} couldn't be delivered.\n\nyou wasn't found at remote.example.`,
  more: 'Content-Type: message/rfc822\n\nFrom: me@box.test\nTo: you@remote.example\nSubject: hello\n\nhello\n',
};
const NOBODY: Bounce = { ...POSTFIX, from: '<>' };

let box: TestStore;
let account: number;

beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
});
afterEach(() => box[Symbol.asyncDispose]());

/** Where reports about a message to somebody go. */
async function reportsGoTo(recipient = YOU): Promise<string> {
  const about = { trace: 'message', account, sender: 'me@box.test', signAs: ['box.test'] };
  const mail = outgoing('From: me@box.test\r\n\r\nhello\r\n', [recipient], about);
  const done = await box.store.write(submit, unlimitedSubmission(mail));
  const id = done.kind === 'taken' ? (done.rows[0] ?? 0) : 0;
  const path = await new ReturnPaths(box.store, BOX_KEY, Date.now).find({ id, sender: toAddress('me@box.test') });
  return path === undefined ? '' : formatAddress(path);
}

async function come(
  mail: Omit<TestMessage, 'to'>,
  to?: string,
  zone: FakeZone = ZONE,
): ReturnType<typeof receiveMessage> {
  const options: FilterOptions = {
    dns: {
      resolver: fakeResolver(zone),
      policies: new DmarcPolicyCache(),
      lists: { findings: () => Promise.resolve([]) },
    },
    hostname: 'mail.box.test',
    scan: undefined,
    trustedSealers: [],
    read: (what, input) => box.store.read(what, input),
  };
  const classifier = { filter: (arrived: InboundMail) => filterMessage(options, arrived) };
  const backend = testBackend(box, { filter: { filter: classifier, checks: true, network: true, slows: () => false } });
  return receiveMessage(backend, { helo: MX, to: to ?? (await reportsGoTo()), ...mail });
}

const where = async (): Promise<Lying[]> => box.store.read(lying, { account });
const suppressed = async (): Promise<string[]> =>
  (await box.store.read(listSuppressions, { tenant: 1, after: '', limit: 10 })).map(({ key }) => key);

/** Rules that count against a message. */
const found = (findings: readonly Finding[] = []): string[] =>
  findings.filter(({ score }) => score > 0).map(({ rule }) => rule);

/** Returns the row and the filter results of the only stored message. */
async function known() {
  const [row, ...others] = await where();
  if (row === undefined || others.length > 0) throw new Error('there should be one message');
  return { row, filtered: (await box.store.read(filterResultsOf, { emails: [row.email] })).get(row.email) };
}

describe('a report of the server that took the message, which cannot prove itself', () => {
  test.each([
    ['Postfix', POSTFIX, 'fail', []],
    ['Exim', EXIM, 'fail', []],
    // It calls itself Microsoft Outlook wherever it runs.
    ['Exchange', EXCHANGE, 'fail', ['borrowed-name']],
    ['an old server', NOBODY, 'none', []],
  ])('%s: comes to the inbox with all that was found out', async (_name, mail, dmarc, held) => {
    expect(await come({ body: bounce(mail) })).toEqual({ kind: 'accepted' });
    const { row, filtered } = await known();
    expect([row.role, found(filtered?.verdict.findings)]).toEqual(['inbox', held]);
    expect(row.trace).toMatch(/\r\nAuthentication-Results: mail\.box\.test;[\s\S]*\r\nX-Mailstead-Verdict: inbox /);
    expect(filtered?.trust.auth.dmarc).toBe(dmarc);
    expect(await suppressed()).toEqual([YOU]);
  });
});

describe('a forgery in the form of a report is Junk, and counts as a report', () => {
  const program = `Content-Type: application/octet-stream; name=invoice.exe
Content-Disposition: attachment; filename=invoice.exe
Content-Transfer-Encoding: base64

${Buffer.from('MZ\x90\0'.padEnd(200, 'x')).toString('base64')}
`;

  test.each<[string, Bounce, string]>([
    ['a colleague with a program', { ...POSTFIX, from: 'boss@box.test', more: program }, YOU],
    ['a colleague', { ...POSTFIX, from: 'boss@box.test' }, YOU],
    ['our own server', { ...POSTFIX, from: 'postmaster@box.test' }, YOU],
    ['a person at the domain of the recipient', { ...POSTFIX, from: 'boss@remote.example' }, YOU],
    ['the server of somebody else', POSTFIX, 'you@other.example'],
    ['the right server, with a program', { ...POSTFIX, more: program }, YOU],
  ])('%s', async (_name, mail, recipient) => {
    expect(await come({ body: bounce(mail) }, await reportsGoTo(recipient))).toEqual({ kind: 'accepted' });
    const { row, filtered } = await known();
    expect([row.role, filtered?.trust.verdict]).toEqual(['junk', 'suspicious']);
    expect(filtered?.trust.flags).toContain('unproven-author');
    expect(row.trace).toMatch(
      /\r\nAuthentication-Results: mail\.box\.test;[\s\S]*dmarc=fail[\s\S]*X-Mailstead-Verdict: /,
    );
    expect(await suppressed()).toEqual([recipient]);
  });

  test('with a sender it is nobody’s report', async () => {
    await come({ from: 'x@other.example', body: bounce(POSTFIX) });
    expect(await where()).toMatchObject([{ role: 'junk' }]);
  });
});

test('one whose author the DNS does not tell now comes again, unless it is of the server that took the message', async () => {
  const zone: FakeZone = { ...ZONE, 'TXT mx.outlook.example': 'trouble', [`TXT ${MX}`]: 'trouble' };
  const elsewhere = { helo: 'mx.outlook.example', body: bounce({ ...POSTFIX, from: 'postmaster@outlook.example' }) };
  expect(await come(elsewhere, undefined, zone)).toMatchObject({ kind: 'refused', code: 451 });
  expect([await where(), await suppressed()]).toEqual([[], []]);
  expect(await come({ body: bounce(POSTFIX) }, undefined, zone)).toEqual({ kind: 'accepted' });
  expect(await where()).toMatchObject([{ role: 'inbox' }]);
});

test('what the mailbox blocks is Junk for it, whoever needs to hear of it', async () => {
  const rule = { outward: false, kind: 'block', pattern: 'remote.example', note: '' } as const;
  await box.store.write(addSenderRule, { tenant: 1, account, ...rule });
  await come({ body: bounce({ ...POSTFIX, from: 'MAILER-DAEMON@remote.example' }) });
  expect(await where()).toMatchObject([{ role: 'junk' }]);
  expect(await suppressed()).toEqual([YOU]);
});
