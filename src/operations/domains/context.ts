import type { DomainCheckContext } from '../../domains/look.ts';
import type { DomainInfo } from '../../../mail/store/address/domain.ts';
import { MAX_LOOKED_UP, takeNameLookup } from '../../domains/lookup-commands.ts';
import { domainSetup } from '../../domains/setup.ts';
import { mayBeInjected } from '../../agents/propose.ts';
import type { Call } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';

/** Context of a DNS check on request: results are written with an audit row that names the domain. */
export function lookContext(call: Call, name: string): DomainCheckContext {
  const { store, settings, lookNow, parents, keys } = call;
  return { store, settings, lookNow, parents: parents, keys, write: (what, input) => call.change(what, input, name) };
}

/** Tests if a lookup could carry text out: a token that has read outsiders' mail, and a name never looked up before. */
export async function disclosesName(
  call: Call,
  { id, verified }: Pick<DomainInfo, 'id' | 'verified'>,
): Promise<boolean> {
  if (verified || call.caller.kind !== 'token') return false;
  const setup = await call.store.read(domainSetup, { domain: id });
  return setup?.lastCheckedAt == null && mayBeInjected(call);
}

/** Limits what names can carry out: name servers of a new name see each label of it. */
export async function limitLookup(call: Call, domain: Pick<DomainInfo, 'id' | 'name' | 'verified'>): Promise<void> {
  if (!(await disclosesName(call, domain))) return;
  if (domain.name.length > MAX_LOOKED_UP) {
    const why = `this token has read mail from outsiders, and the name has more than ${MAX_LOOKED_UP} octets`;
    refuse('approval_required', `Not looked up: ${why}. A person can verify ${domain.name} in the portal.`);
  }
  const waitMs = await call.store.write(takeNameLookup, { tenant: call.tenant });
  if (waitMs === 0) return;
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const message = `Too many new names for tokens that have read mail from outsiders. Retry in ${retryAfterSeconds} s.`;
  refuse('rate_limited', message, { retryAfterSeconds, scope: 'name-lookup' });
}
