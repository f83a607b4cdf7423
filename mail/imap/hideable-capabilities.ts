import { EXTENSIONS } from './extensions.ts';

/** Capabilities that a client needs before login. */
const NEEDED = ['IMAP4rev1', 'STARTTLS', 'LOGINDISABLED', 'AUTH='];

/** Names that an account can hide, in upper case: the extensions, and the part before `=` of those with forms. */
export function hideableCapabilities(): string[] {
  const names = Object.keys(EXTENSIONS).filter((name) => !NEEDED.includes(name));
  const forms = names.flatMap((name) => (name.includes('=') ? [name.replace(/=.*$/, '')] : []));
  return [...new Set([...names.filter((name) => !name.endsWith('=')), ...forms])]
    .map((name) => name.toUpperCase())
    .toSorted();
}
