import type { Meter } from '../../log.ts';
import { plainAddress } from '../../message/plain-address.ts';
import type { SendVerdict } from './sending-policy.ts';
import type { AgentStop } from './types.ts';

/** Joins all reasons to a text, each once. */
export function reasonText({ reasons }: Pick<AgentStop, 'reasons'>): string {
  return [...new Set(reasons.map(({ text }) => `${text}.`))].join(' ');
}

/** Names at most three recipients by address; display names could carry a stranger's text. */
export function nameRecipients(recipients: readonly { address: string }[]): string {
  const named = recipients.slice(0, 3).map(({ address }) => plainAddress(address));
  const more = recipients.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/** Counts the outcome of an agent's message by error code; mail of others is not counted. */
export function countAgentMail(
  meter: Meter,
  verdict: SendVerdict,
  outcome: { readonly kind: string; error?: string },
): void {
  if (verdict.kind !== 'agent') return;
  const accepted = ['taken', 'waits', 'submitted', 'sent'].includes(outcome.kind);
  meter.count('agent_mail_total', { outcome: accepted ? 'accepted' : (outcome.error ?? outcome.kind) });
}
