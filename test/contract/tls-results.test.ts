import { expect, test } from 'vitest';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { unlimitedSubmission, outgoing } from '../support/submission.ts';
import { finishAttempts } from '../../mail/relay/store-queue.ts';
import { beginAttempts } from '../../mail/store/queue/queue.ts';
import { listQueue } from '../../mail/store/queue/queue-rows.ts';
import { dayOf, purgeTlsResults, type TlsResult, tlsResults } from '../../mail/store/queue/tls-result.ts';
import { journalOf, OPERATOR_VIEW } from '../../mail/store/journal/journal.ts';
import { testAccount, type TestStore, testStore } from '../support/store.ts';

const DAY = 24 * 3_600_000;
const TLS = 'TLSv1.3 TLS_AES_256_GCM_SHA384, mta-sts';
const STS = { domain: 'remote.test', type: 'sts', strings: ['version: STSv1', 'mode: enforce'] } as const;
const at = { mx: 'mx.remote.test', ip: '192.0.2.1', from: '198.51.100.7' };

async function attempt(box: TestStore, results: readonly TlsResult[], outcome: 'deferred' | 'delivered' = 'deferred') {
  const { account } = await testAccount(box.store, `u${box.clock.now}`);
  const about = { trace: 't1', account, sender: '', requireTls: true };
  const mail = outgoing('From: me@box.test\r\n\r\nhello\r\n', ['you@remote.test'], about);
  const taken = await box.store.write(submit, unlimitedSubmission(mail));
  const id = taken.kind === 'taken' ? (taken.rows[0] ?? 0) : 0;
  await box.store.write(beginAttempts, { items: [{ id, nextAt: 1 }] });
  const said = { host: at.mx, ip: at.ip, code: 450, status: '4.7.1', text: 'later', tls: TLS, at: 1, nextAt: 2 };
  await box.store.write(finishAttempts, {
    ends: [{ id, outcome, ...said, tlsResults: results }],
    bounces: [],
    fallbacks: [],
  });
}

const report = (box: TestStore) => box.store.read(tlsResults, { day: dayOf(box.clock.now), after: '', limit: 10 });

test('connections are counted in the commit of their attempt, and reported in the words of RFC 8460', async () => {
  await using box = await testStore();
  const failed = { ...STS, ...at, result: 'certificate-expired' } as const;
  await attempt(box, [failed, { ...STS, ...at, result: 'success' }]);
  box.clock.now += 1;
  await attempt(box, [failed, { ...STS, mx: '', ip: '', from: '', result: 'sts-policy-fetch-error' }]);
  expect(await report(box)).toEqual([
    {
      policy: { 'policy-type': 'sts', 'policy-string': STS.strings, 'policy-domain': 'remote.test' },
      summary: { 'total-successful-session-count': 1, 'total-failure-session-count': 3 },
      'failure-details': [
        {
          'result-type': 'certificate-expired',
          'sending-mta-ip': '198.51.100.7',
          'receiving-mx-hostname': 'mx.remote.test',
          'receiving-ip': '192.0.2.1',
          'failed-session-count': 2,
        },
        { 'result-type': 'sts-policy-fetch-error', 'failed-session-count': 1 },
      ],
    },
  ]);
});

test('how the connection was protected is in the queue and in the story of the message', async () => {
  await using box = await testStore();
  await attempt(box, []);
  const filter = { tenant: 1, accounts: null, state: null, domain: null };
  const rows = await box.store.read(listQueue, { ...filter, after: 0, limit: 10 });
  expect(rows).toMatchObject([{ last_tls: TLS, require_tls: 1 }]);
  const story = await box.store.read(journalOf, { trace: 't1', ...OPERATOR_VIEW });
  expect(story.at(-1)).toMatchObject({ event: 'deferred', detail: { tls: TLS } });
});

test('what is kept of a domain and of a day is bounded, and nothing is lost from the sums', async () => {
  await using box = await testStore();
  const many = Array.from({ length: 400 }, (_, n): TlsResult => ({
    ...STS,
    strings: ['x'.repeat(n), 'y'.repeat(10_000)],
    mx: `mx${n}.remote.test`,
    ip: '',
    from: '',
    result: 'validation-failure',
  }));
  await attempt(box, many);
  const reports = await report(box);
  const sum = reports.reduce((all, one) => all + one.summary['total-failure-session-count'], 0);
  expect(sum).toBe(400);
  expect(reports.length).toBeLessThanOrEqual(201);
  expect(Math.max(...reports.map((one) => JSON.stringify(one).length))).toBeLessThan(5000);
});

test('after two weeks it is forgotten', async () => {
  await using box = await testStore();
  await attempt(box, [{ ...STS, ...at, result: 'success' }]);
  const day = dayOf(box.clock.now);
  const known = () => box.store.read(tlsResults, { day, after: '', limit: 10 });
  box.clock.now += 14 * DAY;
  await box.store.write(purgeTlsResults, undefined);
  expect(await known()).toHaveLength(1);
  box.clock.now += DAY;
  await box.store.write(purgeTlsResults, undefined);
  expect(await known()).toEqual([]);
});
