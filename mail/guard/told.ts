import type { Ban } from '../store/ban.ts';
import type { Entry } from './types.ts';

const WHAT: Readonly<Record<string, string>> = {
  logins: 'failed logins',
  recipients: 'recipients that are not here',
  scans: 'requests that only somebody makes who looks for holes',
  loitering: 'connections that came for nothing',
};

/** Why a network is shut out, as a clause: `104 failed logins in a day`. */
export function reasonOf({ offence, count }: Pick<Ban, 'offence' | 'count'>): string {
  return `${count} ${WHAT[offence] ?? offence} in a day`;
}

/** What somebody is told who is turned away: one line, without full stop. */
export function told(entry: Exclude<Entry, { kind: 'in' }>): string {
  switch (entry.kind) {
    case 'banned': {
      const { network, until } = entry.ban;
      return `${network} is shut out until ${new Date(until).toISOString()}: ${reasonOf(entry.ban)}; the operator can lift it`;
    }
    case 'too-fast':
      return `Too many connections in a minute, try again in ${entry.retryAfter} s`;
    case 'too-many':
    case 'full':
      return 'Too many connections, try again later';
  }
}
