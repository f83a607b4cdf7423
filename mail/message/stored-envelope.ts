import type { HeaderAddress } from './header-addresses.ts';
import { readWire, type WireValue } from './wire-value.ts';

/** Parsed ENVELOPE. Undefined: missing or empty field. 7-bit, not decoded. */
export interface StoredEnvelope {
  date: string | undefined;
  subject: string | undefined;
  from: HeaderAddress[] | undefined;
  to: HeaderAddress[] | undefined;
  cc: HeaderAddress[] | undefined;
  bcc: HeaderAddress[] | undefined;
  inReplyTo: string | undefined;
  messageId: string | undefined;
}

/**
 * Parses the output of {@link formatEnvelope}. Sender and Reply-To are omitted: ENVELOPE replaces missing ones by From, so
 * they cannot be distinguished.
 */
export function readEnvelope(envelope: string): StoredEnvelope {
  const wire = readWire(envelope);
  const [date, subject, from, , , to, cc, bcc, inReplyTo, messageId] = Array.isArray(wire) ? (wire as WireValue[]) : [];
  return {
    date: text(date),
    subject: text(subject),
    from: addresses(from),
    to: addresses(to),
    cc: addresses(cc),
    bcc: addresses(bcc),
    inReplyTo: text(inReplyTo),
    messageId: text(messageId),
  };
}

/** Reads the reply address: Reply-To, else From. */
export function readReplyTo(envelope: string): HeaderAddress[] | undefined {
  const wire = readWire(envelope);
  return Array.isArray(wire) ? addresses((wire as WireValue[])[4]) : undefined;
}

function text(value: WireValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function addresses(list: WireValue | undefined): HeaderAddress[] | undefined {
  if (list === undefined || list === null || typeof list === 'string') return undefined;
  return list.map((one) => {
    const [name, , mailbox, host] = typeof one === 'string' || one === null ? [] : one;
    return { name: text(name), mailbox: text(mailbox), host: text(host) };
  });
}
