import { expect, test } from 'vitest';
import { explain, type QueuedRow } from '../../../src/operations/queue/explanation.ts';

const row = (change: Partial<QueuedRow>): QueuedRow => ({
  state: 0,
  hold_reason: null,
  domain: 'there.example',
  attempts: 2,
  last_status: '4.0.0',
  last_text: 'later',
  ...change,
});
const answered = (status: string, text: string): string => explain(row({ last_status: status, last_text: text }));

test.each([
  ['4.7.1', '451 4.7.1 Greylisted', 'unknown servers (greylisting)'],
  ['4.7.0', '421 4.7.0 Your IP has a poor reputation', 'its IP reputation'],
  ['4.2.2', '452 4.2.2 Over quota', "recipient's mailbox is full"],
  ['5.1.1', '550 5.1.1 No such user', 'does not know this address'],
  ['5.7.10', '530 5.7.10 Encryption needed', 'TLS is required'],
  ['4.7.28', '421 4.7.28 rate limit exceeded', 'rate-limits this server'],
  ['4.4.4', 'None of the mail servers has an address', 'No route to there.example'],
  ['4.4.1', 'connecting took too long', 'may block port 25'],
  ['4.4.3', 'the DNS did not answer', 'DNS lookup failed for there.example'],
  ['4.7.8', 'the smarthost refused the login: 535', 'rejects the user name or password'],
  ['5.7.26', '550 5.7.26 DMARC', 'SPF, DKIM and DMARC'],
  ['4.4.2', 'the server broke the connection', 'may arrive twice'],
  ['5.3.4', '552 5.3.4 too big', 'too large for there.example'],
  ['5.7.1', '550 5.7.1 URL in the message', 'change the text'],
  ['4.3.0', '451 4.3.0 out of cheese', 'no known reason'],
])('%s %s is explained, with what to do, and without the words of others', (status, text, meaning) => {
  const said = answered(status, text);
  expect(said).toContain(meaning);
  expect(said).toContain('2 attempts so far');
  expect(said).not.toContain(text);
  expect(said).not.toContain('{domain}');
});

test('what was not tried, is under way or is held says so', () => {
  expect(explain(row({ attempts: 0 }))).toBe('Not attempted yet.');
  expect(explain(row({ attempts: 1, last_text: null }))).toContain('1 attempt so far; the last one is in progress');
  expect(explain(row({ state: 1, hold_reason: 'local mode' }))).toContain('Held: local mode.');
});
