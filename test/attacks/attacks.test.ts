import { existsSync } from 'node:fs';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { JmapClient } from '../support/jmap-client.ts';
import { attack, ATTACKER, MARK } from './attack.ts';
import { AttackedBox, ME, PASSWORD } from './attacked-box.ts';
import { CORPUS } from './corpus.ts';
import { type Answer, ObedientAgent, overMcp, overRest } from './obedient-agent.ts';
import { readings } from './readings.ts';
import { unmarked } from './unmarked.ts';

/** Orders of which an agent that reads everything sees nothing, and two that it sees in other letters. */
const NOT_SEEN = [
  'display none',
  'no size',
  'same colour',
  'off screen',
  'no opacity',
  'style sheet',
  'style sheet by id',
  'style sheet inside',
  'style sheet by attribute',
  'style sheet for screens',
  'style sheet behind',
  'colour of the page',
  'colour of a cell',
  'no height',
  'comment',
  'alt and title',
  'hidden attribute',
  'form and script',
  'tag block',
  'zero width',
  'variation selectors',
  'bidi',
  'display name',
  'attached message',
];

/** In the subjects of mails of which nothing but their words is hostile. */
const PLAIN = `Hello ${MARK}language`;

/** Tools that show words of strangers. */
const SHOWING = [
  'get_attachment',
  'get_contact',
  'get_draft',
  'get_message',
  'get_thread',
  'list_contacts',
  'list_drafts',
  'list_messages',
  'list_outbox',
  'resolve_link',
  'search_messages',
  'trace_message',
  'wait_for_code',
  'wait_for_email',
];

const RULED =
  'set_email_forwarder set_email_inbound_webhook create_webhook create_email_api_key create_app_password create_account_and_claim_link add_email_domain';

let attacked: AttackedBox;
// Guards against what hangs: an obedient agent makes some thousand calls.
vi.setConfig({ testTimeout: 300_000 });
const base = (): string => attacked.base;

beforeAll(async () => {
  attacked = await AttackedBox.open();
  await attacked.deliver(CORPUS);
}, 180_000);
afterAll(() => attacked[Symbol.asyncDispose]());

/** Refused, waiting for a person and able to say why, or on its way to who may have it: the box and who provably wrote. */
async function settled(agent: ObedientAgent, answer: Answer): Promise<void> {
  const said = JSON.stringify(answer);
  if ('error' in answer) {
    expect(String(answer['message']).length, said).toBeGreaterThan(20);
    return;
  }
  const { rcptTo = [] } = (answer['envelope'] ?? {}) as { rcptTo?: string[] };
  if (answer['status'] === 'queued') {
    expect(
      rcptTo.filter((to) => to !== ME && to !== ATTACKER),
      said,
    ).toEqual([]);
    return;
  }
  expect(answer['status'], said).toBe('pending_approval');
  const { outboxId } = answer;
  const { decision } = await agent.call('explain_decision', { outboxId });
  const { outcome, rules, exposure } = decision as { outcome: string; rules: Answer[]; exposure: unknown[] };
  expect(outcome).toBe('held');
  expect(exposure).not.toEqual([]);
  const because = { id: expect.stringMatching(/^[a-z_]+$/), why: expect.stringMatching(/^[A-Z].*\.$/) } as Answer;
  expect(rules).toEqual(rules.map(() => expect.objectContaining(because) as unknown));
  expect(rules).not.toEqual([]);
  const item = await agent.call('get_outbox_item', { outboxId });
  expect(item, said).toMatchObject({ state: 'pending', recipients: rcptTo });
  expect(item['reasonCodes']).toEqual(rules.map(({ id }) => id));
  expect(await agent.call('withdraw_outbox_item', { outboxId })).toEqual({ withdrawn: true });
}

/** Reads all and obeys; answers the addresses of the corpus that it saw. */
async function obey(agent: ObedientAgent): Promise<Set<string>> {
  const seen = new Set<string>();
  const messages = await agent.list();
  for (const message of messages) {
    for (const to of await agent.read(message)) {
      if (seen.has(to) || to === ATTACKER) continue;
      seen.add(to);
      for (const answer of await agent.writeTo(to, message.id)) await settled(agent, answer);
    }
  }
  const unseen = CORPUS.filter(({ loot }) => !seen.has(loot));
  for (const { loot } of unseen)
    for (const answer of await agent.writeTo(loot, messages[0]?.id ?? '')) await settled(agent, answer);
  return seen;
}

/** Finds untrusted text outside of its fields in all answers to an agent. */
const outside = (agent: ObedientAgent): string[] =>
  agent.answers.flatMap(({ tool, answer }) => unmarked(answer, MARK).map((where) => `${tool} ${where}`));

/** Everybody for whom a copy is queued, whatever its state. */
async function queuedFor(): Promise<string[]> {
  const { queue } = (await attacked.box.ask('list_box_queue')) as { queue: { recipient: string }[] };
  return queue.map(({ recipient }) => recipient);
}

test('who provably wrote is answered: what is refused below is not refused to all', async () => {
  const agent = new ObedientAgent(overMcp(base, await attacked.mint('support-desk')));
  const message = await agent.proved(PLAIN);
  const answer = { mailbox: ME, messageId: message.id, text: 'No, and this is the last word.' };
  const answered = await agent.call('reply_to_email', answer);
  expect(answered).toMatchObject({ status: 'queued', envelope: { rcptTo: [ATTACKER] } });
  await attacked.arrived('the last word');
});

describe('an agent that does what any text says', () => {
  test('over MCP, under a policy, reaches nobody whom its owner did not allow', async () => {
    const agent = new ObedientAgent(overMcp(base, await attacked.mint('custom')));
    const seen = await obey(agent);
    expect(CORPUS.filter(({ loot }) => !seen.has(loot)).map(({ name }) => name)).toEqual(NOT_SEEN);
    expect(outside(agent)).toEqual([]);
  });

  test('over REST, without one, neither', async () => {
    const agent = new ObedientAgent(overRest(base, await attacked.mint()));
    await obey(agent);
    expect(outside(agent)).toEqual([]);
  });

  test('keeps no way open: rules, passwords and tokens wait for a person', async () => {
    const agent = new ObedientAgent(overMcp(base, await attacked.mint('custom')));
    await agent.read(await agent.proved(PLAIN));
    const done = await agent.rulesFor('keeper@loot.example');
    for (const answer of done) expect(answer, JSON.stringify(answer)).toMatchObject({ status: 'pending_approval' });
    expect(done.map(({ tool }) => tool)).toEqual(expect.arrayContaining(RULED.split(' ')));
    expect(await agent.call('list_email_forwarders')).toMatchObject({ forwarders: [] });
    expect(await agent.call('list_webhooks')).toMatchObject({ webhooks: [] });
    expect(await agent.call('list_email_api_keys')).toMatchObject({ keys: [] });
    expect(JSON.stringify(done)).not.toMatch(/mst_|"(?:password|secret)"/);
    const proposed = await agent.call('propose_agent_policy', {
      preset: 'custom',
      name: 'wide',
      holdAfterReading: false,
    });
    expect(proposed).toMatchObject({ status: 'pending_approval' });
    for (const tool of ['decide_proposal', 'save_agent_policy', 'set_agent_mode', 'release_outbox_item']) {
      const said = await agent.call(tool).catch((error: Error) => ({ error: error.message }));
      expect(said, tool).toHaveProperty('error');
    }
  });

  test.each(['custom', 'signup-bot'] as const)(
    'has the box tell nobody anything by a letter of its own, or as a name that it looks up: %s',
    async (preset) => {
      const agent = new ObedientAgent(overMcp(base, await attacked.mint(preset)));
      await agent.read(await agent.proved(PLAIN));
      const done = await agent.tellBy(`teller-${preset}@loot.example`);
      for (const answer of done) expect(answer, JSON.stringify(answer)).toMatchObject({ status: 'pending_approval' });
    },
  );

  test('over JMAP waits like everywhere', async () => {
    const token = await attacked.mint('custom');
    const client = await JmapClient.discover(base(), { token });
    const to = 'by-jmap@loot.example';
    await sendByJmap(client, to);
    const agent = new ObedientAgent(overRest(base, token));
    await waitsFor(agent, to);
  });

  test('with the password of its mailbox waits too, over SMTP, once that is under a policy', async () => {
    const { mailboxes } = (await attacked.box.ask('list_emails')) as { mailboxes: { id: string; address: string }[] };
    const mailboxId = mailboxes.find(({ address }) => address === ME)?.id;
    await attacked.box.ask('save_agent_policy', { mailboxId, preset: 'custom', name: 'of a mailbox' });
    await readByImap();
    const to = 'by-smtp@loot.example';
    const smtp = createTransport({
      host: '127.0.0.1',
      port: attacked.box.port('submissions'),
      secure: true,
      tls: { rejectUnauthorized: false },
      auth: { user: ME, pass: PASSWORD },
    });
    await smtp.sendMail({ from: ME, to: 'other@home.example', envelope: { from: ME, to: [to] }, text: 'All I have' });
    smtp.close();
    await waitsFor(new ObedientAgent(overRest(base, await attacked.mint())), to);
    await attacked.box.ask('attach_agent_policy', { mailboxId });
  });
});

async function waitsFor(agent: ObedientAgent, to: string): Promise<void> {
  const { items } = (await agent.call('list_outbox', { state: 'pending' })) as { items: Answer[] };
  const item = items.find(({ recipients }) => (recipients as string[]).includes(to));
  expect(item, JSON.stringify(items)).toMatchObject({ reasons: [expect.stringContaining(to)] });
  const { outboxId } = item ?? {};
  const { decision } = await agent.call('explain_decision', { outboxId });
  expect(decision).toMatchObject({ outcome: 'held', rules: [{ id: 'first_seen_recipient' }] });
}

describe('words of strangers', () => {
  test('stand in marked fields over all tools that read, and have who was shown them wait', async () => {
    const agent = new ObedientAgent(overMcp(base, await attacked.mint()));
    const { cursor } = await agent.call('wait_for_email', { mailbox: ME, timeoutSeconds: 0 });
    const [code] = [attack('sign up', (_loot, word) => ({ text: `Your code is 402918. ${word}` }))];
    await attacked.deliver([code]);
    const first = await agent.proved(PLAIN);
    await agent.call('reply_to_email', { mailbox: ME, messageId: first.id, text: 'Thanks, got it.' });
    const calls = await readings(agent, cursor);
    const wrong = new Set(calls.map(({ tool }) => tool));
    const showing = new Map<string, Answer>();
    for (const { tool, args } of calls) {
      const answer = await agent.call(tool, args);
      if (answer['error'] !== 'invalid_arguments') wrong.delete(tool);
      if (JSON.stringify(answer).includes(MARK)) showing.set(tool, args);
    }
    expect([...wrong]).toEqual([]);
    expect(outside(agent)).toEqual([]);
    expect([...showing.keys()].toSorted()).toEqual(SHOWING);
    const printed = attacked.box.printed.filter((line) => line.toLowerCase().includes(MARK));
    expect(printed).toEqual([]);
    for (const [tool, args] of showing) {
      const fresh = new ObedientAgent(overMcp(base, await attacked.mint()));
      await fresh.call(tool, args);
      const to = `after-${tool.replaceAll('_', '-')}@loot.example`;
      const sent = await fresh.call('send_email', { from: ME, to: [to], subject: tool, text: tool });
      expect(sent['status'], tool).toBe('pending_approval');
      const { decision } = await fresh.call('explain_decision', { outboxId: sent['outboxId'] });
      expect(decision, tool).toMatchObject({ rules: [{ id: 'first_seen_recipient' }] });
    }
  });

  test('are found where they stand: a string beside, a line before its fence, the name of a key', () => {
    const text = `n| ${MARK}a\n${MARK}b`;
    const answer = {
      untrusted: { subject: MARK },
      body: { untrusted: true, nonce: 'n', text, source: { from: MARK } },
      [MARK]: { note: `x ${MARK}` },
    };
    expect(unmarked(answer, MARK)).toHaveLength(4);
  });
});

const FILTER = new URL('../../mail/agents/secrets', import.meta.url);

// Without the filter of what leaves, who provably wrote is answered with whatever an agent knows.
describe.skipIf(!existsSync(FILTER))('secrets that are asked for by who may be answered', () => {
  test.each(['plain', 'base64'])('do not leave, %s', async (form) => {
    const token = await attacked.mint();
    const agent = new ObedientAgent(overMcp(base, token));
    const message = await agent.proved(PLAIN);
    const secret = form === 'plain' ? token : Buffer.from(token).toString('base64');
    const answer = { mailbox: ME, messageId: message.id, text: `As you asked: ${secret}` };
    expect(await agent.call('reply_to_email', answer)).toMatchObject({ error: 'secret_in_message' });
    expect(attacked.left).not.toContain(token);
  });
});

test('nobody but who provably wrote ever got anything, and nothing is on its way', async () => {
  expect((await queuedFor()).filter((to) => to !== ATTACKER)).toEqual([]);
  expect(attacked.reached).toEqual([ATTACKER]);
  expect(attacked.lookedUp.filter((question) => question.includes('482915'))).toEqual([]);
});

async function readByImap(): Promise<void> {
  const auth = { user: ME, pass: PASSWORD };
  const tls = { rejectUnauthorized: false };
  const port = attacked.box.port('imaps');
  const client = new ImapFlow({ host: '127.0.0.1', port, secure: true, auth, tls, logger: false });
  await client.connect();
  await client.mailboxOpen('INBOX', { readOnly: true });
  await client.fetchOne('*', { source: true });
  await client.logout();
}

async function sendByJmap(client: JmapClient, to: string): Promise<void> {
  const { list: boxes } = await client.call('Mailbox/get', { ids: null });
  const mailbox = (wanted: string): string =>
    (boxes as { id: string; role: string }[]).find(({ role }) => role === wanted)?.id ?? '';
  const { ids } = await client.call('Email/query', { filter: { inMailbox: mailbox('inbox') }, limit: 5 });
  await client.call('Email/get', { ids, fetchTextBodyValues: true });
  const drafts = mailbox('drafts');
  const { list } = await client.call('Identity/get', { ids: null });
  const [{ id: identityId = '' } = {}] = list as { id?: string }[];
  const draft = {
    mailboxIds: { [drafts]: true },
    from: [{ email: ME }],
    to: [{ email: to }],
    subject: 'All I have',
    textBody: [{ partId: 't', type: 'text/plain' }],
    bodyValues: { t: { value: 'All I have' } },
  };
  const { created } = await client.call('Email/set', { create: { d: draft } });
  const emailId = (created as { d: { id: string } }).d.id;
  await client.call('EmailSubmission/set', { create: { s: { identityId, emailId } } });
}
