import type { EnvelopeAddress } from '../../store/jmap-submission.ts';

/** The longest that a message waits for its time: a month. RFC 8621 1.3.2, maxDelayedSend. Seconds. */
export const MAX_DELAYED_SEND = 30 * 24 * 3600;

/** What the parameters of MAIL FROM ask. RFC 3461, 4865, 6531, 8689. */
export interface SenderParameters {
  ret: 'FULL' | 'HDRS' | '';
  envid: string;
  smtputf8: boolean;
  requireTls: boolean;
  /** ms UTC; null: now. */
  sendAt: number | null;
}

/** What the parameters of RCPT TO ask. */
export interface RecipientParameters {
  notify: string;
  orcpt: string;
}

type Parameters = EnvelopeAddress['parameters'];

/** Reads those of the sender, or answers a sentence that says what is wrong. Keywords are compared without case. */
export function senderParameters(given: Parameters, now: number): SenderParameters | string {
  const read: SenderParameters = { ret: '', envid: '', smtputf8: false, requireTls: false, sendAt: null };
  for (const [name, value] of Object.entries(given ?? {})) {
    const flaw = takeParameter(read, name.toUpperCase(), value, now);
    if (flaw !== undefined) return flaw;
  }
  return read;
}

function takeParameter(read: SenderParameters, name: string, value: string | null, now: number): string | undefined {
  switch (name) {
    case 'SIZE':
    case 'BODY':
      // What they say is seen from the message itself.
      return undefined;
    case 'SMTPUTF8':
      read.smtputf8 = true;
      return valueless(name, value);
    case 'REQUIRETLS':
      read.requireTls = true;
      return valueless(name, value);
    case 'RET': {
      const ret = value?.toUpperCase();
      if (ret !== 'FULL' && ret !== 'HDRS') return 'RET is FULL or HDRS';
      read.ret = ret;
      return undefined;
    }
    case 'ENVID':
      // A line end would become a header field of the delivery report.
      if (value === null || !/^[\x20-\x7e]{1,100}$/.test(value)) return 'ENVID is up to 100 printable characters';
      read.envid = value;
      return undefined;
    case 'HOLDFOR':
    case 'HOLDUNTIL':
      return takeTime(read, name, value, now);
    default:
      return `the parameter ${name.slice(0, 40)} is not known here`;
  }
}

function valueless(name: string, value: string | null): string | undefined {
  return value === null || value === '' ? undefined : `${name} takes no value`;
}

/** RFC 4865 5: one of the two, in seconds or as a time. A time that is over means now. */
function takeTime(read: SenderParameters, name: string, value: string | null, now: number): string | undefined {
  if (read.sendAt !== null) return 'HOLDFOR and HOLDUNTIL cannot stand together';
  const at = name === 'HOLDFOR' ? inSeconds(value, now) : atTime(value);
  if (at === undefined) {
    return name === 'HOLDFOR' ? 'HOLDFOR is a number of seconds' : 'HOLDUNTIL is a time such as 2026-11-21T09:00:00Z';
  }
  if (at > now + MAX_DELAYED_SEND * 1000) return `a message waits ${MAX_DELAYED_SEND} seconds at most`;
  read.sendAt = Math.max(at, now);
  return undefined;
}

function inSeconds(value: string | null, now: number): number | undefined {
  return value !== null && /^\d{1,9}$/.test(value) ? now + Number(value) * 1000 : undefined;
}

function atTime(value: string | null): number | undefined {
  if (value === null || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

const NOTIFY = new Set(['SUCCESS', 'FAILURE', 'DELAY']);

/** Reads those of a recipient, or answers a sentence that says what is wrong. */
export function recipientParameters(given: Parameters): RecipientParameters | string {
  const read: RecipientParameters = { notify: '', orcpt: '' };
  for (const [name, value] of Object.entries(given ?? {})) {
    switch (name.toUpperCase()) {
      case 'NOTIFY': {
        const words = (value ?? '').toUpperCase().split(',');
        const known = words.every((word) => NOTIFY.has(word)) || (words.length === 1 && words[0] === 'NEVER');
        if (!known) return 'NOTIFY is NEVER, or SUCCESS, FAILURE and DELAY by commas';
        read.notify = [...new Set(words)].join(',');
        break;
      }
      case 'ORCPT':
        // The parameter comes without its xtext: RFC 8621 7.
        if (value === null || !/^[A-Za-z0-9-]{1,40};[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,460}$/.test(value))
          return 'ORCPT is an address type, a semicolon and an address';
        read.orcpt = value;
        break;
      default:
        return `the parameter ${name.slice(0, 40)} is not known here`;
    }
  }
  return read;
}
