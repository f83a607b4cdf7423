import { formatAddress, type Address } from '../message/address.ts';

/** The content of a Received field. */
export interface Hop {
  id: string;
  helo: string;
  ip: string;
  hostname: string;
  extended: boolean;
  tls: boolean;
  authenticated: boolean;
  smtputf8: boolean;
  /** Set only for a single recipient: others would be disclosed. RFC 5321 7.2. */
  recipient: Address | undefined;
  /** Milliseconds since 1970. */
  at: number;
}

/** Formats a Received field, folded and with its CRLF. RFC 5321 4.4. */
export function receivedField(hop: Hop): string {
  const recipient = hop.recipient === undefined ? '' : `\r\n\tfor <${formatAddress(hop.recipient)}>`;
  return (
    `Received: from ${hop.helo} ([${hop.ip.includes(':') ? `IPv6:${hop.ip}` : hop.ip}])\r\n` +
    `\tby ${hop.hostname} with ${protocol(hop)} id ${hop.id}${recipient};\r\n` +
    `\t${dateTime(hop.at)}\r\n`
  );
}

/** RFC 3848, and RFC 6531 4.3 for UTF8SMTP. */
function protocol({ extended, tls, authenticated, smtputf8 }: Hop): string {
  if (!extended) return 'SMTP';
  return `${smtputf8 ? 'UTF8SMTP' : 'ESMTP'}${tls ? 'S' : ''}${authenticated ? 'A' : ''}`;
}

let second = -1;
let formatted = '';

/** RFC 5322 3.3 date-time in UTC. */
function dateTime(at: number): string {
  const now = Math.floor(at / 1000);
  if (now === second) return formatted;
  second = now;
  // RFC 7231's "Fri, 20 Nov 2026 10:00:00 GMT" differs in the zone only.
  return (formatted = new Date(now * 1000).toUTCString().replace('GMT', '+0000'));
}
