import { fault, type SyntaxFault } from './syntax.ts';

/**
 * Parses the client's name in HELO or EHLO. RFC 5321 4.1.4 forbids rejecting mail when the name does not match the address,
 * and many clients send `localhost` or a name with an underscore. Only characters that are safe in a Received field pass.
 */
export function parseHelo(text: string): { name: string } | SyntaxFault {
  const name = text.trim();
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$/.test(name) || /^\[[A-Za-z0-9.:_-]{1,64}\]$/.test(name)
    ? { name }
    : fault(501, '5.5.2', 'Invalid host name or address literal');
}
