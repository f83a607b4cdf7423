import { learnFrom } from '../policy/words/learn-from.ts';
import { ofBytes, ofFile } from './search/message-octets.ts';

/** A message to learn from, as it crosses threads: plain data. */
export interface LessonSource {
  /** The octets, or the path of the file that has them. */
  octets: Uint8Array | string;
  headerLength: number;
  /** The part table, mail/message/parts.ts. */
  parts: string;
  /** Its author failed DMARC. */
  forged: boolean;
}

/** The words of a stored message. Waits for the disk and computes for some milliseconds: for a thread that may. */
export async function lessonWords({ octets, ...message }: LessonSource): Promise<number[]> {
  using source = typeof octets === 'string' ? ofFile(octets) : ofBytes(octets);
  return learnFrom({ ...message, read: (start, length) => source.read(start, length) });
}
