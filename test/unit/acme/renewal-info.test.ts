import { expect, test } from 'vitest';
import { readAcmeProblem, retryAfterMs } from '../../../src/acme/acme-error.ts';
import { certificateId } from '../../../src/acme/renewal-info.ts';

/** Certificate of RFC 9773, appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;

test('the id of a certificate is that of the example in RFC 9773', () => {
  expect(certificateId(EXAMPLE)).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});

test.each([
  [undefined, undefined],
  ['120', 120_000],
  ['999999999', 24 * 3_600_000],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
  ['Thu, 01 Jan 2020 00:00:00 GMT', 0],
  ['soon', undefined],
])('Retry-After %s is %s ms', (header, ms) => {
  expect(retryAfterMs(header, Date.UTC(2026, 0, 1))).toBe(ms);
});

test('the text of a problem becomes one short line', () => {
  const body = { type: 'urn:ietf:params:acme:error:rateLimited', detail: `too many\r\n${'x'.repeat(1_000)}` };
  const problem = readAcmeProblem(429, body, 60_000);
  expect(problem).toMatchObject({ type: 'rateLimited', retryAfterMs: 60_000 });
  expect(problem.message).toMatch(/^the authority refused \(rateLimited\): too many x{200,}\.\.\.$/);
});
