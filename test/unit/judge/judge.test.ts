import { expect, test } from 'vitest';
import { KnownPolicies } from '../../../mail/auth/known-policies.ts';
import { createJudge } from '../../../mail/judge/judge.ts';
import { MessageIndexer } from '../../../mail/message/indexer.ts';
import { from } from '../../support/arriving.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';

test('says that it gets on between what it waits for and what it reckons', async () => {
  const steps: string[] = [];
  const judge = createJudge({
    resolver: fakeResolver({}),
    hostname: 'mail.box.test',
    scan: () => Promise.resolve([]),
    policies: new KnownPolicies(),
    trustedSealers: [],
    lists: { findings: () => (steps.push('sampled'), Promise.resolve([])) },
    read: () => Promise.reject(new Error('nobody is asked about')),
    alive: () => void steps.push('alive'),
  });
  const octets = Buffer.from('From: x@remote.example\r\n\r\nx\r\n');
  const indexer = new MessageIndexer();
  indexer.push(octets);
  const { headerLength, parts } = indexer.end();
  await judge.judge({ ...from('x@remote.example', octets.length), octets, headerLength, parts });
  expect(steps).toEqual(['alive', 'sampled']);
});
