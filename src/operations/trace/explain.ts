import type { JournalLine } from '../../../mail/store/journal.ts';
import { PAUSED } from '../../../mail/store/paused-sender.ts';
import { RESUME } from '../queue/explanation.ts';
import type { Entry, Telling } from './entry.ts';
import { Facts } from './facts.ts';
import { attempted, never, notYet, protection, report } from './outcome.ts';

/**
 * What one line of the journal says, for people. What a stranger chose (a host's name, a sender, a reply) stands in fields
 * of its own and in no explanation, which an agent may take for ours.
 */
export function entriesOf({ at, event, detail }: JournalLine): Entry[] {
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
        explanation: `It came ${way}, and is in the mailbox of ${facts.list('to').join(', ')}.`,
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
        explanation: `It was refused: its sender was told no. ${to} can look at it in Rejects for 7 days.`,
      },
      ...verdict(facts),
    ];
  },
  submitted(facts) {
    const here = facts.list('here');
    const away = facts.list('to').filter((one) => !here.includes(one));
    return [
      { event: 'accepted', explanation: `It was taken to be sent by ${senderOf(facts)}.` },
      ...here.map((recipient): Telling => ({
        event: 'delivered',
        recipient,
        explanation: `${recipient} is on this server and has it.`,
      })),
      ...away.map((recipient): Telling => ({
        event: 'queued',
        recipient,
        explanation: `It waits for its turn to be sent to ${recipient}.`,
      })),
    ];
  },
  scheduled: (facts) => [
    {
      event: 'queued',
      explanation: `It is kept until ${facts.text('until')} and sent then. Until then it can be taken back.`,
    },
  ],
  forwarded(facts) {
    const source = facts.text('source');
    const why = source === '' ? 'A report about forwarded mail finds its way back' : `The forward of ${source} applies`;
    const recipient = facts.text('to');
    return [{ event: 'relayed', recipient, explanation: `${why}: a copy goes on to ${recipient}.` }];
  },
  kept(facts) {
    const recipient = facts.text('to');
    const because = facts.text('because') || facts.list('because').join('; ');
    const explanation =
      because === ''
        ? `It could not be forwarded to ${recipient}, so it is in the mailbox. Look at why the forward failed, above.`
        : `It is in the mailbox and is not forwarded: ${because}.`;
    return [{ event: 'policy', ...(recipient !== '' && { recipient }), explanation }];
  },
  held: (facts) => [
    {
      event: 'policy',
      recipient: facts.text('to'),
      explanation: `It is held: ${facts.text('because') || 'on request'}. ${facts.text('because').startsWith(PAUSED) ? RESUME : 'Release it to send it, or cancel it.'}`,
    },
  ],
  paused: (facts) => [
    {
      event: 'policy',
      explanation: `Its sender was paused: ${facts.text('because')}. list_paused_senders has the evidence, resume_sender lets it go on.`,
    },
  ],
  released: (facts) => [
    { event: 'queued', recipient: facts.text('to'), explanation: 'It was released, and is sent now.' },
  ],
  cancelled(facts) {
    const recipient = facts.text('to');
    const whom = recipient === '' ? 'anybody' : recipient;
    return [
      {
        event: 'policy',
        ...(recipient !== '' && { recipient }),
        explanation: `It was cancelled: it is not sent to ${whom}, and nobody is told.`,
      },
    ];
  },
  delivered: (facts) => [
    {
      ...attempted('delivered', facts),
      explanation: `Their server has taken it${protection(facts)}. What happens there is for its operator to say.`,
    },
  ],
  deferred: (facts) => [{ ...attempted('deferred', facts), explanation: notYet(facts) }],
  failed: (facts) => [{ ...attempted('bounced', facts), explanation: never(facts) }],
  bounced: (facts) => [report(facts)],
  complained: (facts) => [
    {
      event: 'complained',
      recipient: facts.text('to'),
      explanation:
        'The recipient called it unwanted. Programs write to this address no more until it is taken off the suppression list.',
    },
  ],
  suppressed: (facts) => [suppression(facts.text('to'))],
  listed: (facts) => [
    {
      event: 'policy',
      recipient: facts.text('to'),
      explanation: `${facts.text('to')} is on the suppression list from now on (${facts.text('reason')}): programs write to it no more.`,
    },
  ],
  resubscribed: (facts) => [
    { event: 'policy', recipient: facts.text('to'), explanation: 'The recipient wants to be written to again.' },
  ],
  rerouted(facts) {
    const because = facts.text('because');
    const why = because === '' ? '' : `, because ${because}`;
    return [
      {
        event: 'policy',
        recipient: facts.text('to'),
        explanation: `It takes another way now, ${facts.text('route')}${why}.`,
      },
    ];
  },
  reported: (facts) => [
    {
      ...attempted(facts.text('action') === 'delayed' ? 'deferred' : 'delivered', facts),
      explanation: `A report came back from there: it was ${facts.text('action') || 'dealt with'}.`,
    },
  ],
  answered: (facts) => [
    { event: 'delivered', recipient: facts.text('to'), explanation: 'A program there answered that it has come.' },
  ],
};

/** Why it went where it went. Older lines say nothing of it. */
function verdict(facts: Facts): Telling[] {
  const folder = facts.text('folder');
  if (folder === '') return [];
  const because = facts.list('because');
  const reasons = because.length === 0 ? 'Nothing spoke for or against it' : because.join('. ');
  const where = folder === 'junk' ? ', so it is in Junk' : '';
  return [{ event: 'policy', explanation: `It was judged (${facts.number('score')}; 5 is junk)${where}. ${reasons}.` }];
}

/** Why a program's mail was not sent to somebody. */
export function suppression(recipient: string): Telling {
  const explanation = `Programs write to ${recipient} no more, who is on the suppression list: list_suppressions says why, remove_suppression ends it.`;
  return { event: 'policy', recipient, explanation };
}

/** A line of a kind that this table does not know tells what it has. */
function other(event: string, facts: Facts): Telling {
  const recipient = facts.text('to');
  const said = facts.names.map(
    (name) => `${name} ${facts.text(name) || facts.list(name).join(', ') || facts.number(name)}`,
  );
  return {
    event: 'policy',
    ...(recipient !== '' && { recipient }),
    ...(said.length > 0 && { text: said.join(', ') }),
    explanation: `The journal notes of it: ${event}.`,
  };
}

function senderOf(facts: Facts): string {
  return facts.text('from') || 'nobody (a report or an automatic answer)';
}
