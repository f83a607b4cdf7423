import type { ReportInbox } from '../../mail/receiver/needs.ts';
import type { AreaContext } from '../core/area-context.ts';
import { addressKey, type Address } from '../../mail/message/address.ts';
import { isReportAddress } from './report-address.ts';
import { type WaitingReportMessage, storeReport } from './commands.ts';
import { reportDomain } from './queries.ts';

/** Accepts messages to the report addresses of hosted domains. A mailbox or alias with such an address goes first. */
export class StoredReports implements ReportInbox {
  readonly #context: Pick<AreaContext, 'store' | 'metrics'>;

  constructor(context: Pick<AreaContext, 'store' | 'metrics'>) {
    this.#context = context;
  }

  async find(to: Address): Promise<number | undefined> {
    if (!isReportAddress(to)) return undefined;
    return this.#context.store.read(reportDomain, { name: to.domain, key: addressKey(to) });
  }

  async store(report: WaitingReportMessage): Promise<'stored' | 'full'> {
    const outcome = await this.#context.store.write(storeReport, report);
    if (outcome === 'full') this.#context.metrics.count('reports_received_total', { outcome });
    return outcome;
  }
}
