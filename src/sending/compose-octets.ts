import type { ComposedMessage } from '../../mail/message/compose-message.ts';
import type { AreaContext } from '../core/area-context.ts';
import { refuse } from '../core/refusal.ts';
import type { IndexedMessage } from '../core/text-tasks.ts';
import { composeIndexed, indexOctets } from '../reading/compose-indexed.ts';

/** Octets of a message that is composed on the calling thread, within some milliseconds. */
const MAX_INLINE_OCTETS = 64 * 1024;

type ComposeContext = Pick<AreaContext, 'texts' | 'store'>;

/** An outgoing message with its index and digest. */
export interface ComposedOctets extends IndexedMessage {
  data: Buffer;
}

/** Composes and indexes a message; a large one in the worker thread, as it takes up to a second. */
export async function composeOctets(
  { texts, store }: ComposeContext,
  message: ComposedMessage,
): Promise<ComposedOctets> {
  const { text = '', html = '', attachments } = message;
  const size = attachments.reduce((sum, { content }) => sum + content.length, text.length + html.length);
  const job = { message, secretLinks: store.secretLinks?.links };
  const done = size <= MAX_INLINE_OCTETS ? composeIndexed(job) : await texts.read('compose', job);
  if (done === undefined) return refuseSlow();
  const { buffer, byteOffset, length } = done.data;
  return { ...done, data: Buffer.from(buffer, byteOffset, length) };
}

/** Indexes an outgoing message; a large one in the worker thread. */
export async function indexOutgoing({ texts, store }: ComposeContext, data: Buffer): Promise<ComposedOctets> {
  const job = { octets: data, secretLinks: store.secretLinks?.links };
  const done = data.length <= MAX_INLINE_OCTETS ? indexOctets(job) : await texts.read('index', job);
  return done === undefined ? refuseSlow() : { ...done, data };
}

function refuseSlow(): never {
  refuse('unavailable', 'The message could not be composed in time. Send less text, or retry later.', {
    retryAfterSeconds: 5,
  });
}
