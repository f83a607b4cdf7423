import { extractTrainingWords } from '../../policy/words/training-words.ts';
import { ofBytes, ofPath } from '../search/message-octets.ts';

/** A message to train from, as plain data between threads. */
export interface SampleMessage {
  /** The octets, or the path of their file. */
  octets: Uint8Array | string;
  headerLength: number;
  /** The table of MIME parts. */
  parts: string;
  /** The From address failed DMARC. */
  forged: boolean;
}

/** Tokenizes a stored message. Reads from disk and computes for some ms: run it in a worker thread. */
export async function sampleWords({ octets, ...message }: SampleMessage): Promise<number[]> {
  using source = typeof octets === 'string' ? ofPath(octets) : ofBytes(octets);
  return extractTrainingWords({ ...message, read: (start, length) => source.read(start, length) });
}
