import type { Authentication } from '../../../mail/auth/authentication.ts';
import type { Sample } from '../../../mail/policy/sample.ts';
import { Random } from '../random.ts';
import { nobodyRequested, sampleFrom, vouchedBy } from '../sample.ts';
import { goodWriters, type HamKind, type Writer } from './ham.ts';
import { type JunkKind, junkWriters } from './junk.ts';
import { LANGUAGES } from './languages.ts';
import { type Letter, octetsOf } from './letter.ts';

/** One message of a made-up mailbox, and what its person thinks of it. */
export interface CorpusMessage {
  junk: boolean;
  kind: HamKind | JunkKind;
  language: string;
  octets: Buffer;
  peer: Letter['peer'];
  sender: string;
  authentication: Authentication;
  /** ms UTC. */
  at: number;
}

const QUARTER_MS = 90 * 24 * 3600_000;

/**
 * The mail of a quarter to one person, half of it junk, in the order in which it comes: people and companies begin to
 * write and go on, campaigns come and go. The same for the same seed.
 */
export function spamCorpus(seed: number, count: number): CorpusMessage[] {
  const random = new Random(seed * 7919);
  const own = random.one(Object.keys(LANGUAGES));
  const good = goodWriters(random, own);
  const junk = junkWriters(random, own);
  return Array.from({ length: count }, (_, i) => {
    const share = i / count;
    const writers: readonly Writer<HamKind | JunkKind>[] = i % 2 === 0 ? good : junk;
    const writer = whoWrites(random, writers, share);
    const letter = writer.write(Date.UTC(2026, 7, 1) + Math.floor(share * QUARTER_MS));
    const domain = letter.from.address.split('@')[1] ?? '';
    return {
      junk: i % 2 === 1,
      kind: writer.kind,
      language: writer.language,
      octets: octetsOf(random, letter),
      peer: letter.peer,
      sender: letter.from.address,
      authentication: { ...(writer.signs ? vouchedBy(domain) : nobodyRequested), iprev: nameOf(letter.peer) },
      at: letter.date,
    };
  });
}

/** The DNS was asked for every host that brought mail, as it is in live mode: RFC 8601 2.7.3. */
function nameOf({ ip, name }: Letter['peer']): Authentication['iprev'] {
  return { result: name === '' ? 'permerror' : 'pass', name, ip };
}

function whoWrites<Kind>(random: Random, writers: readonly Writer<Kind>[], share: number): Writer<Kind> {
  const active = writers.filter(({ begins, ends }) => begins <= share && share <= ends);
  const some = active.length > 0 ? active : writers;
  let left = random.next() * some.reduce((sum, { weight }) => sum + weight, 0);
  for (const one of some) {
    left -= one.weight;
    if (left < 0) return one;
  }
  return random.one(some);
}

/** The parsed message, as the filter receives it. */
export function corpusSample({ octets, authentication, peer, sender }: CorpusMessage): Promise<Sample> {
  return sampleFrom(octets, authentication, { peer, sender });
}
