import type { Outgoing, Submission } from '../../mail/delivery/submit.ts';
import { ALLOW } from '../../mail/delivery/policy.ts';

/** What an account asks to send, with no limit and nobody who would hold it; its envelope sender must be its own. */
export function freely(mail: Outgoing): Submission {
  const rest = { allowance: null, budgets: [], guard: null, verdict: ALLOW, sendAt: null, spares: false };
  return { ...mail, authors: [], as: { kind: 'account', account: mail.account ?? 0 }, ...rest };
}
