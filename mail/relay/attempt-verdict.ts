import type { ServerReply } from '../smtp/reply-reader.ts';
import type { LostConnection } from './connection.ts';

/** Outcome for one recipient, or for all recipients that a reply applies to. */
export interface AttemptVerdict {
  outcome: 'delivered' | 'failed' | 'deferred';
  /** SMTP reply code, 0 when there was none. */
  code: number;
  /** Enhanced status code, always there. RFC 3463. */
  status: string;
  /** One clean line. */
  text: string;
}

/** Converts a reply to a verdict. Unexpected replies (1xx, misplaced 3xx) defer. RFC 5321 4.2.1. */
export function verdictOf(reply: ServerReply): AttemptVerdict {
  const { code } = reply;
  const text = replyText(reply);
  if (code >= 200 && code < 300) return { outcome: 'delivered', code, status: reply.enhanced ?? '2.0.0', text };
  if (code >= 500) return { outcome: 'failed', code, status: reply.enhanced ?? '5.0.0', text };
  if (code >= 400) return { outcome: 'deferred', code, status: reply.enhanced ?? '4.0.0', text };
  return deferred('4.5.0', `unexpected reply: ${text}`, code);
}

/** Converts a reply to RCPT. 552 is an old code for too many recipients, RFC 5321 4.5.3.1.10. */
export function recipientVerdict(reply: ServerReply): AttemptVerdict {
  if (reply.code === 552 && (reply.enhanced === undefined || reply.enhanced === '5.5.3')) {
    return deferred('4.5.3', replyText(reply), 552);
  }
  return verdictOf(reply);
}

/** Verdict for a lost connection: always deferred, since the server rejected nothing. */
export function lostVerdict(lost: LostConnection): AttemptVerdict {
  return deferred('4.4.2', lost.why);
}

export function deferred(status: string, text: string, code = 0): AttemptVerdict {
  return { outcome: 'deferred', code, status, text };
}

export function failed(status: string, text: string, code = 0): AttemptVerdict {
  return { outcome: 'failed', code, status, text };
}

/** Formats a reply as one line of at most 1,000 characters, with its enhanced code. */
export function replyText(reply: ServerReply): string {
  const words = [String(reply.code), reply.enhanced, ...reply.lines];
  return words
    .filter((word) => word !== undefined && word !== '')
    .join(' ')
    .slice(0, 1000);
}
