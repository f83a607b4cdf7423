import { createHash } from 'node:crypto';
import { composeMessage } from '../../mail/message/compose-message.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { SecretLinkForms } from '../../mail/message/secret-link.ts';
import type { IndexedMessage, TextTasks } from '../core/text-tasks.ts';

/** Composes a message and indexes its octets. */
export function composeIndexed({ message, secretLinks }: TextTasks['compose']['job']): TextTasks['compose']['result'] {
  const octets = composeMessage(message);
  return { data: octets, ...indexOctets({ octets, secretLinks }) };
}

/** Reads the octets of a message for its index and its digest. */
export function indexOctets({ octets, secretLinks }: TextTasks['index']['job']): IndexedMessage {
  return {
    index: indexMessage(
      Buffer.from(octets.buffer, octets.byteOffset, octets.length),
      secretLinks && new SecretLinkForms(secretLinks),
    ),
    sha256: createHash('sha256').update(octets).digest('hex'),
  };
}
