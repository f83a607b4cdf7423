import type { AgentStop } from './types.ts';

/** All reasons as text for people, each once. */
export function whyOf({ reasons }: Pick<AgentStop, 'reasons'>): string {
  return [...new Set(reasons.map(({ text }) => `${text}.`))].join(' ');
}
