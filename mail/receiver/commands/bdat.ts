import { parseBdat } from '../../smtp/bdat-command.ts';
import { BdatReader } from '../../smtp/bdat-reader.ts';
import { reply } from '../../smtp/reply.ts';
import { isFault } from '../../smtp/syntax.ts';
import { closing, reading, type Answer } from '../answer.ts';
import { BdatBody, RefusedChunk, type Chunk } from '../bdat-body.ts';
import type { Conversation } from '../conversation.ts';
import { Incoming } from '../incoming.ts';
import type { SmtpCommand } from './command.ts';
import { unfit } from './unfit.ts';

/** BDAT. RFC 3030 2. Its octets follow at once, so they are read also when the command is refused. */
export const bdat: SmtpCommand<Chunk | Answer> = {
  name: 'BDAT',
  states: 'any',
  // How many octets follow is not known then, and they must not be taken for commands.
  parse: (text) => {
    const words = parseBdat(text);
    return isFault(words) ? { ...words.fault, next: { kind: 'close' } } : words;
  },

  run(session, words) {
    if ('code' in words) return words;
    const { maxMessageBytes } = session.settled;
    if (words.octets > maxMessageBytes) {
      return closing(552, '5.3.4', `Messages here have at most ${maxMessageBytes} octets`);
    }
    return begin(session, words);
  },
};

function begin(session: Conversation, chunk: Chunk): Answer {
  const { transaction } = session;
  if (transaction === undefined) return reading(new RefusedChunk(chunk.octets, reply(503, '5.5.1', 'Say MAIL first')));
  if (transaction.incoming === undefined) {
    const refusal = unfit(session, transaction);
    if (refusal !== undefined) return reading(new RefusedChunk(chunk.octets, refusal));
    transaction.incoming = new Incoming(session, transaction);
  }
  transaction.chunks ??= new BdatReader();
  return reading(new BdatBody(session, transaction.incoming, transaction.chunks, chunk));
}
