import { describe, expect, test } from 'vitest';
import { senderNetwork } from '../../../mail/policy/sender-network.ts';
import { evaluateReputation, type ReputationRecord } from '../../../mail/policy/reputation.ts';
import { notedKeys } from '../../../mail/policy/noted-keys.ts';
import { senderKeys } from '../../../mail/policy/sender-keys.ts';
import { nobodyRequested, sampleWith, vouchedBy } from '../../support/sample.ts';

const NOW = Date.UTC(2026, 10, 21);
const LONG_AGO = NOW - 30 * 24 * 3_600_000;
const past = (key: string, seen: number, junked = 0, kept = 0, since = LONG_AGO): ReputationRecord['own'][number] => ({
  key,
  seen,
  junked,
  kept,
  since,
});
const ann = 'a:ann@sender.example';
const classifier = (
  remembered: Partial<ReputationRecord>,
  authenticated = true,
): ReturnType<typeof evaluateReputation> =>
  evaluateReputation(
    { own: [], box: [], hasWritten: false, ...remembered },
    { author: 'ann@sender.example', authenticated },
    NOW,
  );
const score = (remembered: Partial<ReputationRecord>, authenticated = true): number =>
  classifier(remembered, authenticated).findings[0]?.score ?? 0;

test.each([
  ['192.0.2.7', ''],
  ['11.22.33.44', '11.22.33.0/24'],
  ['::ffff:11.22.33.44', '11.22.33.0/24'],
  ['2a01:4f8:1:2::3', '2a01:4f8:1::/48'],
  ['127.0.0.1', ''],
  ['', ''],
])('%j is of the network %j', (ip, network) => expect(senderNetwork(ip)).toBe(network));

test('a sender is remembered by what is proved', () => {
  const peer = { ...sampleWith({}).peer, ip: '11.22.33.44' };
  expect(senderKeys(sampleWith({ peer, authentication: vouchedBy('sender.example') }))).toEqual([
    ann,
    'd:sender.example',
    'n:11.22.33.0/24',
  ]);
  const claimed = senderKeys(sampleWith({ peer, authentication: nobodyRequested }));
  expect(claimed).toEqual(['c:ann@sender.example', 'n:11.22.33.0/24']);
  expect(notedKeys(claimed)).toEqual(['n:11.22.33.0/24']);
  expect(senderKeys(sampleWith({ author: 'x@gmail.com', authentication: vouchedBy('gmail.com') }))).toEqual([
    'a:x@gmail.com',
  ]);
  expect(senderKeys(sampleWith({ author: '' }))).toEqual([]);
});

describe('the past of a sender', () => {
  test.each<[string, Partial<ReputationRecord>, number, number]>([
    ['nobody knows it', {}, 0, 0],
    ['one good message long ago', { own: [past(ann, 1)] }, -1.5, -0.3],
    ['many good messages', { own: [past(ann, 30), past('d:sender.example', 40)] }, -3, -3],
    ['one that was taken out of Junk', { own: [past(ann, 0, 0, 1)] }, -2.5, -2.5],
    ['one that was taken for junk', { own: [past(ann, 0, 1)] }, 0.5, 1.5],
    ['nothing but junk', { own: [past(ann, 0, 8), past('d:sender.example', 0, 8)] }, 3, 3],
    ['half of it junk', { own: [past(ann, 4, 4)] }, 0, 0],
    ['good an hour ago only', { own: [past(ann, 30, 0, 0, NOW - 3_600_000)] }, 0, 0],
    ['a network alone', { own: [past('n:11.22.33.0/24', 100)] }, -0.5, -0.1],
    ['a network of junk', { own: [past('n:11.22.33.0/24', 0, 100)] }, 1.5, 1.5],
    ['two others took it for junk', { box: [past('d:sender.example', 0, 2)] }, 0, 0],
    ['three others took it for junk', { box: [past('d:sender.example', 0, 3)] }, 1, 1],
    ['three others kept it', { box: [past('d:sender.example', 0, 0, 3)] }, -0.5, -0.5],
    ['others do not agree', { box: [past('d:sender.example', 0, 3, 3)] }, 0, 0],
  ])('%s', (_what, remembered, least, most) => {
    const found = score(remembered);
    expect(found).toBeGreaterThanOrEqual(least);
    expect(found).toBeLessThanOrEqual(most);
  });

  test('who was written to is known, if it is the one', () => {
    expect(classifier({ hasWritten: true })).toMatchObject({
      known: true,
      findings: [{ rule: 'known-sender', score: -3 }],
    });
    expect(classifier({ hasWritten: true }, false)).toEqual({ known: false, findings: [] });
  });

  test('a claim earns nothing', () => {
    const claimed = past('c:ann@sender.example', 90, 0, 90);
    expect(classifier({ own: [claimed] }, false)).toEqual({ known: false, findings: [] });
    expect(score({ own: [past('c:ann@sender.example', 0, 4)] }, false)).toBeGreaterThan(1.5);
  });

  test('known is who came before and was kept', () => {
    expect(classifier({ own: [past(ann, 1)] }).known).toBe(true);
    expect(classifier({ own: [past(ann, 1)] }, false).known).toBe(false);
    expect(classifier({ own: [past(ann, 1, 1)] }).known).toBe(false);
    expect(classifier({ own: [past(ann, 1, 0, 0, NOW)] }).known).toBe(false);
    expect(classifier({ own: [past('d:sender.example', 9)] }).known).toBe(false);
  });
});
