import type { ServerReply } from '../smtp/reply-reader.ts';
import type { Lost } from './connection.ts';

/** What became of one recipient, or of all that a reply stands for. */
export interface Verdict {
  outcome: 'delivered' | 'failed' | 'deferred';
  /** SMTP reply code, 0 when there was none. */
  code: number;
  /** Enhanced status code, always there. RFC 3463. */
  status: string;
  /** One clean line. */
  text: string;
}

/** Reads a reply as a verdict. What is neither yes nor no (1xx, 3xx in the wrong place) is "later". RFC 5321 4.2.1. */
export function verdictOf(reply: ServerReply): Verdict {
  const { code } = reply;
  const text = replyText(reply);
  if (code >= 200 && code < 300) return { outcome: 'delivered', code, status: reply.enhanced ?? '2.0.0', text };
  if (code >= 500) return { outcome: 'failed', code, status: reply.enhanced ?? '5.0.0', text };
  if (code >= 400) return { outcome: 'deferred', code, status: reply.enhanced ?? '4.0.0', text };
  return deferred('4.5.0', `the server answered out of order: ${text}`, code);
}

/** A reply to RCPT. RFC 5321 4.5.3.1.10: 552 is an old way to say that these are too many recipients for one go. */
export function recipientVerdict(reply: ServerReply): Verdict {
  if (reply.code === 552 && (reply.enhanced === undefined || reply.enhanced === '5.5.3')) {
    return deferred('4.5.3', replyText(reply), 552);
  }
  return verdictOf(reply);
}

/** A connection that was lost: never a failure, whatever the moment, since nobody said no. */
export function lostVerdict(lost: Lost): Verdict {
  return deferred('4.4.2', lost.why);
}

export function deferred(status: string, text: string, code = 0): Verdict {
  return { outcome: 'deferred', code, status, text };
}

export function failed(status: string, text: string, code = 0): Verdict {
  return { outcome: 'failed', code, status, text };
}

/** The text of a reply on one line of at most 1,000 characters, with its enhanced code as the server sent it. */
export function replyText(reply: ServerReply): string {
  const words = [String(reply.code), reply.enhanced, ...reply.lines];
  return words
    .filter((word) => word !== undefined && word !== '')
    .join(' ')
    .slice(0, 1000);
}
