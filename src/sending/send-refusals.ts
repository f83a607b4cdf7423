import type { AgentStop } from '../../mail/delivery/agent/types.ts';
import { whyOf } from '../../mail/delivery/agent/why.ts';
import type { ForeignAuthor } from '../../mail/delivery/identity.ts';
import { overText } from '../../mail/receiver/over-text.ts';
import { refuse } from '../operations/refusal.ts';
import type { Sender } from './key-auth.ts';
import type { SendOutcome } from './sent-commands.ts';

/** Why nothing was sent, and nothing sent before answers for it. */
export type NotSent = Exclude<SendOutcome, { kind: 'sent' | 'repeated' }>;

/** Says why a message was stopped, and what to do. */
export function refuseStopped(stopped: NotSent, sender: Sender): never {
  switch (stopped.kind) {
    case 'frozen':
      return refuse(
        'unauthorized',
        'The organization is frozen, and sends nothing: the operator of the box knows why.',
      );
    case 'foreign':
      return refuseAuthor(stopped, sender);
    case 'changed':
      return refuse(
        'idempotency_conflict',
        'This idempotency key was used for another message in the last 24 hours: use a new key for a new message.',
      );
    case 'suppressed':
      return refuse(
        'recipient_blocked',
        'All recipients are on the suppression list of this organization: list_suppressions says why.',
        { recipients: stopped.recipients },
      );
    case 'draft-changed':
      return refuse('conflict', 'The draft was changed, sent or removed meanwhile: read it again with get_draft.', {
        resource: 'draft',
      });
    case 'needs-approval':
      return refuse(
        'approval_required',
        'A person would have to let this go, so nothing was taken: leave out failIfApprovalNeeded to have it wait.',
        { reasons: stopped.reasons },
      );
    case 'refused':
      return refuse('recipient_blocked', `${stopped.because}.`);
    case 'agent-stop':
      return refuse(stopped.error, whyOf(stopped), fieldsOf(stopped));
    case 'over': {
      const { code, text } = overText(stopped);
      if (code === 550) return refuse('recipient_blocked', `${text}.`);
      const retryAfterSeconds = 'wait' in stopped ? Math.max(1, Math.ceil(stopped.wait / 1000)) : 60;
      const most = 'most' in stopped ? stopped.most : 0;
      return refuse('rate_limited', `${text}.`, { limit: stopped.what, most, retryAfterSeconds });
    }
  }
}

/** For programs: `kinds` of what was found, and which budget is used up until when. */
function fieldsOf({ error, reasons, budget, resetsAt }: AgentStop): Record<string, unknown> {
  if (error === 'secret_in_message') return { kinds: reasons.map(({ code }) => code) };
  return {
    reasons,
    ...(budget !== undefined && { budget: budget.name, limit: budget.limit, used: budget.used }),
    ...(resetsAt !== undefined && { resetsAt: new Date(resetsAt).toISOString() }),
  };
}

export function refuseAuthor({ address, domain, why }: ForeignAuthor, { allowedDomains }: Sender): never {
  switch (why) {
    case 'not-onboarded':
      return refuse(
        'domain_not_onboarded',
        `${domain} is not a domain of this organization: add it with add_email_domain.`,
        { domain },
      );
    case 'not-allowed':
      return refuse('from_domain_not_allowed', `This key may not send from ${domain}.`, {
        domain,
        allowedDomains: allowedDomains ?? [],
      });
    case 'unverified':
      return refuse(
        'domain_not_verified',
        `${domain} is not verified yet: publish its records and call verify_email_domain.`,
        { domain },
      );
    case 'paused':
      return refuse(
        'domain_not_verified',
        `Sending from ${domain} is paused: its DNS records are wrong. Mend and verify it.`,
        { domain },
      );
    case 'foreign':
      return refuse(
        'from_domain_not_allowed',
        `${address} is not an address of this mailbox: send from one of its own.`,
        {
          address,
        },
      );
  }
}
