import { namedRecipients } from '../../../mail/delivery/outgoing.ts';
import { type Address, lookupKeys } from '../../../mail/message/address.ts';
import { accountByKey } from '../../../mail/store/account/account.ts';
import { aliasSenders } from '../../../mail/store/address/alias.ts';
import { domainsOf } from '../../../mail/store/address/domain.ts';
import { domainSetup } from '../../domains/setup.ts';
import { publicId } from '../../core/ids.ts';
import type { Commit } from '../../sending/dispatch.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import { agentOf } from '../../core/caller.ts';
import { sendEmail } from '../../sending/sent-commands.ts';
import type { Call } from '../../core/operation.ts';
import { type Mailbox, mailboxOf, outOfScope } from '../scope.ts';

/**
 * Resolves the sender for an address: the mailbox at the address or with it as an alias, within the token's limits,
 * else a program of the organization. Repeated sends within ten minutes count as one message: agents repeat calls.
 */
export async function asSender(call: Call, from: Address): Promise<ApiSender> {
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
  return (input) => {
    const { mail } = input;
    return call.change(sendEmail, input, mail.sender, { to: namedRecipients(mail), trace: mail.trace });
  };
}

/** Returns the sender of a mailbox that the caller may use. */
export function asMailbox(call: Call, { id }: Mailbox): ApiSender {
  const sender = { ...asker(call), account: id, allowedDomains: null };
  return call.caller.actions.has('mail_read') ? { ...sender, reads: id } : sender;
}

function asker({
  tenant,
  caller,
}: Call): Pick<ApiSender, 'organization' | 'credential' | 'detectsDuplicates' | 'agent' | 'limits'> {
  const sender = { organization: tenant, credential: caller.actor, detectsDuplicates: true };
  const agent = agentOf(caller);
  return agent === null ? sender : { ...sender, agent, limits: caller.token?.narrow ?? null };
}

/** Returns the mailbox behind an alias: the only one, or the first that the token is limited to. */
async function writerOf({ store, tenant, caller }: Call, key: string): Promise<number | undefined> {
  const writers = await store.read(aliasSenders, { tenant, key });
  return writers.length === 1 ? writers[0] : writers.find((one) => caller.mailboxes?.includes(one));
}

/** Returns the domains of the token's project. */
async function domainsIn({ store, tenant, caller }: Call): Promise<string[]> {
  const names: string[] = [];
  for (const { id, name } of await store.read(domainsOf, { tenant })) {
    if ((await store.read(domainSetup, { domain: id }))?.project === caller.project) names.push(name);
  }
  return names;
}
