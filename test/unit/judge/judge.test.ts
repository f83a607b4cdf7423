import { expect, test } from 'vitest';
import type { Resolver } from '../../../mail/dns/lookup.ts';
import { KnownPolicies } from '../../../mail/auth/known-policies.ts';
import { createJudge, type JudgeOptions } from '../../../mail/judge/judge.ts';
import { MessageIndexer } from '../../../mail/message/indexer.ts';
import { from } from '../../support/arriving.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';

function judgeWith(some: Partial<JudgeOptions>) {
  return createJudge({
    resolver: fakeResolver({}),
    hostname: 'mail.box.test',
    scan: () => Promise.resolve([]),
    policies: new KnownPolicies(),
    trustedSealers: [],
    lists: { findings: () => Promise.resolve([]) },
    read: () => Promise.reject(new Error('nobody is asked about')),
    ...some,
  });
}

function mail(text = 'x') {
  const octets = Buffer.from(`From: x@remote.example\r\n\r\n${text}\r\n`);
  const indexer = new MessageIndexer();
  indexer.push(octets);
  const { headerLength, parts } = indexer.end();
  return { ...from('x@remote.example', octets.length), octets, headerLength, parts };
}

test('says that it gets on between what it waits for and what it reckons', async () => {
  const steps: string[] = [];
  const judge = judgeWith({
    lists: { findings: () => (steps.push('taken apart'), Promise.resolve([])) },
    read: () => (steps.push('reckoned'), Promise.reject(new Error('that is all'))),
    alive: () => void steps.push('alive'),
  });
  await expect(judge.judge({ ...mail(), accounts: [1] })).rejects.toThrow('that is all');
  expect(steps).toEqual(['alive', 'taken apart', 'alive', 'reckoned']);
});

test('lists are asked while the sender is looked for, about all that needs no proof: there is one time for both', async () => {
  const answer = Promise.withResolvers<{ kind: 'none' }>();
  const silent = new Proxy({} as Resolver, { get: () => () => answer.promise });
  const asked = Promise.withResolvers<unknown>();
  const finding = { rule: 'address-list', score: 2.5, why: 'it is listed' };
  const judge = judgeWith({
    resolver: silent,
    lists: { findings: (what) => (asked.resolve(what), Promise.resolve([finding])) },
  });
  const judged = judge.judge(mail('see https://shop.example/x'));
  expect(await asked.promise).toMatchObject({
    peer: { ip: mail().peer.ip },
    author: 'x@remote.example',
    links: [{ url: 'https://shop.example/x' }],
  });
  answer.resolve({ kind: 'none' });
  expect((await judged).findings).toContainEqual(finding);
});
