import { expect, test } from 'vitest';
import { KnownPolicies } from '../../../mail/auth/known-policies.ts';
import { createJudge, type JudgeOptions } from '../../../mail/judge/judge.ts';
import type { Judgement } from '../../../mail/judge/judging.ts';
import { MessageIndexer } from '../../../mail/message/indexer.ts';
import { hop, HOP_ZONE } from '../../support/arc-chain.ts';
import { from } from '../../support/arriving.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

function judged(message: string | Buffer, zone: FakeZone, options: Partial<JudgeOptions> = {}): Promise<Judgement> {
  const judge = createJudge({
    resolver: fakeResolver(zone),
    hostname: 'mail.box.test',
    scan: () => Promise.resolve([]),
    policies: new KnownPolicies(),
    trustedSealers: [],
    lists: { findings: () => Promise.resolve([]) },
    read: () => Promise.reject(new Error('nobody is asked about')),
    ...options,
  });
  const octets = Buffer.from(message);
  const indexer = new MessageIndexer();
  indexer.push(octets);
  const { headerLength, parts } = indexer.end();
  return judge.judge({ ...from('x@remote.example', octets.length), octets, headerLength, parts, now: Date.now() });
}

test('says that it gets on between what it waits for and what it reckons', async () => {
  const steps: string[] = [];
  await judged(
    'From: x@remote.example\r\n\r\nx\r\n',
    {},
    {
      lists: { findings: () => (steps.push('sampled'), Promise.resolve([])) },
      alive: () => void steps.push('alive'),
    },
  );
  expect(steps).toEqual(['alive', 'sampled']);
});

const PROGRAM =
  'From: boss@box.test\r\nTo: you@box.test\r\nSubject: x\r\nMIME-Version: 1.0\r\n' +
  'Content-Type: application/octet-stream; name=invoice.exe\r\n\r\nhello\r\n';
const ZONE: FakeZone = {
  'TXT _dmarc.box.test': ['v=DMARC1; p=none'],
  'TXT box.test': ['v=spf1 -all'],
  'TXT k._domainkey.evil.test': 'trouble',
};
const program = ({ findings }: Judgement) => findings.find(({ rule }) => rule === 'program');

test('a forgery gains nothing by a signature whose key cannot be looked up', async () => {
  const silent = 'DKIM-Signature: v=1; a=rsa-sha256; d=evil.test; s=k; h=from; bh=AA==; b=AA==\r\n';
  for (const message of [PROGRAM, `${silent}${PROGRAM}`])
    expect(program(await judged(message, ZONE))).toMatchObject({ refuse: true });
});

test('a trusted sealer that saw the author proved vouches for it, to all checks', async () => {
  const sealed = await hop(Buffer.from(PROGRAM), 1);
  const zone = { ...ZONE, ...HOP_ZONE };
  expect(program(await judged(sealed, zone))).toMatchObject({ refuse: true });
  const found = await judged(sealed, zone, { trustedSealers: ['hop.example'] });
  expect(found.author.kind).toBe('pass');
  expect(program(found)).toMatchObject({ score: 3 });
  expect(program(found)).not.toHaveProperty('refuse');
});
