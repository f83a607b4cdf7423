import { bad, no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { messageLiteral } from '../literal.ts';
import type { AppendOutcome, AppendSink, FlagSet } from '../imap-store.ts';
import type { Decoder } from '../wire/decoder.ts';

const NO_FLAGS: FlagSet = { bits: 0, keywords: [] };

interface AppendTarget {
  mailbox: string;
  flags: FlagSet;
  receivedAt: number | undefined;
}

/**
 * APPEND. RFC 9051 6.3.12. The message is streamed to the store. A refusal is sent before the literal when the client
 * waits for a continuation; otherwise the loop discards the literal.
 */
export const append: ImapCommand<AppendTarget> = {
  name: 'APPEND',
  changes: true,
  states: LOGGED_IN,
  parse,

  async run(session, into, { literal }) {
    if (literal === undefined) return bad('The message must be sent as a literal');
    if (literal.size > session.context.limits.messageBytes) return no('TOOBIG', 'Message is larger than APPENDLIMIT');
    if (literal.size === 0) return no('Message is empty');
    if ((await session.store.mailbox(into.mailbox)) === undefined) return no('TRYCREATE', 'No such mailbox');
    const sink = session.store.append(literal.size);
    if ('kind' in sink) return sinkRefusal(sink);
    return appendResponse(await receive(messageLiteral(session, literal.sync), sink, into));
  },
};

function parse(d: Decoder): AppendTarget {
  const mailbox = d.sp().mailbox();
  let flags = NO_FLAGS;
  let receivedAt: number | undefined;
  // The head ends with the space before the literal.
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

async function receive(message: AsyncIterable<Buffer>, sink: AppendSink, into: AppendTarget): Promise<AppendOutcome> {
  try {
    for await (const chunk of message) await sink.write(chunk);
  } catch (error) {
    sink.abort();
    throw error;
  }
  return sink.finish(into);
}

function sinkRefusal(refused: { kind: 'over-quota' } | { kind: 'unavailable'; why: string }): TaggedResponse {
  return refused.kind === 'over-quota'
    ? no('OVERQUOTA', 'Over quota: delete messages and try again')
    : no('UNAVAILABLE', refused.why);
}

function appendResponse(outcome: AppendOutcome): TaggedResponse {
  switch (outcome.kind) {
    case 'appended':
      return ok(`APPENDUID ${outcome.uidValidity} ${outcome.uid}`, 'Appended');
    case 'missing':
      return no('TRYCREATE', 'No such mailbox');
    case 'over-quota':
      return no('OVERQUOTA', 'Over quota: delete messages and try again');
    case 'too-many-keywords':
      return no('LIMIT', 'Too many different keywords in this mailbox');
    case 'forbidden':
      return no('NOPERM', outcome.why);
    case 'too-big':
      return no('TOOBIG', 'Message is larger than APPENDLIMIT');
  }
}
