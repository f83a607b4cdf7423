import { bad, no, ok } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { messageLiteral } from '../literal.ts';
import type { AppendOutcome, AppendSink, FlagSet } from '../needs.ts';
import type { Decoder } from '../wire/decoder.ts';

const NO_FLAGS: FlagSet = { bits: 0, keywords: [] };

interface Into {
  mailbox: string;
  flags: FlagSet;
  receivedAt: number | undefined;
}

/**
 * RFC 9051 6.3.12. The message is not held in memory: it goes to the store as it comes. A refusal before that is said
 * at once to a client that waits; the loop reads over the message of one that does not.
 */
export const append: ImapCommand<Into> = {
  name: 'APPEND',
  changes: true,
  states: LOGGED_IN,
  parse,

  async run(session, into, { literal }) {
    if (literal === undefined) return bad('A message must follow as a literal');
    if (literal.size > session.door.limits.messageBytes) return no('TOOBIG', 'The message is too large');
    if (literal.size === 0) return no('The message is empty');
    if ((await session.store.mailbox(into.mailbox)) === undefined) return no('TRYCREATE', 'No such mailbox');
    const sink = session.store.append(literal.size);
    if ('kind' in sink) return refusal(sink);
    return answerTo(await receive(messageLiteral(session, literal.sync), sink, into));
  },
};

function parse(d: Decoder): Into {
  const mailbox = d.sp().mailbox();
  let flags = NO_FLAGS;
  let receivedAt: number | undefined;
  // In the head the space before the literal stands last.
  d.sp();
  if (d.ahead('(')) {
    flags = d.flagList();
    d.sp();
  }
  if (d.ahead('"')) {
    receivedAt = d.dateTime();
    d.sp();
  }
  return { mailbox, flags, receivedAt };
}

async function receive(message: AsyncIterable<Buffer>, sink: AppendSink, into: Into): Promise<AppendOutcome> {
  try {
    for await (const chunk of message) await sink.write(chunk);
  } catch (error) {
    sink.abort();
    throw error;
  }
  return sink.finish(into);
}

function refusal(refused: { kind: 'over-quota' } | { kind: 'unavailable'; why: string }): Answer {
  return refused.kind === 'over-quota' ? no('OVERQUOTA', 'There is no room left') : no('UNAVAILABLE', refused.why);
}

function answerTo(outcome: AppendOutcome): Answer {
  switch (outcome.kind) {
    case 'appended':
      return ok(`APPENDUID ${outcome.uidValidity} ${outcome.uid}`, 'Appended');
    case 'missing':
      return no('TRYCREATE', 'No such mailbox');
    case 'over-quota':
      return no('OVERQUOTA', 'There is no room left');
    case 'too-many-keywords':
      return no('LIMIT', 'There are too many different keywords');
    case 'forbidden':
      return no('NOPERM', outcome.why);
    case 'too-big':
      return no('TOOBIG', 'The message is too large');
  }
}
