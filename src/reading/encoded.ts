import type { BodyPart } from '../../mail/jmap/email/body-part.ts';
import { encodedOctets } from '../../mail/jmap/email/body-value.ts';
import type { MessageSource } from '../../mail/jmap/email/message-source.ts';

/** Octets of all texts of a message that are read, as they were sent. */
const MOST_TOGETHER = 4 * 1024 * 1024;

/** A text as it was sent, the first octets of it, and how to read them. Plain data: it may go to another thread. */
export interface Encoded {
  body: BodyPart;
  octets: Uint8Array;
}

/** Texts of a message, each as far as `most` octets of it need once they are decoded. */
export async function encodedTexts(
  source: Pick<MessageSource, 'read'>,
  bodies: Iterable<BodyPart>,
  most: number,
): Promise<Encoded[]> {
  const texts: Encoded[] = [];
  let left = MOST_TOGETHER;
  for (const body of bodies) {
    const { part } = body;
    if (part.type !== 'text') continue;
    const length = Math.min(part.bodyLength, encodedOctets(most, part), left);
    const octets = await source.read(part.bodyOffset, length);
    left -= octets.length;
    texts.push({ body, octets });
  }
  return texts;
}
