import type { Job } from '../../mail/jobs/scheduler.ts';
import { queueDepth } from '../../mail/store/queue/queue-rows.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { MetricSample, Metrics } from '../core/metrics.ts';
import { recordServerHour } from './commands.ts';
import { DELIVERY_SECONDS, deliveryKind, HOUR_MS } from './queries.ts';

interface HistoryOptions {
  store: Pick<MailStore, 'scan' | 'write'>;
  metrics: Pick<Metrics, 'samples'>;
  clock: () => number;
}

/**
 * Stores what the metrics counted since the last run, by hour, and the age of the queue. Mail itself pays nothing for it; a
 * stop loses at most the counts of five minutes.
 */
export class HistoryJob implements Job {
  readonly name = 'history';
  readonly everyMs = 5 * 60_000;
  readonly #options: HistoryOptions;
  #before: ReadonlyMap<string, number> = new Map();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { store, metrics, clock } = this.#options;
    const counted = await countsOf(metrics);
    const { due, oldest } = await store.scan(queueDepth, undefined);
    const now = clock();
    const numbers: Record<string, number> = {
      'queue-due': due,
      'queue-oldest-seconds': oldest === undefined ? 0 : Math.max(0, Math.round((now - oldest) / 1000)),
    };
    for (const [kind, n] of counted) {
      const more = n - (this.#before.get(kind) ?? 0);
      if (more > 0) numbers[kind] = more;
    }
    await store.write(recordServerHour, { hour: Math.floor(now / HOUR_MS), numbers });
    // After the commit: counts of a failed run are stored by the next one.
    this.#before = counted;
  }
}

/** Counts since the start of the process, by kind. */
async function countsOf(metrics: Pick<Metrics, 'samples'>): Promise<Map<string, number>> {
  const counts = deliveryCounts(await metrics.samples('relay_queued_seconds'));
  for (const { labels, value } of await metrics.samples('smtp_messages_total')) {
    const kind = labels['outcome'] === 'accepted' ? 'smtp-accepted' : 'smtp-rejected';
    counts.set(kind, (counts.get(kind) ?? 0) + value);
  }
  return counts;
}

/** Buckets of a histogram count all up to their end: the difference to the bucket before is what is in one. */
function deliveryCounts(samples: readonly MetricSample[]): Map<string, number> {
  const upTo = new Map(
    samples
      .filter(({ labels }) => labels['outcome'] === 'delivered')
      .flatMap(({ labels, value }) => (labels['le'] === undefined ? [] : [[Number(labels['le']), value] as const])),
  );
  let before = 0;
  return new Map(
    DELIVERY_SECONDS.map((seconds) => {
      const all = upTo.get(seconds) ?? before;
      const one = [deliveryKind(seconds), all - before] as const;
      before = all;
      return one;
    }),
  );
}
