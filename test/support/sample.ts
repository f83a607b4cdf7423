import type { Authentication } from '../../mail/auth/authentication.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { type SampleEnvelope, buildSample } from '../../mail/policy/build-sample.ts';
import type { Sample } from '../../mail/policy/sample.ts';

/** Nothing vouches for the author, and nothing speaks against it. */
export const nobodyRequested: Authentication = {
  spf: { result: 'none', domain: '' },
  dkim: [],
  dmarc: { result: 'none', policy: 'none', domain: '', organization: '', aligned: false },
  arc: 'none',
  iprev: { result: 'none', name: '', ip: '' },
};

/** A domain vouches for its own mail. */
export function vouchedBy(domain: string): Authentication {
  return {
    spf: { result: 'pass', domain },
    dkim: [{ result: 'pass', domain, selector: 's1' }],
    dmarc: { result: 'pass', policy: 'reject', domain, organization: domain, aligned: true },
    arc: 'none',
    iprev: { result: 'none', name: '', ip: '' },
  };
}

const HOST: SampleEnvelope = {
  peer: { ip: '192.0.2.7', helo: 'mx.sender.example', name: 'mx.sender.example' },
  sender: 'ann@sender.example',
};

/** The sample of a message that is written with `\n`. */
export async function sampleFrom(
  message: string | Buffer,
  authentication: Authentication = nobodyRequested,
  arrival: Partial<SampleEnvelope> = {},
): Promise<Sample> {
  const octets = typeof message === 'string' ? Buffer.from(message.replace(/\r?\n/g, '\r\n')) : message;
  const { headerLength, parts } = indexMessage(octets);
  const read = (start: number, length: number): Buffer => octets.subarray(start, start + length);
  return buildSample({ read, headerLength, parts }, { ...HOST, ...arrival }, authentication);
}

/** A sample with the given fields; the rest is an everyday message. */
export function sampleWith(some: Partial<Sample>): Sample {
  const fields = Object.entries({
    from: 'Ann <ann@sender.example>',
    date: 'Sat, 21 Nov 2026 10:00:00 +0000',
    'message-id': '<1@sender.example>',
  }).map(([name, value]) => ({ name, value: ` ${value}`, start: 0, end: 0 }));
  return {
    ...HOST,
    fields,
    subject: 'Lunch',
    author: 'ann@sender.example',
    text: 'Shall we have lunch on Monday? There is a new place.',
    html: '',
    links: [],
    parts: [],
    authentication: nobodyRequested,
    ...some,
  };
}

/** A zip file with empty files of these names; `locked`: they say that they need a password. */
export function zipOf(names: readonly string[], options: { locked?: boolean; comment?: number } = {}): Buffer {
  const flags = options.locked === true ? 1 : 0;
  const locals = names.map((name) => record('PK\x03\x04', 30, name, { 6: flags, 26: Buffer.byteLength(name) }));
  const entries = names.map((name) => record('PK\x01\x02', 46, name, { 8: flags, 28: Buffer.byteLength(name) }));
  const directory = Buffer.concat(entries);
  const end = record('PK\x05\x06', 22, '', { 10: names.length, 20: options.comment ?? 0 });
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(Buffer.concat(locals).length, 16);
  return Buffer.concat([...locals, directory, end, Buffer.alloc(options.comment ?? 0, 'x')]);
}

function record(signature: string, size: number, name: string, words: Record<number, number>): Buffer {
  const octets = Buffer.alloc(size);
  octets.write(signature, 'latin1');
  for (const [at, word] of Object.entries(words)) octets.writeUInt16LE(word, Number(at));
  return Buffer.concat([octets, Buffer.from(name)]);
}
