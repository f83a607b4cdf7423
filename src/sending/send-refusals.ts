import type { AgentStop } from '../../mail/agents/gate/types.ts';
import { reasonText } from '../../mail/agents/gate/reasons.ts';
import type { ForeignAuthor } from '../../mail/delivery/identity.ts';
import { allowanceRefusal } from '../../mail/receiver/allowance-refusal.ts';
import { refuse } from '../core/refusal.ts';
import type { ApiSender } from './key-auth.ts';
import type { SendOutcome } from './send-request.ts';

/** Reason why nothing was sent. */
export type StoppedSend = Exclude<SendOutcome, { kind: 'sent' | 'repeated' }>;

/** Throws the refusal for a message that was not sent. */
export function refuseStopped(stopped: StoppedSend, sender: ApiSender): never {
  switch (stopped.kind) {
    case 'frozen':
      return refuse('unauthorized', 'Not sent: the organization is frozen. Ask the operator of the box.');
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
        'All recipients are on the suppression list of this organization: see list_suppressions for the reasons.',
        { recipients: stopped.recipients },
      );
    case 'draft-changed':
      return refuse('conflict', 'The draft was changed, sent or deleted meanwhile: read it again with get_draft.', {
        resource: 'draft',
      });
    case 'needs-approval':
      return refuse(
        'approval_required',
        'Not sent: it requires approval by a person. Leave out failIfApprovalNeeded to hold it for approval.',
        { reasons: stopped.reasons },
      );
    case 'refused':
      return refuse('recipient_blocked', `${stopped.because}.`);
    case 'agent-stop':
      return refuse(stopped.error, reasonText(stopped), fieldsOf(stopped));
    case 'over': {
      const { code, text } = allowanceRefusal(stopped);
      if (code === 550) return refuse('recipient_blocked', `${text}.`);
      const retryAfterSeconds = 'wait' in stopped ? Math.max(1, Math.ceil(stopped.wait / 1000)) : 60;
      const most = 'most' in stopped ? stopped.most : 0;
      return refuse('rate_limited', `${text}.`, { limit: stopped.what, most, retryAfterSeconds });
    }
  }
}

/** Error details for programs: kinds of secrets, or the exhausted budget and its reset time. */
function fieldsOf({ error, reasons, budget, resetsAt }: AgentStop): Record<string, unknown> {
  if (error === 'secret_in_message') return { kinds: reasons.map(({ code }) => code) };
  return {
    reasons,
    ...(budget !== undefined && { budget: budget.name, limit: budget.limit, used: budget.used }),
    ...(resetsAt !== undefined && { resetsAt: new Date(resetsAt).toISOString() }),
  };
}

export function refuseAuthor({ address, domain, why }: ForeignAuthor, { allowedDomains }: ApiSender): never {
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
        `Sending from ${domain} is paused: its DNS records are wrong. Fix them and call verify_email_domain.`,
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
