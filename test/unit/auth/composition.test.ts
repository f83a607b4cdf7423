import { expect, test } from 'vitest';
import { resultsText } from '../../../mail/auth/authentication.ts';
import { decideDmarc } from '../../../mail/auth/dmarc-decision.ts';
import { type AuthenticationSetup, authenticateMessage } from '../../support/authenticate-message.ts';
import { signMessage, SIGNING_KEYS, publicPart } from '../../support/dkim-maker.ts';
import type { FakeZone } from '../../support/fake-resolver.ts';

/**
 * The attacks on a receiving server of "Composition Kills" (USENIX Security 2020), as its authors' program sends them:
 * mail of attack.example that wants to be taken for mail of bank.example. The DNS of the attacker is as bad as it can be:
 * it answers for whatever name a careless reader would make of what it is given.
 */
const ZONE: FakeZone = {
  'TXT bank.example': ['v=spf1 ip4:192.0.2.1 -all'],
  'TXT _dmarc.bank.example': ['v=DMARC1; p=reject'],
  'TXT any.attack.example': ['v=spf1 +all'],
  'TXT _dmarc.attack.example': ['v=DMARC1; p=none'],
  'TXT k._domainkey.attack.example': [`p=${publicPart(SIGNING_KEYS.rsa)}`],
  'TXT bank.example(.attack.example': ['v=spf1 +all'],
  "TXT bank.example'.attack.example": ['v=spf1 +all'],
  'TXT k._domainkey.bank.example(.attack.example': [`p=${publicPart(SIGNING_KEYS.rsa)}`],
  "TXT k._domainkey.bank.example'.attack.example": [`p=${publicPart(SIGNING_KEYS.rsa)}`],
  'TXT attack.example.\0.any._domainkey.bank.example': [`p=${publicPart(SIGNING_KEYS.rsa)}`],
  'TXT attack.example': ['v=spf1 ip4:198.51.100.1 -all', `p=${publicPart(SIGNING_KEYS.rsa)}`],
};

const REST = 'To: victim@box.test\r\nSubject: Your account\r\nMessage-ID: <1@attack.example>\r\n\r\nhttp\r\n';
const BANK = 'From: <admin@bank.example>\r\n';
const OURS = 'From: <any@attack.example>\r\n';

interface Attack extends Pick<AuthenticationSetup, 'helo' | 'sender'> {
  /** Fields before the signature. */
  before?: string;
  header: string;
  tags?: Record<string, string>;
  /** The message is authenticated as the attacker's own mail. */
  own?: true;
}

const ATTACKS: Record<string, Attack> = {
  'a1: a sub-domain that does not exist': { sender: 'any@mailfrom.notexist.bank.example', header: BANK },
  'a2: an empty reverse-path and a greeting': { sender: '', helo: '(any@bank.example', header: BANK },
  'a3: NUL in the selector': { header: BANK, tags: { d: 'bank.example', s: 'attack.example.\0.any' } },
  'a4: a comment in d=': { header: BANK, tags: { d: 'bank.example(.attack.example', s: 'k' } },
  "a4': a quote in d=": { header: BANK, tags: { d: "bank.example'.attack.example", s: 'k' } },
  'a5: a comment in the sender': { sender: 'any@bank.example(.attack.example', header: BANK },
  'a6: a quote in the sender': { sender: "any@bank.example'@any.attack.example", header: BANK },
  'a7: a route in the sender': { sender: "@bank.example,@any.example:'any@attack.example", header: BANK },
  'a8: two From fields': { header: OURS + BANK },
  // As the first line: behind another field it would be a fold of that, for every reader.
  'a9: two From fields, a blank in front of one': { before: ` ${BANK}`, header: OURS },
  'a10: two From fields, a blank behind one': { header: `From : <admin@bank.example>\r\n${OURS}` },
  'a11: two From fields, one folded': { header: `From\r\n : <admin@bank.example>\r\n${OURS}` },
  'a12: Sender': { header: `${OURS}Sender: <admin@bank.example>\r\n`, own: true },
  'a13: Resent-From': { header: `Resent-From: <admin@bank.example>\r\n${OURS}`, own: true },
  'a14: two addresses': { header: 'From: <any@attack.example>, <admin@bank.example>\r\n' },
  'a15: an encoded address': {
    header: `From: =?utf-8?B?${Buffer.from('<admin@bank.example>').toString('base64')}?=,<any@attack.example>\r\n`,
  },
  "a15': an encoded address alone": {
    header: `From: =?utf-8?B?${Buffer.from('admin@bank.example').toString('base64')}?=@attack.example\r\n`,
  },
  'a16: a route': { header: 'From: <@bank.example,@any.example:any@attack.example>\r\n' },
  'a17: a quoted pair': { header: 'From: <any@attack.example>\\,<admin@bank.example>\r\n' },
  'a18: an address for a name': { header: 'From: admin@bank.example <any@attack.example>\r\n' },
  "a18': an address before the one": { header: 'From: <admin@bank.example>any@attack.example\r\n' },
  'a group': { header: 'From: staff: admin@bank.example, any@attack.example;\r\n' },
  'a comment within': { header: 'From: admin@bank.example(@attack.example\r\n' },
  'a NUL': { header: 'From: admin@bank.example\0@attack.example\r\n' },
  'a quoted local part': { header: 'From: "admin@bank.example> "@attack.example\r\n' },
  'no From': { header: '' },
};

test.each(Object.entries(ATTACKS))('%s', async (_name, { before = '', header, tags, own, ...envelope }) => {
  const message = `${header}${REST}`;
  const signed = signMessage({ message, tags: { d: 'attack.example', s: 'k', h: 'from:to:subject', ...tags } });
  const found = await authenticateMessage(before + signed, { zone: ZONE, sender: 'any@attack.example', ...envelope });
  const decision = decideDmarc(found, { handling: 'follow', sealer: undefined });
  if (own === true) {
    expect(found.dmarc).toMatchObject({ result: 'pass', domain: 'attack.example' });
    return;
  }
  expect(found.dmarc.result).not.toBe('pass');
  expect(found.dmarc.aligned).toBe(false);
  expect(decision.kind).toBe('refuse');
  // The results mention the bank only as header.from.
  const results = resultsText('mail.box.test', found);
  expect(results.replace('header.from=bank.example', '')).not.toMatch(/=bank\.example(?![A-Za-z0-9._-])/);
  expect(results.match(/dmarc=pass/)).toBeNull();
});

test('the attacker’s own mail is his own, which shows that the fixtures could pass', async () => {
  const signed = signMessage({ message: `${OURS}${REST}`, tags: { d: 'attack.example', s: 'k' } });
  const found = await authenticateMessage(signed, { zone: ZONE, sender: 'any@attack.example' });
  expect(found).toMatchObject({ spf: { result: 'pass' }, dkim: [{ result: 'pass' }], dmarc: { result: 'pass' } });
});
