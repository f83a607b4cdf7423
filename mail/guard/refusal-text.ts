import type { Ban } from '../store/limit/ban.ts';
import type { ConnectionDecision } from './types.ts';

const OFFENCE_TEXTS: Readonly<Record<string, string>> = {
  logins: 'failed logins',
  recipients: 'unknown recipients',
  scans: 'vulnerability scans',
  loitering: 'idle connections',
};

/** The reason of a ban, as a clause: `104 failed logins in a day`. */
export function banReason({ offence, count }: Pick<Ban, 'offence' | 'count'>): string {
  return `${count} ${OFFENCE_TEXTS[offence] ?? offence} in a day`;
}

/** The reply to a refused client: one line, without full stop. */
export function refusalText(decision: Exclude<ConnectionDecision, { kind: 'in' }>): string {
  switch (decision.kind) {
    case 'banned': {
      const { network, until } = decision.ban;
      return `${network} is banned until ${new Date(until).toISOString()}: ${banReason(decision.ban)}. The operator can lift the ban`;
    }
    case 'too-fast':
      return `Too many connections per minute, try again in ${decision.retryAfter} s`;
    case 'too-many':
    case 'full':
      return 'Too many connections, try again later';
  }
}
