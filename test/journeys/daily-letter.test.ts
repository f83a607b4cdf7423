import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { changeBox, rowsOfBox } from '../support/box-database.ts';
import { http, tool } from '../support/mcp.ts';
import { type RemoteHost, remoteHost } from '../support/remote-host.ts';
import { leads, ownedOrganization, type Owned } from '../support/visitor.ts';
import { Wire } from '../support/wire.ts';

const HOST = 'mail.home.example';
const ME = 'me@home.example';
const SUBJECT = 'Daily digest: agents of';
const WAITING = { timeout: 60_000 };
const USING = ['core', 'mail', 'submission'].map((one) => `urn:ietf:params:jmap:${one}`);

let remote: RemoteHost;
let box: Box;
let base: string;
/** Its owner's address is elsewhere. */
let acme: Owned;
/** Its owner's mail is on this box. */
let home: Owned;
let late: Owned;
/** Its owner never showed that the address is theirs: it is somebody else's. */
let typo: Owned;
let password: string;

beforeAll(async () => {
  remote = await remoteHost();
  const settings = {
    RESOLVERS: remote.dns.address,
    OUTBOUND_PORT: String(remote.port),
    EXEMPT_NETWORKS: '127.0.0.0/8',
  };
  box = await startBox({ hostname: HOST, settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  ({ password } = (await box.ask('add_mailbox', { address: ME })) as { password: string });
  acme = await ownedOrganization(base, 'Acme', 'ada@remote.example');
  home = await ownedOrganization(base, 'Home', ME);
  late = await ownedOrganization(base, 'Late', 'eve@remote.example');
  typo = await ownedOrganization(base, 'Typo', 'adda@remote.example');
  await startedAfterNight([acme, home], [typo]);
}, 240_000);
afterAll(async () => {
  for (const one of [box, remote]) await one[Symbol.asyncDispose]();
});

/**
 * Kills the box, records sends of agents before this morning, and starts it again. The addresses of `owned` are
 * verified, so that these organizations get the letter.
 */
async function startedAfterNight(owned: readonly Owned[], untold: readonly Owned[] = []): Promise<void> {
  await box.kill();
  const morning = Math.floor((Date.now() - 6 * 3_600_000) / 86_400_000) * 86_400_000 + 6 * 3_600_000;
  const tokens = 'SELECT id FROM token WHERE organization_id = ? ORDER BY id LIMIT 1';
  const insert = `INSERT INTO agent_send (trace, tenant, reader, credential, outcome, reasons, untrusted_reads, weight, new_recipients, size, at)
     VALUES (?1, ?2, ?3, ?3, 'taken', '[]', '[]', 1, 0, 1, ?4)`;
  const prove =
    'UPDATE user SET address_verified_at = 1 WHERE id IN (SELECT user_id FROM member WHERE organization_id = ?)';
  for (const { id } of owned) await changeBox(box.dataDir, prove, Number(id.slice(4)));
  for (const { id } of [...owned, ...untold]) {
    const tenant = Number(id.slice(4));
    const [first] = await rowsOfBox(box.dataDir, tokens, tenant);
    const token = `tok_${String(first?.['id'])}`;
    await changeBox(box.dataDir, insert, `night ${id}`, tenant, token, morning - 1000);
  }
  const told = box.log.length;
  await box.start();
  for (const { id } of owned) {
    const organization = Number(id.slice(4));
    const isIt = (line: object): boolean => 'notices' in line && 'agents' in line && 'organization' in line;
    await box.logged((line) => box.log.indexOf(line) >= told && isIt(line) && line['organization'] === organization);
  }
}

const lettersTo = (address: string, subject: string): string[] =>
  remote.mails
    .filter(({ to, text }) => to.includes(address) && text.includes(`Subject: ${subject}`))
    .map(({ text }) => text.replaceAll('=\r\n', ''));

async function letterTo(address: string, subject: string): Promise<string> {
  await expect.poll(() => lettersTo(address, subject).length).toBeGreaterThan(0);
  return lettersTo(address, subject).at(-1) ?? '';
}

const answerAt = (letter: string): string => /\r\nReply-To:\s+(\S+)\r\n/.exec(letter)?.[1] ?? '';

/** Answer to a call by an agent of an organization. */
async function agentOf(owned: Owned): Promise<string> {
  const { status, text } = await tool(base, 'list_emails', {}, owned.token);
  return status === 200 ? 'works' : text;
}

/** Hands an answer over as another server does; the last reply. */
async function answered(to: string, message: string, from = 'ada@remote.example'): Promise<string> {
  using wire = await Wire.open(box.port('smtp'));
  await wire.reply();
  await wire.command('EHLO mx.remote.example');
  await wire.command(`MAIL FROM:<${from}>`);
  const taken = await wire.command(`RCPT TO:<${to}>`);
  if (!taken.startsWith('250')) return taken;
  await wire.command('DATA');
  wire.send(Buffer.from(`${message.replace(/\r?\n/g, '\r\n')}\r\n.\r\n`));
  return await wire.reply(); // before the connection goes
}

const reply = (own: string): string => `From: Ada <ada@remote.example>
Subject: Re: Daily digest: agents of Acme
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

${Buffer.from(`${own}\n\nAm 22.11.26 um 07:01 schrieb Mailstead:\n> answer with STOP\n> STOP\n`).toString('base64')}
`;

async function jmap(calls: [string, object][]): Promise<Record<string, unknown>[]> {
  const headers = {
    authorization: `Basic ${Buffer.from(`${ME}:${password}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  const session = (await (await fetch(`${base}/.well-known/jmap`, { headers })).json()) as {
    primaryAccounts: Record<string, string>;
  };
  const accountId = session.primaryAccounts['urn:ietf:params:jmap:mail'];
  const methodCalls = calls.map(([name, args], i) => [name, { accountId, ...args }, `c${i}`]);
  const body = JSON.stringify({ using: USING, methodCalls });
  const said = (await (await fetch(`${base}/jmap/api`, { method: 'POST', headers, body })).json()) as {
    methodResponses: [string, Record<string, unknown>][];
  };
  return said.methodResponses.map(([, one]) => one);
}

interface Mail {
  subject: string;
  replyTo: { email: string }[] | null;
  bodyValues: Record<string, { value: string }>;
}

async function mailbox(): Promise<Mail[]> {
  const [, got] = await jmap([
    ['Email/query', {}],
    [
      'Email/get',
      {
        '#ids': { resultOf: 'c0', name: 'Email/query', path: '/ids' },
        properties: ['subject', 'replyTo', 'bodyValues'],
        fetchTextBodyValues: true,
      },
    ],
  ]);
  return (got?.['list'] ?? []) as Mail[];
}

test('each owner has one letter about its own agents, also over a kill', { timeout: 240_000 }, async () => {
  await letterTo('ada@remote.example', SUBJECT);
  await startedAfterNight([late]);
  await letterTo('eve@remote.example', SUBJECT);
  const [letter = '', ...more] = lettersTo('ada@remote.example', SUBJECT);
  expect(more).toEqual([]);
  expect(letter).toContain('what agents of "Acme" did');
  expect(letter).toContain('sent 1 message');
  expect(letter).not.toMatch(/Home|Late/);
  expect((await mailbox()).filter(({ subject }) => subject.startsWith(SUBJECT))).toHaveLength(1);
});

test('an address that was never proved gets none, and its owner reads in the portal why', async () => {
  expect(lettersTo('adda@remote.example', SUBJECT)).toEqual([]);
  expect((await typo.owner.get(`${typo.path}/agents`)).text).toContain('Not sent yet');
  expect((await acme.owner.get(`${acme.path}/agents`)).text).not.toContain('Not sent yet');
});

test('no page that it names does anything without signing in', async () => {
  const [own] = (await mailbox()).filter(({ subject }) => subject.startsWith(SUBJECT));
  const text = Object.values(own?.bodyValues ?? {})[0]?.value ?? '';
  const links = text.match(/https?:\/\/\S+/g) ?? [];
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const { status, headers } = await http('GET', `${base}${new URL(link).pathname}`);
    expect([status, String(headers['location'])]).toEqual([303, expect.stringContaining('/login')]);
  }
});

describe('an answer', () => {
  test('to an address that the box did not make is for nobody', async () => {
    const to = answerAt(await letterTo('ada@remote.example', SUBJECT));
    const guessed = to.replace(/.@/, (last) => (last === 'a@' ? 'b@' : 'a@'));
    expect(await answered(guessed, reply('STOP'))).toMatch(/^550 5\.[17]\.1/);
    expect(await agentOf(acme)).toBe('works');
  });

  test('without STOP changes nothing and is informed once; one of a program is nothing', async () => {
    const to = answerAt(await letterTo('ada@remote.example', SUBJECT));
    expect(await answered(to, `Auto-Submitted: auto-replied\n${reply('STOP')}`)).toMatch(/^250/);
    for (const own of ['Thank you', 'START']) expect(await answered(to, reply(own))).toMatch(/^250/);
    await letterTo('ada@remote.example', 'Your reply changed nothing');
    expect(await agentOf(acme)).toBe('works');
    expect(lettersTo('ada@remote.example', 'Your reply changed nothing')).toHaveLength(1);
  });

  test(
    'STOP stops all agents of that owner before it is acknowledged, and nobody else',
    { timeout: 60_000 },
    async () => {
      const to = answerAt(await letterTo('ada@remote.example', SUBJECT));
      expect(await answered(to, reply('Stop, please'))).toMatch(/^250/);
      await box.kill();
      await box.start();
      expect(await agentOf(acme)).toMatch(/stopped|frozen/);
      expect([await agentOf(home), await agentOf(late)]).toEqual(['works', 'works']);
    },
  );

  test('cannot start them: only who is signed in can', async () => {
    const to = answerAt(await letterTo('ada@remote.example', SUBJECT));
    expect(await answered(to, reply('START'))).toMatch(/^250/);
    expect(await agentOf(acme)).toMatch(/stopped|frozen/);
    const page = `${acme.path}/agents`;
    expect(leads(await acme.owner.act(page, 'start'))).toBe(`303 ${page}?done=started`);
    expect(await agentOf(acme)).toBe('works');
    expect(await answered(to, reply('STOP'))).toMatch(/^250/);
    expect(await letterTo('ada@remote.example', 'All your agents are stopped')).toContain(page);
  });

  test('of who writes from a mailbox of this box does the same, by SMTP and by JMAP', async () => {
    const [own] = (await mailbox()).filter(({ subject }) => subject.startsWith(SUBJECT));
    const to = own?.replyTo?.[0]?.email ?? '';
    const smtp = createTransport({
      host: '127.0.0.1',
      port: box.port('submissions'),
      secure: true,
      tls: { rejectUnauthorized: false },
      auth: { user: ME, pass: password },
    });
    await smtp.sendMail({ from: ME, to, subject: 'Re: it', html: '<div>STOP</div><blockquote>you wrote</blockquote>' });
    smtp.close();
    expect(await agentOf(home)).toMatch(/stopped|frozen/);
    await home.owner.act(`${home.path}/agents`, 'start');
    expect(await agentOf(home)).toBe('works');
    await answerByJmap(to);
    expect(await agentOf(home)).toMatch(/stopped|frozen/);
    await home.owner.act(`${home.path}/agents`, 'start');
    // A scheduled reply counts now.
    await answerByJmap(to, { HOLDFOR: '2' });
    expect(await agentOf(home)).toMatch(/stopped|frozen/);
    const left = async () => (await jmap([['EmailSubmission/get', {}]]))[0]?.['list'] as { undoStatus: string }[];
    await expect.poll(async () => (await left()).map((one) => one.undoStatus), WAITING).toEqual(['final', 'final']);
    const told = (await mailbox()).filter(({ subject }) => subject === 'All your agents are stopped');
    expect(told).toHaveLength(3);
    expect(JSON.stringify(await left())).not.toContain('"delivered":"no"');
  });
});

async function answerByJmap(to: string, parameters: Record<string, string> | null = null): Promise<void> {
  const [boxes = {}, identities = {}] = await jmap([
    ['Mailbox/get', {}],
    ['Identity/get', {}],
  ]);
  const drafts = (boxes['list'] as { id: string; role: string }[]).find(({ role }) => role === 'drafts')?.id ?? '';
  const [{ id: identityId } = { id: '' }] = identities['list'] as { id: string }[];
  const draft = {
    mailboxIds: { [drafts]: true },
    from: [{ email: ME }],
    to: [{ email: to }],
    subject: 'Re: it',
    textBody: [{ partId: 't', type: 'text/plain' }],
    bodyValues: { t: { value: 'stop all' } },
  };
  const envelope = { mailFrom: { email: ME, parameters }, rcptTo: [{ email: to, parameters: null }] };
  const [, sent] = await jmap([
    ['Email/set', { create: { d: draft } }],
    ['EmailSubmission/set', { create: { s: { identityId, emailId: '#d', envelope } } }],
  ]);
  expect(sent?.['created'], JSON.stringify(sent)).toHaveProperty('s');
}

test('an owner turns the letter off and on where its agents are', async () => {
  const page = `${late.path}/agents`;
  expect((await late.owner.get(page)).text).toContain('Turn off');
  expect(leads(await late.owner.act(page, 'letter', { on: 'no' }))).toBe(`303 ${page}?done=off`);
  expect((await late.owner.get(page)).text).toContain('Turn on');
  expect(leads(await late.owner.act(page, 'letter', { on: 'yes' }))).toBe(`303 ${page}?done=on`);
});
