import { afterEach, describe, expect, test, vi } from 'vitest';
import { SubmissionHeader } from '../../../mail/delivery/submission-header.ts';
import { OctetCollector } from '../../../mail/message/octet-collector.ts';
import { HeaderCapture } from '../../../mail/receiver/header-capture.ts';

afterEach(() => void vi.restoreAllMocks());

const STAMP = { now: 0, messageIdDomain: 'box.test', id: 'x', authserv: 'mail.box.test' };
const FIELDS = 'From: me@box.test\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-ID: <a@box.test>\r\n';

/** Counts the octets that are copied or searched while `work` runs. */
function octetsTouched(work: () => void): number {
  let touched = 0;
  const methods = Buffer.prototype as unknown as Record<'copy' | 'indexOf', (...args: unknown[]) => unknown>;
  for (const name of ['copy', 'indexOf'] as const) {
    const was = methods[name];
    vi.spyOn(methods, name).mockImplementation(function (this: Buffer, ...args: unknown[]) {
      touched += this.length - (name === 'indexOf' ? Number(args[1] ?? 0) : 0);
      return was.apply(this, args);
    });
  }
  work();
  vi.restoreAllMocks();
  return touched;
}

/** Gives a header octet by octet, as chunks of BDAT may come. */
function octetByOctet(text: string, take: (octet: Buffer) => void): void {
  for (const octet of Buffer.from(text)) take(Buffer.of(octet));
}

describe('a header that comes octet by octet', () => {
  const header = `${FIELDS}X-Long: ${'y'.repeat(20_000)}\r\n`;

  test('of a submission costs a bounded number of copies', () => {
    const submitted = new SubmissionHeader(STAMP);
    const touched = octetsTouched(() => octetByOctet(header, (octet) => submitted.push(octet)));
    expect(touched).toBeLessThan(12 * header.length);
  });

  test.each(['', 'Text\r\n'])('of a submission is the same message: %j', (body) => {
    const submitted = new SubmissionHeader(STAMP);
    const out: Buffer[] = [];
    const whole = `${header}\r\n${body}`;
    octetByOctet(whole, (octet) => out.push(submitted.push(octet) ?? Buffer.alloc(0)));
    expect(Buffer.concat(out).toString()).toBe(whole);
    expect(submitted.authorDomains).toEqual(['box.test']);
  });

  test('of incoming mail is captured up to the limit, in one piece of memory', () => {
    const capture = new HeaderCapture();
    octetByOctet(header, (octet) => capture.push(octet));
    expect(capture.fields().map(({ name }) => name.toLowerCase())).toEqual(['from', 'date', 'message-id', 'x-long']);
  });
});

test('octets that were collected are those that came', () => {
  const collected = new OctetCollector();
  const pieces = [1, 5_000, 3, 20_000, 4_096].map((length, i) => Buffer.alloc(length, i + 1));
  for (const piece of pieces) collected.push(piece);
  expect(collected.octets.equals(Buffer.concat(pieces))).toBe(true);
});
