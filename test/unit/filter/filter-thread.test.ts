import { expect, test } from 'vitest';
import type { Resolver } from '../../../mail/dns/lookup.ts';
import { DmarcPolicyCache } from '../../../mail/auth/dmarc-policy-cache.ts';
import { type DnsChecks, filterMessage, type FilterOptions } from '../../../mail/filter/filter-message.ts';
import type { FilterResult, InboundMail } from '../../../mail/filter/mail-filter.ts';
import { MessageIndexer } from '../../../mail/message/indexer.ts';
import { hop, HOP_ZONE } from '../../support/arc-chain.ts';
import { from } from '../../support/filter-input.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

function filterWith({ resolver = fakeResolver({}), lists, ...some }: Partial<FilterOptions & DnsChecks>) {
  const options: FilterOptions = {
    dns: {
      resolver,
      policies: new DmarcPolicyCache(),
      lists: lists ?? { findings: () => Promise.resolve([]) },
    },
    hostname: 'mail.box.test',
    scan: undefined,
    trustedSealers: [],
    read: () => Promise.reject(new Error('nobody is asked about')),
    ...some,
  };
  return { filter: (what: InboundMail) => filterMessage(options, what) };
}

function mail(message: string | Buffer = 'From: x@remote.example\r\n\r\nx\r\n') {
  const octets = Buffer.from(message);
  const indexer = new MessageIndexer();
  indexer.push(octets);
  const { headerLength, parts } = indexer.end();
  return { ...from('x@remote.example', octets.length), octets, headerLength, parts, now: Date.now() };
}

function filtered(
  message: string | Buffer,
  zone: FakeZone,
  options: Partial<FilterOptions> = {},
): Promise<FilterResult> {
  return filterWith({ resolver: fakeResolver(zone), ...options }).filter(mail(message));
}

test('says that it gets on between what it waits for and what it reckons', async () => {
  const steps: string[] = [];
  const classifier = filterWith({
    lists: { findings: () => (steps.push('taken apart'), Promise.resolve([])) },
    read: () => (steps.push('reckoned'), Promise.reject(new Error('that is all'))),
    heartbeat: () => void steps.push('alive'),
  });
  await expect(classifier.filter({ ...mail(), accounts: [1] })).rejects.toThrow('that is all');
  expect(steps).toEqual(['alive', 'taken apart', 'alive', 'reckoned']);
});

test('lists are asked while the sender is looked for, about all that needs no proof: there is one time for both', async () => {
  const answer = Promise.withResolvers<{ kind: 'none' }>();
  const silent = new Proxy({} as Resolver, { get: () => () => answer.promise });
  const queried = Promise.withResolvers<unknown>();
  const finding = { rule: 'address-list', score: 2.5, why: 'it is listed' };
  const classifier = filterWith({
    resolver: silent,
    lists: { findings: (what) => (queried.resolve(what), Promise.resolve([finding])) },
  });
  const filtered = classifier.filter(mail('From: x@remote.example\r\n\r\nsee https://shop.example/x\r\n'));
  expect(await queried.promise).toMatchObject({
    peer: { ip: mail().peer.ip },
    author: 'x@remote.example',
    links: [{ url: 'https://shop.example/x' }],
  });
  answer.resolve({ kind: 'none' });
  expect((await filtered).findings).toContainEqual(finding);
});

const PROGRAM =
  'From: boss@box.test\r\nTo: you@box.test\r\nSubject: x\r\nMIME-Version: 1.0\r\n' +
  'Content-Type: application/octet-stream; name=invoice.exe\r\n\r\nhello\r\n';
const ZONE: FakeZone = {
  'TXT _dmarc.box.test': ['v=DMARC1; p=none'],
  'TXT box.test': ['v=spf1 -all'],
  'TXT k._domainkey.evil.test': 'trouble',
};
const program = ({ findings }: FilterResult) => findings.find(({ rule }) => rule === 'program');

test('a forgery gains nothing by a signature whose key cannot be looked up', async () => {
  const silent = 'DKIM-Signature: v=1; a=rsa-sha256; d=evil.test; s=k; h=from; bh=AA==; b=AA==\r\n';
  for (const message of [PROGRAM, `${silent}${PROGRAM}`])
    expect(program(await filtered(message, ZONE))).toMatchObject({ refuse: true });
});

test('a trusted sealer that saw the author proved vouches for it, to all checks', async () => {
  const sealed = await hop(Buffer.from(PROGRAM), 1);
  const zone = { ...ZONE, ...HOP_ZONE };
  expect(program(await filtered(sealed, zone))).toMatchObject({ refuse: true });
  const found = await filtered(sealed, zone, { trustedSealers: ['hop.example'] });
  expect(found.author.kind).toBe('pass');
  expect(program(found)).toMatchObject({ score: 3 });
  expect(program(found)).not.toHaveProperty('refuse');
});
