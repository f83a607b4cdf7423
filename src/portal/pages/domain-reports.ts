import type { getDmarcReport } from '../../operations/deliverability/dmarc-report.ts';
import type { getTlsReport } from '../../operations/deliverability/tls-report.ts';
import type { getEmailDomain } from '../../operations/domains/list.ts';
import { dayChart } from '../chart.ts';
import { backLink, descriptionList, emptyState, pageHead, quotedText, table, tag, timestamp } from '../components.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { actionButton, operationAction, type Page } from '../page.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

const DAYS = 30;
const which = (params: Readonly<Record<string, string>>) => ({ domainId: params['id'] });

type Dmarc = OutputOf<typeof getDmarcReport>;
type Tls = OutputOf<typeof getTlsReport>;

/** Reports of other servers about a domain. */
export const domainReports: Page = {
  path: '/domains/:id/reports',
  name: 'Reports',
  menu: null,
  needs: 'get_dmarc_report',
  notices: {
    policy: 'DMARC policy changed. Publish its TXT record; the page of the domain has it.',
    sts: 'MTA-STS policy changed. Publish its TXT record; the page of the domain has it.',
  },
  actions: {
    dmarc: operationAction('set_dmarc_policy', 'policy', (fields, params) => ({
      ...which(params),
      policy: fields.text('policy'),
    })),
    sts: operationAction('set_mta_sts', 'sts', (fields, params) => ({ ...which(params), mode: fields.text('mode') })),
  },
  async show(visit, { params }) {
    const found = await readOperation<typeof getEmailDomain>(visit, 'get_email_domain', which(params));
    const range = { ...which(params), days: DAYS };
    const dmarc = await readOperation<typeof getDmarcReport>(visit, 'get_dmarc_report', range);
    const tls = await readOperation<typeof getTlsReport>(visit, 'get_tls_report', range);
    if (found === undefined || dmarc === undefined || tls === undefined) return undefined;
    const today = new Date().toISOString().slice(0, 10);
    const about = `What other servers reported about ${found.domain.domain} in the last ${DAYS} days.`;
    return html`${backLink(`${visit.base}/domains/${found.domain.id}`, found.domain.domain)}
    ${pageHead('Reports', about)} ${dmarcSection(visit, dmarc, today)}
    ${tlsSection(visit, tls, today, found.domain.status === 'verified')}`;
  },
};

const NONE = emptyState(
  'No reports yet',
  'They arrive daily once the DNS records of the domain ask for them and mail is sent.',
);

function dmarcSection(visit: Visit, report: Dmarc, today: string): Html {
  const { advice, policy } = report;
  return html`<section>
    <h2>Mail from this domain (DMARC)</h2>
    <p>${advice.sentence}</p>
    ${
      advice.next !== null &&
      isAllowed(visit, 'set_dmarc_policy') &&
      actionButton(visit, 'dmarc', `Set policy to ${advice.next}`, { policy: advice.next }, '')
    }
    ${sentenceList(report.sentences)}
    ${
      report.messages === 0
        ? NONE
        : [
            dayChart('Messages by day', report.days, today, DAYS),
            descriptionList([
              ['Policy', policy],
              ['Messages', report.messages],
              ['Passed', `${report.passRate ?? 0} %`],
              ['In reports of unknown reporters', report.unsigned],
            ]),
            sourceTable(report),
            reporterTable(report.untrusted.reporters),
          ]
    }
  </section>`;
}

function sourceTable({ sources }: Dmarc): Html {
  return table(
    'Sources',
    ['Source', 'Messages', 'Result', 'SPF', 'DKIM', 'Rejected or Junk'],
    sources.map((one) => [
      one.ip === null ? 'Many small sources' : html`<code>${one.ip}</code>`,
      one.messages,
      resultTag(one.passed, one.messages),
      one.spf,
      one.dkim,
      one.rejected + one.quarantined,
    ]),
  );
}

function resultTag(passed: number, total: number): Html {
  if (passed === total) return tag('Passed', 'ok');
  return passed === 0 ? tag('Failed', 'bad') : tag(`${Math.floor((100 * passed) / total)} % passed`, 'warn');
}

function tlsSection(visit: Visit, report: Tls, today: string, verified: boolean): Html {
  const { advice } = report;
  return html`<section>
    <h2>Encryption of incoming mail (TLS)</h2>
    <p>${advice.sentence}</p>
    ${
      advice.next !== null &&
      verified &&
      isAllowed(visit, 'set_mta_sts') &&
      actionButton(visit, 'sts', `Change MTA-STS to ${advice.next}`, { mode: advice.next }, '')
    }
    ${sentenceList(report.sentences)}
    ${
      report.sessions === 0
        ? NONE
        : [
            dayChart('Sessions by day', report.days, today, DAYS),
            descriptionList([
              ['Sessions', report.sessions],
              ['Succeeded', `${report.successRate ?? 0} %`],
            ]),
            reporterTable(report.untrusted.reporters),
          ]
    }
  </section>`;
}

function sentenceList(all: readonly string[]): HtmlPart {
  if (all.length === 0) return undefined;
  return html`<ul>
    ${all.map((one) => html`<li>${one}</li>`)}
  </ul>`;
}

function reporterTable(all: Dmarc['untrusted']['reporters']): HtmlPart {
  if (all.length === 0) return undefined;
  return table(
    'Reporters',
    ['Reporter', 'Signed by', 'Reports', 'Last'],
    all.map((one) => [
      quotedText(one.organization),
      one.signedBy === '' ? tag('Unsigned', 'warn') : html`<code>${one.signedBy}</code>`,
      one.reports,
      timestamp(one.lastAt),
    ]),
  );
}
