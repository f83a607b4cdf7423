import { plainAddress } from '../../message/plain-address.ts';
import type { AgentStop } from './types.ts';

/** All reasons as text for people, each once. */
export function whyOf({ reasons }: Pick<AgentStop, 'reasons'>): string {
  return [...new Set(reasons.map(({ text }) => `${text}.`))].join(' ');
}

/** At most three of them by name. A reason is told as a fact, so nothing of them is told but addresses. */
export function naming(recipients: readonly { address: string }[]): string {
  const named = recipients.slice(0, 3).map(({ address }) => plainAddress(address));
  const more = recipients.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
