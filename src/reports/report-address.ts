import type { Address } from '../../mail/message/address.ts';

/** Local part that is reserved on every hosted domain. It belongs to no mailbox and no catch-all. */
const REPORT_LOCAL_PART = 'mailstead-reports';

/** Address that receives the reports about a domain. On the domain itself it needs no authorization (RFC 7489 7.1). */
export function domainReportAddress(domain: string): string {
  return `${REPORT_LOCAL_PART}@${domain}`;
}

/** True for an address that receives reports, if its domain is hosted here. */
export function isReportAddress({ local }: Pick<Address, 'local'>): boolean {
  return local.toLowerCase() === REPORT_LOCAL_PART;
}
