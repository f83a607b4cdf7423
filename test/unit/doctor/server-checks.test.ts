import { beforeAll, describe, expect, test } from 'vitest';
import { isHealthy } from '../../../src/doctor/health-check.ts';
import { checkServer, type ServerFacts } from '../../../src/doctor/server-checks.ts';
import { testCertificate } from '../../support/certificate.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const GIB = 1024 ** 3;

let sound: ServerFacts;
beforeAll(async () => {
  const { cert } = await testCertificate('localhost');
  sound = {
    now: Date.UTC(2026, 11, 1),
    live: true,
    hostname: 'localhost',
    failing: [],
    listeners: ['smtp', 'submission', 'submissions', 'imap', 'imaps', 'http', 'https'],
    certificate: { pem: cert, selfSigned: false, automatic: true, failing: [] },
    disk: { free: 50 * GIB, total: 100 * GIB },
    queue: { due: 3, held: 0, oldest: Date.UTC(2026, 11, 1) - HOUR },
    refusedLogins: [],
    damaged: 0,
    bucket: { label: 's3://mail', problem: undefined },
    backup: { target: true, everyMs: DAY, lastGoodAt: Date.UTC(2026, 11, 1) - HOUR, sealed: true },
    settings: { bootstrapOpen: false, privateNetworks: false, dns: true },
  };
});

/** The lines that are not as they should be. */
function found(over: Partial<ServerFacts>): string[] {
  return checkServer({ ...sound, ...over })
    .filter(({ name, status }) => status !== 'ok' && name !== 'certificate')
    .map(({ name, status }) => `${name} ${status}`);
}

describe('the doctor', () => {
  test('finds nothing on a sound server', () => {
    expect(found({})).toEqual([]);
  });

  test.each<[string, (from: ServerFacts) => Partial<ServerFacts>, string]>([
    ['a part that does not work', () => ({ failing: ['store'] }), 'readiness failed'],
    ['a listener that is off', () => ({ listeners: ['smtp', 'imaps', 'https'] }), 'listeners warning'],
    [
      'a clock in 1970',
      () => ({ now: DAY, queue: { due: 0, held: 0, oldest: undefined }, backup: recent(DAY) }),
      'clock failed',
    ],
    ['a full disk', () => ({ disk: { free: GIB / 8, total: 100 * GIB } }), 'disk failed'],
    ['a disk that fills', () => ({ disk: { free: 5 * GIB, total: 100 * GIB } }), 'disk warning'],
    ['a damaged message', () => ({ damaged: 1 }), 'storage failed'],
    ['a bucket that fails', () => ({ bucket: { label: 's3://mail', problem: 'HTTP 503' } }), 'bucket failed'],
    [
      'a queue that does not move',
      ({ now }) => ({ queue: { due: 9, held: 0, oldest: now - 5 * HOUR } }),
      'queue warning',
    ],
    [
      'a smarthost that rejects the login',
      () => ({ refusedLogins: [{ host: 'smart.example', why: '535' }] }),
      'smarthost failed',
    ],
    ['no backup', ({ backup }) => ({ backup: { ...backup, lastGoodAt: undefined } }), 'backup warning'],
    ['an old backup', ({ backup, now }) => ({ backup: { ...backup, lastGoodAt: now - 3 * DAY } }), 'backup failed'],
    ['a backup without the keys', ({ backup }) => ({ backup: { ...backup, sealed: false } }), 'backup warning'],
    [
      'anybody may make organizations',
      ({ settings }) => ({ settings: { ...settings, bootstrapOpen: true } }),
      'settings: bootstrap warning',
    ],
    [
      'private networks are open',
      ({ settings }) => ({ settings: { ...settings, privateNetworks: true } }),
      'settings: private networks warning',
    ],
    ['no name server', ({ settings }) => ({ settings: { ...settings, dns: false } }), 'settings: name server off'],
  ])('tells: %s', (_, change, line) => {
    expect(found(change(sound))).toEqual([line]);
  });

  test.each<[string, (from: ServerFacts) => Partial<ServerFacts>, string]>([
    ['self-signed', ({ certificate }) => ({ certificate: { ...certificate, selfSigned: true } }), 'self-signed'],
    ['for another name', () => ({ hostname: 'other.example' }), 'is not for other.example'],
    ['expired', () => ({ now: Date.UTC(2290, 0, 1) }), 'expired'],
    [
      'not renewed',
      ({ certificate }) => ({ certificate: { ...certificate, failing: ['a.test: 403'] } }),
      'a.test: 403',
    ],
  ])('tells a certificate that is %s', (_, change, words) => {
    const line = checkServer({ ...sound, ...change(sound) }).find(({ name }) => name === 'certificate');
    expect(line?.status).not.toBe('ok');
    expect(line?.why).toContain(words);
  });

  test('has a sentence for each line, and advice for each that is not ok', () => {
    const lines = checkServer({ ...sound, failing: ['x'], damaged: 2, disk: { free: 0, total: 0 } });
    for (const { status, why, fix } of lines) {
      expect(why).toMatch(/^[A-Z0-9].*\.$/);
      expect(fix === '').toBe(status === 'ok');
    }
    expect(isHealthy(lines)).toBe(false);
  });
});

const recent = (at: number) => ({ target: true, everyMs: DAY, lastGoodAt: at, sealed: true });
