import { expect, test } from 'vitest';
import { delegationBy, namesBox, serverNames } from '../../../src/domains/look.ts';
import { ownServer } from '../../../src/domains/records.ts';

const HOST = 'mail.box.example';
const own = ownServer(12, HOST);
const foreign = ownServer(7, HOST);

test.each([
  [[], 'none'],
  [['ns.other.example'], 'none'],
  [[HOST], 'box'],
  [['ns.other.example', HOST], 'box'],
  [[own], 'own'],
  [[HOST, own], 'both'],
  [[foreign], 'none'],
  [[HOST, foreign], 'none'],
  [[own, foreign], 'own'],
  [[HOST, own, foreign], 'both'],
  [[`ns.dkim.${HOST}`], 'none'],
  [[`x${HOST}`, `x.${HOST}`], 'none'],
] as const)('name servers %j lead to a claim: %s', (names, delegation) => {
  expect(delegationBy(names, 12, HOST)).toBe(delegation);
});

test('the name of any claim is the box', () => {
  for (const names of [[HOST], [own], [foreign], ['ns.other.example', foreign]]) {
    expect(namesBox(names, HOST), names.join()).toBe(true);
  }
  for (const names of [[], ['ns.other.example'], [`x${HOST}`]]) expect(namesBox(names, HOST)).toBe(false);
});

test.each([
  ['none', []],
  ['box', [HOST]],
  ['own', [own]],
  ['both', [own, HOST]],
] as const)('a zone that is led here by %s has these servers and leads here by the same', (delegation, names) => {
  expect(serverNames(delegation, 12, HOST)).toEqual(names);
  expect(delegationBy(names, 12, HOST)).toBe(delegation);
});
