import { z } from 'zod';
import { recordRead } from '../../reading/read-record.ts';
import { sourceOf } from '../../reading/summary.ts';
import { refuseQuarantined } from '../../reading/quarantine.ts';
import { TextSource } from '../../untrusted/untrusted.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { InMailbox, MessageId, namedMessage, wholeMessage } from './mailbox-arguments.ts';

const MAX_BYTES = 1024 * 1024;

/** Returns the raw message. A resource and not a tool: it is for programs, not for a model. */
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
  output: z.object({ source: TextSource, octets: z.base64() }),
  async run(call, which) {
    const { box, email } = await namedMessage(call, which);
    const known = await wholeMessage(call, box, email);
    const { blob, size, trace, redactedFrom } = known.row;
    if (redactedFrom !== null) refuseQuarantined('secret_link');
    if (size > MAX_BYTES) {
      refuse('too_large', `This message is larger than ${MAX_BYTES} bytes: open it in a mail program.`, {
        maxBytes: MAX_BYTES,
      });
    }
    await recordRead(call, [known], 'get_message_source');
    const octets = await call.store.blob(blob, 0, size - trace.length);
    return {
      source: sourceOf(known),
      octets: Buffer.concat([Buffer.from(trace, 'latin1'), octets]).toString('base64'),
    };
  },
});
