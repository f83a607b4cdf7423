import type { Session } from './session.ts';

/** Capabilities of the parser, not of a single command. */
const ALWAYS = ['IMAP4rev1', 'LITERAL+'];

/** The capabilities of this connection. Extensions are the same before and after login, as some clients request them only once. */
export function capabilities(session: Session): string {
  const { context } = session;
  const all = [...ALWAYS, ...context.extensions, `APPENDLIMIT=${context.limits.messageBytes}`];
  if (session.login !== undefined) return all.join(' ');
  const mechanisms = context.logins.mechanisms(session.peer);
  if (!session.encrypted) all.push('STARTTLS');
  // RFC 9051 6.2.3: a password must not be sent where anybody can read it.
  if (mechanisms.length === 0) all.push('LOGINDISABLED');
  return [...all, ...mechanisms.map((name) => `AUTH=${name}`)].join(' ');
}
