import { parseBdat } from '../../smtp/bdat-command.ts';
import { BdatReader } from '../../smtp/bdat-reader.ts';
import { reply } from '../../smtp/reply.ts';
import { isFault } from '../../smtp/syntax.ts';
import { type BdatChunk, BdatInput, RefusedBdatInput } from '../bdat-input.ts';
import { MessageTransfer } from '../message-transfer.ts';
import { closing, reading, type SmtpResponse } from '../response.ts';
import type { SmtpSessionState } from '../session-state.ts';
import type { SmtpCommand } from './command.ts';
import { refuseData } from './data-refusal.ts';

/** BDAT. RFC 3030 2. Its octets follow at once, so they are read also when the command is refused. */
export const bdat: SmtpCommand<BdatChunk | SmtpResponse> = {
  name: 'BDAT',
  states: 'any',
  // Closes on bad syntax: the number of octets that follow is unknown, and they must not be read as commands.
  parse: (text) => {
    const words = parseBdat(text);
    return isFault(words) ? { ...words.fault, next: { kind: 'close' } } : words;
  },

  run(session, words) {
    if ('code' in words) return words;
    const { maxMessageBytes } = session.options;
    if (words.octets > maxMessageBytes) {
      return closing(552, '5.3.4', `The message exceeds the limit of ${maxMessageBytes} octets`);
    }
    return readChunk(session, words);
  },
};

function readChunk(session: SmtpSessionState, chunk: BdatChunk): SmtpResponse {
  const { transaction } = session;
  if (transaction === undefined) {
    return reading(new RefusedBdatInput(chunk.octets, reply(503, '5.5.1', 'Send MAIL first')));
  }
  if (transaction.transfer === undefined) {
    const refusal = refuseData(session, transaction);
    if (refusal !== undefined) return reading(new RefusedBdatInput(chunk.octets, refusal));
    transaction.transfer = new MessageTransfer(session, transaction);
  }
  transaction.chunks ??= new BdatReader();
  return reading(new BdatInput(session, transaction.transfer, transaction.chunks, chunk));
}
