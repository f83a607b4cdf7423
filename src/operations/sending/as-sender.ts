import { lookupKeys } from '../../../mail/delivery/route.ts';
import { namedRecipients } from '../../../mail/delivery/outgoing.ts';
import type { Address } from '../../../mail/message/address.ts';
import { accountByKey } from '../../../mail/store/account.ts';
import { writersOf } from '../../../mail/store/alias.ts';
import { domainsOf } from '../../../mail/store/domain.ts';
import { domainSetup } from '../../accounts/setup.ts';
import { publicId } from '../../ids.ts';
import type { Commit } from '../../sending/dispatch.ts';
import type { Sender } from '../../sending/key-auth.ts';
import { agentOf } from '../caller.ts';
import { sendEmail } from '../../sending/sent-commands.ts';
import type { Call } from '../operation.ts';
import { type Mailbox, mailboxOf, outOfScope } from '../scope.ts';

/**
 * Who sends when a token asks to send from an address: the mailbox that stands there or writes as it, within the token's limits, else a
 * program of the organization. What it sends twice within ten minutes is one message: agents repeat calls.
 */
export async function asSender(call: Call, from: Address): Promise<Sender> {
  const { tenant, caller } = call;
  for (const key of lookupKeys(from)) {
    const found = (await call.store.read(accountByKey, { tenant, key }))?.id ?? (await writerOf(call, key));
    if (found === undefined) continue;
    return asMailbox(call, await mailboxOf(call, { mailboxId: publicId('mailbox', found) }));
  }
  if (caller.mailboxes !== null || caller.service !== null) outOfScope(caller);
  return { ...asker(call), account: null, allowedDomains: caller.project === null ? null : await domainsIn(call) };
}

/** Sends with the audit row in the same commit. */
export function audited(call: Call): Commit {
  return (input) => call.change(sendEmail, input, input.sender, { to: namedRecipients(input), trace: input.trace });
}

/** Who sends from a mailbox that the caller may use. */
export function asMailbox(call: Call, { id }: Mailbox): Sender {
  const sender = { ...asker(call), account: id, allowedDomains: null };
  return call.caller.actions.has('mail_read') ? { ...sender, reads: id } : sender;
}

function asker({ tenant, caller }: Call): Pick<Sender, 'organization' | 'credential' | 'guesses' | 'agent' | 'limits'> {
  const sender = { organization: tenant, credential: caller.actor, guesses: true };
  const agent = agentOf(caller);
  return agent === null ? sender : { ...sender, agent, limits: caller.token?.narrow ?? null };
}

/** The mailbox that writes as an alias: the only one, or of several the first that the token is limited to. */
async function writerOf({ store, tenant, caller }: Call, key: string): Promise<number | undefined> {
  const writers = await store.read(writersOf, { tenant, key });
  return writers.length === 1 ? writers[0] : writers.find((one) => caller.mailboxes?.includes(one));
}

/** The domains of the project that a token is limited to. */
async function domainsIn({ store, tenant, caller }: Call): Promise<string[]> {
  const names: string[] = [];
  for (const { id, name } of await store.read(domainsOf, { tenant })) {
    if ((await store.read(domainSetup, { domain: id }))?.project === caller.project) names.push(name);
  }
  return names;
}
