import { registrableDomain } from '../../mail/policy/registrable.ts';
import type { ReportContent } from '../../mail/reports/report-types.ts';
import { domainText } from '../../mail/reports/values.ts';

/** Organizations that name themselves and their servers by several domains. */
const SAME_OWNER: readonly (readonly string[])[] = [
  ['google.com', 'gmail.com', 'googlemail.com'],
  ['microsoft.com', 'outlook.com', 'hotmail.com', 'live.com'],
  ['yahoo.com', 'yahooinc.com', 'yahoodns.net', 'aol.com'],
];

/**
 * Domains of the organization that sent a report. `verified`: the domain of its author, whose signature passed. Empty if that
 * is not the organization that the report names: else anyone with a domain could sign forged reports.
 */
export function reporterDomains(verified: string, content: ReportContent): readonly string[] {
  if (verified === '' || content.kind === 'failure' || content.kind === 'unreadable') return [];
  const signer = registrableDomain(verified);
  const domains = SAME_OWNER.find((all) => all.includes(signer)) ?? [signer];
  // Large reporters write a name, such as "Google Inc.", in place of a domain.
  const named = content.organization.includes('.') ? domainText(content.organization) : '';
  return named === '' || domains.includes(registrableDomain(named)) ? domains : [];
}
