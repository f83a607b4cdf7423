import { expect, test } from 'vitest';
import { baseSubject, casemap } from '../../../mail/message/subject.ts';

// RFC 5256 2.1, and the examples that imaptest's thread tests use.
test.each([
  ['hello', 'HELLO'],
  ['Re: hello', 'HELLO'],
  ['re:hello', 'HELLO'],
  ['Fwd: hello', 'HELLO'],
  ['fw: hello', 'HELLO'],
  ['Re: Fwd: re: hello', 'HELLO'],
  ['Re[2]: hello', 'HELLO'],
  ['Re [2]: hello', 'HELLO'],
  ['[list] hello', 'HELLO'],
  ['[list] Re: [other] hello', 'HELLO'],
  ['Re: [list] [list] Re: hello', 'HELLO'],
  ['hello (fwd)', 'HELLO'],
  ['hello (fwd) (FWD)  ', 'HELLO'],
  ['[Fwd: hello]', 'HELLO'],
  ['[Fwd: Re: [Fwd: hello (fwd)]]', 'HELLO'],
  ['Re: [fwd: hello]', 'HELLO'],
  ['[hello]', '[HELLO]'],
  ['Re: [hello]', '[HELLO]'],
  ['[a] [b]', '[B]'],
  ['[a[b] c', '[A[B] C'],
  ['Re:', ''],
  ['Re', 'RE'],
  ['Re : hello', 'HELLO'],
  ['Reply: hello', 'REPLY: HELLO'],
  ['  many \t blanks  ', 'MANY BLANKS'],
  ['grüße', 'GRU\u0308SSE'],
  ['ﬁnance', 'FINANCE'],
  ['', ''],
  ['(fwd)', ''],
])('%j', (subject, base) => {
  expect(baseSubject(subject)).toBe(base);
});

test.each([
  ['abc', 'ABC'],
  ['Ärger', 'A\u0308RGER'],
  ['Ａ１', 'A1'],
])('casemap %j', (text, key) => {
  expect(casemap(text)).toBe(key);
});
