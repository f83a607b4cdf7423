import type { getDmarcReport } from '../../operations/deliverability/dmarc-report.ts';
import type { getTlsReport } from '../../operations/deliverability/tls-report.ts';
import type { getEmailDomain } from '../../operations/domains/list.ts';
import { dayChart } from '../chart.ts';
import { backLink, descriptionList, emptyState, pageHead, quotedText, table, tag, timestamp } from '../components.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { actionButton, operationAction, type Page } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

const DAYS = 30;
const which = (params: Readonly<Record<string, string>>) => ({ domainId: params['id'] });

type Dmarc = OutputOf<typeof getDmarcReport>;
type Tls = OutputOf<typeof getTlsReport>;

/** Reports of other servers about a domain. */
export const domainReports: Page = {
  path: '/domains/:id/reports',
  name: 'Reports',
  translated: true,
  menu: null,
  needs: 'get_dmarc_report',
  notices: {
    policy: { message: 'reports.policy' },
    sts: { message: 'reports.sts' },
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
    const t = translatorOf(visit.request);
    const about = t('reports.about', { domain: found.domain.domain, count: DAYS });
    return html`${backLink(`${visit.base}/domains/${found.domain.id}`, found.domain.domain)}
    ${pageHead(t('page.Reports'), about)} ${dmarcSection(t, visit, dmarc, today)}
    ${tlsSection(t, visit, tls, today, found.domain.status === 'verified')}`;
  },
};

const none = (t: Translator): Html => emptyState(t('reports.none'), t('reports.none-text'));

function dmarcSection(t: Translator, visit: Visit, report: Dmarc, today: string): Html {
  const { advice, policy } = report;
  return html`<section>
    <h2>${t('reports.dmarc')}</h2>
    <p>${t.english(advice.sentence)}</p>
    ${
      advice.next !== null &&
      isAllowed(visit, 'set_dmarc_policy') &&
      actionButton(visit, 'dmarc', t('reports.set-policy', { policy: advice.next }), { policy: advice.next }, '')
    }
    ${sentenceList(t, report.sentences)}
    ${
      report.messages === 0
        ? none(t)
        : [
            dayChart(t('reports.messages-by-day'), report.days, today, DAYS, t),
            descriptionList([
              [t('reports.policy-name'), policy],
              [t('charts.messages'), report.messages],
              [t('reports.passed'), `${report.passRate ?? 0} %`],
              [t('reports.unsigned-count'), report.unsigned],
            ]),
            sourceTable(t, report),
            reporterTable(t, report.untrusted.reporters),
          ]
    }
  </section>`;
}

function sourceTable(t: Translator, { sources }: Dmarc): Html {
  return table(
    t('reports.sources'),
    [t('reports.source'), t('charts.messages'), t('checks.result'), 'SPF', 'DKIM', t('reports.rejected')],
    sources.map((one) => [
      one.ip === null ? t('reports.small-sources') : html`<code>${one.ip}</code>`,
      one.messages,
      resultTag(t, one.passed, one.messages),
      one.spf,
      one.dkim,
      one.rejected + one.quarantined,
    ]),
    t,
  );
}

function resultTag(t: Translator, passed: number, total: number): Html {
  if (passed === total) return tag(t('check.pass'), 'ok');
  return passed === 0
    ? tag(t('check.fail'), 'bad')
    : tag(t('reports.share', { share: Math.floor((100 * passed) / total) }), 'warn');
}

function tlsSection(t: Translator, visit: Visit, report: Tls, today: string, verified: boolean): Html {
  const { advice } = report;
  return html`<section>
    <h2>${t('reports.tls')}</h2>
    <p>${t.english(advice.sentence)}</p>
    ${
      advice.next !== null &&
      verified &&
      isAllowed(visit, 'set_mta_sts') &&
      actionButton(visit, 'sts', t('reports.change-sts', { mode: advice.next }), { mode: advice.next }, '')
    }
    ${sentenceList(t, report.sentences)}
    ${
      report.sessions === 0
        ? none(t)
        : [
            dayChart(t('reports.sessions-by-day'), report.days, today, DAYS, t),
            descriptionList([
              [t('reports.sessions'), report.sessions],
              [t('reports.succeeded'), `${report.successRate ?? 0} %`],
            ]),
            reporterTable(t, report.untrusted.reporters),
          ]
    }
  </section>`;
}

function sentenceList(t: Translator, all: readonly string[]): HtmlPart {
  if (all.length === 0) return undefined;
  return html`<ul>
    ${all.map((one) => html`<li>${t.english(one)}</li>`)}
  </ul>`;
}

function reporterTable(t: Translator, all: Dmarc['untrusted']['reporters']): HtmlPart {
  if (all.length === 0) return undefined;
  return table(
    t('reports.reporters'),
    [t('reports.reporter'), t('reports.signed-by'), t('page.Reports'), t('reports.last')],
    all.map((one) => [
      quotedText(one.organization),
      one.signedBy === '' ? tag(t('reports.unsigned'), 'warn') : html`<code>${one.signedBy}</code>`,
      one.reports,
      timestamp(one.lastAt, t),
    ]),
    t,
  );
}
