import { CERTIFICATE, GIB, HOST, HOUR, type InjectedFault, NOW } from './doctor-world.ts';

/** One fault, the lines that it causes, and the sentence of the first; '': any. */
export type FaultRow = [fault: string, injected: InjectedFault, lines: string[], sentence: string];

const certificate = { pem: CERTIFICATE.pem, selfSigned: false, automatic: true, failing: [] };
const backup = {
  target: true,
  everyMs: 24 * HOUR,
  lastGoodAt: NOW - HOUR,
  sealed: true,
  problem: undefined,
  damage: undefined,
};
const queue = { due: 9, held: 0, oldest: NOW - HOUR, next: NOW + HOUR };

/** Faults of the machine, its certificate, queue, backup and filter. */
export const MACHINE_FAULTS: FaultRow[] = [
  // The machine.
  ['the store is read-only', { facts: { failing: ['disk'] } }, ['readiness failed'], 'These parts do not work: disk.'],
  [
    'no IMAPS listener',
    { facts: { listeners: ['smtp', 'submissions', 'https'] } },
    ['listeners warning'],
    'These listeners are off: imaps.',
  ],
  [
    'the clock is in 1970',
    {
      facts: { now: 0, queue: { ...queue, oldest: undefined, next: undefined }, backup: { ...backup, lastGoodAt: 0 } },
    },
    ['clock failed'],
    'The clock says 1970-01-01T00:00:00.000Z, which is earlier than its own certificate or program.',
  ],
  [
    'the clock is 5 minutes ahead',
    { facts: { skewMs: 300_000 } },
    ['clock warning'],
    'The clock says 2026-12-01T12:00:00.000Z, which is 5 minutes ahead of the clock of the certificate authority.',
  ],
  [
    'the clock is a day behind',
    { facts: { skewMs: -24 * HOUR } },
    ['clock failed'],
    'The clock says 2026-12-01T12:00:00.000Z, which is 1440 minutes behind the clock of the certificate authority.',
  ],
  [
    'the disk is full',
    { facts: { disk: { free: 0, total: 100 * GIB } } },
    ['disk failed'],
    '0.0 GiB of 100.0 GiB are free on the disk of the data directory.',
  ],
  [
    'the disk is nearly full',
    { facts: { disk: { free: 5 * GIB, total: 100 * GIB } } },
    ['disk warning'],
    '5.0 GiB of 100.0 GiB are free on the disk of the data directory.',
  ],
  [
    'the size of the disk is unknown',
    { facts: { disk: { free: 0, total: 0 } } },
    ['disk failed'],
    '0.0 GiB of 0.0 GiB are free on the disk of the data directory.',
  ],
  [
    'a message is damaged',
    { facts: { damaged: 1 } },
    ['storage failed'],
    '1 stored message was found damaged since the start.',
  ],
  [
    'messages are damaged',
    { facts: { damaged: 3 } },
    ['storage failed'],
    '3 stored messages were found damaged since the start.',
  ],
  ['the facts cannot be read', { broken: 'facts' }, ['server unknown'], 'The check could not run: EIO.'],
  [
    'the bucket fails',
    { facts: { bucket: { label: 's3://mail', problem: 'HTTP 503' } } },
    ['bucket failed'],
    'Large messages are in s3://mail, which fails: HTTP 503. Mail over 64 KiB is deferred, and what is not cached cannot be read.',
  ],
  // Certificates.
  [
    'the certificate is self-signed',
    { facts: { certificate: { ...certificate, selfSigned: true } } },
    ['certificate failed'],
    'The certificate is self-signed.',
  ],
  [
    'the certificate is for another name',
    { facts: { certificate: { ...certificate, pem: CERTIFICATE.other } } },
    ['certificate failed'],
    `The certificate is not for ${HOST}.`,
  ],
  [
    'the certificate has expired',
    {
      facts: {
        now: CERTIFICATE.end + HOUR,
        queue: { ...queue, oldest: undefined, next: undefined },
        backup: { ...backup, lastGoodAt: CERTIFICATE.end },
      },
    },
    ['certificate failed'],
    'The certificate has expired.',
  ],
  [
    'the certificate expires in 5 days',
    {
      facts: {
        now: CERTIFICATE.end - 124 * HOUR,
        queue: { ...queue, oldest: undefined, next: undefined },
        backup: { ...backup, lastGoodAt: CERTIFICATE.end - 125 * HOUR },
      },
    },
    ['certificate warning'],
    'The certificate expires in 5 days.',
  ],
  [
    'the authority limits the rate',
    { facts: { certificate: { ...certificate, failing: [`${HOST}: rateLimited: too many certificates`] } } },
    ['certificate warning'],
    `A renewal fails: ${HOST}: rateLimited: too many certificates.`,
  ],
  [
    'the authority is down',
    {
      facts: {
        certificate: { ...certificate, failing: [`${HOST}: the request to acme.example failed (ECONNREFUSED)`] },
      },
    },
    ['certificate warning'],
    `A renewal fails: ${HOST}: the request to acme.example failed (ECONNREFUSED).`,
  ],
  // The queue, backups, the filter.
  [
    'the queue is stuck',
    { facts: { queue: { ...queue, oldest: NOW - 5 * HOUR, next: NOW - 2 * HOUR } } },
    ['queue failed'],
    'Messages have been due for more than an hour and were not tried. Messages that wait for delivery: 9, the oldest for 5 hours. Held: 0.',
  ],
  [
    'a receiver has been down for 6 hours',
    { facts: { queue: { ...queue, oldest: NOW - 6 * HOUR } } },
    ['queue warning'],
    'Messages that wait for delivery: 9, the oldest for 6 hours. Held: 0.',
  ],
  [
    'the smarthost rejects the login',
    { facts: { refusedLogins: [{ host: 'smart.example', why: '535 5.7.8 bad' }] } },
    ['smarthost failed'],
    'The smarthost smart.example rejects the login: 535 5.7.8 bad',
  ],
  [
    'no backup was made',
    { facts: { backup: { ...backup, lastGoodAt: undefined } } },
    ['backup warning'],
    'No good backup was made by this server.',
  ],
  [
    'no scheduled backup ever worked',
    { facts: { backup: { ...backup, lastGoodAt: undefined, problem: 'The disk of the target is full.' } } },
    ['backup failed'],
    'No good backup was made by this server. The last attempt failed: The disk of the target is full.',
  ],
  [
    'the last backup failed',
    { facts: { backup: { ...backup, problem: 'The disk of the target is full.' } } },
    ['backup warning'],
    'The last good backup is 1 hours old. The last attempt failed: The disk of the target is full.',
  ],
  [
    'the last verification found damage',
    { facts: { backup: { ...backup, damage: '3 messages are damaged.' } } },
    ['backup failed'],
    'The last verification found: 3 messages are damaged.',
  ],
  [
    'the backup is 3 days old',
    { facts: { backup: { ...backup, lastGoodAt: NOW - 72 * HOUR } } },
    ['backup failed'],
    'The last good backup is 72 hours old.',
  ],
  [
    'the hourly backup is 3 hours old',
    { facts: { backup: { ...backup, everyMs: HOUR, lastGoodAt: NOW - 3 * HOUR } } },
    ['backup failed'],
    'The last good backup is 3 hours old.',
  ],
  [
    'the backup lacks the keys',
    { facts: { backup: { ...backup, sealed: false } } },
    ['backup warning'],
    'The last good backup is 1 hours old. It is not encrypted.',
  ],
  [
    'Rspamd is down',
    { facts: { filter: { on: true, scanners: [{ name: 'Rspamd', problem: 'connect ECONNREFUSED' }] } } },
    ['spam filter failed'],
    'Rspamd cannot be reached: connect ECONNREFUSED.',
  ],
  [
    'ClamAV hangs',
    {
      facts: {
        filter: {
          on: true,
          scanners: [
            { name: 'Rspamd', problem: undefined },
            { name: 'ClamAV', problem: 'no answer within 5 seconds' },
          ],
        },
      },
    },
    ['spam filter failed'],
    'ClamAV cannot be reached: no answer within 5 seconds.',
  ],
  [
    'spam checks are off',
    { facts: { filter: { on: false, scanners: [] } } },
    ['spam filter warning'],
    'Spam checks are off: all mail goes to the inbox.',
  ],
];
