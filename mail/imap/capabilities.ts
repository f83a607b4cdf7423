import type { Session } from './session.ts';

/** What the wire layer and no single command makes true. */
const ALWAYS = ['IMAP4rev1', 'LITERAL+'];

/** The capabilities as they are for this client now. The same before and after login, as some clients ask only once. */
export function capabilities(session: Session): string {
  const { door } = session;
  const all = [...ALWAYS, ...door.extensions, `APPENDLIMIT=${door.limits.messageBytes}`];
  if (session.login !== undefined) return all.join(' ');
  const mechanisms = door.logins.mechanisms(session.peer);
  if (!session.encrypted) all.push('STARTTLS');
  // RFC 9051 6.2.3: a password must not be sent where anybody can read it.
  if (mechanisms.length === 0) all.push('LOGINDISABLED');
  return [...all, ...mechanisms.map((name) => `AUTH=${name}`)].join(' ');
}
