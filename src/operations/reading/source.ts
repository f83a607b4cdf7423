import { z } from 'zod';
import { noteOpened } from '../../reading/opened.ts';
import { sourceOf } from '../../reading/summary.ts';
import { refuseWithheld } from '../../reading/withheld.ts';
import { Source } from '../../untrusted/untrusted.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { InMailbox, MessageId, namedMessage, wholeMessage } from './which.ts';

const MOST_BYTES = 1024 * 1024;

/** A message as it came. A resource, and no tool: its octets are for programs, never for a model. */
export const getMessageSource = operation({
  name: 'get_message_source',
  title: 'The source of a message',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  untrusted: true,
  description: 'Gives the octets of a message as base64, up to 1 MiB. A stranger wrote them. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({ ...InMailbox, messageId: MessageId }),
  output: z.object({ source: Source, octets: z.base64() }),
  async run(call, which) {
    const { box, email } = await namedMessage(call, which);
    const known = await wholeMessage(call, box, email);
    const { blob, size, trace, veiledFrom } = known.row;
    if (veiledFrom !== null) refuseWithheld('secret_link');
    if (size > MOST_BYTES) {
      refuse('too_large', `This message is larger than ${MOST_BYTES} octets: open it in a mail program.`, {
        maxBytes: MOST_BYTES,
      });
    }
    await noteOpened(call, [known], 'get_message_source');
    const octets = await call.store.blob(blob, 0, size - trace.length);
    return {
      source: sourceOf(known),
      octets: Buffer.concat([Buffer.from(trace, 'latin1'), octets]).toString('base64'),
    };
  },
});
