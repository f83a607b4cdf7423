import { expect, test } from 'vitest';
import { explain, type Waiting } from '../../../src/operations/queue/explanation.ts';

const row = (change: Partial<Waiting>): Waiting => ({
  state: 0,
  held_because: null,
  domain: 'there.example',
  attempts: 2,
  last_status: '4.0.0',
  last_text: 'later',
  ...change,
});
const answered = (status: string, text: string): string => explain(row({ last_status: status, last_text: text }));

test.each([
  ['4.7.1', '451 4.7.1 Greylisted', 'servers that it does not know yet (greylisting)'],
  ['4.7.0', '421 4.7.0 Your IP has a poor reputation', 'the reputation of its address'],
  ['4.2.2', '452 4.2.2 Over quota', 'mailbox of the recipient is full'],
  ['5.1.1', '550 5.1.1 No such user', 'does not know this address'],
  ['5.7.10', '530 5.7.10 Encryption needed', 'TLS is demanded'],
  ['4.7.28', '421 4.7.28 rate limit exceeded', 'takes no more mail from this server for the moment'],
  ['4.4.4', 'None of the mail servers has an address', 'There is no way to there.example'],
  ['4.4.1', 'connecting took too long', 'may block port 25'],
  ['4.4.3', 'the DNS did not answer', 'The DNS gave no answer about there.example'],
  ['4.7.8', 'the smarthost refused the login: 535', 'refuses the user name or password'],
  ['5.7.26', '550 5.7.26 DMARC', 'SPF, DKIM and DMARC'],
  ['4.4.2', 'the server broke the connection', 'arrives twice then'],
  ['5.3.4', '552 5.3.4 too big', 'too large for there.example'],
  ['5.7.1', '550 5.7.1 URL in the message', 'change its text'],
  ['4.3.0', '451 4.3.0 out of cheese', 'its own words say the most'],
])('%s %s is explained, with what to do, and without the words of others', (status, text, meaning) => {
  const said = answered(status, text);
  expect(said).toContain(meaning);
  expect(said).toContain('2 attempts so far');
  expect(said).not.toContain(text);
  expect(said).not.toContain('{domain}');
});

test('what was not tried, is under way or is held says so', () => {
  expect(explain(row({ attempts: 0 }))).toBe('It has not been tried yet.');
  expect(explain(row({ attempts: 1, last_text: null }))).toContain('1 attempt so far; the last one is under way');
  expect(explain(row({ state: 1, held_because: 'local mode' }))).toContain('It is held: local mode.');
});
