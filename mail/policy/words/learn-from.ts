import type { Authentication } from '../../auth/authentication.ts';
import { type JudgedMessage, sampleOf } from '../sample-of.ts';
import { wordsOf } from './words-of.ts';

/** A stored message that something is to be learned from. */
export interface LessonMessage extends JudgedMessage {
  /** Its author failed DMARC: the name was borrowed. */
  forged: boolean;
}

const NOBODY = { peer: { ip: '', helo: '', name: '' }, sender: '' };

/**
 * The words of a stored message, the same ones as when it was judged. Reads, and computes for some milliseconds: for a thread
 * that may wait.
 */
export async function learnFrom({ forged, ...message }: LessonMessage): Promise<number[]> {
  return wordsOf(await sampleOf(message, NOBODY, forged ? FORGED : NOTHING_KNOWN));
}

const NOTHING_KNOWN: Authentication = {
  spf: { result: 'none', domain: '' },
  dkim: [],
  dmarc: { result: 'none', policy: 'none', domain: '', organization: '', aligned: false },
  arc: 'none',
  iprev: { result: 'none', name: '', ip: '' },
};
const FORGED: Authentication = { ...NOTHING_KNOWN, dmarc: { ...NOTHING_KNOWN.dmarc, result: 'fail' } };
