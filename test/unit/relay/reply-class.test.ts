import { expect, test } from 'vitest';
import { applyFailover } from '../../../mail/relay/failover.ts';
import type { AttemptResult } from '../../../mail/store/queue/queue.ts';
import type { QueueItem } from '../../../mail/relay/relay-queue.ts';
import { classifyReply } from '../../../mail/relay/reply-class.ts';

test.each([
  ['greylisted', '4.7.1', '451 4.7.1 Greylisting in action, please come back later'],
  ['greylisted', '4.2.0', '450 4.2.0 <a@x.test>: Recipient address rejected: Greylisted, see http://postgrey.example/'],
  ['blocked', '5.7.1', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org'],
  ['blocked', '5.7.1', '550 5.7.1 Mail from IP 192.0.2.1 was rejected due to listing in Spamhaus PBL'],
  ['blocked', '5.7.606', '550 5.7.606 Access denied, banned sending IP [192.0.2.1]'],
  [
    'blocked',
    '4.7.0',
    '421 4.7.0 [192.0.2.1 15] Our system has detected an unusual rate of unsolicited mail originating from your IP address',
  ],
  ['blocked', '5.0.0', '554 IMTA-SERVER: your host has a poor reputation'],
  ['blocked', '4.7.25', '421 4.7.25 the IP address sending this message does not have a PTR record'],
  ['blocked', '5.0.0', '554 Blocked - see https://ipcheck.example, your ip is blocked'],
  ['authentication', '5.7.26', '550 5.7.26 Unauthenticated email from x.test is not accepted due to its DMARC policy'],
  ['content', '5.7.1', '550 5.7.1 Message contains a URL listed by a URL blocklist'],
  ['content', '5.6.0', '554 5.6.0 malformed'],
  ['mailbox-full', '4.2.2', '452 4.2.2 The email account that you tried to reach is over quota'],
  ['mailbox-full', '5.0.0', '552 mailbox is full'],
  ['unknown-user', '5.1.1', '550 5.1.1 No such user'],
  ['unknown-user', '5.0.0', '550 user unknown'],
  ['tls', '5.7.4', '550 5.7.4 Encryption needed'],
  ['tls', '5.7.0', '530 5.7.0 Must issue a STARTTLS command first'],
  ['rate-limited', '4.7.28', '421 4.7.28 rate limit exceeded'],
  ['rate-limited', '4.3.2', '451 4.3.2 Too many connections, slow down'],
  ['no-route', '4.4.4', 'None of the mail servers of x.test has an address'],
  ['dns', '4.4.3', 'no answer from the name servers'],
  ['unreachable', '4.4.1', 'connecting took too long'],
  ['interrupted', '4.4.2', 'the server broke the connection'],
  ['login', '4.7.8', 'the smarthost refused the login: 535 5.7.8 no'],
  ['too-large', '5.3.4', 'The message has 9 octets, the server takes 8'],
  ['unknown', '5.7.1', '550 5.7.1 Relaying denied'],
  ['unknown', '4.3.0', '451 4.3.0 something'],
])('%s: %s %s', (kind, status, text) => {
  expect(classifyReply({ status, text })).toBe(kind);
});

const item = { nextHop: { via: undefined, failover: 7 } } as QueueItem;
const usual = { turnedAway: false, cutOff: false };

function result(outcome: AttemptResult['outcome'], code: number, status: string, text: string): AttemptResult {
  return { id: 1, outcome, host: 'mx.x.test', ip: '', code, status, text, tls: '', at: 5, nextAt: 99 };
}

test.each([
  ['a blocklist', result('failed', 554, '5.7.1', '554 5.7.1 Client host blocked using zen.spamhaus.org'), usual, true],
  ['a blocklist, for now', result('deferred', 421, '4.7.0', '421 4.7.0 your IP has a poor reputation'), usual, true],
  [
    'an end at the banner',
    result('failed', 554, '5.0.0', 'the server turned us away: 554 no'),
    { ...usual, turnedAway: true },
    true,
  ],
  [
    'a host that takes no mail',
    result('failed', 521, '5.0.0', '521 no mail here'),
    { ...usual, turnedAway: true },
    false,
  ],
  ['no connection, one host', result('deferred', 0, '4.4.1', 'connecting took too long'), usual, false],
  [
    'no connection anywhere',
    result('deferred', 0, '4.4.1', 'connecting took too long'),
    { ...usual, cutOff: true },
    true,
  ],
  ['the last attempt', result('failed', 0, '5.4.7', 'Given up after 5 days. The last reply was: x'), usual, true],
  ['a lost end', result('deferred', 0, '4.4.2', 'the server broke the connection'), { ...usual, cutOff: true }, false],
  ['an unknown user', result('failed', 550, '5.1.1', '550 5.1.1 No such user'), usual, false],
  ['a policy', result('failed', 550, '5.7.1', '550 5.7.1 Relaying denied'), usual, false],
  ['success', result('delivered', 250, '2.0.0', '250 2.0.0 Ok'), usual, false],
])('%s: goes on by the smarthost or not', (_name, end, how, over) => {
  const gone = { ...end, outcome: 'deferred', nextAt: end.at, via: 7 };
  expect(applyFailover(item, end, how)).toEqual(over ? gone : end);
  expect(applyFailover({ nextHop: { via: undefined, failover: undefined } } as QueueItem, end, how)).toBe(end);
  expect(applyFailover({ nextHop: { via: 7, failover: undefined } } as QueueItem, end, how)).toBe(end);
});
