import { generateKeyPairSync, sign } from 'node:crypto';
import { MailboxReader } from './mailbox-reader.ts';
import { tool } from './mcp.ts';
import { spki, type Things, withFile } from './tenants.ts';

type Result = Record<string, unknown>;

/** An organization on a running box: its things, and its credentials. */
export interface BoxTenant {
  things: Things;
  token: string;
  /** An API key of the send API, and a message that it sent. */
  key: string;
  keySentId: string;
}

/** A receiver that nobody is at: connections to it are refused. */
export const HOOK = 'http://127.0.0.1:9/hook';

/** Creates an organization with one of everything, over REST and IMAP, as far as a program can. */
export async function makeBoxTenant(base: string, imap: number, word: string): Promise<BoxTenant> {
  const call = caller(base);
  const owner = { ownerEmail: `owner@${word}-home.test`, organizationName: `${word} inc` };
  const made = await call('create_account_and_claim_link', owner);
  const token = String(made['token']);
  const own = caller(base, token);
  const get = async (name: string, args: object, of: string, id = 'id'): Promise<string> =>
    String(((await own(name, args))[of] as Result)[id]);
  const organization = made['organization'] as Result;
  const domain = `${word}.test`;
  const address = `anna@${domain}`;
  const active = await recoveryKey(own, 'first');
  await own('verify_recovery_key', { keyId: active.keyId, signature: active.signature });
  const pending = await recoveryKey(own, 'second');
  const projectId = await get('create_project', { name: `${word} project` }, 'project');
  const domainId = await get('add_email_domain', { projectId, domain }, 'domain');
  await own('verify_email_domain', { domainId });
  const mailboxId = await get('provision_email', { domainId, localPart: 'anna', displayName: word }, 'mailbox');
  const serviceId = await get('create_service', { projectId, name: `${word} service` }, 'service');
  await own('deploy_service', { serviceId, env: { TITLE: word }, spec: { title: word } });
  await own('attach_email_to_service', { mailboxId, serviceId });
  await own('set_email_inbound_webhook', { mailboxId, url: HOOK });
  await putMessages(own, imap, { mailboxId, address, word });
  await own('create_label', { mailbox: mailboxId, name: `${word}-label` });
  await own('add_suppression', { address: 'gone@gone.example' });
  const { secret: key } = await own('create_email_api_key', { name: 'sends' });
  const { id: keySentId } = await sendByKey(base, String(key), { from: address, to: `to@${word}.example` });
  const { members } = await own('list_members');
  const deletedMailboxId = await get('provision_email', { domainId, localPart: 'gone' }, 'mailbox');
  await own('delete_email', { mailboxId: deletedMailboxId });
  const deletedServiceId = await get('create_service', { projectId, name: `${word} gone` }, 'service');
  await own('delete_service', { serviceId: deletedServiceId });
  const forward = { sourceAddress: address, destinationAddress: `boss@${word}.example` };
  const things: Things = {
    organizationId: String(organization['id']),
    slug: String(organization['slug']),
    deletedMailboxId,
    deletedServiceId,
    projectId,
    domainId,
    domain,
    mailboxId,
    address,
    serviceId,
    ...forward,
    // Only a person can make a policy.
    policyId: 'pol_1',
    apiKeyId: await get('create_email_api_key', { projectId, name: 'key', allowedDomains: [domain] }, 'key'),
    importId: await get('start_import', { mailboxId }, 'import', 'importId'),
    aliasId: await get('create_alias', { mailboxIds: [mailboxId], localPart: `${word}-alias` }, 'alias'),
    ruleId: await get('add_sender_rule', { mailboxId, kind: 'block', pattern: `${word}.blocked.example` }, 'rule'),
    forwarderId: await get('set_email_forwarder', forward, 'forwarder'),
    routeId: await get('set_outbound_route', { host: '127.0.0.1', senderDomain: domain }, 'route', 'routeId'),
    webhookId: await get('create_webhook', { projectId, url: HOOK }, 'webhook'),
    ...(await outgoing(own, address)),
    templateId: await get('create_email_template', { name: `${word} text`, subject: word, text: word }, 'template'),
    appPasswordId: await get('create_app_password', { mailboxId, name: `${word} phone` }, 'appPassword'),
    tokenId: await get('create_agent_token', { name: `${word} token`, actions: ['read'], projectId }, 'token'),
    userId: String((members as { userId: string }[])[0]?.userId),
    activeKeyId: active.keyId,
    pendingKeyId: pending.keyId,
    pendingSignature: pending.signature,
  };
  return { things, token, key: String(key), keySentId: String(keySentId) };
}

type Call = (name: string, args?: object) => Promise<Result>;

function caller(base: string, token?: string): Call {
  return async (name, args = {}) => {
    const { status, body, text } = await tool(base, name, args, token);
    if (status >= 300) throw new Error(`${name}: ${text}`);
    return body;
  };
}

async function sendByKey(base: string, key: string, mail: object): Promise<Result> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ ...mail, subject: 'by key', text: 'by key' });
  const said = await fetch(`${base}/api/email/send`, { method: 'POST', headers, body });
  return (await said.json()) as Result;
}

/** A message with a file in INBOX, and three drafts: the ids of the samples go by this order. */
async function putMessages(
  call: Call,
  imap: number,
  { mailboxId, address, word }: { mailboxId: string; address: string; word: string },
): Promise<void> {
  const { imap: login } = (await call('reveal_email_credentials', { mailboxId, reason: 'a test' })) as {
    imap: { password: string };
  };
  using reader = await MailboxReader.open(imap, address, login.password);
  const crlf = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'));
  const mail = `From: x@${word}.example\nMessage-ID: <1@${word}.example>\nSubject: ${word}\n${withFile(word)}`;
  await reader.append('INBOX', crlf(mail));
  for (const n of [1, 2, 3]) {
    const draft = `From: <${address}>\nTo: to@${word}.example\nMessage-ID: <draft-${n}@${word}.test>\nSubject: ${n}\n\n${word}\n`;
    await reader.append('Drafts (\\Draft \\Seen)', crlf(draft));
  }
}

async function recoveryKey(call: Call, label: string): Promise<{ keyId: string; signature: string }> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { keyId, challenge } = await call('register_recovery_key', { label, publicKey: spki(publicKey) });
  const octets = Buffer.from(String(challenge), 'base64url');
  return { keyId: String(keyId), signature: sign(null, octets, privateKey).toString('base64') };
}

/** Two messages for tomorrow, and one in the queue, which local mode holds. */
async function outgoing(call: Call, from: string): Promise<Pick<Things, 'sentId' | 'outboxId' | 'queueId' | 'heldId'>> {
  const mail = { from, to: 'to@else.example', subject: from, text: from };
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const { id } = await call('send_email', { ...mail, sendAt });
  const { outboxId } = await call('send_email', { ...mail, sendAt, allowDuplicate: true });
  await call('send_email', { ...mail, allowDuplicate: true });
  const { items } = (await call('list_queue')) as { items: { queueId: string }[] };
  const queueId = String(items[0]?.queueId);
  return { sentId: String(id), outboxId: String(outboxId), queueId, heldId: queueId };
}
