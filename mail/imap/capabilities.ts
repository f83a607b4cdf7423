import type { Capability } from './extensions.ts';
import type { Session } from './session.ts';

/** Capabilities of the parser, not of a single command. */
export const PARSER_CAPABILITIES: readonly Capability[] = [
  'IMAP4rev1',
  'IMAP4rev2',
  // RFC 7888 5: one of them. Before login a literal has at most 4,096 octets anyway.
  { name: 'LITERAL-', isOffered: ({ login }) => login === undefined },
  { name: 'LITERAL+', isOffered: ({ login }) => login !== undefined },
];

/** The capabilities of this connection. Most are the same before and after login, as some clients request them only once. */
export function capabilities(session: Session): string {
  const { context } = session;
  const { messageBytes, savedMessages } = context.limits;
  const limits = [`APPENDLIMIT=${messageBytes}`, `SAVELIMIT=${savedMessages}`];
  const all = [...offered(session), ...withoutHidden(limits, session.hiddenCapabilities)];
  if (session.login !== undefined) return all.join(' ');
  const mechanisms = context.logins.mechanisms(session.peer);
  if (!session.encrypted) all.push('STARTTLS');
  // RFC 9051 6.2.3: a password must not be sent where anybody can read it.
  if (mechanisms.length === 0) all.push('LOGINDISABLED');
  return [...all, ...mechanisms.map((name) => `AUTH=${name}`)].join(' ');
}

/** Reports whether a capability is advertised in this session. */
export function isAdvertised(session: Session, name: string): boolean {
  return offered(session).includes(name);
}

function offered(session: Session): string[] {
  const all = [...PARSER_CAPABILITIES, ...session.context.extensions]
    .filter((one) => typeof one === 'string' || one.isOffered(session))
    .map((one) => (typeof one === 'string' ? one : one.name));
  return withoutHidden(all, session.hiddenCapabilities);
}

/** Leaves out what the account hides: a name also hides its forms, as QUOTA does QUOTA=RES-STORAGE. */
function withoutHidden(all: string[], hidden: readonly string[]): string[] {
  if (hidden.length === 0) return all;
  const isHidden = (name: string): boolean => hidden.some((each) => name === each || name.startsWith(`${each}=`));
  return all.filter((name) => !isHidden(name.toUpperCase()));
}
