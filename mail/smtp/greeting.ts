import { fault, type SyntaxFault } from './syntax.ts';

/**
 * Reads the name that a client gives itself in HELO or EHLO. RFC 5321 4.1.4 forbids refusing mail because the name does
 * not match the address, and many clients give `localhost` or a name with an underscore; but what stands in our Received
 * field must not carry anything with a meaning there.
 */
export function parseGreeting(text: string): { name: string } | SyntaxFault {
  const name = text.trim();
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$/.test(name) || /^\[[A-Za-z0-9.:_-]{1,64}\]$/.test(name)
    ? { name }
    : fault(501, '5.5.2', 'Give your host name or address literal');
}
