import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METRICS, openMetrics } from '../../../src/core/metrics.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Names given to a meter anywhere in the code; a template's fixed part counts as its beginning. */
function counted(): { name: string; file: string }[] {
  return globSync(['mail/**/*.ts', 'src/**/*.ts'], { cwd: ROOT }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\bmeter\.(?:count|gauge|observe)\(\s*['`]([a-z_]+)/g)].map(
      ([, name = '']) => ({ name, file }),
    ),
  );
}

test('everything that is counted says what it means', () => {
  const declared = Object.keys(METRICS);
  const unknown = counted().filter(
    ({ name }) => !(name.endsWith('_') ? declared.some((one) => one.startsWith(name)) : declared.includes(name)),
  );
  expect(counted().length).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});

test('what the page for operators says to watch is counted', () => {
  const page = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
  const named = [...page.matchAll(/`([a-z]+(?:_[a-z]+)*_(?:total|seconds|rows|bytes))`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => METRICS[name] === undefined)).toEqual([]);
});

test('the time in the queue is distinguished up to five days', async () => {
  const metrics = openMetrics();
  metrics.observe('relay_queued_seconds', 80_000, { outcome: 'delivered' });
  expect((await metrics.render()).text).toContain('relay_queued_seconds_bucket{le="86400",outcome="delivered"} 1');
});

test('counters, gauges and histograms are shown with help, labels and values', async () => {
  const metrics = openMetrics();
  metrics.count('smtp_messages_total', { service: 'mx', outcome: 'accepted' });
  metrics.count('smtp_messages_total', { service: 'mx', outcome: 'accepted' }, 2);
  metrics.gauge('imap_sessions', 7);
  metrics.observe('store_seconds', 0.003);
  const { type, text } = await metrics.render();
  expect(type).toContain('text/plain');
  expect(text).toContain('# HELP mailstead_smtp_messages_total Messages read to their end');
  expect(text).toContain('mailstead_smtp_messages_total{service="mx",outcome="accepted"} 3');
  expect(text).toContain('mailstead_imap_sessions 7');
  expect(text).toContain('mailstead_store_seconds_bucket{le="0.005"} 1');
  expect(text).toContain('process_resident_memory_bytes');
});

test('a use that does not fit the first one is lost and does not throw', async () => {
  const metrics = openMetrics();
  metrics.count('imap_faults_total', { command: 'NOOP' });
  metrics.count('imap_faults_total', { other: 'label' });
  metrics.gauge('imap_faults_total', 9);
  expect((await metrics.render()).text).toContain('mailstead_imap_faults_total{command="NOOP"} 1');
});

test('gauges that are read, not kept, are asked for at each scrape, and one that fails hides no other', async () => {
  const metrics = openMetrics();
  let depth = 0;
  metrics.onScrape(async () => metrics.gauge('queue_rows', ++depth, { state: 'due' }));
  metrics.onScrape(() => Promise.reject(new Error('store closed')));
  await metrics.render();
  expect((await metrics.render()).text).toContain('mailstead_queue_rows{state="due"} 2');
});

test('two worlds in one process do not share counters', async () => {
  openMetrics().count('login_derivations_total');
  expect((await openMetrics().render()).text).not.toContain('login_derivations_total');
});

test('counts are whole at each scrape, however many kinds there are', async () => {
  const metrics = openMetrics();
  const wanted = [1, 2, 3];
  for (const times of wanted) {
    for (let i = 0; i < 1500; i++) metrics.count('operations_total', { operation: `o${i}` });
    const { text } = await metrics.render();
    expect(text).toContain(`mailstead_operations_total{operation="o0"} ${times}\n`);
    expect(text).toContain(`mailstead_operations_total{operation="o1499"} ${times}\n`);
  }
});
