import type { OwnerNoticeKind, SystemNotice } from '../../mail/delivery/notice.ts';
import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';

/** Composed notices of one event, with what its mark needs. */
export interface Composed {
  notices: readonly SystemNotice[];
}

/** One kind of notice: what is due, how it is composed, and the command that sends it once. */
export interface NoticeSource<Due = unknown, Made extends Composed = Composed> {
  readonly kind: OwnerNoticeKind | 'new-device';
  readonly everyMs: number;
  readonly firstMs?: number;
  /** Logged when owners are notified; `warn` where somebody should look. */
  readonly event: { level: 'info' | 'warn'; message: string };
  /** Lists events that owners were not notified of. */
  due(): AsyncIterable<Due>;
  /** Composes the notices of one event; undefined: nothing to report. */
  compose(due: Due): Promise<Made | undefined>;
  /** Marks the event and sends its notices in one commit. Returns fields for the log; undefined: marked before. */
  mark(due: Due, made: Made): Promise<object | undefined>;
  /** Called when no event of a run failed. */
  finished?(): void;
}

export interface NotifierOptions {
  sources: readonly NoticeSource[];
  /** Wakes the relay. */
  queued: () => void;
  log: Log;
  metrics: Meter;
}

/** Notifies owners of organizations, and people of their sign-ins, by mail, each source in a job of its own. An event is sent once, also over restarts. */
export class Notifier {
  readonly #options: NotifierOptions;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  jobs(): Job[] {
    return this.#options.sources.map((source) => {
      const { kind, everyMs, firstMs = everyMs } = source;
      return { name: `notices/${kind}`, everyMs, firstMs, run: (stop) => this.#runSource(source, stop) };
    });
  }

  /** Runs every source once. */
  async run(stop: AbortSignal = new AbortController().signal): Promise<void> {
    for (const source of this.#options.sources) await this.#runSource(source, stop);
  }

  async #runSource(source: NoticeSource, stop: AbortSignal): Promise<void> {
    let failures = 0;
    for await (const due of source.due()) {
      if (stop.aborted) return;
      failures += Number(!(await this.#attempt(source, due)));
    }
    if (failures > 0) throw new Error(`${failures} notices of kind ${source.kind} failed`);
    if (!stop.aborted) source.finished?.();
  }

  /** Handles one event; a failure must not hold up those behind it. Returns if it succeeded. */
  async #attempt(source: NoticeSource, due: unknown): Promise<boolean> {
    const { log } = this.#options;
    try {
      await this.#notify(source, due);
      return true;
    } catch (error) {
      // The store is busy for every event.
      if (error instanceof StoreBusy) throw error;
      log.error({ err: error, kind: source.kind }, 'failed to notify owners, will retry');
      return false;
    }
  }

  async #notify(source: NoticeSource, due: unknown): Promise<void> {
    const { queued, log, metrics } = this.#options;
    const composed = await source.compose(due);
    const marked = composed && (await source.mark(due, composed));
    if (composed === undefined || marked === undefined) return;
    const { level, message } = source.event;
    metrics.count('notices_total', { kind: source.kind }, composed.notices.length);
    log[level]({ ...marked, notices: composed.notices.length }, message);
    if (composed.notices.length > 0) queued();
  }
}
