import { meansGone } from '../../../mail/store/suppression.ts';
import type { Telling } from './entry.ts';
import type { Facts } from './facts.ts';

/** What an attempt came to; `explanation` says it in our words. */
export function attempted(event: 'delivered' | 'deferred' | 'bounced', facts: Facts): Omit<Telling, 'explanation'> {
  const [host, tls, enhancedCode, text] = ['host', 'tls', 'status', 'text'].map((name) => facts.text(name));
  const code = facts.number('code');
  return {
    event,
    recipient: facts.text('to'),
    ...(host !== '' && { host }),
    ...(tls !== '' && { tls }),
    ...(code !== 0 && { code }),
    ...(enhancedCode !== '' && { enhancedCode }),
    ...(text !== '' && { text }),
  };
}

/** Of an attempt after which there is another. */
export function notYet(facts: Facts): string {
  const host = facts.text('host');
  const next = facts.text('next');
  const what = host === '' ? 'It could not be handed over yet' : 'Their server did not take it yet';
  return `${what}. It is tried again by itself${next === '' ? '' : `, at ${next}`}. Nothing needs to be done.`;
}

/** Of the last attempt, or of a report that came later. */
export function never(facts: Facts): string {
  const host = facts.text('host');
  const refused = host === '' ? 'It cannot be delivered' : 'Their server refused it for good';
  // They had taken it before.
  const what = facts.text('report') === '' ? refused : 'A report came back that it could not be delivered there';
  return `${what}. ${afterRefusal(facts)}`;
}

function afterRefusal(facts: Facts): string {
  const status = facts.text('status');
  if (meansGone(status)) return 'The address does not exist there: correct it. Programs write to it no more.';
  if (status === '5.4.7')
    return 'It was tried until its time was over. Find out why their server takes no mail, and send it again.';
  if (status.startsWith('5.2.')) return 'The mailbox takes no mail now: ask the recipient in another way.';
  if (status.startsWith('5.7.'))
    return 'Their policy is against it: read what they say, and check the DNS records of your domain.';
  if (status.startsWith('5.3.') || status.startsWith('5.6.'))
    return 'It is the message itself that they do not take: make it smaller or simpler.';
  return 'Read what they say; the same message again will most likely fare no better.';
}

/** A report about it that this server sent. */
export function report(facts: Facts): Telling {
  const to = facts.text('to');
  const whom = to === '' ? `nobody: ${facts.text('because') || 'there is no sender'}` : to;
  switch (facts.text('kind')) {
    case 'delay':
      return { event: 'deferred', explanation: `A note that it is delayed was sent to ${whom}.` };
    case 'success':
      return { event: 'delivered', explanation: `A report that it was handed over was sent to ${whom}.` };
    default:
      return { event: 'bounced', explanation: `A report of the failure was sent to ${whom}.` };
  }
}

/** How it went over the wire, as the end of a sentence. */
export function protection(facts: Facts): string {
  const tls = facts.text('tls');
  return tls.startsWith('TLS') ? ', over an encrypted connection' : ', over a connection without encryption';
}
