import { aboutMessage, type Told } from '../../mail/delivery/agent/about-message.ts';
import { destinations, UNREACHABLE } from '../../mail/delivery/destinations.ts';
import type { Identity } from '../../mail/delivery/identity.ts';
import { type Address, addressKey, formatAddress, needsUtf8, textKey } from '../../mail/message/address.ts';
import { accountByKey } from '../../mail/store/account.ts';
import type { Guard } from '../../mail/store/sent-before.ts';
import { answeredLetter, answerKey } from '../digest/answer-address.ts';
import { refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { agentVerdict } from './agent-verdict.ts';
import { allowanceOf, programBudgets } from './allowance.ts';
import type { Composed } from './compose-email.ts';
import type { Sender } from './key-auth.ts';
import type { Outbound } from './outbound.ts';
import type { SendRequest } from './sent-commands.ts';

/** Somebody asked for, who gets nothing. */
export type LeftOut = SendRequest['leftOut'][number];

/** In whose name a sender may write. */
export function identityOf({ organization: tenant, account, allowedDomains: domains }: Sender): Identity {
  return account === null ? { kind: 'tenant', tenant, domains } : { kind: 'account', account };
}

/** Everything that the gate is told. */
export async function prepare(
  world: World,
  sender: Sender,
  { mail, guard, leftOut }: { mail: Outbound; guard: Guard | null; leftOut: readonly LeftOut[] },
): Promise<SendRequest> {
  const { organization, credential, account } = sender;
  const { from, composed, trace, sendAt, requireTls, tags, metadata, failIfHeld, answers, forwards, draft } = mail;
  const { index, authors, messageId, sha256, eightBit, utf8Header } = composed;
  const out = new Set(leftOut.map((one) => textKey(one.address)));
  const named = mail.recipients.filter(({ address }) => !out.has(addressKey(address)));
  const recipients = named.map(({ address }) => address);
  return {
    trace,
    account,
    tenant: organization,
    sender: formatAddress(from),
    smtputf8: utf8Header || [from, ...recipients].some(needsUtf8),
    eightBit,
    ret: 'HDRS',
    envid: '',
    signAs: [from.domain],
    requireTls,
    ...(await destinationsOf(world, from, recipients, composed)),
    hold: world.hold,
    by: sender.agent ?? null,
    copyFor: mail.saveToSent ? (account ?? (await mailboxAt(world, organization, from))) : null,
    data: null,
    file: null,
    authors: [...authors.from, ...authors.others],
    as: identityOf(sender),
    spares: true,
    allowance: await allowanceOf(world.store, world.settings, organization),
    budgets: programBudgets(world.settings, sender),
    guard,
    ...(await toldOf(world, sender, mail, recipients)),
    sendAt,
    organization,
    credential,
    messageId,
    subject: index.subject,
    tags,
    metadata,
    sha256,
    leftOut,
    sources: sourcesOf(mail),
    failIfHeld,
    answers,
    forwards,
    draft,
  };
}

function sourcesOf({ recipients }: Outbound): SendRequest['sources'] {
  return Object.fromEntries(
    recipients.flatMap(({ address, source }) => (source === null ? [] : [[formatAddress(address), source]])),
  );
}

/** What the policy says of a message, with what only its octets say. */
async function toldOf(world: World, sender: Sender, mail: Outbound, recipients: readonly Address[]): Promise<Told> {
  const { organization: tenant, account, credential } = sender;
  const { index, data } = mail.composed;
  const asked = { tenant, account, credential, sender: formatAddress(mail.from), size: index.size };
  const to = recipients.map(formatAddress);
  const verdict = await world.policy({ ...asked, recipients: to });
  const message = { tenant, account, index, data, file: null, recipients: to, now: world.clock(), door: 'api' };
  return aboutMessage(world.store, agentVerdict(verdict, sender, mail), message);
}

/** The mailbox that stands at the address of a program. */
async function mailboxAt({ store }: World, tenant: number, address: Address): Promise<number | null> {
  return (await store.read(accountByKey, { tenant, key: addressKey(address) }))?.id ?? null;
}

async function destinationsOf(
  { store, secrets, clock, settings }: World,
  sender: Address,
  recipients: readonly Address[],
  { fields, index: { secretLink } }: Composed,
): Promise<Pick<SendRequest, 'here' | 'local' | 'elsewhere' | 'onward'>> {
  const key = secrets.subkey('forwarding');
  const { hostname } = settings;
  const answer = recipients.find((to) => answeredLetter(to, hostname, answerKey(secrets)) !== undefined);
  // What a program sends may wait, or go later: STOP would be taken as delivered, and nobody would have read it.
  if (answer !== undefined) {
    const why = 'it takes answers to a daily letter, and only from a mail program';
    refuse('recipient_blocked', `${formatAddress(answer)} cannot be written to: ${why}.`, {
      recipients: [formatAddress(answer)],
    });
  }
  const mail = { sender, fields, key, now: clock(), hostname, authors: [sender.domain], secretLink };
  const { unreachable, ...where } = await destinations(store, recipients, mail);
  const [first] = unreachable;
  if (first === undefined) return where;
  return refuse('recipient_blocked', `${first.address} cannot be written to: ${UNREACHABLE[first.why]}.`, {
    recipients: unreachable.map((one) => one.address),
  });
}
