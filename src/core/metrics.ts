import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { GUARD_METRICS } from '../../mail/guard/metrics.ts';
import { IMAP_METRICS } from '../../mail/imap/metrics.ts';
import { JMAP_METRICS } from '../../mail/jmap/core/metrics.ts';
import type { Labels, Meter } from '../../mail/log.ts';
import { FILTER_METRICS } from '../../mail/filter/metrics.ts';
import { LOGIN_METRICS } from '../../mail/login/metrics.ts';
import { metrics as SMTP_METRICS } from '../../mail/receiver/metrics.ts';
import { RELAY_METRICS } from '../../mail/relay/metrics.ts';

/** Help texts of all metrics. A test compares the names with the code. */
export const METRICS: Readonly<Record<string, string>> = {
  ...SMTP_METRICS,
  ...IMAP_METRICS,
  ...JMAP_METRICS,
  ...FILTER_METRICS,
  ...LOGIN_METRICS,
  ...GUARD_METRICS,
  ...RELAY_METRICS,
  http_connections_refused_total: 'HTTP connections over a limit, by reason.',
  forwards_total: 'Forwarded copies, and copies kept here instead, by outcome.',
  store_commands: 'Commands in one commit of the store.',
  store_seconds: 'From submitting a command to the store to its flushed commit.',
  text_backlog_messages: 'Messages not in the full-text index yet.',
  text_batch_seconds: 'Duration of one step of the full-text index, 50 messages or 25 ms; one in twenty commits.',
  text_failures_total: 'Failures of the full-text index or its thread.',
  store_unreadable_messages: 'Stored messages found damaged since the start.',
  node_leads: '1 on the node that leads, 0 on the others; missing on a server that is alone.',
  blob_uploads_total: 'Large messages stored in the bucket.',
  blob_fetches_total: 'Large messages read from the bucket, as the cache did not have them.',
  blob_cache_bytes: 'Octets of large messages in the cache of the bucket.',
  blob_bucket_up: '1 if the last request to the bucket succeeded, else 0.',
  blob_bucket_failures_total: 'Failed requests to the bucket.',
  backup_age_seconds: 'Age of the last good backup.',
  backup_copied_age_seconds:
    'Age of the last moment until which all commits are in the target, with continuous copies.',
  backup_failures: 'Failed backups since the last good one.',
  backup_seconds: 'Duration of the last backup.',
  backup_added_bytes: 'Octets that the last backup stored.',
  health_checks: 'Checks of the doctor in its last run, by status (ok, warning, failed, unknown, off).',
  health_age_seconds: 'Time since the last run of the doctor.',
  disk_free_bytes: 'Free space of the data directory.',
  operations_total: 'Operations of the control plane, by name and outcome.',
  operation_seconds: 'From the call of an operation to its answer.',
  oauth_requests_total: 'Requests of OAuth clients, by endpoint (register, token, revoke) and outcome.',
  waits_open: 'Open calls and streams that wait for mail.',
  waits_displaced_total:
    'Calls and streams ended early because all slots were taken and another organization had fewer.',
  event_streams_open: 'Open event streams (GET /api/events).',
  events_sent_total: 'Events sent on event streams, by event (mail, send, approval, mode, gap).',
  certificate_orders_total: 'Orders of certificates from the ACME authority, by outcome (issued, failed).',
  certificates_failing: 'Certificates whose last order failed.',
  certificate_expires_seconds: 'Time until the first certificate expires, of all that the listeners present.',
  dns_provider_accesses_total: 'Accesses to DNS providers, by provider and outcome (done, failed).',
  dns_queries_total: 'Queries to the name server, by transport and outcome.',
  webhook_attempts_total: 'Webhook delivery attempts, by outcome (told, later, dead).',
  sent_messages_total: 'Messages submitted by programs, by outcome (sent, or the kind of refusal).',
  agent_mail_total: 'Messages submitted by agents, by outcome (accepted, or the reason it was stopped).',
  canary_trips_total: 'Canary trips, by action (opened, shown, sent, written-to).',
  agent_taints_total: 'Messages of outsiders shown to agents for the first time within an hour.',
  senders_paused_total: 'Mailboxes and keys paused because of unusual sending, by kind.',
  approvals_decided_total:
    'Decisions of people about mail of agents, by outcome (approved, denied, or why nothing was done).',
  notices_total: 'Notices sent to owners, by kind.',
  digest_replies_total: 'Replies to daily digests, by outcome (stopped, before, unclear, automatic, missing).',
  reports_received_total: 'Messages to report addresses, by outcome (recorded, duplicate, unreadable, missing, full).',
  reports_sent_total:
    'Reports about other domains, by kind (dmarc, tls) and outcome (sent, posted, none, unauthorized, too-large, unresolved, failed).',
  scans_total: 'Scanned messages, by scanner (rspamd, clamav) and outcome (clean, found, trouble, skipped).',
  deleted_items: 'Deleted items that can be restored, by kind (mailbox, service).',
  imported_messages_total: 'Messages imported, by kind of source (file, imap).',
  queue_rows: 'Recipients in the queue, by state (due, held).',
  queue_oldest_seconds: 'Age of the oldest recipient that is not held.',
};

const BUCKETS: Readonly<Record<string, number[]>> = {
  seconds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  relay_queued_seconds: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 432_000],
  commands: [1, 2, 4, 8, 16, 32, 64, 128],
  octets: [1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
};

/** One sample of a metric. */
export interface MetricSample {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

export interface Metrics extends Meter {
  /** Adds a callback that refreshes gauges before each scrape. */
  onScrape(refresh: () => Promise<void>): void;
  /** Samples of a counter or histogram, counted since the start; none before its first use. */
  samples(name: string): Promise<readonly MetricSample[]>;
  /** Prometheus text and its content type. */
  render(): Promise<{ type: string; text: string }>;
}

/** Creates the metrics of the process. Counting never throws: a mistake here must not cost a message. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const instruments = new Instruments(registry);
  const refreshers: (() => Promise<void>)[] = [];
  const counts = new Counts((name, labels, by) => {
    instruments.use(Counter, name, labels, (counter) => counter.inc(labels, by));
  });
  return {
    count: (name, labels = {}, by = 1) => counts.add(name, labels, by),
    gauge: (name, value, labels = {}) => instruments.use(Gauge, name, labels, (gauge) => gauge.set(labels, value)),
    observe: (name, value, labels = {}) =>
      instruments.use(Histogram, name, labels, (histogram) => histogram.observe(labels, value)),
    onScrape: (refresh) => refreshers.push(refresh),
    async samples(name) {
      counts.pour();
      return (await registry.getSingleMetric(`mailstead_${name}`)?.get())?.values ?? [];
    },
    async render() {
      await Promise.allSettled(refreshers.map((refresh) => refresh()));
      counts.pour();
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

const MAX_PENDING_COUNTS = 1000;

/** Sums counts until the next scrape: a message adds eight of them, and the library's own counter is slow. */
class Counts {
  readonly #kept = new Map<string, { name: string; labels: Labels; by: number }>();
  readonly #into: (name: string, labels: Labels, by: number) => void;

  constructor(into: (name: string, labels: Labels, by: number) => void) {
    this.#into = into;
  }

  add(name: string, labels: Labels, by: number): void {
    let key = name;
    for (const label in labels) key += `\n${label}\n${labels[label]}`;
    const kept = this.#kept.get(key);
    if (kept === undefined) this.#begin(key, { name, labels, by });
    else kept.by += by;
  }

  pour(): void {
    for (const kept of this.#kept.values()) {
      if (kept.by !== 0) this.#into(kept.name, kept.labels, kept.by);
      kept.by = 0;
    }
  }

  /** Passes the first count of a name on at once: its labels fix the instrument. */
  #begin(key: string, count: { name: string; labels: Labels; by: number }): void {
    if (this.#kept.size >= MAX_PENDING_COUNTS) {
      this.pour();
      this.#kept.clear();
    }
    this.#into(count.name, count.labels, count.by);
    this.#kept.set(key, { ...count, by: 0 });
  }
}

type Kind = typeof Counter<string> | typeof Gauge<string> | typeof Histogram<string>;

/** Creates each instrument at first use, with the labels of that use: areas declare only names and help texts. */
class Instruments {
  readonly #made = new Map<string, InstanceType<Kind>>();
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  use<K extends Kind>(kind: K, name: string, labels: Labels, record: (made: InstanceType<K>) => void): void {
    try {
      record((this.#made.get(name) ?? this.#make(kind, name, labels)) as InstanceType<K>);
    } catch {
      // Other labels or another kind than at first use: only this observation is lost.
    }
  }

  #make(kind: Kind, name: string, labels: Labels): InstanceType<Kind> {
    const config = {
      name: `mailstead_${name}`,
      help: METRICS[name] ?? name,
      labelNames: Object.keys(labels),
      registers: [this.#registry],
    };
    const made = kind === Histogram ? new Histogram({ ...config, buckets: bucketsOf(name) }) : new kind(config);
    this.#made.set(name, made);
    return made;
  }
}

function bucketsOf(name: string): number[] {
  return BUCKETS[name] ?? BUCKETS[name.slice(name.lastIndexOf('_') + 1)] ?? BUCKETS['seconds'] ?? [];
}
