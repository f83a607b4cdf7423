import type { Job } from '../../mail/jobs/scheduler.ts';
import type { ReportContent } from '../../mail/reports/report-types.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import type { AreaContext } from '../core/area-context.ts';
import { RefusedError } from '../core/refusal.ts';
import { postponeReport, type RecordedReport, recordReport } from './commands.ts';
import { reporterDomains } from './reporter.ts';
import { nextReport, type WaitingReport } from './queries.ts';

type ReaderContext = Pick<AreaContext, 'store' | 'texts' | 'clock' | 'log' | 'metrics'>;

const UNREADABLE: ReportContent = {
  kind: 'unreadable',
  why: 'reading it took too much time or memory, or its values cannot be stored',
};
/** Reports read in one run; then other jobs of the writer get a turn. */
const MAX_A_RUN = 200;

/** Reads accepted reports one after the other, in the thread for documents. */
export class ReportReader implements Job {
  readonly name = 'reports';
  readonly everyMs = 15_000;
  readonly #context: ReaderContext;

  constructor(context: ReaderContext) {
    this.#context = context;
  }

  /** Reads all reports that are due. */
  async run(stop?: AbortSignal): Promise<number | undefined> {
    const { store, clock } = this.#context;
    for (let read = 0; read < MAX_A_RUN; read++) {
      if (stop?.aborted === true) return undefined;
      const waiting = await store.read(nextReport, { now: clock() });
      if (waiting === undefined) return undefined;
      await this.#read(waiting);
    }
    return clock();
  }

  async #read(waiting: WaitingReport): Promise<void> {
    const { store, metrics, log } = this.#context;
    const { id, domain } = waiting;
    const content = await this.#contentOf(waiting);
    const outcome = content && (await this.#record(waiting, content));
    if (outcome === undefined && (await store.write(postponeReport, { id }))) return;
    const final = outcome ?? (await store.writeSlice(recordReport, { id, content: UNREADABLE, reporter: [] }));
    metrics.count('reports_received_total', { outcome: final });
    const why = content?.kind === 'unreadable' ? content.why : undefined;
    log.info({ report: id, domain, kind: content?.kind, outcome: final, why }, 'report read');
  }

  /** Undefined where it failed. A report that the store refuses must not stop those behind it. */
  async #record({ id, verified }: WaitingReport, content: ReportContent): Promise<RecordedReport | undefined> {
    const { store, log } = this.#context;
    const reporter = reporterDomains(verified, content);
    try {
      return await store.writeSlice(recordReport, { id, content, reporter });
    } catch (error) {
      // The store is busy for every report.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, report: id }, 'failed to record a report, will retry');
      return undefined;
    }
  }

  /** Returns undefined if there is no memory to read it now. */
  async #contentOf({ tenant, octets, parts }: WaitingReport): Promise<ReportContent | undefined> {
    try {
      return (await this.#context.texts.for(tenant).read('report', { octets, parts })) ?? UNREADABLE;
    } catch (error) {
      if (error instanceof RefusedError) return undefined;
      throw error;
    }
  }
}
