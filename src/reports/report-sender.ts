import { createHash } from 'node:crypto';
import type { Job } from '../../mail/jobs/scheduler.ts';
import { lruMap } from '../../mail/limits/lru-map.ts';
import {
  type ReportKey,
  type ReportOutcome,
  type SentReportKind,
  unreportedDomains,
} from '../../mail/store/queue/sent-report.ts';
import { dayOf } from '../../mail/store/queue/tls-result.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import type { ReportDestination } from '../../mail/reports/report-uris.ts';
import { closeReports, sendReport } from './outgoing-commands.ts';
import { composeReport, type PackedReport } from './outgoing-message.ts';
import { prepareReport, type OutgoingReportContext } from './outgoing-report.ts';
import { postReport } from './report-post.ts';

const DAY_MS = 24 * 3_600_000;
/** Reports about a day are sent in this time after it, each domain at a time of its own: not all receivers at midnight. */
const SPREAD_MS = 20 * 3_600_000;
/** Days that are reported after a downtime. */
const MAX_DAYS = 3;
/** Domains that are read at once, and reports prepared in one run. */
const PAGE = 500;
const MAX_A_RUN = 200;
/** Pause after a failed lookup, and domains that pause: those that always fail must not use up all runs. */
const RETRY_MS = 2 * 3_600_000;
const MAX_POSTPONED = 10_000;

interface SenderOptions extends OutgoingReportContext {
  /** Wakes the relay. */
  queued: () => void;
}

/** Sends DMARC aggregate and TLS reports about the days before to the domains that ask for them: one message a domain and day. */
export class ReportSender implements Job {
  readonly name = 'report-sender';
  readonly everyMs = 10 * 60_000;
  readonly firstMs = 10_000;
  readonly #context: SenderOptions;
  /** Time of the next attempt, by kind and domain. */
  readonly #postponed = lruMap<string, number>(MAX_POSTPONED);

  constructor(context: SenderOptions) {
    this.#context = context;
  }

  /** Sends the reports that are due. */
  async run(stop?: AbortSignal): Promise<void> {
    const today = dayOf(this.#context.clock());
    let left = MAX_A_RUN;
    for (let day = today - MAX_DAYS; day < today; day++) {
      for (const kind of ['dmarc', 'tls'] as const) left -= await this.#sendDay(kind, day, left, stop);
    }
  }

  /** Sends up to `left` due reports about a day. Returns how many were looked at. */
  async #sendDay(kind: SentReportKind, day: number, left: number, stop: AbortSignal | undefined): Promise<number> {
    const { clock } = this.#context;
    const since = clock() - (day + 1) * DAY_MS;
    const closed: (ReportKey & { outcome: ReportOutcome })[] = [];
    let prepared = 0;
    for await (const domain of this.#unreported(kind, day)) {
      if (stop?.aborted === true || prepared === left) break;
      if (since < delayOf(domain) || (this.#postponed.get(`${kind} ${domain}`) ?? 0) > clock()) continue;
      prepared += 1;
      const key = { kind, day, domain };
      const outcome = await this.#sendOrPostpone(key, since > (MAX_DAYS - 1) * DAY_MS);
      if (outcome !== undefined) closed.push({ ...key, outcome });
    }
    if (closed.length > 0) await this.#context.store.writeSlice(closeReports, { reports: closed });
    return prepared;
  }

  async *#unreported(kind: SentReportKind, day: number): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const page = await this.#context.store.read(unreportedDomains, { kind, day, after, limit: PAGE });
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1) ?? '';
    }
  }

  /** Logs what fails unexpectedly: the report to one domain must not stop those to others. */
  async #sendOrPostpone(key: ReportKey, isLast: boolean): Promise<ReportOutcome | undefined> {
    try {
      return await this.#send(key, isLast);
    } catch (error) {
      // The store is busy for every report.
      if (error instanceof StoreBusy) throw error;
      this.#context.log.error({ err: error, ...key }, 'failed to send report, will retry');
      return isLast ? this.#note(key, 'failed') : this.#postpone(key);
    }
  }

  /** Sends one report. Returns its outcome if it is not recorded yet; undefined if it is, or if it is tried again. */
  async #send(key: ReportKey, isLast: boolean): Promise<ReportOutcome | undefined> {
    const prepared = await prepareReport(this.#context, key);
    if (prepared.kind === 'retry') return isLast ? this.#note(key, 'unresolved') : this.#postpone(key);
    if (prepared.kind === 'closed') return this.#note(key, prepared.outcome);
    const { report, destinations } = prepared;
    const posted = await this.#post(report, destinations);
    const to = destinations.flatMap((one) => (one.kind === 'mail' ? [one.address] : []));
    if (to.length === 0)
      return posted ? this.#note(key, 'posted') : isLast ? this.#note(key, 'failed') : this.#postpone(key);
    const { store, queued } = this.#context;
    const notice =
      key.kind === 'dmarc'
        ? composeReport(this.#context, 'dmarc', report, to)
        : composeReport(this.#context, 'tls', report, to);
    if (await store.write(sendReport, { ...key, notice })) {
      this.#note(key, 'sent');
      queued();
    }
    return undefined;
  }

  /** Posts to https destinations. Returns whether one accepted the report. */
  async #post(report: PackedReport, destinations: readonly ReportDestination[]): Promise<boolean> {
    const { log } = this.#context;
    let accepted = false;
    for (const one of destinations) {
      if (one.kind !== 'https') continue;
      const problem = await postReport(this.#context, one.url, report.octets);
      accepted ||= problem === undefined;
      if (problem !== undefined)
        log.warn({ domain: report.domain, host: one.url.hostname, problem }, 'failed to post TLS report');
    }
    return accepted;
  }

  #postpone({ kind, domain }: ReportKey): undefined {
    this.#postponed.set(`${kind} ${domain}`, this.#context.clock() + RETRY_MS);
  }

  #note(key: ReportKey, outcome: ReportOutcome): ReportOutcome {
    const { log, metrics } = this.#context;
    metrics.count('reports_sent_total', { kind: key.kind, outcome });
    if (outcome !== 'none') log.info({ ...key, outcome }, 'report finished');
    return outcome;
  }
}

/** Delay of a domain's reports after the end of the day, ms; the same every day. */
function delayOf(domain: string): number {
  return createHash('sha256').update(domain).digest().readUInt32BE(0) % SPREAD_MS;
}
