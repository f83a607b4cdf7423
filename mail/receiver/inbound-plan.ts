import { UNAVAILABLE_AUTHENTICATION } from '../auth/authenticate.ts';
import type { Dmarc } from '../auth/authentication.ts';
import { findClaimedDomains } from '../delivery/claimed-domains.ts';
import type { FilterResult } from '../filter/mail-filter.ts';
import type { ReceiverContext } from './context.ts';
import type { MessageDisposition } from './disposition.ts';
import { requestVerdict } from './inbound-filter.ts';
import type { SmtpRefusal } from './needs.ts';
import type { ReceivedMessage } from './received-message.ts';
import { planRecipients, type RecipientPlan } from './recipient-plan.ts';
import { smtpRefusal } from './refusal.ts';

/** A plan, with the verdict that was requested for it: a repeated plan does not request another. */
export interface InboundPlan extends RecipientPlan {
  verdict: FilterResult | undefined;
}

/** The verdict so far; undefined where mail is not checked. */
interface PlanInput {
  verdict: FilterResult | undefined;
  forwarding: MessageDisposition['forwarding'] | undefined;
}

/**
 * Plans deliveries and forwards. Where mail is not checked, the author is authenticated only if a copy would be
 * forwarded. When that fails, the mailbox keeps the message and only the forward is skipped: deferring it would make
 * local delivery depend on the name servers of every sender.
 */
export async function planInbound(
  context: ReceiverContext,
  message: ReceivedMessage,
  input: PlanInput,
): Promise<InboundPlan | SmtpRefusal> {
  const { store, hostname: authserv, filter } = context;
  const facts = { secretLink: message.index.secretLink, ...input.forwarding };
  let { verdict } = input;
  const plan = await planRecipients(context, message, facts);
  if ('code' in plan) return plan;
  const forwards = plan.onward.some(({ source }) => source !== undefined);
  const returns = plan.onward.some(({ source }) => source === undefined);
  const claimed = returns ? await findClaimedDomains(store, authserv, message.fields ?? []) : [];
  if (!forwards && claimed.length === 0) return { ...plan, verdict };
  if (filter?.network === true) verdict ??= await requestVerdict(context, filter, message, []);
  const authentication = filter?.network === true ? (verdict?.authentication ?? UNAVAILABLE_AUTHENTICATION) : undefined;
  const refusal = refuseClaim(claimed, authentication?.dmarc);
  if (refusal !== undefined) return refusal;
  if (!forwards || authentication === undefined) return { ...plan, verdict };
  const proven = await planRecipients(context, message, { ...facts, proof: { authserv, authentication } });
  return 'code' in proven ? proven : { ...proven, verdict };
}

/**
 * Refuses a returned report whose From names a domain of ours without passing DMARC. We would send it from our address
 * and under our name, which vouches for that author to other servers.
 */
function refuseClaim(claimed: readonly string[], dmarc: Dmarc | undefined): SmtpRefusal | undefined {
  const [domain] = claimed.filter((one) => dmarc?.result !== 'pass' || dmarc.domain !== one);
  if (domain === undefined) return undefined;
  return dmarc?.result === 'temperror'
    ? smtpRefusal(451, '4.4.3', `Cannot verify the author at ${domain} (DNS timeout), try again later`)
    : smtpRefusal(
        550,
        '5.7.1',
        `Rejected: the report names an author at ${domain} and fails DMARC. Send it as the reporting server`,
      );
}
