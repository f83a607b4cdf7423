import type { JournalLine } from '../../../mail/store/journal/journal.ts';
import { PAUSED } from '../../../mail/store/limit/paused-sender.ts';
import { RESUME } from '../queue/explanation.ts';
import type { Entry, Telling } from './entry.ts';
import { Facts } from './facts.ts';
import { isUnknownRecipient } from '../../../mail/store/queue/suppression.ts';

/**
 * Explains one line of the journal. Values chosen by outsiders (host name, sender, reply) are in separate fields, never
 * in the explanation, which an agent trusts.
 */
export function explainLine({ at, event, detail }: JournalLine): Entry[] {
  const tell = TELL[event] ?? ((facts: Facts) => [other(event, facts)]);
  return tell(new Facts(detail)).map((one) => ({ at, ...one }));
}

const TELL: Readonly<Record<string, (facts: Facts) => Telling[]>> = {
  received(facts) {
    const [ip, helo] = [facts.text('ip'), facts.text('helo')];
    const way = ip === '' ? 'from this server itself' : `from the server at ${ip}`;
    return [
      {
        event: 'accepted',
        ...(ip !== '' && { host: ip }),
        ...(helo !== '' && { text: `EHLO ${helo}` }),
        explanation: `Received ${way}; stored in the mailbox of ${facts.list('to').join(', ')}.`,
      },
      ...verdict(facts),
    ];
  },
  refused(facts) {
    const ip = facts.text('ip');
    const to = facts.list('to').join(', ');
    return [
      {
        event: 'policy',
        ...(ip !== '' && { host: ip }),
        explanation: `Rejected. ${to} can look at it in Rejects for 7 days.`,
      },
      ...verdict(facts),
    ];
  },
  submitted(facts) {
    const here = facts.list('here');
    const away = facts.list('to').filter((one) => !here.includes(one));
    return [
      { event: 'accepted', explanation: `Accepted for sending by ${senderOf(facts)}.` },
      ...here.map((recipient): Telling => ({
        event: 'delivered',
        recipient,
        explanation: `Delivered to ${recipient} on this server.`,
      })),
      ...away.map((recipient): Telling => ({
        event: 'queued',
        recipient,
        explanation: `Queued for ${recipient}.`,
      })),
    ];
  },
  scheduled: (facts) => [
    {
      event: 'queued',
      explanation: `Scheduled: held until ${facts.text('until')} and sent then. Until then it can be cancelled.`,
    },
  ],
  forwarded(facts) {
    const source = facts.text('source');
    const why =
      source === '' ? 'A report about forwarded mail is returned to its sender' : `The forward of ${source} applies`;
    const recipient = facts.text('to');
    return [{ event: 'relayed', recipient, explanation: `${why}: a copy is forwarded to ${recipient}.` }];
  },
  kept(facts) {
    const recipient = facts.text('to');
    const because = facts.text('because') || facts.list('because').join('; ');
    const explanation =
      because === ''
        ? `Could not be forwarded to ${recipient}, so it is in the mailbox. See above why the forward failed.`
        : `Stored in the mailbox and not forwarded: ${because}.`;
    return [{ event: 'policy', ...(recipient !== '' && { recipient }), explanation }];
  },
  held: (facts) => [
    {
      event: 'policy',
      recipient: facts.text('to'),
      explanation: `Held: ${facts.text('because') || 'on request'}. ${facts.text('because').startsWith(PAUSED) ? RESUME : 'Release it to send it, or cancel it.'}`,
    },
  ],
  paused: (facts) => [
    {
      event: 'policy',
      explanation: `The sender was paused: ${facts.text('because')}. list_paused_senders has the evidence, resume_sender resumes it.`,
    },
  ],
  released: (facts) => [{ event: 'queued', recipient: facts.text('to'), explanation: 'Released; it is sent now.' }],
  cancelled(facts) {
    const recipient = facts.text('to');
    const whom = recipient === '' ? 'anybody' : recipient;
    return [
      {
        event: 'policy',
        ...(recipient !== '' && { recipient }),
        explanation: `Cancelled: not sent to ${whom}, no bounce.`,
      },
    ];
  },
  delivered: (facts) => [
    {
      ...attempted('delivered', facts),
      explanation: `Accepted by the remote server${protection(facts)}. Further delivery is up to its operator.`,
    },
  ],
  deferred: (facts) => [{ ...attempted('deferred', facts), explanation: explainDeferral(facts) }],
  failed: (facts) => [{ ...attempted('bounced', facts), explanation: explainFailure(facts) }],
  bounced: (facts) => [report(facts)],
  complained: (facts) => [
    {
      event: 'complained',
      recipient: facts.text('to'),
      explanation: 'The recipient reported it as spam. The address is suppressed: programs no longer send to it.',
    },
  ],
  suppressed: (facts) => [suppression(facts.text('to'))],
  listed: (facts) => [
    {
      event: 'policy',
      recipient: facts.text('to'),
      explanation: `${facts.text('to')} is suppressed from now on (${facts.text('reason')}): programs no longer send to it.`,
    },
  ],
  resubscribed: (facts) => [
    { event: 'policy', recipient: facts.text('to'), explanation: 'The recipient resubscribed.' },
  ],
  rerouted(facts) {
    const because = facts.text('because');
    const why = because === '' ? '' : `, because ${because}`;
    return [
      {
        event: 'policy',
        recipient: facts.text('to'),
        explanation: `Rerouted: ${facts.text('route')}${why}.`,
      },
    ];
  },
  reported: (facts) => [
    {
      ...attempted(facts.text('action') === 'delayed' ? 'deferred' : 'delivered', facts),
      explanation: `A delivery report came back: ${facts.text('action') || 'no action given'}.`,
    },
  ],
  answered: (facts) => [
    { event: 'delivered', recipient: facts.text('to'), explanation: 'A remote program confirmed the delivery.' },
  ],
};

/** Explains the route. Older lines do not have it. */
function verdict(facts: Facts): Telling[] {
  const folder = facts.text('folder');
  if (folder === '') return [];
  const because = facts.list('because');
  const reasons = because.length === 0 ? 'No findings' : because.join('. ');
  const where = folder === 'junk' ? ', so it is in Junk' : '';
  return [{ event: 'policy', explanation: `Filter score ${facts.number('score')} (5 is junk)${where}. ${reasons}.` }];
}

/** Explains why a program's mail was not sent to a recipient. */
export function suppression(recipient: string): Telling {
  const explanation = `${recipient} is suppressed: programs do not send to it. list_suppressions shows why, remove_suppression ends it.`;
  return { event: 'policy', recipient, explanation };
}

/** Shows the fields of a line of unknown kind. */
function other(event: string, facts: Facts): Telling {
  const recipient = facts.text('to');
  const said = facts.names.map(
    (name) => `${name} ${facts.text(name) || facts.list(name).join(', ') || facts.number(name)}`,
  );
  return {
    event: 'policy',
    ...(recipient !== '' && { recipient }),
    ...(said.length > 0 && { text: said.join(', ') }),
    explanation: `Journal event: ${event}.`,
  };
}

function senderOf(facts: Facts): string {
  return facts.text('from') || 'nobody (a report or an automatic answer)';
}

/** Result of a delivery attempt; `explanation` is our text. */
function attempted(event: 'delivered' | 'deferred' | 'bounced', facts: Facts): Omit<Telling, 'explanation'> {
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

/** Explains a temporary failure. */
function explainDeferral(facts: Facts): string {
  const host = facts.text('host');
  const next = facts.text('next');
  const what = host === '' ? 'Not delivered yet' : 'The remote server did not accept it yet';
  return `${what}. It is retried automatically${next === '' ? '' : `, at ${next}`}. Nothing needs to be done.`;
}

/** Explains a permanent failure, or a bounce that came later. */
function explainFailure(facts: Facts): string {
  const host = facts.text('host');
  const refused = host === '' ? 'Cannot be delivered' : 'Rejected by the remote server';
  // Accepted by it before.
  const what = facts.text('report') === '' ? refused : 'Bounced after it had been accepted';
  return `${what}. ${afterRefusal(facts)}`;
}

function afterRefusal(facts: Facts): string {
  const status = facts.text('status');
  if (isUnknownRecipient(status)) return 'No such address: correct it. It is now suppressed for API sending.';
  if (status === '5.4.7') return 'Retries expired. Find out why the remote server accepts no mail, and send it again.';
  if (status.startsWith('5.2.')) return 'The mailbox accepts no mail now: contact the recipient another way.';
  if (status.startsWith('5.7.')) return 'Rejected by policy: read the reply, and check the DNS records of your domain.';
  if (status.startsWith('5.3.') || status.startsWith('5.6.'))
    return 'The message itself is rejected: make it smaller or simpler.';
  return 'Read the reply; sending the same message again will most likely fail too.';
}

/** Explains a report that this server sent. */
function report(facts: Facts): Telling {
  const to = facts.text('to');
  const whom = to === '' ? `nobody: ${facts.text('because') || 'there is no sender'}` : to;
  switch (facts.text('kind')) {
    case 'delay':
      return { event: 'deferred', explanation: `A delay notification was sent to ${whom}.` };
    case 'success':
      return { event: 'delivered', explanation: `A relay notification was sent to ${whom}.` };
    default:
      return { event: 'bounced', explanation: `A bounce was sent to ${whom}.` };
  }
}

/** Describes the transport encryption, as the end of a sentence. */
function protection(facts: Facts): string {
  const tls = facts.text('tls');
  return tls.startsWith('TLS') ? ', encrypted' : ', without encryption';
}
