import type { Meter } from '../../log.ts';
import type { Verdict } from '../policy.ts';

/** Counts what a door heard of an agent's message: the code of what stopped it, else that it was accepted; of others nothing. */
export function countAgentMail(meter: Meter, verdict: Verdict, done: { readonly kind: string; error?: string }): void {
  if (verdict.kind !== 'agent') return;
  const accepted = ['taken', 'waits', 'submitted', 'sent'].includes(done.kind);
  meter.count('agent_mail_total', { outcome: accepted ? 'accepted' : (done.error ?? done.kind) });
}
