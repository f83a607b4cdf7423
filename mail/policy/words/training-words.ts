import type { Authentication } from '../../auth/authentication.ts';
import { type SampleSource, buildSample } from '../build-sample.ts';
import { messageWords } from './message-words.ts';

/** A stored message that is a training sample. */
export interface TrainingMessage extends SampleSource {
  /** Its author failed DMARC: From is forged. */
  forged: boolean;
}

const NO_ENVELOPE = { peer: { ip: '', helo: '', name: '' }, sender: '' };

/**
 * Extracts the words of a stored message, the same as at arrival. Takes milliseconds of disk and CPU time: call it from a
 * worker thread.
 */
export async function extractTrainingWords({ forged, ...message }: TrainingMessage): Promise<number[]> {
  return messageWords(await buildSample(message, NO_ENVELOPE, forged ? FORGED : NO_AUTHENTICATION));
}

const NO_AUTHENTICATION: Authentication = {
  spf: { result: 'none', domain: '' },
  dkim: [],
  dmarc: { result: 'none', policy: 'none', domain: '', organization: '', aligned: false },
  arc: 'none',
  iprev: { result: 'none', name: '', ip: '' },
};
const FORGED: Authentication = { ...NO_AUTHENTICATION, dmarc: { ...NO_AUTHENTICATION.dmarc, result: 'fail' } };
