import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization, tool } from '../support/mcp.ts';

const USING = ['core', 'mail', 'submission', 'vacationresponse'].map((one) => `urn:ietf:params:jmap:${one}`);

type Answer = Record<string, unknown>;

/** A mailbox used over HTTP. */
interface Client {
  call(name: string, args?: Answer): Promise<Answer>;
}

let box: Box;
let anna: Client;
let bert: Client;
let carl: Client;
const NAMES = ['anna', 'bert', 'carl'];

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const { token } = await newOrganization(base, 'Writers');
  const ask = async (name: string, args: object): Promise<Answer> => {
    const { status, body, text } = await tool(base, name, args, token);
    if (status >= 300) throw new Error(text);
    return body;
  };
  await ask('add_email_domain', { domain: 'write.test' });
  await ask('verify_email_domain', { domain: 'write.test' });
  for (const localPart of NAMES) await ask('provision_email', { domain: 'write.test', localPart });
  const profiles = NAMES.map((one) => ask('reveal_email_credentials', { address: `${one}@write.test` }));
  const [one, two, three] = (await Promise.all(profiles)) as { jmap: { token: string } }[];
  anna = await client(one?.jmap.token ?? '');
  bert = await client(two?.jmap.token ?? '');
  carl = await client(three?.jmap.token ?? '');
});
afterAll(() => box[Symbol.asyncDispose]());

async function client(token: string): Promise<Client> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const at = (path: string): string => `http://127.0.0.1:${box.port('http')}${path}`;
  const session = (await (await fetch(at('/.well-known/jmap'), { headers })).json()) as { accounts: object };
  const [accountId] = Object.keys(session.accounts);
  return {
    async call(name, args = {}) {
      const body = JSON.stringify({ using: USING, methodCalls: [[name, { accountId, ...args }, 'c']] });
      const answer = (await (await fetch(at('/jmap/api'), { method: 'POST', headers, body })).json()) as {
        methodResponses: [string, Answer, string][];
      };
      const [first] = answer.methodResponses;
      if (first === undefined || first[0] === 'error') throw new Error(JSON.stringify(answer));
      return first[1];
    },
  };
}

/** Sends from anna, or another mailbox; returns the submission. */
async function send(
  subject: string,
  to: string,
  parameters: Answer = {},
  from = anna,
): Promise<{ id: string; undoStatus: string }> {
  const { list: boxes } = await from.call('Mailbox/get');
  const drafts = (boxes as { id: string; role: string }[]).find(({ role }) => role === 'drafts')?.id ?? '';
  const { list } = await from.call('Identity/get');
  const [{ id: identityId, email } = {}] = list as { id?: string; email?: string }[];
  const made = await from.call('Email/set', {
    create: {
      d: {
        mailboxIds: { [drafts]: true },
        from: [{ email }],
        to: [{ email: to }],
        subject,
        textBody: [{ partId: 't', type: 'text/plain' }],
        bodyValues: { t: { value: 'Hello' } },
      },
    },
  });
  const emailId = (made['created'] as { d: { id: string } }).d.id;
  const envelope = { mailFrom: { email, parameters }, rcptTo: [{ email: to }] };
  const sent = await from.call('EmailSubmission/set', { create: { k: { identityId, emailId, envelope } } });
  return (sent['created'] as { k: { id: string; undoStatus: string } }).k;
}

async function subjects(of: Client): Promise<string[]> {
  const { ids } = await of.call('Email/query');
  const { list } = await of.call('Email/get', { ids, properties: ['subject'] });
  return (list as { subject: string }[]).map((one) => one.subject);
}

test('a canceled message never arrives, another one does', async () => {
  // The canceled message is due before the other one, and after its cancellation.
  const undone = await send('Regret', 'bert@write.test', { HOLDFOR: '8' });
  const kept = await send('No regret', 'bert@write.test', { HOLDFOR: '9' });
  expect(undone.undoStatus).toBe('pending');
  const canceled = await anna.call('EmailSubmission/set', { update: { [undone.id]: { undoStatus: 'canceled' } } });
  expect(canceled['notUpdated']).toBeNull();
  await expect.poll(() => subjects(bert), { timeout: 60_000, interval: 200 }).toContain('No regret');
  const { list } = await anna.call('EmailSubmission/get', { ids: [undone.id, kept.id] });
  expect(list).toMatchObject([{ undoStatus: 'canceled' }, { undoStatus: 'final' }]);
  expect(await subjects(bert)).not.toContain('Regret');
}, 180_000);

test('a vacation response is sent once, also after a kill', async () => {
  await bert.call('VacationResponse/set', { update: { singleton: { isEnabled: true, textBody: 'Back in June' } } });
  await send('First', 'bert@write.test');
  await box.kill();
  await box.start();
  await expect.poll(() => subjects(anna), { timeout: 60_000, interval: 200 }).toContain('Auto: First');
  await send('Second', 'bert@write.test');
  // Processed in order: when carl has his reply, anna's second message was processed.
  await send('Third', 'bert@write.test', {}, carl);
  await expect.poll(() => subjects(carl), { timeout: 60_000, interval: 200 }).toContain('Auto: Third');
  expect((await subjects(anna)).filter((one) => one.startsWith('Auto:'))).toEqual(['Auto: First']);
}, 240_000);
