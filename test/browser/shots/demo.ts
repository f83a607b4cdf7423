import { createTransport } from 'nodemailer';
import { startBox } from '../../support/box.ts';
import { enrolled } from '../../support/factors.ts';
import { tool } from '../../support/mcp.ts';
import { Visitor } from '../../support/visitor.ts';

/** A server with an organization that has something on every page. */
export interface Demo extends AsyncDisposable {
  readonly base: string;
  readonly path: string;
  /** The operator, with a session. */
  readonly visitor: Visitor;
  readonly secret: string;
  readonly mailbox: { address: string; password: string };
  /** Ids in paths, by the first word of the path. */
  readonly ids: Readonly<Record<string, string>>;
}

const PEOPLE = [
  ['anna', 'Anna Berg'],
  ['bert', 'Bert Okafor'],
  ['sales', 'Sales'],
  ['support', 'Support'],
] as const;

export async function startDemo(): Promise<Demo> {
  const box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const links = box.printed.map((line) => /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(line)?.[1]);
  const visitor = new Visitor(base);
  await visitor.post('/auth/sign-in', { token: links.findLast((one) => one !== undefined) ?? '' });
  const token = box.printed.map((line) => /(mst_\w+)/.exec(line)?.[1]).find((one) => one !== undefined) ?? '';
  const call = async (name: string, input: object): Promise<Record<string, unknown>> => {
    const { status, body } = await tool(base, name, input, token);
    if (status >= 300) console.log(`${name}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const ids = await fill(call);
  await deliver(box.port('smtp'), box.address);
  await submit(box.port('submissions'), box);
  ids['queue'] = idOf(await call('list_queue', {}), 'items', 'queueId');
  ids['outbox'] = await holdForApproval(base, box.address, call);
  await deleteMessage(base, box);
  return {
    base,
    path: '/o/org_1',
    visitor,
    get secret() {
      return visitor.secret;
    },
    mailbox: box,
    ids,
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}

/** Subject of the message that an agent answered, and that of the invitation. */
export const HELD = 'About the loom';
export const INVITED = 'Loom review';

/** An agent reads a message and answers it to a stranger as well, so the answer needs approval. Returns its id. */
async function holdForApproval(base: string, mailbox: string, call: ToolCall): Promise<string> {
  const { secret } = await call('create_agent_token', { name: 'Support bot', actions: ['read', 'manage'] });
  const asAgent = async (name: string, input: object): Promise<Record<string, unknown>> =>
    (await tool(base, name, { mailbox, ...input }, String(secret))).body;
  const { messages = [] } = (await asAgent('list_messages', {})) as { messages?: { id: string }[] };
  const messageId = messages.find((one) => JSON.stringify(one).includes(HELD))?.id;
  await asAgent('get_message', { messageId });
  await asAgent('reply_to_email', { messageId, text: 'It does.', cc: ['stranger@elsewhere.example'] });
  return idOf(await call('list_outbox', {}), 'items', 'outboxId');
}

/** Deletes a message for ever, so that the page Deleted messages has one. */
async function deleteMessage(
  base: string,
  { address, password }: { address: string; password: string },
): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${address}:${password}`).toString('base64')}`;
  const session = await fetch(`${base}/.well-known/jmap`, { headers: { authorization } });
  const { apiUrl, primaryAccounts } = (await session.json()) as {
    apiUrl: string;
    primaryAccounts: Record<string, string>;
  };
  const accountId = primaryAccounts['urn:ietf:params:jmap:mail'];
  const found = { resultOf: '0', name: 'Email/query', path: '/ids' };
  const body = JSON.stringify({
    using: ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'],
    methodCalls: [
      ['Email/query', { accountId, filter: { subject: 'Minutes of Thursday' } }, '0'],
      ['Email/set', { accountId, '#destroy': found }, '1'],
    ],
  });
  const headers = { authorization, 'content-type': 'application/json' };
  const done = await fetch(new URL(new URL(apiUrl, base).pathname, base), { method: 'POST', headers, body });
  if (!(await done.text()).includes('"destroyed":["')) console.log('no message was deleted');
}

/** Gives the operator a password and an authenticator app. */
export async function requireFactor({ visitor, mailbox }: Demo): Promise<{ email: string; password: string }> {
  const password = 'a calculus of logic';
  await visitor.act('/account', 'password', { password });
  await enrolled(visitor, { now: Date.now() });
  return { email: mailbox.address, password };
}

type ToolCall = (name: string, input: object) => Promise<Record<string, unknown>>;

async function fill(call: ToolCall): Promise<Record<string, string>> {
  await call('add_email_domain', { domain: 'acme.test' });
  for (const [localPart, displayName] of PEOPLE) {
    await call('provision_email', { domain: 'acme.test', localPart, displayName });
  }
  await call('set_email_forwarder', { sourceAddress: 'info@acme.test', destinationAddress: 'acme@partner.example' });
  await call('create_agent_token', { name: 'Support agent', actions: ['mail_read', 'send', 'organize'] });
  await call('create_email_api_key', { name: 'Shop' });
  await call('create_webhook', { url: 'https://shop.example/events', events: ['email.bounced'] });
  await call('create_service', { name: 'shop' });
  await call('create_alias', { mailboxIds: ['mbx_1'], localPart: 'shop-*', note: 'sign-ups' });
  await call('add_suppression', { address: 'gone@partner.example' });
  await call('start_import', { address: 'me@box.test' });
  return {
    mailboxes: 'mbx_1',
    domains: idOf(await call('list_email_domains', {}), 'domains', 'id'),
    services: idOf(await call('list_services', {}), 'services', 'id'),
    webhooks: idOf(await call('list_webhooks', {}), 'webhooks', 'id'),
  };
}

function idOf(body: Record<string, unknown>, list: string, key: string): string {
  const [first] = (body[list] ?? []) as Record<string, string>[];
  return first?.[key] ?? '';
}

const LETTERS = [
  ['Ada Lovelace <ada@partner.example>', 'About the loom', 'Does it weave?\n\nAda'],
  ['Bank <service@bank-secure.example>', 'URGENT: verify your account', 'Click http://192.0.2.7/verify at once to win'],
  ['Grace Hopper <grace@partner.example>', 'Minutes of Thursday', 'Attached are the minutes.\n\nGrace'],
] as const;

/** An invitation with a file. */
function invitation(to: string) {
  const content = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:loom@partner.example\r
DTSTAMP:20261101T000000Z\r\nDTSTART;TZID=Europe/Berlin:20270112T090000\r\nDURATION:PT1H\r\nRRULE:FREQ=WEEKLY;COUNT=4\r
SUMMARY:Loom review\r\nLOCATION:Engine room\r\nORGANIZER;CN=Ada Lovelace:mailto:ada@partner.example\r
ATTENDEE:mailto:${to}\r\nATTENDEE;CN=Grace Hopper:mailto:grace@partner.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
  return { icalEvent: { method: 'REQUEST', content }, attachments: [{ filename: 'plan.txt', content: 'Weave.' }] };
}

async function deliver(port: number, to: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
  for (const [from, subject, text] of LETTERS) await transport.sendMail({ to, from, subject, text });
  await transport.sendMail({
    to,
    from: LETTERS[0][0],
    subject: 'Loom review',
    text: 'Please come.',
    ...invitation(to),
  });
  // GTUBE, which every filter takes for junk.
  const text = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';
  await transport.sendMail({ to, from: 'Win <win@casino.example>', subject: 'You won', text }).catch(() => undefined);
  transport.close();
}

async function submit(port: number, { address, password }: { address: string; password: string }): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    secure: true,
    auth: { user: address, pass: password },
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({ from: address, to: 'ada@partner.example', subject: 'It does weave', text: 'See you.' });
  transport.close();
}
