import { lookupKeys } from '../../../mail/delivery/route.ts';
import type { Address } from '../../../mail/message/address.ts';
import { accountByKey } from '../../../mail/store/account.ts';
import { domainsOf } from '../../../mail/store/domain.ts';
import { domainSetup } from '../../accounts/setup.ts';
import { publicId } from '../../ids.ts';
import type { Sender } from '../../sending/key-auth.ts';
import type { Call } from '../operation.ts';
import { mailboxOf, outOfScope } from '../scope.ts';

/**
 * Who sends when a token asks to send from an address: the mailbox that stands there, within the token's limits, else a
 * program of the organization. What it sends twice within ten minutes is one message: agents repeat calls.
 */
export async function asSender(call: Call, from: Address): Promise<Sender> {
  const { tenant, caller } = call;
  const sender = { organization: tenant, credential: caller.actor, guesses: true };
  for (const key of lookupKeys(from)) {
    const found = await call.store.read(accountByKey, { tenant, key });
    if (found === undefined) continue;
    const mailbox = await mailboxOf(call, { mailboxId: publicId('mailbox', found.id) });
    return { ...sender, account: mailbox.id, allowedDomains: null };
  }
  if (caller.mailboxes !== null || caller.service !== null) outOfScope(caller);
  return { ...sender, account: null, allowedDomains: caller.project === null ? null : await domainsIn(call) };
}

/** The domains of the project that a token is limited to. */
async function domainsIn({ store, tenant, caller }: Call): Promise<string[]> {
  const names: string[] = [];
  for (const { id, name } of await store.read(domainsOf, { tenant })) {
    if ((await store.read(domainSetup, { domain: id }))?.project === caller.project) names.push(name);
  }
  return names;
}
