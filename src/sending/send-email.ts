import { createHash, randomBytes } from 'node:crypto';
import { deliveryTrace } from '../../mail/delivery/deliver.ts';
import { planForwards } from '../../mail/delivery/forward.ts';
import { routeOutward } from '../../mail/delivery/route.ts';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { type Address, addressKey, formatAddress, needsUtf8 } from '../../mail/message/address.ts';
import { composeMessage } from '../../mail/message/compose-message.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import { overText } from '../../mail/receiver/over-text.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { domainsOf } from '../../mail/store/domain.ts';
import { publicId } from '../ids.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { allowanceOf } from './allowance.ts';
import { type EmailRequest, sendTime } from './email-request.ts';
import type { Sender } from './key-auth.ts';
import { sendEmail, type SendOutcome, type SendRequest } from './sent-commands.ts';

export interface SendResult {
  id: string | null;
  status: 'queued' | 'scheduled' | 'dry_run';
  messageId: string | null;
  rfc822MessageId: string;
  recipients: { address: string; state: 'queued' | 'suppressed' | 'delivered' }[];
  envelope: { mailFrom: string; rcptTo: string[] };
  sha256: string;
  scheduledAt: string | null;
  /** The id of the message that the same idempotency key sent before. */
  duplicateOf: string | null;
}

/** Sends what a program asks for, or throws a refusal that says what to do. Nothing is half sent. */
export async function sendFor(world: World, sender: Sender, request: EmailRequest): Promise<SendResult> {
  await checkAuthor(world, sender, request);
  const sendAt = sendTime(request, world.clock());
  if (sendAt === undefined) {
    return refuse('invalid_arguments', 'sendAt lies more than 30 days ahead.', {
      issues: [{ path: 'sendAt', message: 'is too far off' }],
    });
  }
  const { outgoing, data, messageId, sha256 } = await prepare(world, sender, request);
  const rcptTo = [...outgoing.here.map((one) => one.to), ...outgoing.elsewhere.map((one) => one.recipient)];
  const facts = {
    rfc822MessageId: messageId,
    envelope: { mailFrom: outgoing.sender, rcptTo },
    sha256,
    scheduledAt: sendAt === null ? null : new Date(sendAt).toISOString(),
  };
  const all = rcptTo.map((address) => ({ address, state: 'queued' as const }));
  if (request.dryRun) {
    return { id: null, messageId: null, status: 'dry_run', recipients: all, duplicateOf: null, ...facts };
  }
  const { organization, credential } = sender;
  const done = await commit(world, data, {
    outgoing,
    allowance: await allowanceOf(world.store, world.settings, organization),
    organization,
    credential,
    messageId,
    subject: request.subject,
    tags: request.tags,
    sendAt,
    idempotency: idempotencyOf(request),
  });
  world.metrics.count('sent_messages_total', { outcome: done.kind });
  switch (done.kind) {
    case 'sent':
    case 'repeated': {
      if (done.queued) world.queueChanged();
      const id = publicId('sent', done.id);
      const status = sendAt === null ? 'queued' : 'scheduled';
      return {
        id,
        messageId: id,
        status,
        recipients: all,
        duplicateOf: done.kind === 'repeated' ? id : null,
        ...facts,
      };
    }
    case 'changed':
      return refuse('idempotency_conflict', 'This idempotency key was used for another message in the last 24 hours.');
    case 'suppressed':
      return refuse(
        'recipient_blocked',
        'All recipients are on the suppression list of this organization: list_suppressions says why.',
        { recipients: done.recipients },
      );
    case 'over': {
      const { code, text } = overText(done);
      if (code === 550) return refuse('recipient_blocked', `${text}.`);
      return refuse('rate_limited', `${text}.`, {
        retryAfterSeconds: 'wait' in done ? Math.ceil(done.wait / 1000) : 60,
      });
    }
  }
}

/** The author's domain must be proved, and one that the key may use. RFC 5321 4.1.2: one strict parse. */
async function checkAuthor({ store }: World, sender: Sender, { from }: EmailRequest): Promise<void> {
  const { domain } = from.address;
  const own = (await store.read(domainsOf, { tenant: sender.organization })).find((one) => one.name === domain);
  if (own === undefined) {
    refuse('domain_not_onboarded', `${domain} is not a domain of this organization: add it with add_email_domain.`, {
      domain,
    });
  }
  if (sender.allowedDomains !== null && !sender.allowedDomains.includes(domain)) {
    refuse('from_domain_not_allowed', `This key may not send from ${domain}.`, {
      domain,
      allowedDomains: sender.allowedDomains,
    });
  }
  if (!own.verified) {
    refuse('domain_not_verified', `${domain} is not verified yet: publish its records and call verify_email_domain.`, {
      domain,
    });
  }
  if (own.pausedAt !== null) {
    refuse('domain_not_verified', `Sending from ${domain} is paused: its DNS records are wrong. Mend and verify it.`, {
      domain,
    });
  }
}

async function prepare(world: World, sender: Sender, request: EmailRequest) {
  const { from } = request;
  const messageId = `<${randomBytes(16).toString('hex')}@${from.address.domain}>`;
  const html = request.html;
  const data = composeMessage({
    ...request,
    date: world.clock(),
    messageId,
    text: request.text ?? (html === undefined ? undefined : htmlText(html, html.length).trim()),
    headers: [...Object.entries(request.headers), ...more(request)],
    attachments: request.attachments.map((one) => ({ ...one, content: Buffer.from(one.content, 'base64') })),
  });
  if (data.length > world.settings.maxMessageBytes) {
    refuse('too_large', `The message has ${data.length} octets: more than this server sends.`, {
      maxBytes: world.settings.maxMessageBytes,
    });
  }
  const mailFrom = formatAddress(from.address);
  const where = await destinations(world, from.address, recipientsOf(request));
  const outgoing: Outgoing = {
    trace: traceId(),
    account: null,
    tenant: sender.organization,
    sender: mailFrom,
    smtputf8: [from.address, ...recipientsOf(request)].some(needsUtf8),
    eightBit: false,
    ret: 'HDRS',
    envid: '',
    signAs: [from.address.domain],
    ...where,
    local: [...new Set(recipientsOf(request).map(formatAddress))].filter(
      (one) => !where.elsewhere.some((row) => row.recipient === one),
    ),
    hold: world.hold,
    data: null,
    file: null,
    index: indexMessage(data),
  };
  return { outgoing, data, messageId, sha256: createHash('sha256').update(data).digest('hex') };
}

function more({ inReplyTo, listUnsubscribe }: EmailRequest): [string, string][] {
  return [
    ...(inReplyTo === undefined
      ? []
      : ([
          ['In-Reply-To', inReplyTo],
          ['References', inReplyTo],
        ] as [string, string][])),
    // RFC 8058 2: one click, and nothing else, takes somebody off a list.
    ...(listUnsubscribe === undefined
      ? []
      : ([
          ['List-Unsubscribe', `<${listUnsubscribe}>`],
          ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
        ] as [string, string][])),
  ];
}

/** A large message goes into a file before the commit that names it; after a refusal nothing of it stays. */
async function commit({ store }: World, data: Buffer, request: SendRequest): Promise<SendOutcome> {
  const writer = store.files.create();
  try {
    await writer.write(data);
    const blob = await writer.finish();
    const bytes = 'data' in blob ? { data: blob.data, file: null } : { data: null, file: blob };
    const done = await store.write(sendEmail, { ...request, outgoing: { ...request.outgoing, ...bytes } });
    if (done.kind !== 'sent') writer.abort();
    else if ('file' in blob) store.files.settled(blob.file);
    return done;
  } catch (error) {
    // After anything but a clear refusal the transaction may be on disk: the sweep of the next start knows.
    if (error instanceof StoreBusy) writer.abort();
    throw error;
  }
}

function recipientsOf({ to, cc, bcc }: EmailRequest): Address[] {
  const all = [...to, ...cc, ...bcc].map((one) => one.address);
  return [...new Map(all.map((address) => [addressKey(address), address])).values()];
}

async function destinations(
  { store, secrets, clock }: World,
  from: Address,
  recipients: readonly Address[],
): Promise<Pick<Outgoing, 'here' | 'elsewhere' | 'onward'>> {
  const elsewhere: Outgoing['elsewhere'][number][] = [];
  const local: Address[] = [];
  for (const address of recipients) {
    const to = formatAddress(address);
    const where = await routeOutward(store, address);
    if (where.kind === 'here' || where.kind === 'forward') local.push(address);
    else if (where.kind === 'elsewhere')
      elsewhere.push({ recipient: to, domain: address.domain, notify: '', orcpt: '' });
    else refuse('recipient_blocked', `${to} cannot be written to: ${WHY[where.kind]}.`, { recipients: [to] });
  }
  const mail = { sender: from, fields: [], key: secrets.subkey('forwarding'), now: clock(), authors: [from.domain] };
  const { accounts, onward, lost, kept } = await planForwards(store, local, mail);
  const [nowhere] = lost.map(formatAddress);
  if (nowhere !== undefined) {
    const why = kept[0]?.why ?? 'its forwards lead nowhere at the moment';
    refuse('recipient_blocked', `${nowhere} cannot be written to: ${why}.`, { recipients: [nowhere] });
  }
  const here = [...accounts].map(([account, address]) => {
    const to = formatAddress(address);
    return { account, to, trace: deliveryTrace(formatAddress(from), to) };
  });
  return { here, elsewhere, onward };
}

const WHY = {
  unknown: 'its domain is hosted here, and there is no such mailbox',
  unverified: 'its domain is onboarded here and not verified yet',
  full: 'its mailbox is full',
  waiting: 'it is only forwarded, and the forward is not active yet',
} as const;

/** What was asked, apart from the key itself. */
function idempotencyOf(request: EmailRequest): SendRequest['idempotency'] {
  const { idempotencyKey: key, ...rest } = request;
  if (key === undefined) return null;
  return { key, request: Uint8Array.from(createHash('sha256').update(JSON.stringify(rest)).digest()) };
}
